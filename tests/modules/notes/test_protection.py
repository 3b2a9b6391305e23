"""What a note says not to touch stays as it is, by whatever way the model goes about it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.cards import TextCard, TreeCard
from core.conversation.messages import ToolResult
from core.events import ApprovalAsked, CommandAnswered, Event, Reply, ToolFinished, Warned
from core.loop.approval import ApprovalMode
from core.loop.turn import drive
from modules.annotations import Annotations
from modules.cli.render.cards.plain_cards import card_text
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.sandbox.sandbox_home import wait_until
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import phrase

LINES = [f"line {number}" for number in range(1, 21)]
TEXT = "".join(f"{line}\n" for line in LINES)
WAYS: dict[str, dict[str, Any]] = {
    "replace": {"operation": "replace", "old": "line 11", "new": "other"},
    "replace all": {"operation": "replace", "old": "line 1", "new": "row 1", "all": True},
    "insert": {"operation": "insert", "start_line": 11, "new": "between\n"},
    "replace lines": {
        "operation": "replace_lines",
        "start_line": 8,
        "end_line": 10,
        "new": "less\n",
    },
    "clear": {"operation": "clear"},
}


def noted(env: AssembledTerminal, target: str, text: str = "do not touch: measured") -> None:
    (env.root / "pkg").mkdir(exist_ok=True)
    (env.root / "pkg/a.txt").write_text(TEXT)
    run_turn(env.terminal, f"/note {target} {text}")


def answers(env: AssembledTerminal) -> list[ToolResult]:
    return [r for _, r in env.terminal.history.records if isinstance(r, ToolResult)]


def tool_calls() -> list[Any]:
    calls = [call_reply("modify_file", path="pkg/a.txt", **way) for way in WAYS.values()]
    calls += [
        call_reply("create_file", path="pkg/a.txt", content="new\n", overwrite=True),
        call_reply("rename_file", path="pkg/a.txt", new_path="b.txt"),
        call_reply("rename_file", path="pkg", new_path="src"),
        call_reply("rename_file", path="other.txt", new_path="pkg/a.txt"),
        call_reply("rename_file", path="other", new_path="pkg"),
        call_reply("delete_file", path="pkg/a.txt"),
        call_reply("delete_folder", path="pkg", recursive=True),
    ]
    return calls


@pytest.mark.parametrize("mode", ["guarded", "all"])
@pytest.mark.parametrize("target", ["pkg/a.txt:10-12", "pkg/a.txt"])
def test_no_tool_for_files_touches_it(tmp_path: Path, target: str, mode: ApprovalMode) -> None:
    calls = tool_calls()
    read = call_reply("read_file", path="pkg/a.txt")
    with assembled_terminal(tmp_path, read, *calls, text_reply("ok")) as env:
        env.terminal.approval.mode = mode
        noted(env, target, "不要改：量过的")
        (env.root / "other").mkdir()
        (env.root / "other.txt").write_text("x\n")
        drive(env.terminal.run_line("go"), lambda _: Reply(yes=True))
        _, *refused = answers(env)
        assert [one.state for one in refused] == ["failed"] * len(calls)
        is_said = ["A note protects pkg/a.txt" in one.text for one in refused]
        assert is_said.count(False) == 2  # nothing is moved over anything
        assert (env.root / "pkg/a.txt").read_text() == TEXT


@pytest.mark.parametrize("how", ["link", "hard link"])
def test_another_name_of_the_file_is_no_way_round(tmp_path: Path, how: str) -> None:
    calls = [
        call_reply("read_file", path="other.txt"),
        call_reply("modify_file", path="other.txt", operation="clear"),
        call_reply("run_command", command="echo x > other.txt"),
    ]
    with assembled_terminal(tmp_path, *calls, text_reply("ok")) as env:
        noted(env, "pkg/a.txt:10-12")
        if how == "link":
            (env.root / "other.txt").symlink_to("pkg/a.txt")
        else:
            (env.root / "other.txt").hardlink_to(env.root / "pkg/a.txt")
        run_turn(env.terminal, "go")
        assert (env.root / "pkg/a.txt").read_text() == TEXT


def test_what_is_beside_protected_lines_is_free(tmp_path: Path) -> None:
    calls = [
        call_reply("read_file", path="pkg/a.txt"),
        call_reply("modify_file", path="pkg/a.txt", operation="append", new="the end\n"),
        call_reply(
            "modify_file", path="pkg/a.txt", operation="replace", old="line 9\n", new="9\n9a\n"
        ),
        call_reply("modify_file", path="pkg/a.txt", operation="replace", old="line 13", new="13"),
    ]
    with assembled_terminal(tmp_path, *calls, text_reply("ok")) as env:
        noted(env, "pkg/a.txt:10-12")
        run_turn(env.terminal, "go")
        assert [one.state for one in answers(env)] == ["done"] * 4
        (card,) = run_turn(env.terminal, "/note pkg/a.txt:11")
        assert "pkg/a.txt:11-13" in str(card)
        assert "outdated" not in str(card)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("pkg/a.txt:900-901", "The last line of pkg/a.txt is 20; the note would go beyond it."),
        ("pkg/a.txt:2-900", "The last line of pkg/a.txt is 20; the note would go beyond it."),
        ("pkg/empty:1", "pkg/empty is empty: there is no line to note."),
        ("pkg/long:1-600", "A note can be on 500 lines at most."),
    ],
)
def test_a_note_on_lines_that_cannot_have_one_says_why(
    tmp_path: Path, place: str, why: str
) -> None:
    with assembled_terminal(tmp_path) as env:
        noted(env, "pkg/a.txt")
        for name, text in (("empty", ""), ("long", "x\n" * 1000)):
            (env.root / "pkg" / name).write_text(text)
        (shown,) = run_turn(env.terminal, f"/note {place} hello")
        assert isinstance(shown, CommandAnswered)
        assert isinstance(shown.card, TextCard)
        assert str(shown.card.title) == why


def test_the_model_cannot_take_the_note_away(tmp_path: Path) -> None:
    calls = [call_reply("annotate_file", path="pkg/a.txt", note=text) for text in ("", "fine")]
    with assembled_terminal(tmp_path, *calls, text_reply("ok")) as env:
        noted(env, "pkg/a.txt")
        run_turn(env.terminal, "go")
        assert all("only the person changes that" in one.text for one in answers(env))
        (card,) = run_turn(env.terminal, "/note pkg/a.txt")
        assert "do not touch: measured" in str(card)


BREAKS = {
    "python": call_reply(
        "run_python", code="t = open('pkg/a.txt').read()\nopen('pkg/a.txt', 'w').write(t[90:])"
    ),
    "sed": call_reply("run_command", command="sed -i 's/line 11/other/' pkg/a.txt"),
    "move": call_reply("run_command", command="mv pkg/a.txt b.txt"),
    "folder": call_reply("run_command", command="mv pkg src"),
    "remove": call_reply("run_command", command="rm -r pkg"),
    "replace": call_reply("run_command", command="echo x > new && mv new pkg/a.txt"),
    "git": call_reply("run_command", command="git checkout -q -f -- . && ls"),
    "stash": call_reply("run_command", command="git -c user.name=a -c user.email=b stash -q"),
    "replaced folder": call_reply(
        "run_command",
        command="mv pkg old && cp -r old pkg && sed -i 's/line 11/other/' pkg/a.txt",
    ),
    "link": call_reply(
        "run_command",
        command="mv pkg/a.txt b.txt && ln -s ../b.txt pkg/a.txt && sed -i 's/line 11/x/' b.txt",
    ),
    "linked folder": call_reply(
        "run_command", command="mv pkg new && ln -s new pkg && sed -i 's/line 11/x/' new/a.txt"
    ),
    "line ends": call_reply("run_command", command="sed -i 's/$/\\r/' pkg/a.txt"),
    "encoding": call_reply(
        "run_command", command="iconv -f utf-8 -t utf-16 pkg/a.txt > t && mv t pkg/a.txt"
    ),
    "program": call_reply(
        "run_command",
        command="perl -pi -e 's/line 11/other/' pkg/a.txt || ed -s pkg/a.txt <<< $'11d\nw'",
    ),
}


@pytest.mark.parametrize("mode", ["guarded", "all"])
@pytest.mark.parametrize("target", ["pkg/a.txt:10-12", "pkg/a.txt"])
@pytest.mark.parametrize("how", list(BREAKS))
def test_a_run_that_broke_it_is_put_back_where_nobody_says_yes(
    tmp_path: Path, how: str, target: str, mode: ApprovalMode
) -> None:
    with assembled_terminal(tmp_path, BREAKS[how], text_reply("ok")) as env:
        env.terminal.approval.mode = mode
        commit_another_version(env.root)
        noted(env, target)
        asked: list[ApprovalAsked] = []
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            if isinstance(event, ApprovalAsked):
                asked.append(event)
            return None

        drive(env.terminal.run_line("go"), show)
        assert [one.risk for one in asked] == ([] if mode == "all" else ["protected"])
        assert all("do not touch: measured" in str(one.preview) for one in asked)
        what = phrase("It changed something that a note protects.")
        undone = phrase("All its file changes were undone.")
        assert Warned(phrase("{what} {undone}", what=what, undone=undone)) in events
        assert (env.root / "pkg/a.txt").read_bytes() == TEXT.encode()
        (result,) = answers(env)
        assert result.state == "refused"
        assert "It changed something that a note protects." in result.text
        (card,) = run_turn(env.terminal, f"/note {target}")
        assert "do not touch" in str(card)
        assert "outdated" not in str(card)


def test_what_is_put_back_is_not_said_to_have_changed(tmp_path: Path) -> None:
    """Also where somebody looked at the notes while the question stood, as the page's tree does."""
    with assembled_terminal(tmp_path, BREAKS["sed"], text_reply("ok")) as env:
        noted(env, "pkg/a.txt:10-12")
        notes = env.terminal.features.find(Annotations)
        assert notes
        told: list[str] = []

        def show(event: Event) -> Reply | None:
            if isinstance(event, Warned):
                told.append(str(event.what))
            if not isinstance(event, ApprovalAsked):
                return None
            assert notes.broken()
            return Reply(yes=False)

        drive(env.terminal.run_line("go"), show)
        assert (env.root / "pkg/a.txt").read_text() == TEXT
        assert told == ["All its file changes were undone."]


def commit_another_version(root: Path) -> None:
    (root / "pkg").mkdir()
    (root / "pkg/a.txt").write_text(TEXT.replace("line 11", "line eleven"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root)]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)


def test_with_a_yes_it_stays_and_the_note_says_that_it_is_stale(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, BREAKS["sed"], text_reply("ok")) as env:
        noted(env, "pkg/a.txt:10-12")
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            return Reply(yes=True) if isinstance(event, ApprovalAsked) else None

        drive(env.terminal.run_line("go"), show)
        assert "other" in (env.root / "pkg/a.txt").read_text()
        finished = next(event for event in events if isinstance(event, ToolFinished))
        assert finished.state == "done"
        (card,) = run_turn(env.terminal, "/note pkg/a.txt:11")
        assert "outdated" in str(card)


def test_a_run_beside_it_is_not_asked_about(tmp_path: Path) -> None:
    run = call_reply("run_command", command="sed -i 's/line 2$/two/' pkg/a.txt; echo x > pkg/b")
    with assembled_terminal(tmp_path, run, text_reply("ok")) as env:
        noted(env, "pkg/a.txt:10-12")
        events = run_turn(env.terminal, "go")
        assert not any(isinstance(event, ApprovalAsked) for event in events)
        assert answers(env)[0].state == "done"


def test_the_person_is_free_and_told_once_what_no_longer_holds(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("a"), text_reply("b"), text_reply("c")) as env:
        noted(env, "pkg/a.txt:10-12")
        run_turn(env.terminal, "one")
        (env.root / "pkg/a.txt").write_text(TEXT.replace("line 11", "mine"))
        told = [
            [str(event.what) for event in run_turn(env.terminal, line) if isinstance(event, Warned)]
            for line in ("two", "three")
        ]
        assert told[1] == []
        assert len(told[0]) == 1
        assert "pkg/a.txt:10-12" in told[0][0]


def test_undo_of_the_person_brings_lines_and_note_back(tmp_path: Path) -> None:
    edit = call_reply("modify_file", path="pkg/a.txt", operation="append", new="more\n")
    read = call_reply("read_file", path="pkg/a.txt")
    with assembled_terminal(tmp_path, read, edit, text_reply("ok"), text_reply("ok")) as env:
        noted(env, "pkg/a.txt:1")
        run_turn(env.terminal, "go")
        run_turn(env.terminal, "/note pkg/a.txt:21 do not touch")
        run_turn(env.terminal, "/undo")
        assert (env.root / "pkg/a.txt").read_text() == TEXT
        (card,) = run_turn(env.terminal, "/note")
        assert str(card).count("outdated") == 1
        run_turn(env.terminal, "/redo")
        (card,) = run_turn(env.terminal, "/note")
        assert "outdated" not in str(card)
        assert "pkg/a.txt:21" in str(card)


def test_lines_that_change_places_do_not_lose_the_note_for_the_next_change(tmp_path: Path) -> None:
    """The note went stale by a change beside its line, and the line was free from then on."""
    calls = [
        call_reply("create_file", path="a.txt", content=text, overwrite=True)
        for text in ("k=2\nk=1\n", "k=2\nk=3\n")
    ]
    read = call_reply("read_file", path="a.txt")
    with assembled_terminal(tmp_path, read, *calls, text_reply("ok")) as env:
        (env.root / "a.txt").write_text("k=1\nk=2\n")
        run_turn(env.terminal, "/note a.txt:1 do not touch: measured")
        run_turn(env.terminal, "go")
        assert [one.state for one in answers(env)] == ["done", "failed", "failed"]
        assert (env.root / "a.txt").read_text() == "k=1\nk=2\n"


def test_the_tree_tells_of_stale_notes_in_the_language_of_the_screen(tmp_path: Path) -> None:
    look = call_reply("list_files", path="pkg")
    with assembled_terminal(tmp_path, look, text_reply("ok")) as env:
        noted(env, "pkg/a.txt:10-12", "measured")
        run_turn(env.terminal, "/note pkg/a.txt:2 second")
        (env.root / "pkg/a.txt").write_text(TEXT.replace("line 11", "mine"))
        events = run_turn(env.terminal, "look")
        card = next(event.card for event in events if isinstance(event, ToolFinished))
        assert isinstance(card, TreeCard)
        english = "line 2: second; lines 10-12: measured (its lines have changed since)"
        assert english in answers(env)[0].text
        assert english in card_text(card, Translator.of("en"))
        chinese = card_text(card, Translator.of("zh"))
        assert "第 2 行：second；第 10-12 行：measured（所在的行后来变了）" in chinese


def test_the_tree_tells_notes_of_files_that_others_renamed_meanwhile(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        noted(env, "pkg/a.txt", "the text")
        noted(env, "pkg/a.txt:10-12", "measured")
    (tmp_path / "project/pkg/a.txt").rename(tmp_path / "project/pkg/b.txt")
    with assembled_terminal(tmp_path) as env:
        (answer,) = run_turn(env.terminal, "/tree")
        assert isinstance(answer, CommandAnswered)
        assert answer.card is not None
        told = card_text(answer.card, Translator("en", {}))
        assert "b.txt  151 B  the text; lines 10-12: measured" in told


def test_a_program_that_runs_on_after_its_call_is_found_out_in_the_next_task(
    tmp_path: Path,
) -> None:
    """What a job broke is said once, with the place."""
    begins = "until [ -e go ]; do sleep 0.05; done; sed -i 's/line 11/other/' pkg/a.txt; touch end"
    job = call_reply("run_command", command=begins, background=True)
    replies = [job, text_reply("started"), text_reply("ok"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies) as env:
        env.terminal.approval.mode = "all"
        noted(env, "pkg/a.txt:10-12")
        events = run_turn(env.terminal, "begin it")
        (env.root / "go").touch()
        assert wait_until((env.root / "end").exists)  # between two tasks: no call has done it
        events += run_turn(env.terminal, "go on")
        events += run_turn(env.terminal, "and on")
        warned = [str(event.what) for event in events if isinstance(event, Warned)]
        assert len(warned) == 1
        assert "pkg/a.txt:10-12" in warned[0]
