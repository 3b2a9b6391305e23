"""Whatever a session asks shows on the board of another process, and is answered from there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.modules.agents.two_processes import both
from tests.racing import Responder, creates
from tests.simulator import Call, Say
from tests.simulator.server import wait_for


class Kind(NamedTuple):
    """A question that comes of *lines* and *script*; its *risk*, how it begins, an *answer*.

    *shown* stands on the board while it is asked, *after* is said once that was answered.
    """

    lines: tuple[str, ...]
    script: Any
    risk: str
    why: str
    answer: str
    shown: str
    after: str
    prepare: Callable[[Path], object] = lambda _root: None


def _many(root: Path) -> None:
    (root / "data").mkdir(parents=True)
    for number in range(25):
        (root / "data" / f"{number}.txt").touch()


def _note(root: Path) -> None:
    (root / "a.txt").write_text("one\n")


def _hooks(root: Path) -> None:
    (root / ".agents").mkdir()
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    (root / ".agents/hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))


def _command(root: Path) -> None:
    (root / ".agents/commands").mkdir(parents=True)
    (root / ".agents/commands/look.md").write_text("See: !`echo seen`\n")


_AGAIN = Call("read_file", path="none.txt")
KINDS: Mapping[str, Kind] = {
    "call": Kind(
        ("Go.",),
        [Call("run_command", command="echo hi", network=True), Say("So be it.")],
        *("run", "", "yes", "run_command echo hi", "So be it."),
    ),
    "question": Kind(
        ("Go.",),
        [Call("ask_person", question="Which?", choices=["red", "blue"]), Say("So be it.")],
        *("question", "Which?", "2", "ask_person Which?", "So be it."),
    ),
    "loop": Kind(
        ("Go.",),
        [*[_AGAIN] * 5, Say("So be it.")],
        *("loop", "The model is going in circles", "yes", "The model is going", "So be it."),
    ),
    "loss": Kind(
        ("Go.",),
        [Call("run_command", command="rm -r data; touch new"), Say("So be it.")],
        *("loss", "It deleted 25 of 25 files.", "yes", "run_command rm -r data", "So be it."),
        _many,
    ),
    "protected": Kind(
        ("/note a.txt do not touch: measured", "Go."),
        [Call("run_command", command="echo two > a.txt"), Say("So be it.")],
        *("protected", "It changed something that", "no", "run_command echo two", "So be it."),
        _note,
    ),
    "hooks": Kind(
        ("Go.",),
        [Say("So be it.")],
        *("told", "Allow these project hooks", "no", "Allow these project hooks", "So be it."),
        _hooks,
    ),
    "command of the project": Kind(
        ("/look",),
        [Say("So be it.")],
        *("told", "Allow this project command", "yes", "Allow this project", "So be it."),
        _command,
    ),
    "plan": Kind(
        ("/approve plan", "Go."),
        [Say("# Plan\n1. Nothing.\n"), Say("So be it.")],
        *("question", "Do this plan now?", "1", "Do this plan now?", "So be it."),
    ),
    "failed step": Kind(
        ("/depth deep", "Go."),
        [_AGAIN, Say("It cannot be."), Say("So be it.")],
        *("question", "The last step failed", "1", "The last step failed", "So be it."),
    ),
    "race": Kind(
        ("/race 2 Do it.",),
        Responder([creates("one"), creates("two")]),
        *("question", "Which result", "3", "Which result", "Nothing was taken"),
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_it_is_asked_and_answered_from_another_process(tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    (tmp_path / "project").mkdir()
    kind.prepare(tmp_path / "project")
    with both(tmp_path, kind.script) as run:
        for line in kind.lines[:-1]:
            run.say(line)
            run.dialogue.see_prompt_after(line)
        run.say(kind.lines[-1])
        session, shown = run.asked()
        work = run.wait_for_state("asking")
        assert str(work.doing).startswith(kind.shown)
        asked = run.agents.question(session)
        assert asked.event.risk == kind.risk
        assert str(asked.event.why).startswith(kind.why)
        assert all(str(choice) in shown for choice in asked.event.choices)
        run.told(f"answer {session} {kind.answer}")
        screen = run.dialogue.wait_for_text(kind.after)
        assert "Answered on another screen." in screen
        wait_for(lambda: [one.state for one in run.agents.work()] == ["idle"])
