from __future__ import annotations

import os
import random
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cards import Change
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.restore.operations import Conflict
from modules.checkpoints.snapshot import dirfd, scanner
from modules.checkpoints.store.quotas import Quotas
from modules.files.kernel import Undecided
from tests.campaign import seeded
from tests.modules.checkpoints.folders import RandomEditor, checkpoints, folder_state, make_tree
from utils.i18n import UserError

HOUSE = Path(__file__).parents[3]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def points(root: Path, tmp_path: Path) -> Iterator[Checkpoints]:
    with checkpoints(root, tmp_path / "store") as made:
        yield made


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def left_paths(result: object) -> list[str]:
    return [left.path for left in result.skipped]  # type: ignore[attr-defined]


# --- whole trees -------------------------------------------------------------------------------


def test_a_hostile_script_is_undone_to_an_identical_tree(root: Path, points: Checkpoints) -> None:
    make_tree(root, 3000)
    was, before = folder_state(root), points.take()
    script = (
        "rm -rf src && mv a b && find . -name '*.md' -exec sed -i 's/word1/other/' {} + ;"
        "chmod -R u+x docs; mkdir -p new/er; echo x > new/er/file; ln -s new link"
    )
    subprocess.run(["bash", "-c", script], cwd=root, check=True)
    after = points.take()
    result = points.undo(before.id, after.id)
    assert folder_state(root) == was
    assert not result.skipped
    assert not result.conflicts


def test_an_undo_is_undone(root: Path, points: Checkpoints) -> None:
    make_tree(root, 300)
    before = points.take()
    RandomEditor(root, 5).act(60)
    now, after = folder_state(root), points.take()
    result = points.undo(before.id, after.id)
    again = points.undo(result.before, result.after)
    assert folder_state(root) == now
    assert not again.skipped


@seeded(12)
def test_random_changes_are_undone(root: Path, points: Checkpoints, seed: int) -> None:
    vandal = RandomEditor(root, seed)
    vandal.act(25)
    states = []
    for _ in range(4):
        states.append((points.take().id, folder_state(root)))
        vandal.act(12)
    states.append((points.take().id, folder_state(root)))
    for (before, was), (after, _) in reversed(list(zip(states, states[1:], strict=False))):
        result = points.undo(before, after)
        assert folder_state(root) == was
        assert not result.conflicts
        assert not result.skipped
    for number, was in states:
        points.rewind(number)
        assert folder_state(root) == was


@seeded(8)
def test_nothing_of_the_person_is_lost(root: Path, points: Checkpoints, seed: int) -> None:
    """After an undo over a folder that moved on, going back to before it brings all back."""
    vandal = RandomEditor(root, seed)
    vandal.act(30)
    before = points.take().id
    vandal.act(10)
    after = points.take().id
    vandal.act(10)
    mine = folder_state(root)
    result = points.undo(before, after)
    points.rewind(result.before)
    assert folder_state(root) == mine


def test_unchanged_folders_cost_nothing(root: Path, points: Checkpoints, tmp_path: Path) -> None:
    make_tree(root, 200)
    first = points.take()
    size = points.size
    assert points.take().id == first.id
    with checkpoints(root, tmp_path / "store") as other:
        assert other.take().id == first.id
    assert points.size == size


# --- what the person did meanwhile ---------------------------------------------------------------


def test_a_new_file_that_was_saved_again_as_it_was_goes_with_the_undo(
    root: Path, points: Checkpoints
) -> None:
    before = points.take().id
    for name in ("again", "other", "mode"):
        (root / name).write_text("new\n")
    after = points.take().id
    (root / "again").write_text("of mine\n")
    points.take()
    (root / "again").write_text("new\n")
    (root / "other").write_text("of mine\n")
    (root / "mode").chmod(0o700)
    points.undo(before, after)
    assert sorted(path.name for path in root.iterdir()) == ["mode", "other"]


def test_edits_elsewhere_in_the_file_are_merged(root: Path, points: Checkpoints) -> None:
    lines = [f"line {number}\n" for number in range(40)]
    write(root / "f.txt", "".join(lines))
    before = points.take()
    write(root / "f.txt", "".join([*lines[:5], "agent\n", *lines[6:]]))
    after = points.take()
    write(root / "f.txt", "".join([*lines[:5], "agent\n", *lines[6:30], "person\n", *lines[30:]]))
    result = points.undo(before.id, after.id)
    assert (root / "f.txt").read_text() == "".join([*lines[:30], "person\n", *lines[30:]])
    assert not result.conflicts


def test_a_conflict_keeps_both(root: Path, points: Checkpoints) -> None:
    write(root / "f.txt", "one\n")
    before = points.take()
    write(root / "f.txt", "agent\n")
    after = points.take()
    write(root / "f.txt", "person\n")
    result = points.undo(before.id, after.id)
    assert result.conflicts == (Conflict("f.txt", "f.txt.undo-conflict"),)
    assert (root / "f.txt").read_text() == "person\n"
    assert (root / "f.txt.undo-conflict").read_text() == "one\n"


def test_binary_conflicts_and_taken_names_keep_both(root: Path, points: Checkpoints) -> None:
    (root / "f").write_bytes(b"\0one")
    write(root / "f.undo-conflict", "taken")
    before = points.take()
    (root / "f").write_bytes(b"\0agent")
    after = points.take()
    (root / "f").write_bytes(b"\0person")
    result = points.undo(before.id, after.id)
    assert [c.beside for c in result.conflicts] == ["f.undo-conflict-2"]
    assert (root / "f.undo-conflict-2").read_bytes() == b"\0one"
    assert (root / "f.undo-conflict").read_text() == "taken"


def test_new_files_of_the_person_stay(root: Path, points: Checkpoints) -> None:
    write(root / "keep.txt", "x")
    before = points.take()
    write(root / "made" / "agent.txt", "x")
    after = points.take()
    write(root / "made" / "mine.txt", "mine")
    result = points.undo(before.id, after.id)
    assert (root / "made" / "mine.txt").read_text() == "mine"
    assert not (root / "made" / "agent.txt").exists()
    assert left_paths(result) == ["made"]


def test_a_created_file_that_the_person_edited_stays(root: Path, points: Checkpoints) -> None:
    before = points.take()
    write(root / "f", "agent")
    after = points.take()
    write(root / "f", "agent and person")
    result = points.undo(before.id, after.id)
    assert (root / "f").read_text() == "agent and person"
    assert left_paths(result) == ["f"]


def test_a_deleted_file_that_the_person_made_anew_is_kept_beside(
    root: Path, points: Checkpoints
) -> None:
    write(root / "f", "one")
    before = points.take()
    (root / "f").unlink()
    after = points.take()
    write(root / "f", "person")
    points.undo(before.id, after.id)
    assert (root / "f").read_text() == "person"
    assert (root / "f.undo-conflict").read_text() == "one"


def test_a_folder_moved_back_brings_the_persons_files_along(
    root: Path, points: Checkpoints
) -> None:
    write(root / "a" / "x", "x")
    write(root / "a" / "y", "y")
    before = points.take()
    (root / "a").rename(root / "b")
    after = points.take()
    write(root / "b" / "mine", "mine")
    write(root / "b" / "y", "y edited")
    points.undo(before.id, after.id)
    assert sorted(p.name for p in (root / "a").iterdir()) == ["mine", "x", "y"]
    assert (root / "a" / "y").read_text() == "y edited"
    assert not (root / "b").exists()


def test_an_undo_follows_a_file_that_the_person_renamed(root: Path, points: Checkpoints) -> None:
    write(root / "f", "one\n")
    before = points.take()
    write(root / "f", "agent\n")
    after = points.take()
    (root / "f").rename(root / "g")
    points.undo(before.id, after.id)
    assert (root / "g").read_text() == "one\n"
    assert not (root / "f").exists()


def test_a_folder_where_a_file_is_to_return(root: Path, points: Checkpoints) -> None:
    write(root / "d" / "inner", "x")
    before = points.take()
    shutil.rmtree(root / "d")
    after = points.take()
    write(root / "d", "a file of mine")
    result = points.undo(before.id, after.id)
    assert (root / "d").read_text() == "a file of mine"
    assert (root / "d.undo-conflict" / "inner").read_text() == "x"
    assert [c.path for c in result.conflicts] == ["d"]


def test_a_file_returns_into_folders_that_the_person_removed(
    root: Path, points: Checkpoints
) -> None:
    write(root / "d/a/b/f", "x")
    write(root / "d/a/other", "x")
    (root / "d/a").chmod(0o750)
    before = points.take()
    (root / "d/a/b/f").unlink()
    after = points.take()
    shutil.rmtree(root / "d")
    result = points.undo(before.id, after.id)
    assert not result.skipped
    assert not result.conflicts
    assert (root / "d/a/b/f").read_text() == "x"
    assert stat.S_IMODE((root / "d/a").stat().st_mode) == 0o750
    assert not (root / "d/a/other").exists()  # the person removed it


@pytest.mark.parametrize("is_top_changed", [False, True])
def test_a_file_deep_in_a_folder_that_is_a_file_now_is_kept_beside(
    root: Path, points: Checkpoints, *, is_top_changed: bool
) -> None:
    write(root / "d/a/b/f", "x")
    write(root / "d/a/b/edited", "x")
    before = points.take()
    (root / "d/a/b/f").unlink()
    write(root / "d/a/b/edited", "agent")
    if is_top_changed:
        write(root / "d/new", "agent")
    after = points.take()
    shutil.rmtree(root / "d")
    write(root / "d", "a file of mine")
    result = points.undo(before.id, after.id)
    assert (result.skipped, result.conflicts) == ((), (Conflict("d", "d.undo-conflict"),))
    assert (root / "d").read_text() == "a file of mine"
    assert (root / "d.undo-conflict/a/b/f").read_text() == "x"
    assert (root / "d.undo-conflict/a/b/edited").read_text() == "x"


def test_an_undo_of_changes_alone_brings_no_folder_back_that_the_person_removed(
    root: Path, points: Checkpoints
) -> None:
    write(root / "d/a/f", "x")
    before = points.take()
    write(root / "d/a/new", "agent")
    after = points.take()
    shutil.rmtree(root / "d")
    points.undo(before.id, after.id)
    assert not (root / "d").exists()


def test_a_file_replaced_while_we_undo_is_put_back(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modules.checkpoints.restore import atomic_file
    from modules.files import kernel

    write(root / "f", "one")
    before = points.take()
    write(root / "f", "agent")
    after = points.take()
    real = kernel.exchange

    def racing(handle: int, name: str, other: str) -> bool:
        if (root / "f").read_text() == "agent":
            write(root / "f", "person, just now")
        return real(handle, name, other)

    monkeypatch.setattr(atomic_file, "exchange", racing)
    result = points.undo(before.id, after.id)
    assert (root / "f").read_text() == "person, just now"
    assert left_paths(result) == ["f"]
    assert sorted(p.name for p in root.iterdir()) == ["f"]


# --- containment -------------------------------------------------------------------------------


def test_a_folder_swapped_for_a_link_leads_nowhere(
    root: Path, points: Checkpoints, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside / "f", "outside")
    write(root / "d" / "f", "one")
    before = points.take()
    write(root / "d" / "f", "agent")
    after = points.take()
    shutil.rmtree(root / "d")
    (root / "d").symlink_to(outside)
    points.undo(before.id, after.id)
    assert folder_state(outside) == folder_state(outside)
    assert (outside / "f").read_text() == "outside"
    assert [p.name for p in outside.iterdir()] == ["f"]


def test_links_are_kept_as_links(root: Path, points: Checkpoints, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (root / "link").symlink_to(secret)
    before = points.take()
    assert points.content_at(before.id, "link") == str(secret).encode()
    (root / "link").unlink()
    write(root / "link", "agent")
    points.undo(before.id, points.take().id)
    assert (root / "link").readlink() == secret
    assert secret.read_text() == "secret"


# --- git ---------------------------------------------------------------------------------------


def test_what_is_no_state_in_git_folders_is_never_touched(root: Path, points: Checkpoints) -> None:
    write(root / ".git" / "HEAD", "ref")
    write(root / "sub" / ".git" / "HEAD", "ref")
    write(root / "sub" / "f", "one")
    before = points.take()
    write(root / ".git" / "config", "new")
    write(root / "sub" / ".git" / "HEAD", "other")
    write(root / "sub" / "f", "two")
    write(root / "cloned" / ".git" / "HEAD", "ref")
    write(root / "cloned" / "f", "x")
    result = points.undo(before.id, points.take().id)
    assert (root / "sub" / "f").read_text() == "one"
    assert (root / ".git" / "config").read_text() == "new"
    assert (root / "sub" / ".git" / "HEAD").read_text() == "other"
    assert (root / "cloned" / ".git" / "HEAD").exists()
    assert not (root / "cloned" / "f").exists()
    assert "cloned/.git" in left_paths(result)


def test_a_nested_repository_moves_back_whole(root: Path, points: Checkpoints) -> None:
    write(root / "sub" / ".git" / "HEAD", "ref")
    write(root / "sub" / "f", "one")
    before = points.take()
    (root / "sub").rename(root / "moved")
    result = points.undo(before.id, points.take().id)
    assert (root / "sub" / ".git" / "HEAD").read_text() == "ref"
    assert not (root / "moved").exists()
    assert not result.skipped


def test_a_deleted_repository_is_reported_and_its_files_return(
    root: Path, points: Checkpoints
) -> None:
    write(root / "sub" / ".git" / "HEAD", "ref")
    write(root / "sub" / "f", "one")
    assert not points.can_restore("sub")
    assert points.can_restore("sub/f")
    before = points.take()
    shutil.rmtree(root / "sub")
    result = points.undo(before.id, points.take().id)
    assert (root / "sub" / "f").read_text() == "one"
    assert left_paths(result) == ["sub/.git"]


# --- what is not held ----------------------------------------------------------------------------


def test_files_above_the_cap_are_named_and_left(root: Path, tmp_path: Path) -> None:
    with checkpoints(root, tmp_path / "store", file_cap=1000) as points:
        write(root / "small", "x")
        write(root / "big", "x" * 2000)
        before = points.take()
        assert [(path, str(why)) for path, why in before.not_stored_phrases] == [
            ("big", "larger than the checkpoint limit for one file")
        ]
        assert not points.can_restore("big")
        assert points.can_restore("small")
        write(root / "big", "y" * 2000)
        write(root / "made", "z" * 2000)
        write(root / "small", "y")
        result = points.undo(before.id, points.take().id)
        assert sorted(left_paths(result)) == ["big", "made"]
        assert (root / "small").read_text() == "x"
        assert (root / "made").exists()


def test_a_file_too_large_to_hold_is_renamed_back(root: Path, tmp_path: Path) -> None:
    with checkpoints(root, tmp_path / "store", file_cap=1000) as points:
        write(root / "big", "x" * 2000)
        was, before = folder_state(root), points.take()
        (root / "big").rename(root / "elsewhere")
        result = points.undo(before.id, points.take().id)
        assert folder_state(root) == was
        assert not result.skipped


def test_small_files_come_first_when_room_is_short(root: Path, tmp_path: Path) -> None:
    (root / "aa").write_bytes(os.urandom(3_000_000))
    (root / "bb").write_bytes(os.urandom(2_000_000))
    write(root / "zz", "small")
    with checkpoints(root, tmp_path / "store", total_cap=2_500_000) as points:
        taken = points.take()
        assert [path for path, _ in taken.not_stored_phrases] == ["aa"]
        assert points.content_at(taken.id, "zz") == b"small"


def test_large_files_come_back(root: Path, points: Checkpoints) -> None:
    data = os.urandom(3_000_000) + b"x" * 3_000_000
    (root / "big").write_bytes(data)
    with (root / "sparse").open("wb") as file:
        file.truncate(8_000_000)
        file.seek(5_000_000)
        file.write(b"middle")
    was, before = folder_state(root), points.take()
    (root / "big").unlink()
    (root / "sparse").unlink()
    points.undo(before.id, points.take().id)
    assert folder_state(root) == was
    assert (root / "sparse").stat().st_blocks * 512 < 2_000_000


def test_holes_come_back_as_they_were(root: Path, points: Checkpoints) -> None:
    rng = random.Random(5)
    pieces = [b"", bytes(4096), bytes(100), rng.randbytes(7), rng.randbytes(300_000), bytes(70_001)]
    contents = [b"".join(rng.choices(pieces, k=30)) for _ in range(10)]
    for number, content in enumerate(contents):
        (root / f"mixed{number}").write_bytes(content)
    with (root / "sparse").open("wb") as file:
        file.seek(4 << 20)
        file.write(b"end")
        file.truncate((8 << 20) + 5)
    was, blocks, before = folder_state(root), (root / "sparse").stat().st_blocks, points.take()
    for path in list(root.iterdir()):
        path.unlink()
    points.undo(before.id, points.take().id)
    assert folder_state(root) == was
    assert (root / "sparse").stat().st_blocks == blocks


def bind(path: Path, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    monkeypatch.chdir(path.parent)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path.name)
    return server


def test_a_socket_that_a_program_listens_at_is_named_and_left_alone(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = points.take()
    with bind(root / "socket", monkeypatch):
        write(root / "f", "x")
        taken = points.take()
        assert taken.not_stored_phrases == []
        result = points.undo(before.id, taken.id)
        assert [(one.path, str(one.why)) for one in result.skipped] == [
            ("socket", "a socket that a program is using")
        ]
        assert [path.name for path in root.iterdir()] == ["socket"]
    assert points.undo(before.id, taken.id).skipped == ()
    assert not any(root.iterdir())


def test_what_nobody_listens_at_goes_and_comes_back(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "f", "x")
    bind(root / "old", monkeypatch).close()
    was, before = folder_state(root), points.take()
    (root / "old").unlink()
    (root / "f").unlink()
    bind(root / "f", monkeypatch).close()
    os.mknod(root / "removed", stat.S_IFCHR | 0o640, 0)  # as overlays mark what was removed
    changed, after = folder_state(root), points.take()
    result = points.undo(before.id, after.id)
    assert not result.skipped
    assert folder_state(root) == was
    points.undo(result.before, result.after)
    assert folder_state(root) == changed


def test_unreadable_things_are_named(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modules.checkpoints.snapshot import dirfd

    def refusing(handle: int, name: str) -> int:
        raise PermissionError(13, "Permission denied", name)

    write(root / "f", "x")
    write(root / "d" / "g", "x")
    monkeypatch.setattr(dirfd, "open_file", refusing)
    monkeypatch.setattr(dirfd, "open_subfolder", refusing)
    taken = points.take()
    assert [(path, str(why)) for path, why in taken.not_stored_phrases] == [
        ("d", "cannot be read"),
        ("f", "cannot be read"),
    ]
    monkeypatch.undo()
    assert points.take().not_stored_phrases == []


def test_strange_names_and_deep_folders(root: Path, points: Checkpoints) -> None:
    for name in (b"new\nline", b"\xff\xfe", b"-rf", b"a\\b", "文件".encode(), b"x" * 250):
        (root / os.fsdecode(name)).write_bytes(name)
    env = root
    for _ in range(30):
        env = env / ("d" * 100)
        env.mkdir()
    write(env / "f", "deep")
    was, before = folder_state(root), points.take()
    subprocess.run(["bash", "-c", "rm -rf -- *"], cwd=root, check=True)
    points.undo(before.id, points.take().id)
    assert folder_state(root) == was


def deep(root: Path, levels: int) -> None:
    """Make *levels* folders, each in the one before, and a file in the last."""
    handle = os.open(root, os.O_RDONLY)
    for level in range(levels):
        os.mkdir(f"d{level}", dir_fd=handle)
        inner = os.open(f"d{level}", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("f", os.O_CREAT, dir_fd=handle))
    os.close(handle)


@pytest.mark.parametrize("has_openat2", [True, False])
def test_folders_much_deeper_than_we_hold_open_come_back(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch, has_openat2: bool
) -> None:
    def missing(*_: object, **__: object) -> int:
        raise Undecided

    if not has_openat2:
        monkeypatch.setattr(dirfd, "openat2", missing)
    deep(root, 1100)
    before = points.take()
    assert before.not_stored == ()
    subprocess.run(["rm", "-rf", "d0"], cwd=root, check=True)
    after = points.take()
    done = points.undo(before.id, after.id)
    assert points.diff(before.id, points.take().id) == []
    assert points.content_digest()
    points.undo(done.before, done.after)
    assert list(root.iterdir()) == []


def test_a_deep_tree_is_undone_with_few_openings_for_each_folder(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> int:
        raise Undecided

    levels, opened = 600, []
    real = os.open

    def counting(*arguments: Any, **named: Any) -> int:
        opened.append(arguments[0])
        return real(*arguments, **named)

    monkeypatch.setattr(dirfd, "openat2", missing)
    before = points.take()
    deep(root, levels)
    after = points.take()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", counting)
        done = points.undo(before.id, after.id)
        assert list(root.iterdir()) == []
        points.undo(done.before, done.after)
    assert points.diff(after.id, points.take().id) == []
    assert len(opened) < 40 * levels


def test_a_folder_that_took_the_place_of_one_we_came_through_is_entered_anew(root: Path) -> None:
    names = [str(number) for number in range(40)]
    (root / "/".join(names)).mkdir(parents=True)
    handle = os.open(root, os.O_RDONLY)
    walker = dirfd.Walker(handle)
    walker.open("/".join(names))
    inner = root / "/".join(names[:38])
    inner.rename(root / "away")
    (root / "away/38/39").rename(root / "39")
    (root / "away/38").rename(root / "38")
    (root / "39").rename(root / "38/39")
    inner.mkdir()
    try:
        assert os.fstat(walker.open("/".join(names[:38]))).st_ino == inner.stat().st_ino
    finally:
        walker.close()
        os.close(handle)


def test_folders_without_end_are_held_as_far_as_that_goes(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanner, "_LEVELS", 300)
    deep(root, 400)
    ((path, why),) = points.take().not_stored_phrases
    assert path.count("/") == 300
    assert str(why) == "nested too deep"


def test_folders_beyond_the_longest_path_are_held(root: Path, points: Checkpoints) -> None:
    handle = os.open(root, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=handle)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("f", os.O_CREAT, dir_fd=handle))
    os.close(handle)
    before = points.take()
    shutil.rmtree(root / ("d" * 200))
    after = points.take()
    points.undo(before.id, after.id)
    assert points.diff(before.id, points.take().id) == []


def test_hard_links_are_linked_again(root: Path, points: Checkpoints) -> None:
    write(root / "one", "x")
    os.link(root / "one", root / "two")
    write(root / "p", "y")
    os.link(root / "p", root / "q")
    before = points.take()
    (root / "one").unlink()
    (root / "two").unlink()
    subprocess.run(["sed", "-i", "s/y/z/", "p"], cwd=root, check=True)
    points.undo(before.id, points.take().id)
    assert (root / "one").samefile(root / "two")
    assert (root / "p").samefile(root / "q")
    assert (root / "p").read_text() == "y"


def test_read_only_folders_are_restored_inside(root: Path, points: Checkpoints) -> None:
    write(root / "d" / "f", "one")
    (root / "d").chmod(0o555)
    was, before = folder_state(root), points.take()
    (root / "d").chmod(0o755)
    write(root / "d" / "f", "two")
    (root / "d").chmod(0o555)
    points.undo(before.id, points.take().id)
    assert folder_state(root) == was


# --- looking again -----------------------------------------------------------------------------


def test_a_write_within_the_clocks_tick_is_seen(root: Path, points: Checkpoints) -> None:
    path = root / "f"
    for number in range(200):
        path.write_text(f"{number:04}")
        os.utime(path, ns=(1, 1))
        taken = points.take()
        assert points.content_at(taken.id, "f") == f"{number:04}".encode()


def test_settled_files_are_not_read_again(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modules.checkpoints.snapshot import dirfd

    make_tree(root, 100)
    time.sleep(0.1)
    points.take()
    read: list[str] = []
    real = dirfd.open_file

    def noting(handle: int, name: str) -> tuple[int, os.stat_result]:
        read.append(name)
        return real(handle, name)

    monkeypatch.setattr(dirfd, "open_file", noting)
    write(root / "src" / "new", "x")
    before = points.take().id
    assert read == ["new"]
    (root / "a").rename(root / "b")
    assert points.diff(before, points.take().id) == [Change("renamed", "a", "b")]
    assert set(read) == {"new"}  # written so lately that it is looked at again


def test_a_file_that_is_written_to_all_the_time_is_held(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modules.checkpoints.snapshot import dirfd

    write(root / "log", "x")
    real = dirfd.open_file

    def growing(handle: int, name: str) -> tuple[int, os.stat_result]:
        with (root / "log").open("a") as file:
            file.write("y")
        opened = real(handle, name)
        with (root / "log").open("a") as file:
            file.write("z")
        return opened

    monkeypatch.setattr(dirfd, "open_file", growing)
    taken = points.take()
    content = points.content_at(taken.id, "log")
    assert content is not None
    assert content.startswith(b"xyz")


def test_the_store_inside_the_project_is_left_out(root: Path) -> None:
    write(root / "f", "x")
    with checkpoints(root, root / "data" / "store") as points:
        first = points.take()
        assert points.entry_at(first.id, "data/store/checkpoints.db") is None
        assert points.take().id == first.id


# --- differences -------------------------------------------------------------------------------


def test_diff_names_what_happened(root: Path, points: Checkpoints) -> None:
    for name in ("a/one", "a/two", "gone/x", "edited", "moved", "touched"):
        write(root / name, f"content of {name}")
    before = points.take()
    (root / "a").rename(root / "b")
    write(root / "b" / "two", "new text")
    shutil.rmtree(root / "gone")
    write(root / "edited", "other")
    (root / "moved").rename(root / "there")
    os.utime(root / "touched", ns=(5, 5))
    (root / "empty").mkdir()
    write(root / "new" / "file", "x")
    assert points.diff(before.id, points.take().id) == [
        Change("renamed", "a", "b"),
        Change("renamed", "moved", "there"),
        Change("modified", "b/two"),
        Change("modified", "edited"),
        Change("created", "empty"),
        Change("deleted", "gone/x"),
        Change("created", "new/file"),
    ]


# --- the store ---------------------------------------------------------------------------------


def test_damage_to_one_content_spares_the_others(
    root: Path, points: Checkpoints, tmp_path: Path
) -> None:
    write(root / "one", "first content")
    write(root / "two", "second content")
    before = points.take()
    (root / "one").unlink()
    (root / "two").unlink()
    after = points.take()
    from hashlib import sha256

    key = sha256(b"first content").digest()
    with sqlite3.connect(tmp_path / "store" / "checkpoints.db") as database:
        database.execute("UPDATE object SET data=X'7241' WHERE digest=?", (key,))
    database.close()
    result = points.undo(before.id, after.id)
    assert left_paths(result) == ["one"]
    assert (root / "two").read_text() == "second content"
    assert sorted(p.name for p in root.iterdir()) == ["two"]


def test_a_damaged_folder_list_changes_nothing_in_that_folder(root: Path, tmp_path: Path) -> None:
    write(root / "d" / "f", "x")
    write(root / "e", "x")
    store = tmp_path / "store"
    with checkpoints(root, store) as points:
        before = points.take()
        folder = points.entry_at(before.id, "d")
        write(root / "d" / "g", "y")
        write(root / "e", "y")
        after = points.take()
    assert folder is not None
    with sqlite3.connect(store / "checkpoints.db") as database:
        key = bytes.fromhex(folder.content)
        database.execute("UPDATE object SET data=X'7241' WHERE digest=?", (key,))
    database.close()
    with checkpoints(root, store) as points:
        result = points.undo(before.id, after.id)
        assert "d" in left_paths(result)
        assert (root / "d" / "g").exists()
        assert (root / "e").read_text() == "x"


def test_old_snapshots_are_collected_and_new_ones_stay(root: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    (root / "big").write_bytes(os.urandom(2_000_000))
    write(root / "f", "old")
    with checkpoints(root, store) as points:
        old = points.take()
        with sqlite3.connect(store / "checkpoints.db") as database:
            database.execute("UPDATE snapshot SET used=0")
        database.close()
        write(root / "f", "new")
        (root / "big").unlink()
        new = points.take()
        assert points.collect_garbage() == 1
        assert points.content_at(new.id, "f") == b"new"
        assert not [p for p in (store / "large").rglob("*") if p.is_file()]
        with pytest.raises(Exception, match="no longer kept"):
            points.diff(old.id, new.id)
        assert points.take().id == new.id


def test_a_collection_by_another_process_is_noticed(root: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    write(root / "f", "old")
    with checkpoints(root, store) as one, checkpoints(root, store) as other:
        one.take()
        write(root / "f", "new")
        other.take()
        with sqlite3.connect(store / "checkpoints.db") as database:
            database.execute("UPDATE snapshot SET used=0 WHERE id=1")
        database.close()
        assert other.collect_garbage() == 1
        write(root / "f", "old")
        taken = one.take()
        assert one.content_at(taken.id, "f") == b"old"


def test_several_processes_share_a_store(root: Path, tmp_path: Path) -> None:
    make_tree(root, 200)
    code = (
        "import sys, pathlib\n"
        "from tests.modules.checkpoints.folders import checkpoints\n"
        "root, store, name = map(pathlib.Path, sys.argv[1:])\n"
        "with checkpoints(root, store) as points:\n"
        "    for number in range(10):\n"
        "        before = points.take()\n"
        "        (root / name).write_text(str(number))\n"
        "        points.take()\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, root, tmp_path / "store", name], cwd=HOUSE)
        for name in ("one", "two", "three")
    ]
    assert [process.wait(500) for process in running] == [0, 0, 0]
    with checkpoints(root, tmp_path / "store") as points:
        taken = points.take()
        assert points.content_at(taken.id, "two") == b"9"


def test_the_store_is_private(root: Path, points: Checkpoints, tmp_path: Path) -> None:
    (root / "big").write_bytes(os.urandom(2_000_000))
    points.take()
    for path in (tmp_path / "store").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


# --- a full disk ---------------------------------------------------------------------------------


def test_without_room_for_a_checkpoint_no_call_begins(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "f", "one")
    monkeypatch.setattr(Quotas, "_disk", lambda _: (10**9, 10_000))
    with pytest.raises(
        UserError, match=r"The disk is full.*Make room there, or set ONEFOLD_DATA_DIR"
    ):
        points.begin_call("s1", 1, "a")
    assert points.index.calls("s1") == []
    monkeypatch.undo()
    assert points.begin_call("s1", 1, "a").not_stored == ()


def test_what_a_call_made_and_no_disk_holds_stays_and_the_rest_is_undone(
    root: Path, points: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "f", "one")
    before = points.take()
    (root / "f").unlink()
    write(root / "large", "x" * 3_000_000)
    write(root / "small", "one")  # held already, under the other name
    monkeypatch.setattr(Quotas, "_disk", lambda _: (10**9, 2_000_000))
    after = points.take()
    assert after.not_stored == (("large", "room"),)
    result = points.undo(before.id, after.id)
    assert left_paths(result) == ["large"]
    assert sorted(path.name for path in root.iterdir()) == ["f", "large"]
