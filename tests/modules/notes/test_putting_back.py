"""What a note protects is put back with one key when anything beside the calls changed it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.events import ApprovalAsked, Event, Reply, ToolFinished, Warned
from core.loop.turn import drive
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.notes.test_protection import TEXT, noted
from tests.modules.sandbox.sandbox_home import wait_until
from tests.scripted_model import call_reply, run_turn, text_reply

LINES, WHOLE = "pkg/a.txt:10-12", "pkg/a.txt"


def job(env: AssembledTerminal, change: str) -> None:
    """Let a job make *change* after the task that began it."""
    command = f"until [ -e go ]; do sleep 0.05; done; {change}; touch end"
    replies = [call_reply("run_command", id="job", command=command, background=True)]
    env.model.replies[:0] = [*replies, text_reply("started")]
    drive(env.terminal.run_line("begin"), lambda _: Reply(yes=True))
    (env.root / "go").touch()
    assert wait_until((env.root / "end").exists)


def edit_job(env: AssembledTerminal) -> None:
    job(env, "sed -i 's/line 11/other/' pkg/a.txt")


def remove_job(env: AssembledTerminal) -> None:
    job(env, "rm pkg/a.txt")


def other_program(env: AssembledTerminal) -> None:
    (env.root / "pkg/a.txt").write_text(TEXT.replace("line 11", "other"))


def program_that_replaces(env: AssembledTerminal) -> None:
    (env.root / "new").write_text(TEXT.replace("line 11\n", ""))
    (env.root / "new").rename(env.root / "pkg/a.txt")


def program_that_removes(env: AssembledTerminal) -> None:
    (env.root / "pkg/a.txt").unlink()


def shell_escape(env: AssembledTerminal) -> None:
    run_turn(env.terminal, "!sed -i 's/line 11/other/' pkg/a.txt")


WAYS = [
    *(edit_job, remove_job, other_program, program_that_replaces, program_that_removes),
    shell_escape,
]


def task(env: AssembledTerminal, reply: Reply | None) -> tuple[list[ApprovalAsked], list[Event]]:
    """Play a task in which what is asked is answered by *reply*; return that and all events."""
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return reply if isinstance(event, ApprovalAsked) else None

    drive(env.terminal.run_line("go on"), show)
    return [one for one in events if isinstance(one, ApprovalAsked)], events


@pytest.mark.parametrize("target", [LINES, WHOLE])
@pytest.mark.parametrize("change", WAYS)
def test_a_yes_puts_it_back_whoever_changed_it(
    change: Callable[[AssembledTerminal], None], target: str, tmp_path: Path
) -> None:
    replies = [text_reply("one"), text_reply("two")]
    with assembled_terminal(tmp_path, *replies, runs_shell_escapes=True) as env:
        noted(env, target)
        change(env)
        (asked,), _ = task(env, Reply(yes=True))
        assert "pkg/a.txt" in str(asked.preview)
        assert "do not touch: measured" in str(asked.preview)
        assert (env.root / "pkg/a.txt").read_text() == TEXT
        again, events = task(env, Reply(yes=True))
        assert again == []
        assert not [one for one in events if isinstance(one, Warned)]
        (card,) = run_turn(env.terminal, f"/note {target}")
        assert "do not touch" in str(card)
        assert "outdated" not in str(card)


def test_what_else_was_changed_in_the_file_stays(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as env:
        noted(env, LINES)
        changed = TEXT.replace("line 11", "other").replace("line 3\n", "third\n") + "more\n"
        (env.root / "pkg/a.txt").write_text(changed)
        task(env, Reply(yes=True))
        assert (env.root / "pkg/a.txt").read_text() == changed.replace("other", "line 11")


@pytest.mark.parametrize("target", [LINES, WHOLE])
@pytest.mark.parametrize("reply", [None, Reply(yes=False)])
def test_without_a_yes_it_stays_and_is_asked_once(
    reply: Reply | None, target: str, tmp_path: Path
) -> None:
    replies = [text_reply("one"), text_reply("two")]
    with assembled_terminal(tmp_path, *replies) as env:
        noted(env, target)
        other_program(env)
        asked, events = task(env, reply)
        assert len(asked) == 1
        said = [str(one.what) for one in events if isinstance(one, Warned)]
        assert len(said) == 1
        assert "pkg/a.txt" in said[0]
        assert "other" in (env.root / "pkg/a.txt").read_text()
        assert task(env, reply)[0] == []


def test_what_changed_while_nobody_was_here_is_asked_about(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        noted(env, LINES)
    with assembled_terminal(tmp_path, text_reply("one")) as env:
        other_program(env)
        task(env, Reply(yes=True))
        assert (env.root / "pkg/a.txt").read_text() == TEXT


def test_what_a_job_did_between_two_calls_is_put_back_before_the_next_step(
    tmp_path: Path,
) -> None:
    change = "sed -i 's/line 11/other/' pkg/a.txt; touch end; sleep 60"
    command = f"until [ -e go ]; do sleep 0.05; done; {change}"
    replies = [
        call_reply("run_command", id="job", command=command, background=True),
        call_reply("read_file", id="look", path="pkg/a.txt"),
        text_reply("done"),
    ]
    with assembled_terminal(tmp_path, *replies) as env:
        noted(env, LINES)
        asked: list[ApprovalAsked] = []

        def show(event: Event) -> Reply | None:
            if isinstance(event, ToolFinished) and event.call_id == "job":
                (env.root / "go").touch()
                assert wait_until((env.root / "end").exists)
            if not isinstance(event, ApprovalAsked):
                return None
            asked.append(event)
            return Reply(yes=True)

        drive(env.terminal.run_line("begin"), show)
        assert [one.name for one in asked] == ["put back"]
        assert (env.root / "pkg/a.txt").read_text() == TEXT


def undo(env: AssembledTerminal) -> None:
    """Let the person undo a turn which had written what the note came to protect."""
    (env.root / "pkg/a.txt").write_text(TEXT.replace("line 11", "old line"))
    env.model.replies[:0] = [
        call_reply("read_file", id="u0", path="pkg/a.txt"),
        call_reply("modify_file", id="u1", path="pkg/a.txt", old="old line", new="line 11"),
        text_reply("ok"),
    ]
    run_turn(env.terminal, "change it")
    run_turn(env.terminal, f"/note {LINES} do not touch: measured")
    run_turn(env.terminal, "/undo")
    assert "old line" in (env.root / "pkg/a.txt").read_text()


def redo(env: AssembledTerminal) -> None:
    """Let the person redo a turn whose change the note protects from."""
    env.model.replies[:0] = [
        call_reply("read_file", id="u0", path="pkg/a.txt"),
        call_reply("modify_file", id="u1", path="pkg/a.txt", old="line 11", new="other"),
        text_reply("ok"),
    ]
    run_turn(env.terminal, "change it")
    run_turn(env.terminal, "/undo")
    run_turn(env.terminal, f"/note {LINES} do not touch: measured")
    run_turn(env.terminal, "/redo")
    assert "other" in (env.root / "pkg/a.txt").read_text()


@pytest.mark.parametrize("change", [undo, redo])
def test_what_an_undo_did_to_it_is_pointed_out_and_put_back_with_one_key(
    change: Callable[[AssembledTerminal], None], tmp_path: Path
) -> None:
    with assembled_terminal(tmp_path, text_reply("one"), text_reply("two")) as env:
        (env.root / "pkg").mkdir()
        (env.root / "pkg/a.txt").write_text(TEXT)
        change(env)
        (asked,), _ = task(env, Reply(yes=True))
        assert "do not touch: measured" in str(asked.preview)
        assert (env.root / "pkg/a.txt").read_text() == TEXT
        assert task(env, Reply(yes=True))[0] == []
