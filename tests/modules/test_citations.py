"""Sources keep their numbers through a task, on every screen and after a new start."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.segment import Segment

from core.cards import Link
from core.conversation.citation_marks import with_links
from core.conversation.messages import ToolResult
from core.events import Event, TurnFinished
from core.loop.turn import drive
from modules.cli.print_mode import PlainScreen
from modules.cli.render.citations import linked as drawn
from modules.cli.render.screen import CliScreen
from modules.cli.render.theme import THEME
from modules.translator import Translator
from tests import assembly
from tests.scripted_model import call_reply, text_reply
from tests.tavily_double import TavilyDouble

ANSWER = "Tea is hot [2][1], not cold [9]; `[2]` and a[2] mean nothing."


def page(name: str) -> dict[str, str]:
    return {"url": f"https://{name}.org/", "title": name.upper(), "content": f"of {name}"}


def answer(path: str, body: dict[str, str]) -> tuple[int, dict[str, object]]:
    if path == "/search":
        return 200, {"results": [page(name) for name in body["query"].split()]}
    return 200, {"results": [{"url": body["urls"], "raw_content": "Cite me as [7]."}]}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> object:
    with TavilyDouble(answer) as double:
        settings = replace(
            assembly.SETTINGS, tavily_api_key="tvly-x", tavily_base_url=double.base_url
        )
        monkeypatch.setattr(assembly, "SETTINGS", settings)
        yield


def test_numbers_run_through_a_task_and_begin_anew(tmp_path: Path) -> None:
    replies = [
        call_reply("web_search", query="a b", id="c1"),
        call_reply("read_page", url="https://c.org/", id="c2"),
        call_reply("web_search", query="b d", id="c3"),
        text_reply(ANSWER),
        call_reply("read_page", url="https://d.org/", id="c4"),
        text_reply("No number."),
    ]
    events: list[Event] = []
    with assembly.assembled_terminal(tmp_path, *replies, approval_mode="all") as made:
        drive(made.terminal.run_line("tea"), lambda event: events.append(event))  # noqa: PLW0108
        drive(made.terminal.run_line("more"), lambda event: events.append(event))  # noqa: PLW0108
        session = made.terminal.session
        results = [r for _, r in made.terminal.history.records if isinstance(r, ToolResult)]
        texts = [result.text for result in results]
        assert re.findall(r"^\[\d+\] \w+$", texts[0], re.M) == ["[1] A", "[2] B"]
        assert "cite as [3]." in texts[1].splitlines()[0]
        assert re.findall(r"^\[\d+\] \w+$", texts[2], re.M) == ["[2] B", "[4] D"]
        assert "cite as [1]." in texts[3].splitlines()[0]
    first, second = [event for event in events if isinstance(event, TurnFinished)]
    assert [(one.n, one.url, one.title) for one in first.citations] == [
        (1, "https://a.org/", "A"),
        (2, "https://b.org/", "B"),
    ]
    assert (first.unknown_citations, second.citations) == ((9,), ())

    with assembly.assembled_terminal(tmp_path) as made:  # a new start knows the same
        made.terminal.resume(session)
        made.terminal.perform("/export", lambda: made.terminal.commands["/export"].run("t.md"))
        exported = (made.root / "t.md").read_text()
        assert (
            '[\\[2\\]](<https://b.org/> "B")[\\[1\\]](<https://a.org/> "A"), not cold [9]? (source'
            in (exported)
        )

    out = io.StringIO()
    screen = PlainScreen("json", out, io.StringIO(), Translator("en", {}))
    for event in events[: events.index(first) + 1]:
        screen.show(event)
    screen.finish("s1")
    result = json.loads(out.getvalue())
    assert result["citations"][1] == {"n": 2, "url": "https://b.org/", "title": "B"}
    assert result["unknown_citations"] == [9]

    drawn = io.StringIO()
    console = Console(
        file=drawn, width=100, force_terminal=True, color_system="standard", theme=THEME
    )
    terminal = CliScreen(console, Translator("en", {}))
    for event in events[: events.index(first) + 1]:
        terminal.show(event)
    text = drawn.getvalue()
    assert re.search(r"\x1b\]8;[^;]*;https://b\.org/\x1b\\\x1b\[34m\[2\]", text)
    assert "\u2060" not in text
    plain = re.sub(r"\x1b\]8;[^\x1b]*\x1b\\|\x1b\[[\d;?]*[a-zA-Z]", "", text)
    assert "Tea is hot [2][1], not cold [9]?; [2] and a[2] mean nothing." in plain
    assert "[1] A  https://a.org/" in plain
    assert "[9]: source not read" in plain


def test_hostile_sources_stay_in_their_link() -> None:
    evil = Link('a"](javascript:x) \u202e\x1b]8;;b', "https://e.org/>(\x1b[31m\u202e", "", 1)
    script = Link("b", "javascript:alert(1)", "", 2)
    text = "So [1], [2].\n\n> ```\n> [1]\n> ```"
    linked = with_links(text, {1: evil, 2: script})
    assert not re.search("[\u202e\x1b]", linked)
    assert "(<https://e.org/%3E(%1B[31m%E2%80%AE>" in linked
    text_of = {1: evil.url, 2: script.url, 3: "https://e.org/"}
    segments = [*drawn([Segment("".join(f"\u2060[{n}]\u2060" for n in text_of))], text_of)]
    assert [one.style.link for one in segments if one.style] == [None, None, "https://e.org/"]
    assert linked.endswith(", [2].\n\n> ```\n> [1]\n> ```")
