"""Owners, attributes and pipes come back as they were."""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
from pathlib import Path

import pytest

from core.cards import DiffCard
from modules.checkpoints.undo.undo_commands import UndoCommands
from tests.modules.checkpoints.folders import checkpoints, folder_state
from tests.modules.checkpoints.test_links import shell, there_and_back
from tests.modules.checkpoints.test_undo_family import project, root, undo
from utils.i18n import UserError

__all__ = ["project", "root", "undo"]
Extras = dict[str, object]

if sys.platform != "linux":
    pytest.skip("only there has Python the attributes of files", allow_module_level=True)


def has_attributes(folder: Path) -> bool:
    """Return whether the file system of *folder* keeps attributes for us."""
    try:
        os.setxattr(folder, "user.probe", b"")
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return False
    os.removexattr(folder, "user.probe")
    return True


def seen(root: Path) -> Extras:
    """Return the attributes and the owner of everything below *root*."""
    found: Extras = {}
    for path in [root, *root.rglob("*")]:
        status = path.lstat()
        names = [] if path.is_symlink() else sorted(os.listxattr(path))
        attributes = {name: os.getxattr(path, name) for name in names}
        found[str(path.relative_to(root))] = (attributes, status.st_uid, status.st_gid)
    return found


def test_attributes_are_taken_back_and_brought_again(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    for name in ("kept", "changed", "gone", "folder/inner"):
        (root / name).write_text(f"{name}\n")
    if has_attributes(root):
        for path in (root, root / "folder", root / "kept", root / "changed", root / "gone"):
            os.setxattr(path, "user.tag", b"old\0\xff")
    was = folder_state(root), seen(root)
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take().id
        if has_attributes(root):
            os.setxattr(root / "changed", "user.tag", b"new")
            os.setxattr(root / "folder" / "inner", "user.more", b"new")
            os.removexattr(root / "folder", "user.tag")
        (root / "gone").unlink()
        shell("sed -i s/kept/KEPT/ kept")(root)
        then = folder_state(root), seen(root)
        done = points.undo(before, points.take().id)
        assert (folder_state(root), seen(root)) == was
        points.undo(done.before, done.after)
        assert (folder_state(root), seen(root)) == then


@pytest.mark.root
def test_owners_come_back_where_we_may_give_files_away(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "theirs").write_text("theirs\n")
    (root / "link").symlink_to("theirs")
    for name in ("theirs", "link"):
        os.chown(root / name, 12345, 54321, follow_symlinks=False)
    (root / "theirs").chmod(0o4755)
    was = folder_state(root), seen(root)
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take().id
        shell("sed -i s/theirs/ours/ theirs && rm link")(root)
        points.undo(before, points.take().id)
        assert (folder_state(root), seen(root)) == was


def test_a_pipe_is_a_thing_like_any_other(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    os.mkfifo(root / "old", 0o640)
    with checkpoints(root, tmp_path / "store") as points:
        assert points.take().not_stored_phrases == []
        there_and_back(points, root, shell("rm old && mkfifo -m 600 new"), shell("chmod 644 new"))
        twin = tmp_path / "twin"
        assert points.clone(points.take().id, twin) == []
        assert stat.S_ISFIFO((twin / "old").lstat().st_mode)


@pytest.mark.parametrize("what", ["attribute", "access list", "folder's time", "folder anew"])
def test_what_is_beside_content_is_a_change_of_its_own(
    root: Path, undo: UndoCommands, what: str
) -> None:
    (root / "folder").mkdir()
    if has_attributes(root):
        os.setxattr(root / "f", "user.tag", b"old")
        os.setxattr(root / "folder", "user.tag", b"old")
    elif what in ("attribute", "access list"):
        return
    os.utime(root / "folder", ns=(10**18, 10**18))
    was = folder_state(root), seen(root)
    undo.before_call("a", 1)
    match what:
        case "attribute":
            os.removexattr(root / "f", "user.tag")
        case "access list":
            entries = [(1, 6, 2**32 - 1), (2, 6, 65534), (4, 4, 2**32 - 1), (16, 6, 2**32 - 1)]
            packed = b"".join(struct.pack("<HHI", *one) for one in [*entries, (32, 4, 2**32 - 1)])
            os.setxattr(root / "f", "system.posix_acl_access", struct.pack("<I", 2) + packed)
        case "folder's time":
            (root / "folder" / "x").touch()
            (root / "folder" / "x").unlink()
        case "folder anew":
            (root / "folder").rmdir()
            (root / "folder").mkdir()
    undo.after_call("a", 1)
    undo.on_turn_end()
    then = folder_state(root), seen(root)
    assert then != was
    assert undo.undo("").changes
    assert (folder_state(root), seen(root)) == was
    undo.redo("")
    assert (folder_state(root), seen(root)) == then


def test_the_time_of_the_project_folder_alone_is_none(root: Path, undo: UndoCommands) -> None:
    undo.before_call("a", 1)
    (root / ".git").mkdir()  # as a sandbox does
    (root / ".git").rmdir()
    undo.after_call("a", 1)
    undo.on_turn_end()
    with pytest.raises(UserError, match="Nothing to undo"):
        undo.undo("")


def test_attributes_show_in_the_review_and_in_a_difference(root: Path, undo: UndoCommands) -> None:
    if not has_attributes(root):
        return
    undo.before_call("a", 1)
    os.setxattr(root / "f", "user.tag", b"new")
    undo.after_call("a", 1)
    undo.on_turn_end()
    card = undo.diff("")
    assert isinstance(card, DiffCard)
    assert str(card.note) == "only its mode, time or attributes changed"
    view = undo.review_view()
    assert view is not None
    (found,) = undo.review.changes(view)
    assert str(undo.review.review_file(found).note) == "other attributes"
