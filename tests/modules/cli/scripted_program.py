"""A dialogue with a scripted model and made-up tools, to be started in a real terminal.

`python -m tests.modules.cli.scripted_program FOLDER en|zh FILES`; the first word typed chooses the
play. Some go on only when a file is made in FOLDER, its door.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from config import load
from core.cards import (
    Card,
    Change,
    DiffCard,
    Hit,
    Link,
    LinksCard,
    RunCard,
    SearchCard,
    TableCard,
    TextCard,
    Todo,
    TodoCard,
    TreeCard,
    TreeEntry,
)
from core.conversation.messages import MEMORY_MARKS, User, Wire
from core.feature import Feature, command
from core.hooks import ProvidesNews
from core.tools import Outcome, Risk, RunningTool, ToolError, tool
from modules.ask_person import AskPerson
from modules.assembly.terminal import attention_for
from modules.cli.colors import Colors
from modules.cli.repl import run_repl
from modules.cli.screen_settings import ScreenSettings
from modules.plans import Plans
from modules.translator import Translator
from tests.declared_tools import SPECS
from tests.scripted_model import Item, ScriptedModel, call_reply, calls_reply, terminal, text_reply
from utils.i18n import Phrase, phrase
from utils.llm.completion import Completion, Delta, Retry
from utils.logger import FailureLog
from utils.waiting import Stop, Stopped

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[1;1Hgone\x1b[31mred\r\x9b2Jback\u202e"
PROSE = """# A plan

The parser reads **one line** at a time; see `parse()` in [the docs](https://example.org/docs).
Use <div> with care.

- first item with `code`
- second item, which is long enough that it must be wrapped somewhere near the end of the line
  - nested
1. one
2. two

```python
def parse(line: str) -> list[str]:
    # 注释
    return [word for word in line.split() if word]
```

| name | size |
|------|-----:|
| 报告 | 12 |
| b.py | 3 |

> A quoted word.

这是一个很长的中文段落，用来检查换行是否正确：在 rich 里，中文没有空格，\
所以需要在任意两个汉字之间断行，但是标点符号不能出现在行首。最后是 English 和中文混排。
"""
DIFF = """@@ -1,4 +1,5 @@
 import os
-def old(name):
+def new(name: str) -> str:
+    \x1b[2Jhidden
     return name
@@ -40,2 +41,3 @@
 tail
+字符
"""


def pause(seconds: float) -> Callable[[Stop], None]:
    """Return a pause of *seconds* in a scripted reply."""

    def wait(stop: Stop) -> None:
        if stop.wait(seconds):
            raise Stopped

    return wait


def wait_for_file(file: Path) -> Callable[[Stop], None]:
    """Return a wait in a scripted reply until *file* exists."""

    def wait(stop: Stop) -> None:
        while not file.exists():
            if stop.wait(0.02):
                raise Stopped

    return wait


def streamed_reply(text: str, seconds: float, *, thinking: str = "") -> list[Item]:
    """A reply that comes in small pieces, one every *seconds*."""
    items: list[Item] = []
    for word in thinking.split(" ") if thinking else []:
        items += [Delta(thinking=f"{word} "), pause(seconds)]
    for start in range(0, len(text), 7):
        items += [Delta(text[start : start + 7]), pause(seconds)]
    return [*items, Completion(text, thinking, (), text_reply(text)[-1].usage)]  # type: ignore[union-attr]


class LateNews(Feature, ProvidesNews):
    """Has something to tell once the play "news" is over, when no event comes any more."""

    def __init__(self) -> None:
        self.is_due: Callable[[], bool] = lambda: False
        self._is_told = False

    def news(self) -> Sequence[Phrase]:
        if self._is_told or not self.is_due():
            return []
        self._is_told = True
        return [phrase("Preview of port {port}: {link}", port=8000, link="http://late/")]


class FakeTools(Feature):
    """Tools that do nothing and return prepared results."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    @replace(SPECS["read_file"], risk=Risk.READ)
    def read_file(self, path: str) -> Outcome:
        return Outcome("text", TextCard(phrase("Shown"), ""))

    @replace(SPECS["list_files"], risk=Risk.READ)
    def list_files(self, path: str = ".") -> Outcome:
        entries = (
            TreeEntry("src", 0, None),
            TreeEntry("src/报告.md", 1, 12_345),
            TreeEntry("src/a\x1b[2J", 1, 7),
        )
        return Outcome("tree", TreeCard("", entries, 3))

    @replace(SPECS["search_text"], risk=Risk.READ)
    def search_text(self, pattern: str) -> Outcome:
        hits = (Hit("src/a.py", 3, "def parse(line):"), Hit("src/a.py", 9, "parse(x)"))
        return Outcome("hits", SearchCard(pattern, (*hits, Hit("b.py", 1, HOSTILE)), 9))

    @replace(SPECS["modify_file"], risk=Risk.WRITE)
    def modify_file(self, path: str) -> Outcome:
        return Outcome("ok", DiffCard(path, DIFF, 3, 1), changes=(Change("modified", path),))

    @replace(SPECS["update_todos"], risk=Risk.WRITE)
    def update_todos(self, step: int) -> Outcome:
        todos = (Todo("Read the code", "completed"), Todo("Change it", "in_progress"))
        return Outcome("ok", TodoCard((*todos, Todo("Test it", "pending"))))

    @tool(Risk.READ)
    def fail(self) -> Outcome:
        raise ToolError(phrase("There is no file {path}.", path="x.py"))

    @replace(SPECS["run_command"], risk=Risk.RUN)
    def run_command(self, command: str, wait: float = 0.0, lines: int = 3) -> RunningTool:
        text = ""
        for number in range(lines):
            piece = f"line {number} {HOSTILE if number == 1 else ''}\n"
            text += piece
            yield piece
            if wait and self._stop.wait(wait):
                raise Stopped
        card = RunCard("bash", command, text, 0, "", 0.1, "bubblewrap", (Change("created", "out"),))
        return Outcome("ok", card)

    @replace(SPECS["run_python"], risk=Risk.RUN)
    def run_python(self, code: str) -> Outcome:
        return Outcome("ok", RunCard("python", code, "Traceback …\n", 1, "", 0.2, "bubblewrap"))

    @replace(SPECS["web_search"], risk=Risk.NETWORK)
    def web_search(self, query: str) -> Outcome:
        links = (Link("A page", "https://example.org/a", "Words of the page. " * 20),)
        return Outcome("ok", LinksCard(query, links))

    @command("/note PATH TEXT", "Attach a note to a file.")
    def note(self, rest: str) -> Card:
        return TextCard("note", rest)

    @command("/remember TEXT", "Keep TEXT.", is_concurrent=True, shortcut=MEMORY_MARKS)
    def keep(self, rest: str) -> Card:
        return TextCard("Kept", rest)

    @command("/table", "Show a table.")
    def table(self, _: str) -> Card:
        return TableCard("Table", (("模型", "deepseek-flash"), ("cost", HOSTILE)))

    @command("/crash", "Break.")
    def crash(self, _: str) -> Card:
        raise KeyError("a bug")


SCRIPT = "\n".join(f"echo row {number} of the script" for number in range(60))
TOOLS = calls_reply(
    ("c1", "read_file", '{"path": "src/a.py"}'),
    ("c2", "read_file", '{"path": "src/报告.md"}'),
    ("c3", "list_files", "{}"),
    ("c4", "search_text", '{"pattern": "parse"}'),
    ("c5", "update_todos", '{"step": 1}'),
    ("c6", "modify_file", '{"path": "src/a.py"}'),
    ("c7", "run_command", '{"command": "pytest -q", "wait": 0.01, "lines": 30}'),
    ("c8", "run_python", '{"code": "import os\\nprint(1/0)"}'),
    ("c9", "fail", "{}"),
    text="I look at it first.",
)


def slow_reply(folder: Path) -> list[Item]:
    """A long reply: thought of until the door `write` is open, written until `end` is."""
    thinking = streamed_reply("", 0.02, thinking="Let me think about it.\n" * 9)
    *pieces, done = streamed_reply(PROSE, 0.02)
    return [
        *thinking[:-1],
        wait_for_file(folder / "write"),
        *pieces,
        wait_for_file(folder / "end"),
        done,
    ]


def scripts(folder: Path) -> dict[str, list[list[Item]]]:
    return {
        "news": [text_reply("Begun.")],
        "prose": [streamed_reply(PROSE, 0.002)],
        "slow": [slow_reply(folder)],
        "tools": [TOOLS, text_reply("All done.")],
        "long": [
            call_reply("run_command", command="make", wait=0.1, lines=600),
            text_reply("Done."),
        ],
        "script": [
            call_reply("run_command", command=SCRIPT, wait=0.1, lines=600),
            text_reply("Done."),
        ],
        "stubborn": [[lambda _: time.sleep(60), *text_reply("late")]],
        "silent": [[pause(60.0), *text_reply("late")]],
        "late": [
            [wait_for_file(folder / "go"), *call_reply("web_search", query="tea")],
            text_reply("Found."),
        ],
        "pausing": [[wait_for_file(folder / "go"), *text_reply("after a while")]],
        "web": [call_reply("web_search", query="tea"), text_reply("Found.")],
        "ask": [
            call_reply("ask_person", question="Which drink?", choices=["tea", "coffee"]),
            text_reply("Noted."),
        ],
        "plan": [
            call_reply("modify_file", path="src/a.py"),
            text_reply("# Plan\n\n1. Change src/a.py\n2. Test it"),
            call_reply("modify_file", path="src/a.py"),
            text_reply("All of it is done."),
        ],
        "hostile": [text_reply(f"safe {HOSTILE} end")],
        "retry": [
            [
                Delta("half a rep\n\nly"),
                Retry(phrase("The server is busy."), 2, 1.0),
                *text_reply("whole"),
            ]
        ],
    }


class ScriptChooser(ScriptedModel):
    """Plays what the first word of the person's message names; anything else is echoed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.plays = scripts(folder)

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> Iterator[Delta | Retry | Completion]:
        if messages[-1]["role"] == "user":
            prompt = str(messages[-1]["content"])
            self.replies = list(
                self.plays.get(prompt.split()[0], [text_reply(f"You said {prompt!r}.")])
            )
        yield from super().stream(
            messages, tools, think=think, stop=stop, reply_tokens=reply_tokens, effort=effort
        )


def main(folder: Path, language: Any, count: int) -> int:
    logging.basicConfig(filename=folder / "log")
    stop = Stop()
    files = ["src/报告 final.md", "src/a.py", *(f"deep/folder/file{n}.txt" for n in range(count))]
    late_news = LateNews()
    main_terminal = terminal(
        features=[FakeTools(stop), AskPerson(), Plans(folder / "plans"), late_news],
        stop=stop,
        list_paths=lambda: files,
        is_practice=True,
    )
    main_terminal.model = ScriptChooser(folder)
    late_news.is_due = lambda: (
        not main_terminal.is_in_turn
        and User("news") in [record for _, record in main_terminal.history.records]
    )
    translator = Translator.of(language)
    settings = load(dotenv=folder / "none")
    return run_repl(
        main_terminal,
        translator,
        history_file=folder / "typed",
        failures=FailureLog(folder / "log"),
        settings=ScreenSettings(
            settings.keys == "vim",
            Colors(settings.theme),
            attention_for(settings, translator, "demo"),
        ),
        is_plain=settings.plain,
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
