"""A repository that a call made: undo takes it away whole, and redo brings it back.

It is kept in a folder of ours meanwhile, by what is in its state. One in which the person has
settings, hooks or anything else of their own by now stays where it is.
"""

from __future__ import annotations

import errno
import os
import shutil
from hashlib import sha256
from pathlib import Path

from modules.checkpoints.restore.operations import Skipped
from modules.checkpoints.snapshot.diff import git_contents
from modules.checkpoints.snapshot.entries import GIT, Entry
from modules.checkpoints.store.object_store import ObjectStore
from modules.files.git.common_dir import read_regular_file
from modules.files.git.new_repository import NEW_CONFIG
from utils.i18n import phrase


def move_repository(
    objects: ObjectStore, root: Path, old: Entry | None, new: Entry | None, kept: Path
) -> list[Skipped]:
    """Take the repository *old* of *root* away into the folder *kept*, or bring *new* back.

    Return why that was not done; nothing was changed then. Applied again, it does nothing.
    """
    repository = old or new
    assert repository is not None  # noqa: S101 - a plan names one of them
    git, place = root / GIT, kept / _name_of(objects, repository)
    try:
        if old is None:
            return _bring_back(place, git)
        if not os.path.lexists(git):
            return []
        if not _is_as_made(git):
            return [Skipped(GIT, phrase("kept: settings or hooks were added since"))]
        kept.mkdir(parents=True, exist_ok=True)
        if place.exists():  # the same one, of an earlier undo
            shutil.rmtree(place)
        _move(git, place)
        os.utime(place)  # its age counts from here
    except OSError as error:
        why = phrase("system error: {why}", why=error.strerror or str(error))
        return [Skipped(GIT, why, is_passing=True)]
    return []


def remove_old(kept: Path, before: float) -> None:
    """Remove the repositories in *kept* that were taken away *before*, seconds since the epoch."""
    if kept.is_dir():
        for place in kept.iterdir():
            if place.stat().st_mtime < before:
                shutil.rmtree(place)


def _bring_back(place: Path, git: Path) -> list[Skipped]:
    if not place.is_dir():
        is_there = os.path.lexists(git)
        return [] if is_there else [Skipped(GIT, phrase("it is no longer kept"), is_gone=True)]
    if os.path.lexists(git):
        if any(git.iterdir()):
            return [Skipped(GIT, phrase("kept: another repository is there"))]
        git.rmdir()
    _move(place, git)
    return []


def _name_of(objects: ObjectStore, repository: Entry) -> str:
    contents = sorted(git_contents(objects, repository).items())
    return sha256(repr(contents).encode(errors="surrogateescape")).hexdigest()


def _is_as_made(git: Path) -> bool:
    """Return whether nothing is in *git* that only the person can have put there."""
    if git.is_symlink() or not git.is_dir():
        return False
    hooks = git / "hooks"
    has_hooks = hooks.is_dir() and any(one.suffix != ".sample" for one in hooks.iterdir())
    is_plain = read_regular_file(git / "config") == NEW_CONFIG.encode()
    return is_plain and not has_hooks and not (git / "modules").is_dir()


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copied = target.with_name(f"{target.name}.new")
        shutil.rmtree(copied, ignore_errors=True)
        shutil.copytree(source, copied, symlinks=True)
        copied.rename(target)
        shutil.rmtree(source)
