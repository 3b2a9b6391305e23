"""The requests that run something or keep something, and those that are answered in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from modules.practice.language.arithmetic import to_python
from modules.practice.language.examples import help_text
from modules.practice.requests.file_jobs import Parts
from modules.practice.requests.run_results import RunResult
from modules.practice.requests.steps import JobFailed, JobSteps, call_or_fail
from modules.practice.requests.templates import command_for, counting_program
from modules.practice.voice import Voice, code

_SEPARATORS = ("\n", ";；", ",，、")
_BULLET = re.compile(
    r"(?:[-*•]|[0-9]{1,3}[.)、]|[一二三四五六七八九十]{1,3}、)\s{0,9}|(?:and|then)\s{1,9}",
    re.IGNORECASE,
)
_LAST_SEPARATOR = re.compile(r"\s{1,9}(?:and|then)\s{1,9}|和", re.IGNORECASE)
_MAX_TODOS = 50


def run_file(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    command = command_for(path, parts.get("text", ""))
    if command is None:
        raise JobFailed(
            say.interface_voice(
                "I can run .py, .sh and .js files, not {path}.",
                "我只会运行 .py、.sh 和 .js 文件，不会运行 {path}。",
                path=code(path),
            )
        )
    return (yield from _run_shell_command(command, say))


def run_command(parts: Parts, say: Voice) -> JobSteps:
    return (yield from _run_shell_command(parts["text"], say))


def _run_shell_command(command: str, say: Voice) -> JobSteps:
    answer = yield from call_or_fail(say, "run_command", command=command)
    return RunResult.of(answer).report(code(command), say)


def run_python(parts: Parts, say: Voice) -> JobSteps:
    answer = yield from call_or_fail(say, "run_python", code=parts["text"])
    return RunResult.of(answer).report(say("The Python code", "这段代码"), say)


def compute(parts: Parts, say: Voice) -> JobSteps:
    expression = parts["text"].strip().rstrip("=?？ ")
    answer = yield from call_or_fail(say, "run_python", code=to_python(expression))
    run = RunResult.of(answer)
    if not run.ok:
        return run.report(code(expression), say)
    return f"{code(expression)} = {code(run.output)}"


def count(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    labels = say("lines words characters", "行数 词数 字符数").split()
    answer = yield from call_or_fail(say, "run_python", code=counting_program(path, labels))
    run = RunResult.of(answer)
    if not run.ok:
        return run.report(say("Counting {path}", "统计 {path}", path=code(path)), say)
    head = say("Counted in {path}:", "{path} 的统计：", path=code(path))
    return f"{head}\n\n{say.quote(run.output)}"


def focus(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    yield from call_or_fail(say, "focus_file", path=path)
    return say("{path} is in focus now.", "已聚焦 {path}。", path=code(path))


def unfocus(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    yield from call_or_fail(say, "unfocus_file", path=path)
    return say("{path} is no longer in focus.", "已不再聚焦 {path}。", path=code(path))


def note(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    yield from call_or_fail(say, "annotate_file", path=path, note=parts["text"])
    return say("The note on {path} is kept.", "已给 {path} 加上备注。", path=code(path))


def remove_note(parts: Parts, say: Voice) -> JobSteps:
    path = parts["path"]
    yield from call_or_fail(say, "annotate_file", path=path, note="")
    return say("The note on {path} is removed.", "已去掉 {path} 的备注。", path=code(path))


def remember(parts: Parts, say: Voice) -> JobSteps:
    yield from call_or_fail(say, "remember", text=parts["text"])
    return say("I will remember that. `/memory` shows it.", "记住了。`/memory` 可以查看。")


def plan(parts: Parts, say: Voice) -> JobSteps:
    titles = list(_titles(parts["text"]))[:_MAX_TODOS]
    todos = [{"title": title, "status": "pending"} for title in titles]
    yield from call_or_fail(say, "update_todos", todos=todos)
    lines = [f"{number}. {title}" for number, title in enumerate(titles, 1)]
    return "\n".join([say("The plan:", "计划："), "", *lines])


def _titles(text: str) -> Iterator[str]:
    """Yield the items of a list: lines, or else what stands between semicolons or commas."""
    separators = next(
        (separators for separators in _SEPARATORS if any(sign in text for sign in separators)), ""
    )
    *parts, last = re.split(f"[{separators}]", text) if separators else [text]
    for part in (*parts, *(_LAST_SEPARATOR.split(last, maxsplit=1) if parts else [last])):
        bullet = _BULLET.match(part.strip())
        if title := part.strip()[bullet.end() if bullet else 0 :].strip():
            yield title


def undo(_parts: Parts, say: Voice) -> JobSteps:
    yield from ()
    return say.interface_voice(
        "I have no tool to undo. You have: `/undo` takes back the last turn, files and all.",
        "我没有撤销的工具，但你有：`/undo` 会撤回上一轮，连同文件的改动。",
    )


def introduce(_parts: Parts, say: Voice) -> JobSteps:
    """Say who this is and what it understands."""
    yield from ()
    return help_text(say.interface_voice)


def answer_thanks(_parts: Parts, say: Voice) -> JobSteps:
    """Answer a courtesy in a line, and say who does."""
    yield from ()
    return say(
        "You are welcome. (I am the practice model, no AI: say “help” for what I understand.)",
        "不客气。（我是练习模型，不是 AI；说“帮助”可以看我懂什么。）",
    )
