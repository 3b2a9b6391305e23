"""Helpers that write: each in a copy of the folder, and nothing that anybody wrote is lost."""

from __future__ import annotations

import random
from io import StringIO
from pathlib import Path

import pytest

from core.conversation.helper_records import helpers_in
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Reply,
    ToolFinished,
    TurnFinished,
)
from core.loop.turn import drive
from modules.cli.print_mode import PlainScreen
from modules.translator import Translator
from tests.campaign import seeded
from tests.modules.delegation.helper_models import PARENT, ModelOfHelpers
from tests.modules.delegation.test_delegation import (
    Left,
    Scripts,
    answers,
    at_work,
    delegated,
    shown,
    wrong_at_any_level,
)
from tests.scripted_model import Item, call_reply, text_reply
from utils.waiting import Stop


def copies_beside(root: Path) -> list[Path]:
    return [one for one in root.parent.iterdir() if "-helper-" in one.name]


def test_what_a_helper_wrote_comes_back_as_one_call_that_can_be_undone(tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("write", mode="write"), text_reply("Done.")],
        "write": [
            call_reply("modify_file", path="a.txt", old="hello", new="goodbye"),
            call_reply("create_file", path="new/b.txt", content="b\n"),
            call_reply("run_command", command="cat new/b.txt > c.txt"),
            text_reply("Written."),
        ],
    }
    with at_work(tmp_path, scripts) as assembled:
        root = assembled.root
        events = shown(assembled.terminal, "go")

        [answer] = answers(assembled.terminal)
        assert answer.state == "done"
        assert "Commands it ran: `cat new/b.txt > c.txt` exit 0." in answer.text
        assert (root / "a.txt").read_text() == "goodbye\n"
        assert (root / "new" / "b.txt").read_text() == (root / "c.txt").read_text() == "b\n"
        assert copies_beside(root) == []
        assert not [
            one for one in (tmp_path / "data" / "projects").iterdir() if "helper" in one.name
        ]
        finished = [one for one in events if getattr(one, "name", "") == "delegate"][-1]
        assert {one.path for one in finished.changes} >= {"a.txt", "c.txt"}  # type: ignore[union-attr]

        drive(assembled.terminal.run_line("/undo"), lambda _: None)
        assert (root / "a.txt").read_text() == "hello\n"
        assert not (root / "c.txt").exists()
        assert wrong_at_any_level(assembled.terminal) == []


@pytest.mark.parametrize(
    "write",
    [
        call_reply("modify_file", path="a.txt", old="hello", new="goodbye"),
        call_reply("create_file", path="a.txt", content="goodbye\n", overwrite=True),
        call_reply("rename_file", path="a.txt", new_path="b.txt"),
        call_reply("delete_file", path="a.txt"),
    ],
)
def test_a_helper_does_not_write_what_a_note_protects(write: list[Item], tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("write", mode="write"), text_reply("Done.")],
        "write": [call_reply("read_file", id="r", path="a.txt"), write, text_reply("Written.")],
    }
    with at_work(tmp_path, scripts) as assembled:
        shown(assembled.terminal, "/note a.txt:1 do not touch: measured")
        drive(assembled.terminal.run_line("go"), lambda _: Reply(yes=True))
        assert (assembled.root / "a.txt").read_text() == "hello\n"
        assert "Protected lines have changed" not in str(shown(assembled.terminal, "/note"))


@pytest.mark.parametrize("by_helper", [False, True])
def test_whoever_broke_a_protected_note_the_exit_code_says_so(
    tmp_path: Path, by_helper: bool
) -> None:
    breaks = call_reply("run_command", command="echo goodbye > a.txt")
    replies = [breaks, text_reply("Done.")]
    scripts: Scripts = {PARENT: replies}
    if by_helper:
        scripts = {
            PARENT: [delegated("write", mode="write"), text_reply("Done.")],
            "write": replies,
        }
    with at_work(tmp_path, scripts) as assembled:
        shown(assembled.terminal, "/note a.txt do not touch: measured")
        screen = PlainScreen("json", StringIO(), StringIO(), Translator("en", {}))
        drive(assembled.terminal.run_line("go"), screen.show)
        assert (assembled.root / "a.txt").read_text() == "hello\n"
        assert (screen.status, screen.finish()) == ("refused", 4)
        assert "a.txt" in str(screen.result("s")["error"])


def test_what_both_changed_in_one_place_is_a_conflict_and_both_are_kept(tmp_path: Path) -> None:
    def meanwhile(_: Stop) -> None:
        (tmp_path / "project" / "a.txt").write_text("the person's\n", encoding="utf-8")

    scripts: Scripts = {
        PARENT: [delegated("write", mode="write"), text_reply("Done.")],
        "write": [
            call_reply("modify_file", path="a.txt", old="hello", new="the helper's"),
            [meanwhile, *text_reply("Written.")],
        ],
    }
    with at_work(tmp_path, scripts) as assembled:
        shown(assembled.terminal, "go")

        [answer] = answers(assembled.terminal)
        assert (assembled.root / "a.txt").read_text() == "the person's\n"
        assert "Conflict: a.txt" in answer.text
        assert "+the helper's" in answer.text
        kept = [one for one in assembled.root.iterdir() if one.name.startswith("a.txt.")]
        assert [one.read_text() for one in kept] == ["the helper's\n"]


def test_a_helper_writes_nothing_where_its_session_may_not(tmp_path: Path) -> None:
    for mode in ("plan", "read-only"):
        scripts: Scripts = {
            PARENT: [delegated("write", mode="write"), text_reply("Done.")],
            "write": [],
        }
        base = tmp_path / mode
        base.mkdir()
        with at_work(base, scripts, approval_mode=mode) as assembled:
            shown(assembled.terminal, "go")
            assert [one.error_code for one in answers(assembled.terminal)] == ["refused"]
            assert copies_beside(assembled.root) == []


def test_a_writing_helper_goes_on_where_its_question_was_left(tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("write", mode="write"), text_reply("Done.")],
        "write": [
            call_reply("create_file", path="b.txt", content="b\n"),
            call_reply("create_file", path="c.txt", content="c\n"),
            text_reply("Written."),
        ],
    }

    def leave_at_second(event: Event) -> Reply | None:
        asked.append(event)
        if len([one for one in asked if isinstance(one, ApprovalAsked)]) == 2:
            raise Left
        return Reply(yes=True) if isinstance(event, ApprovalAsked) else None

    asked: list[Event] = []
    with at_work(tmp_path, scripts, approval_mode="ask") as assembled:
        try:
            drive(assembled.terminal.run_line("go"), leave_at_second)
            raise AssertionError("nobody was asked")
        except Left:
            session, model = assembled.terminal.session, assembled.terminal.model
        assert not (assembled.root / "b.txt").exists()
        assert isinstance(model, ModelOfHelpers)
    with at_work(tmp_path, model.scripts, approval_mode="ask") as assembled:
        assembled.terminal.resume(session)
        events: list[Event] = []

        def agree(event: Event) -> Reply | None:
            events.append(event)
            return Reply(yes=True) if isinstance(event, ApprovalAsked) else None

        drive(assembled.terminal.resume_turn(), agree)

        assert sum(isinstance(one, ApprovalAsked) for one in events) == 1
        assert (assembled.root / "b.txt").read_text() == "b\n"
        assert (assembled.root / "c.txt").read_text() == "c\n"
        assert isinstance(events[-1], TurnFinished)
        assert copies_beside(assembled.root) == []
        assert wrong_at_any_level(assembled.terminal) == []


def tree(folder: Path) -> dict[str, bytes]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in files}


def test_what_a_helper_wrote_is_undone_and_explained_call_by_call(tmp_path: Path) -> None:
    states: list[dict[str, bytes]] = []

    def look(_: Stop) -> None:
        states.append(tree(copies_beside(tmp_path / "project")[0]))

    work = [
        call_reply("modify_file", id="w1", path="a.txt", old="hello", new="one"),
        call_reply("create_file", id="w2", path="new/b.txt", content="b\n"),
        call_reply("list_files", id="w3"),
        call_reply("run_command", id="w4", command="mv new/b.txt c.txt; rmdir new"),
        call_reply("modify_file", id="w5", path="a.txt", old="one", new="one\ntwo"),
        text_reply("Written."),
    ]
    scripts: Scripts = {
        PARENT: [delegated("write", mode="write"), text_reply("Done.")],
        "write": [[look, *reply] for reply in work],
    }
    with at_work(tmp_path, scripts) as assembled:
        root, terminal = assembled.root, assembled.terminal
        shown(terminal, "go")
        assert tree(root) == states[-1]
        [why] = [one for one in shown(terminal, "/why a.txt") if isinstance(one, CommandAnswered)]
        assert "delegate" not in str(why.card)
        assert str(why.card).count("modify_file") >= 1

        for state in [states[4], states[3], states[1], states[0]]:
            shown(terminal, "/undo call")
            assert tree(root) == state
        for state in [states[1], states[3], states[4], states[5]]:
            shown(terminal, "/redo")
            assert tree(root) == state
        shown(terminal, "/undo")
        assert tree(root) == states[0]


NAMES = [f"f{number}.txt" for number in range(10)]


class Folder:
    """Ten files that four helpers and a person change, each line a text of its own."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self.chance = chance
        self.written: set[str] = set()
        self.twin: dict[str, bytes] | None = None
        """The copy of the helper at work at its end, None where the person wrote meanwhile."""
        self.is_touched = False
        for name in NAMES:
            text = "".join(f"{name} {n}\n" for n in range(12))
            (root / name).write_text(text, encoding="utf-8")

    def person_writes(self, _: Stop) -> None:
        """Now and then add a line, or put it in the place of one that was there from the start."""
        if self.chance.random() < 0.6:
            return
        self.is_touched = True
        path = self.root / self.chance.choice(NAMES)
        lines = path.read_text(encoding="utf-8").splitlines()
        at = self.chance.randrange(len(lines))
        line = f"person {self.chance.randrange(10**9)}"
        lines[at : at + (lines[at].startswith(path.name) and self.chance.randrange(2))] = [line]
        path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
        self.written.add(line)

    def edit(self, who: str, number: int) -> list[Item]:
        """Return a reply that changes one line, or two beside each other, of a file."""
        name = self.chance.choice(NAMES)
        at = self.chance.randrange(12)
        kept = f"{name} {at}\n" if self.chance.randrange(2) else ""
        new = f"{kept}{who} {self.chance.randrange(10**9)}\n"
        call = call_reply("modify_file", id=f"m{number}", path=name, old=f"{name} {at}\n", new=new)
        return [self.person_writes, *call]

    def end(self, _: Stop) -> None:
        """Keep what the helper has written; a call whose line was gone has failed."""
        [copy] = copies_beside(self.root)
        self.twin = None if self.is_touched else tree(copy)
        self.written |= {
            line
            for name in NAMES
            for line in (copy / name).read_text(encoding="utf-8").splitlines()
            if line.startswith("helper")
        }

    def lost(self) -> set[str]:
        texts = [text.decode() for text in tree(self.root).values()]
        return self.written - {line for text in texts for line in text.splitlines()}


@seeded(3)
def test_no_line_is_lost_whoever_wrote_it(tmp_path: Path, seed: int) -> None:
    (tmp_path / "project").mkdir()
    folder = Folder(tmp_path / "project", random.Random(seed))
    helpers: Scripts = {
        f"h{n}": [
            *(folder.edit(f"helper {n}", number) for number in range(4)),
            [folder.end, *text_reply("Written.")],
        ]
        for n in range(4)
    }
    scripts: Scripts = {
        PARENT: [delegated(*helpers, mode="write"), text_reply("Done.")],
        **helpers,
    }

    def show(event: Event) -> None:
        if isinstance(event, ToolFinished):
            assert folder.twin is None or tree(folder.root) == folder.twin
            folder.is_touched = False

    with at_work(tmp_path, scripts) as assembled:
        before = tree(folder.root)
        drive(assembled.terminal.run_line("go"), show)

        assert [one.state for one in answers(assembled.terminal)] == ["done"] * 4
        assert folder.lost() == set()
        assert len(helpers_in(assembled.terminal.history.log)) == 4
        assert wrong_at_any_level(assembled.terminal) == []
        after = tree(folder.root)
        shown(assembled.terminal, "/undo")
        if not any(line.startswith("person") for line in folder.written):
            assert tree(folder.root) == before
        shown(assembled.terminal, "/redo")
        assert tree(folder.root) == after
