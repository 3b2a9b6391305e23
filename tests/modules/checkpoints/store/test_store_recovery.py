"""What a damaged store lost is said when it is wanted, and never taken for something else."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from modules.checkpoints.restore.operations import Plan
from modules.files.project import Project
from tests.modules.checkpoints.folders import checkpoints, folder_state
from tests.modules.checkpoints.test_undo_family import call, family, project, root
from utils.i18n import UserError

__all__ = ["project", "root"]


def settled(store: Path) -> bytearray:
    """Return the file of the store with all of its log in it."""
    with sqlite3.connect(store / "checkpoints.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return bytearray((store / "checkpoints.db").read_bytes())


def newest_root(store: Path) -> bytes:
    """Return how the newest snapshot is written in the file."""
    with sqlite3.connect(store / "checkpoints.db") as database:
        query = "SELECT root FROM snapshot ORDER BY id DESC LIMIT 1"
        (text,) = database.execute(query).fetchone()
    database.close()
    return bytes(text, "utf-8")


def lose(store: Path, piece: bytes) -> None:
    """Overwrite *piece*, and let SQLite refuse the file."""
    content = settled(store)
    assert piece in content
    content = content.replace(piece, b"\xff" * len(piece))
    content[18:20] = b"\xff\xff"
    (store / "checkpoints.db").write_bytes(content)


def break_index(store: Path, name: str, lost: bytes) -> None:
    """Break an index, which is found when it is next written, and overwrite a content."""
    content = settled(store)
    with sqlite3.connect(store / "checkpoints.db") as database:
        query = "SELECT rootpage FROM sqlite_master WHERE name=?"
        (page,) = database.execute(query, (name,)).fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    database.close()
    assert lost in content
    content = content.replace(lost, b"\xff" * len(lost))
    content[(page - 1) * size : (page - 1) * size + 100] = b"\xff" * 100
    (store / "checkpoints.db").write_bytes(content)


def test_a_call_whose_state_is_lost_never_means_another_change(
    root: Path, project: Project, tmp_path: Path
) -> None:
    for first in family(project, tmp_path):
        call(first, 1, "a", root / "f", "one\n")
        call(first, 2, "b", root / "f", "two\n")
    lose(tmp_path / "store", newest_root(tmp_path / "store"))
    for second in family(project, tmp_path):
        (root / "mine").write_text("mine")
        call(second, 3, "c", root / "g", "three\n")
        now = folder_state(root)
        with pytest.raises(UserError, match="Turn 2 changed no file"):
            second.undo("turn 2")
        assert folder_state(root) == now
        second.undo("")
        assert sorted(path.name for path in root.iterdir()) == ["f", "mine"]
        second.undo("")
        assert (root / "mine").exists()


def test_an_unfinished_undo_whose_state_is_lost_stops_nothing(
    root: Path, project: Project, tmp_path: Path
) -> None:
    for first in family(project, tmp_path):
        call(first, 1, "a", root / "f", "one\n")
        newest = first.calls()[-1].after
        assert newest is not None
        first._index.open_journal(newest, Plan())
    lose(tmp_path / "store", newest_root(tmp_path / "store"))
    for second in family(project, tmp_path):
        call(second, 2, "b", root / "g", "two\n")
        assert [text for text in map(str, second.warnings()) if "An interrupted undo" in text]
        second.undo("")
        assert not (root / "g").exists()


def test_numbers_that_are_none_do_not_end_a_rescue(
    root: Path, project: Project, tmp_path: Path
) -> None:
    for first in family(project, tmp_path):
        call(first, 1, "a", root / "f", "one\n")
        with first._index._database.writing() as connection:
            connection.execute("INSERT INTO undo VALUES (?, 's', '[]', '[]', 0)", (2**63 - 1,))
            connection.execute("INSERT INTO undo VALUES (7, 's1', '[]', ?, 0)", (json.dumps([1]),))
    lose(tmp_path / "store", b"one\n")
    for second in family(project, tmp_path):
        assert not second.can_redo
        call(second, 2, "b", root / "g", "two\n")
        second.undo("")
        assert second.can_redo


@pytest.mark.parametrize("index", ["sqlite_autoindex_snapshot_1", "call_by_id"])
def test_what_a_call_may_change_is_held_when_damage_is_found_at_its_beginning(
    index: str, root: Path, project: Project, tmp_path: Path
) -> None:
    (root / "precious").write_text("precious content\n")
    for first in family(project, tmp_path):
        call(first, 1, "a", root / "f", "one\n")
    break_index(tmp_path / "store", index, b"precious content\n")
    for second in family(project, tmp_path):
        (root / "mine").write_text("mine")
        second.before_call("b", 2)
        assert [text for text in map(str, second.warnings()) if "was damaged" in text]
        (root / "precious").unlink()
        second.after_call("b", 2)
        second.undo("call")
        assert (root / "precious").read_text() == "precious content\n"


def test_what_an_undo_overwrites_is_held_when_damage_is_found_by_it(
    root: Path, project: Project, tmp_path: Path
) -> None:
    noise = random.Random(1).randbytes(60_000)
    for first in family(project, tmp_path, file_cap=100_000):
        (root / "noise").write_bytes(noise)
        first.before_call("a", 1)
        (root / "noise").unlink()
        (root / "f").write_text("words of mine\n")
        first.after_call("a", 1)
    content = settled(tmp_path / "store")
    assert b"words of mine\n" in content
    content = content.replace(b"words of mine\n", b"\xff" * 14)
    start = content.index(noise[30_000:30_020]) // 4096 * 4096
    content[start : start + 4] = b"\xff" * 4  # where the rest of the noise is
    (tmp_path / "store" / "checkpoints.db").write_bytes(content)
    for second in family(project, tmp_path, file_cap=100_000):
        second.undo("")
        assert [text for text in map(str, second.warnings()) if "was damaged" in text]
        assert (root / "f").read_text() == "zero\n"
        second.redo("")
        assert (root / "f").read_text() == "words of mine\n"


@pytest.mark.parametrize("content", ["no digest", "", "ABCDEF"])
def test_a_snapshot_whose_digest_is_none_stops_no_collection(tmp_path: Path, content: str) -> None:
    (tmp_path / "project").mkdir()
    with checkpoints(tmp_path / "project", tmp_path / "store") as points:
        for number in range(3):
            (tmp_path / "project" / "file").write_text(f"{number}\n")
            points.take()
    with closing(sqlite3.connect(tmp_path / "store" / "checkpoints.db")) as database:
        database.execute("UPDATE snapshot SET used=0 WHERE id=1")
        database.execute("UPDATE snapshot SET root=json_set(root, '$[6]', ?) WHERE id=2", [content])
        database.commit()
    with checkpoints(tmp_path / "project", tmp_path / "store") as points:
        assert points.collect_garbage() == 1
        assert points.content_at(3, "file") == b"2\n"
        with pytest.raises(UserError, match="damaged"):
            points.content_at(2, "file")
