from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.review.review import ReviewedFile, ReviewPart, ReviewView
from modules.checkpoints.snapshot.entries import digest
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files.project import Project
from tests.campaign import seeded
from tests.modules.checkpoints.folders import RandomEditor, make_tree
from utils.i18n import UserError

LINES = [f"line {number}\n" for number in range(1, 41)]
OLD = "".join(LINES)
NEW = OLD.replace("line 3\n", "three\n").replace("line 20\n", "").replace("line 38\n", "38\n39\n")


class Room:
    """A folder with a session in it."""

    def __init__(self, tmp: Path) -> None:
        self.root = tmp / "project"
        self.store = tmp / "store"
        self.root.mkdir(exist_ok=True)
        self.project = Project(self.root)
        self.points = Checkpoints(
            self.root, self.store, file_cap=100_000, total_cap=10**9, keep_days=7
        )
        self.undo = UndoCommands(self.project, LateCheckpoints(lambda: self.points, self.store))
        self.undo.on_session_changed("s1")
        self._calls = 0

    def close(self) -> None:
        self.points.close()
        self.project.close()

    def begin(self, turn: int = 1) -> None:
        self._calls += 1
        self.undo.before_call(f"c{self._calls}", turn)

    def end(self, turn: int = 1) -> None:
        self.undo.after_call(f"c{self._calls}", turn)
        self.undo.on_turn_end()

    def write(self, path: str, text: str, turn: int = 1) -> None:
        self.begin(turn)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        self.end(turn)

    def view(self, turn: int = 0) -> ReviewView:
        view = self.undo.review_view(turn)
        assert view is not None
        return view

    def files(self, turn: int = 0) -> dict[str, ReviewedFile]:
        review, view = self.undo.review, self.view(turn)
        return {r.path: r for r in map(review.review_file, review.changes(view))}

    def shown(self, turn: int = 0) -> dict[str, list[str]]:
        """Return the lines that come and go, by file and hunk."""
        return {
            path: [
                " ".join(row for row in hunk.diff.split("\n") if row[:1] in "+-")
                for hunk in reviewed.hunks or ()
            ]
            for path, reviewed in self.files(turn).items()
        }

    def hunk(self, path: str, number: int, turn: int = 0) -> ReviewPart:
        return ReviewPart(path, number, self.files(turn)[path].old)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    (made.root / "f").write_text(OLD)
    yield made
    made.close()


def test_a_view_shows_hunks_and_one_can_be_taken_back(room: Room) -> None:
    room.write("f", NEW)
    assert room.shown() == {"f": ["-line 3 +three", "-line 20", "-line 38 +38 +39"]}
    room.undo.revert_part(room.view(), room.hunk("f", 1))
    assert (room.root / "f").read_text() == NEW.replace("line 21\n", "line 20\nline 21\n")
    assert room.shown() == {"f": ["-line 3 +three", "-line 38 +38 +39"]}
    room.undo.redo("")
    assert (room.root / "f").read_text() == NEW


def test_the_last_hunk_gives_the_file_back_with_its_time(room: Room) -> None:
    was = (room.root / "f").stat().st_mtime_ns
    room.write("f", NEW)
    for _ in range(3):
        room.undo.revert_part(room.view(), room.hunk("f", 0))
    assert (room.root / "f").read_text() == OLD
    assert (room.root / "f").stat().st_mtime_ns == was
    assert room.shown() == {}


def test_an_accepted_hunk_shows_no_longer_also_after_a_restart(room: Room, tmp_path: Path) -> None:
    room.write("f", NEW)
    room.undo.accept(room.view(), [room.hunk("f", 1)])
    assert room.shown() == {"f": ["-line 3 +three", "-line 38 +38 +39"]}
    again = Room(tmp_path)
    assert again.shown() == {"f": ["-line 3 +three", "-line 38 +38 +39"]}
    again.undo.accept(again.view(), [again.hunk("f", 0)])
    again.undo.accept(again.view(), [again.hunk("f", 0)])
    assert again.shown() == {}
    again.close()
    assert (room.root / "f").read_text() == NEW


def test_what_comes_after_accepting_shows_alone(room: Room) -> None:
    room.write("f", NEW)
    room.undo.accept(room.view(), [room.hunk("f", 0)])
    room.write("f", NEW.replace("three\n", "3\n"), turn=2)
    assert room.shown()["f"][0] == "-three +3"
    room.undo.revert_part(room.view(), room.hunk("f", 0))
    assert (room.root / "f").read_text() == NEW


def test_a_view_since_a_turn_shows_that_turn_and_later(room: Room) -> None:
    room.write("f", OLD.replace("line 3\n", "three\n"))
    room.write("f", NEW, turn=2)
    assert room.shown(2) == {"f": ["-line 20", "-line 38 +38 +39"]}
    room.undo.accept(room.view(2), [room.hunk("f", 0, 2)])
    assert room.shown(2) == {"f": ["-line 38 +38 +39"]}
    assert room.shown() == {"f": ["-line 3 +three", "-line 38 +38 +39"]}
    room.undo.accept(room.view(), [room.hunk("f", 0)])
    assert room.shown(2) == {"f": ["-line 38 +38 +39"]}
    room.undo.accept(room.view(2), [])
    assert room.shown(2) == room.shown() == {}


def test_accepting_a_line_that_two_turns_changed_accepts_both(room: Room) -> None:
    room.write("f", OLD.replace("line 3\n", "three\n"))
    room.write("f", OLD.replace("line 3\n", "3\n"), turn=2)
    room.undo.accept(room.view(2), [room.hunk("f", 0, 2)])
    assert room.shown() == {}


def test_what_was_accepted_and_then_undone_is_no_change(room: Room) -> None:
    room.write("f", NEW)
    room.write("g", "new\n")
    room.undo.accept(room.view(), [])
    room.undo.undo("")
    assert room.shown() == {}
    room.undo.redo("")
    assert room.shown() == {}


def test_a_hunk_that_met_a_later_change_keeps_both(room: Room) -> None:
    room.write("f", NEW)
    view, part = room.view(), room.hunk("f", 0)
    (room.root / "f").write_text(NEW.replace("three\n", "mine\n"))
    card = room.undo.revert_part(view, part)
    assert "both kept" in str(card)
    assert (room.root / "f").read_text() == NEW.replace("three\n", "mine\n")
    assert (room.root / "f.undo-conflict").read_text() == NEW.replace("three\n", "line 3\n")
    room.undo.redo("")
    assert not (room.root / "f.undo-conflict").exists()


def test_a_hunk_is_merged_with_a_change_elsewhere(room: Room) -> None:
    room.write("f", NEW)
    view, part = room.view(), room.hunk("f", 0)
    (room.root / "f").write_text(NEW + "mine\n")
    room.undo.revert_part(view, part)
    assert (room.root / "f").read_text() == NEW.replace("three\n", "line 3\n") + "mine\n"


def test_a_hunk_that_is_not_there_any_more_is_refused(room: Room) -> None:
    room.write("f", NEW)
    view, part = room.view(), room.hunk("f", 0)
    room.undo.accept(view, [part])
    with pytest.raises(UserError, match="Look again"):
        room.undo.revert_part(room.view(), part)
    with pytest.raises(UserError, match="Look again"):
        room.undo.revert_part(room.view(), ReviewPart("f", 7, room.files()["f"].old))
    with pytest.raises(UserError, match="Look again"):
        room.undo.accept(room.view(), [ReviewPart("none")])


def test_files_that_are_no_text_are_taken_whole(room: Room) -> None:
    (room.root / "bin").write_bytes(b"\x00\x01" * 50)
    (room.root / "mode").write_text("x")
    (room.root / "mode").chmod(0o644)
    (room.root / "gone").write_text("gone\n")
    (room.root / "old").write_text("to be moved\n" * 9)
    (room.root / "link").symlink_to("f")
    before = {p.name: p.lstat() for p in room.root.iterdir()}
    room.begin()
    (room.root / "bin").write_bytes(b"\x00\x02" * 50)
    (room.root / "mode").chmod(0o755)
    (room.root / "gone").unlink()
    (room.root / "old").rename(room.root / "new")
    (room.root / "link").unlink()
    (room.root / "link").symlink_to("bin")
    (room.root / "deep" / "down").mkdir(parents=True)
    (room.root / "deep" / "down" / "made").write_text("made\n")
    (room.root / "empty").mkdir()
    room.end()
    files = room.files()
    assert {
        p: (r.difference.change.kind, str(r.note), r.is_divisible) for p, r in files.items()
    } == {
        "bin": ("modified", "binary data", False),
        "mode": ("modified", "mode 644 → 755", False),
        "gone": ("deleted", "", False),
        "new": ("renamed", "renamed from old", False),
        "link": ("modified", "", False),
        "deep/down/made": ("created", "", False),
        "empty": ("created", "folder", False),
    }
    for path in files:
        room.undo.revert_part(room.view(), ReviewPart(path))
        assert path not in room.files()
    assert {p.name for p in room.root.iterdir()} == set(before)
    for name, status in before.items():
        now = (room.root / name).lstat()
        assert (now.st_mode, now.st_mtime_ns) == (status.st_mode, status.st_mtime_ns), name
    assert (room.root / "link").readlink() == Path("f")
    for _ in files:
        room.undo.redo("")
    assert room.files().keys() == files.keys()
    for path in files:
        room.undo.accept(room.view(), [ReviewPart(path)])
        assert path not in room.files()
    assert room.files() == {}


def test_a_renamed_folder_goes_back_with_what_changed_in_it(room: Room) -> None:
    (room.root / "a").mkdir()
    for name in "xyz":
        (room.root / "a" / name).write_text(f"{name}\n")
    room.begin()
    (room.root / "a").rename(room.root / "b")
    (room.root / "b" / "x").write_text("changed\n")
    room.end()
    assert room.shown() == {"b": [], "b/x": ["-x +changed"]}
    room.undo.revert_part(room.view(), ReviewPart("b"))
    assert room.shown() == {"a/x": ["-x +changed"]}
    room.undo.redo("")
    room.undo.accept(room.view(), [ReviewPart("b")])
    assert room.shown() == {"b/x": ["-x +changed"]}
    room.undo.revert_part(room.view(), room.hunk("b/x", 0))
    assert (room.root / "b" / "x").read_text() == "x\n"


@pytest.mark.parametrize(
    ("codec", "ends"), [("utf-8", "\r\n"), ("utf-16", "\n"), ("gbk", "\n"), ("utf-8-sig", "\n")]
)
def test_encoding_and_line_ends_stay(room: Room, codec: str, ends: str) -> None:
    old, new = (text.replace("line", "第行").replace("\n", ends) for text in (OLD, NEW))
    (room.root / "f").write_bytes(old.encode(codec))
    room.begin()
    (room.root / "f").write_bytes(new.encode(codec))
    room.end()
    assert len(room.shown()["f"]) == 3
    room.undo.revert_part(room.view(), room.hunk("f", 0))
    back = new.replace(f"three{ends}", f"第行 3{ends}")
    assert (room.root / "f").read_bytes() == back.encode(codec)
    room.undo.accept(room.view(), [room.hunk("f", 1)])
    room.undo.revert_part(room.view(), room.hunk("f", 0))
    assert room.shown() == {}


def test_other_line_ends_alone_are_said(room: Room) -> None:
    room.begin()
    (room.root / "f").write_bytes(OLD.replace("\n", "\r\n").encode())
    room.end()
    reviewed = room.files()["f"]
    assert str(reviewed.note) == "only the encoding or the line endings changed"
    room.undo.revert_part(room.view(), ReviewPart("f"))
    assert (room.root / "f").read_bytes() == OLD.encode()


def test_a_mode_stays_when_the_text_goes_back(room: Room) -> None:
    (room.root / "f").chmod(0o644)
    room.begin()
    (room.root / "f").write_text(OLD.replace("line 3\n", "three\n"))
    (room.root / "f").chmod(0o700)
    room.end()
    assert str(room.files()["f"].note) == "mode 644 → 700"
    room.undo.revert_part(room.view(), room.hunk("f", 0))
    assert (room.root / "f").read_text() == OLD
    assert stat.S_IMODE((room.root / "f").stat().st_mode) == 0o700
    assert str(room.files()["f"].note) == "mode 644 → 700"


def test_a_commit_is_no_change_of_files(room: Room) -> None:
    room.begin()
    (room.root / ".git").mkdir()
    (room.root / ".git" / "index").write_text("x")
    (room.root / "f").write_text(NEW)
    room.end()
    room.begin(2)
    (room.root / ".git" / "HEAD").write_text("x")
    os.utime(room.root / ".git", (1, 1))
    (room.root / "g").write_text("g")
    room.end(2)
    assert room.files().keys() == {"f", "g"}
    assert room.files(2).keys() == {"g"}


def test_the_model_hears_of_every_part_until_it_knows(room: Room) -> None:
    room.write("f", NEW)
    room.write("g", "new\n")
    room.undo.revert_part(room.view(), room.hunk("f", 0))
    room.undo.revert_part(room.view(), ReviewPart("g"))
    (section,) = room.undo.context()
    assert section.text.split("\n") == [
        "The person took back a part of what had changed in f (undo 1).",
        "The person took back what had changed in g (undo 2).",
    ]


def test_in_the_midst_of_a_turn_the_folder_is_not_looked_at_again(room: Room) -> None:
    room.write("f", NEW)
    room.begin()
    (room.root / "half").write_text("half done")
    assert room.files().keys() == {"f"}
    room.undo.after_call("c2", 1)
    (room.root / "mine").write_text("mine")
    assert room.files().keys() == {"f", "half"}
    revision = room.undo.revision
    room.undo.on_turn_end()
    assert room.undo.revision > revision
    assert room.files().keys() == {"f", "half", "mine"}


def test_damage_is_said(room: Room) -> None:
    (room.root / "deep").mkdir()
    (room.root / "deep" / "g").write_text("old\n")
    room.write("f", NEW)
    room.write("deep/g", "new\n")
    lost = [digest(OLD.encode()), digest(b"old\n")]
    with room.points.objects.database.writing() as connection:
        for key in lost:
            connection.execute("DELETE FROM object WHERE digest=?", (bytes.fromhex(key),))
    assert {str(one.note) for one in room.files().values()} == {"its saved content is damaged"}
    card = room.undo.revert_part(room.view(), ReviewPart("f"))
    assert "its saved content is damaged" in str(card)
    assert (room.root / "f").read_text() == NEW
    view = room.view()
    with room.points.objects.database.writing() as connection:
        connection.execute("DELETE FROM object")
    room.points.objects.clear_folder_cache()
    for work in (room.undo.revert_part, lambda v, p: room.undo.accept(v, [p])):
        with pytest.raises(UserError):
            work(view, ReviewPart("deep/g"))


def test_a_fork_knows_what_was_accepted(room: Room) -> None:
    room.write("f", NEW)
    room.undo.accept(room.view(), [room.hunk("f", 0)])
    room.undo.on_fork("s1", "s2", 1)
    room.undo.on_session_changed("s2")
    assert len(room.shown()["f"]) == 2


def test_what_was_accepted_outlives_the_collection(room: Room) -> None:
    room.write("f", NEW)
    room.undo.accept(room.view(), [room.hunk("f", 1)])
    room.write("g", "new\n", turn=2)
    vault = room.points.objects
    with vault.database.writing() as connection:
        connection.execute("UPDATE snapshot SET used=0 WHERE id=1")
    assert room.points.collect_garbage() == 1
    roots = room.points.index.accepted("s1") or ()
    texts = [vault.read(vault.entries_of(root)["f"].content).decode() for root in roots]
    assert texts == [OLD, OLD.replace("line 20\n", "")]
    assert room.shown() == {"g": ["+new"]}


@seeded(3)
def test_whatever_happened_can_be_accepted_or_taken_back_piece_by_piece(
    tmp_path: Path, seed: int
) -> None:
    room = Room(tmp_path)
    make_tree(room.root, 60, seed=seed)
    vandal, rnd = RandomEditor(room.root, seed), random.Random(seed)
    for turn in (1, 2):
        room.begin(turn)
        vandal.act(15)
        room.end(turn)
    before = room.points.take().id
    everything = len(room.files())
    for _ in range(3 * everything):
        files = room.files()
        if not files:
            break
        path = rnd.choice(sorted(files))
        part = ReviewPart(path)
        if files[path].is_divisible and rnd.random() < 0.5:
            part = room.hunk(path, rnd.randrange(len(files[path].hunks or ())))
        if rnd.random() < 0.5:
            room.undo.accept(room.view(), [part])
        else:
            room.undo.revert_part(room.view(), part)
    assert room.files() == {}
    while room.points.index.last_undo("s1"):
        room.undo.redo("")
    assert room.points.diff(before, room.points.take().id) == []
    room.close()


def test_a_file_without_content_that_is_made_or_deleted_is_called_empty(room: Room) -> None:
    (room.root / "gone").touch()
    room.begin()
    (room.root / "made").touch()
    (room.root / "gone").unlink()
    room.end()
    files = room.files()
    assert {str(files[name].note) for name in files} == {"an empty file"}
