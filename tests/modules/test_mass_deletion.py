from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from core.cards import Change, TreeCard
from core.conversation.messages import ToolResult
from core.events import ApprovalAsked, CommandAnswered, Event, Reply, ToolFinished, Warned
from core.loop.turn import drive
from modules.checkpoints.undo import held_files
from modules.checkpoints.undo.held_files import HeldFiles
from modules.files import kernel
from modules.files.project import Project
from modules.mass_deletion import tree_of
from tests.assembly import SETTINGS, assembled_terminal
from tests.modules.sandbox.sandbox_home import wait_for_prewarmed
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import phrase
from utils.waiting import Stop

CLEAR = "import shutil, os\nshutil.rmtree('data'); open('new', 'w').close()"


def fill(root: Path, many: int, others: int = 0) -> dict[str, str]:
    (root / "data/deep").mkdir(parents=True)
    for n in range(many):
        (root / f"data/deep/{n}.txt").write_text(f"{n}")
    for n in range(others):
        (root / f"other{n}").touch()
    return contents(root)


def contents(root: Path) -> dict[str, str]:
    wait_for_prewarmed()
    return {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("many", "others", "is_asked"), [(21, 100, True), (20, 100, False), (4, 3, True), (2, 0, False)]
)
def test_the_turn_pauses_before_a_loss(
    tmp_path: Path, many: int, others: int, is_asked: bool
) -> None:
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=CLEAR), text_reply("ok")
    ) as made:
        before = fill(made.root, many, others)
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            return Reply(yes=False, reason="I need them") if is_question(event) else None

        drive(made.terminal.run_line("clear it"), show)
        asked = [event for event in events if is_question(event)]
        finished = next(event for event in events if isinstance(event, ToolFinished))
        assert len(asked) == is_asked
        back = Warned(phrase("All its file changes were undone."))
        assert (back in events) is is_asked
        for question in asked:
            assert isinstance(question, ApprovalAsked)
            assert isinstance(question.preview, TreeCard)
            sizes = {entry.path: entry.size for entry in question.preview.entries}
            assert (sizes["data/deep/1.txt"], sizes["data/deep"]) == (1, None)
        assert finished.state == ("refused" if is_asked else "done")
        assert (contents(made.root) == before) is is_asked
        if is_asked:
            answers = [r for _, r in made.terminal.history.records if isinstance(r, ToolResult)]
            assert answers[0].text.endswith("was put back: I need them.")
            assert finished.changes == ()


def test_the_time_of_a_call_is_without_that_of_the_question_about_its_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = [0.0]
    now = time.monotonic
    monkeypatch.setattr("core.loop.tool_calls.time.monotonic", lambda: now() + late[0])
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=CLEAR), text_reply("ok")
    ) as made:
        fill(made.root, 30)
        ended: list[ToolFinished] = []

        def show(event: Event) -> Reply | None:
            if isinstance(event, ToolFinished):
                ended.append(event)
            if not is_question(event):
                return None
            late[0] += 3600.0
            return Reply(yes=True)

        drive(made.terminal.run_line("clear it"), show)
        assert ended[0].seconds < 3600.0


def is_question(event: Event) -> bool:
    return isinstance(event, ApprovalAsked)


@pytest.mark.parametrize("reply", [Reply(yes=True), None])
def test_keep_keeps_and_nobody_means_put_back(tmp_path: Path, reply: Reply | None) -> None:
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=CLEAR), text_reply("ok")
    ) as made:
        before = fill(made.root, 30)
        drive(made.terminal.run_line("go"), lambda event: reply if is_question(event) else None)
        assert contents(made.root) == ({"new": ""} if reply else before)
        answers = [r for _, r in made.terminal.history.records if isinstance(r, ToolResult)]
        assert answers[0].state == ("done" if reply else "refused")
        assert ("It deleted 30 of " in answers[0].text) is (reply is None)
        assert ("nobody was there" in answers[0].text) is (reply is None)


@pytest.mark.parametrize("line", ["/redo", "/redo turn 1", "/redo call 1", "/undo"])
def test_what_was_refused_is_never_brought_again(tmp_path: Path, line: str) -> None:
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=CLEAR), text_reply("ok")
    ) as made:
        before = fill(made.root, 30)
        drive(made.terminal.run_line("go"), lambda e: Reply(yes=False) if is_question(e) else None)
        (answer,) = run_turn(made.terminal, line)
        assert isinstance(answer, CommandAnswered)
        assert not answer.ok
        assert contents(made.root) == before
        (listed,) = run_turn(made.terminal, "/undo list")
        assert isinstance(listed, CommandAnswered)
        assert "No call in this session has changed a file" in str(listed.card)


def test_an_undo_of_before_can_be_redone_after_a_refusal(tmp_path: Path) -> None:
    made_file = call_reply("create_file", id="c", path="made.txt", content="made\n")
    script = [made_file, text_reply("ok"), call_reply("run_python", code=CLEAR), text_reply("ok")]
    with assembled_terminal(tmp_path, *script) as made:
        fill(made.root, 30)
        run_turn(made.terminal, "make")
        before = contents(made.root)
        run_turn(made.terminal, "/undo")
        drive(made.terminal.run_line("go"), lambda e: Reply(yes=False) if is_question(e) else None)
        run_turn(made.terminal, "/redo")
        assert contents(made.root) == before


def test_the_tree_counts_what_is_below_each_folder() -> None:
    changes = [Change("deleted", "a/b/c"), Change("deleted", "a/d"), Change("created", "e")]
    card = tree_of(changes, lambda change: len(change.path))
    assert isinstance(card, TreeCard)
    assert [(e.path, e.depth, e.size, e.note) for e in card.entries] == [
        *(("a", 0, None, "2"), ("a/b", 1, None, "1")),
        *(("a/b/c", 2, 5, "-"), ("a/d", 1, 3, "-"), ("e", 0, 1, "+")),
    ]


def make_huge(path: Path) -> bytes:
    """Make the file *path*, with a hole, larger than what checkpoints hold; return how it ends."""
    size = SETTINGS.checkpoint_file_mb * 1_000_000 + 1
    with path.open("wb") as file:
        file.write(b"begin")
        file.seek(size)
        file.write(b"end")
    path.chmod(0o640)
    os.utime(path, ns=(1, 2_000_000_000))
    return b"\0end"


@pytest.mark.parametrize("reply", [Reply(yes=True), Reply(yes=False), None])
def test_a_run_that_deletes_what_no_checkpoint_holds_is_asked_about(
    tmp_path: Path, reply: Reply | None
) -> None:
    code = "import os, shutil\nos.unlink('huge'); shutil.rmtree('deep'); open('new', 'w').close()"
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=code), text_reply("ok")
    ) as made:
        fill(made.root, 0, others=30)
        (made.root / "deep/er").mkdir(parents=True)
        huge = made.root / "huge", made.root / "deep/er/huge"
        end = make_huge(huge[0]), make_huge(huge[1])
        before = huge[0].stat()
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            return reply if is_question(event) else None

        drive(made.terminal.run_line("clear it"), show)
        wait_for_prewarmed()
        (question,) = filter(is_question, events)
        assert isinstance(question, ApprovalAsked)
        assert "deep/er/huge (100 MB), huge (100 MB)" in str(question.why)
        is_kept = reply is not None and reply.yes
        assert (made.root / "new").exists() is is_kept
        assert [path.exists() for path in huge] == [not is_kept] * 2
        finished = next(event for event in events if isinstance(event, ToolFinished))
        assert finished.state == ("done" if is_kept else "refused")
        if not is_kept:
            warned = (str(one.what) for one in events if isinstance(one, Warned))
            (said,) = (one for one in warned if one.endswith("All its file changes were undone."))
            assert ("huge (100 MB)" in said) is (reply is None)  # nobody has read the question
            after = huge[0].stat()
            for name in ("st_size", "st_mode", "st_mtime_ns"):
                assert getattr(after, name) == getattr(before, name)
            assert after.st_blocks <= 2 * before.st_blocks + 4096  # the hole is one again
            for path, tail in zip(huge, end, strict=True):
                with path.open("rb") as file:
                    assert file.read(6) == b"begin\0"
                    file.seek(-len(tail), os.SEEK_END)
                    assert file.read() == tail


def test_what_the_task_has_made_itself_it_deletes_unasked(tmp_path: Path) -> None:
    make = "with open('huge', 'wb') as file:\n    file.truncate(200_000_000)"
    with assembled_terminal(
        tmp_path,
        call_reply("run_python", code=make),
        call_reply("run_command", command="rm huge"),
        text_reply("ok"),
    ) as made:
        fill(made.root, 0, others=30)
        events = list(made.terminal.run_line("make it, and clear it"))
        wait_for_prewarmed()
        assert not any(map(is_question, events))
        assert not (made.root / "huge").exists()


OVERWRITES = {
    "replaced": "touch other; mv other huge",
    "written to": "printf x | dd of=huge conv=notrunc status=none",
    "emptied": "> huge",
    "shorter, and as old": "truncate -s 200 huge; touch -d @2 huge",
    "emptied and deleted": "> huge; rm huge",
    "a folder in its place": "rm huge; mkdir huge; echo x > huge/x",
}


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("name", OVERWRITES)
def test_a_run_that_overwrites_what_no_checkpoint_holds_is_asked_about(
    tmp_path: Path, name: str, is_kept: bool
) -> None:
    script = [
        call_reply("run_command", command=command)
        for command in (OVERWRITES[name], "[ -f huge ] || rm -rf huge; > huge")
    ]
    with assembled_terminal(tmp_path, *script, text_reply("ok")) as made:
        fill(made.root, 0, others=30)
        make_huge(made.root / "huge")
        before = (made.root / "huge").stat()
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            return Reply(yes=is_kept) if is_question(event) else None

        drive(made.terminal.run_line("write it"), show)
        wait_for_prewarmed()
        # What is the task's own by now is not asked about; what was put back is.
        assert len([*filter(is_question, events)]) == (1 if is_kept else 2)
        after = (made.root / "huge").stat()
        if is_kept:
            assert after.st_size == 0
            return
        for field in ("st_size", "st_mode", "st_mtime_ns"):
            assert getattr(after, field) == getattr(before, field)
        assert after.st_blocks <= 2 * before.st_blocks + 4096
        with (made.root / "huge").open("rb") as file:
            assert file.read(6) == b"begin\0"
            file.seek(-4, os.SEEK_END)
            assert file.read() == b"\0end"


@pytest.mark.parametrize("command", ["mv huge moved", "touch huge", "ln huge x", "echo >> huge"])
def test_what_a_run_moves_or_adds_to_is_not_asked_about(tmp_path: Path, command: str) -> None:
    script = [call_reply("run_command", command=command), text_reply("ok")]
    with assembled_terminal(tmp_path, *script) as made:
        fill(made.root, 0, others=30)
        make_huge(made.root / "huge")
        events: list[Event] = []
        drive(made.terminal.run_line("go"), events.append)
        assert not any(map(is_question, events))


@pytest.mark.parametrize("name", ["written to", "emptied", "replaced"])
@pytest.mark.parametrize("harmless", ["echo more >> huge", "touch -d @3 huge"])
def test_what_was_added_to_is_asked_about_when_it_is_overwritten(
    tmp_path: Path, harmless: str, name: str
) -> None:
    script = [call_reply("run_command", command=one) for one in (harmless, OVERWRITES[name])]
    with assembled_terminal(tmp_path, *script, text_reply("ok")) as made:
        fill(made.root, 0, others=30)
        huge = made.root / "huge"
        make_huge(huge)
        asked: list[Event] = []

        def show(event: Event) -> Reply | None:
            if not is_question(event):
                return None
            asked.append(event)
            return Reply(yes=False)

        drive(made.terminal.run_line("write it"), show)
        assert len(asked) == 1
        with huge.open("rb") as file:
            assert file.read(6) == b"begin\0"
            file.seek(-9, os.SEEK_END)
            assert file.read().endswith(b"\0endmore\n" if ">>" in harmless else b"\0end")


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("size", [100 << 20, 1 << 33])
def test_of_files_however_large_little_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, is_stopped: bool
) -> None:
    huge, read, stop = tmp_path / "huge", [0], Stop()
    with huge.open("wb") as file:
        file.truncate(size)
    pread = os.pread

    def counted(file: int, amount: int, place: int) -> bytes:
        read[0] += amount
        return pread(file, amount, place)

    monkeypatch.setattr(os, "pread", counted)
    if is_stopped:
        stop.set()
    with closing(Project(tmp_path)) as project, closing(HeldFiles(project)) as held:
        held.hold([("huge", "large")], begins_task=True)
        with huge.open("ab") as file:
            file.write(b"more")
        assert held.overwritten(stop) == ()
        at_once = 2 * (32 << 20)
        assert read[0] == (at_once if is_stopped or size > 1 << 30 else 2 * size)
        with huge.open("rb+") as written:
            written.seek(size - 1)
            written.write(b"x")
        assert held.overwritten(stop) == ("huge",)


def test_what_cannot_be_put_back_is_told_and_ends_as_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"{CLEAR}\nopen('huge', 'w').close()"
    monkeypatch.setattr(held_files, "MAX_COPIED", -1)
    monkeypatch.setattr(kernel, "reflink", lambda *_: False)
    with assembled_terminal(
        tmp_path, call_reply("run_python", code=code), text_reply("ok")
    ) as made:
        fill(made.root, 30)
        make_huge(made.root / "huge")
        events: list[Event] = []
        drive(made.terminal.run_line("clear it"), events.append)
        finished = next(event for event in events if isinstance(event, ToolFinished))
        assert finished.state == "refused"
        assert any(isinstance(event, Warned) for event in events)
        answer = next(r for _, r in made.terminal.history.records if isinstance(r, ToolResult))
        assert "Not everything could be restored" in answer.text
        assert (made.root / "data/deep/7.txt").read_text() == "7"


def test_a_repository_inside_outlives_the_folder_it_is_in(tmp_path: Path) -> None:
    script = [
        call_reply("run_command", command="rm -rf vendor; git init -q own; rm -rf own", id="c1"),
        call_reply("run_command", command="git init -q other; rm -rf other && echo gone", id="c2"),
    ]
    with assembled_terminal(tmp_path, *script, text_reply("ok")) as made:
        head = made.root / "vendor/lib/.git/HEAD"
        head.parent.mkdir(parents=True)
        head.write_text("ref: refs/heads/main\n")
        (made.root / "vendor/lib/a.c").write_text("int a;\n")
        drive(made.terminal.run_line("clear it"), lambda event: Reply(yes=True))
        assert head.read_text() == "ref: refs/heads/main\n"
        assert not (made.root / "vendor/lib/a.c").exists()
        answers = [r.text for _, r in made.terminal.history.records if isinstance(r, ToolResult)]
        assert "gone" in answers[1]
        drive(made.terminal.run_line("/undo turn 1"), lambda event: None)
        assert (made.root / "vendor/lib/a.c").read_text() == "int a;\n"


def test_who_wants_never_to_be_asked_is_not(tmp_path: Path) -> None:
    replies = [call_reply("run_python", code=CLEAR), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies, approval_mode="all") as made:
        fill(made.root, 30)
        events: list[Event] = []
        drive(made.terminal.run_line("clear it"), events.append)
        finished = next(event for event in events if isinstance(event, ToolFinished))
        assert finished.state == "done"
        assert not (made.root / "data").exists()
