"""Bringing the state of the project's repository back: branches, HEAD, index, stash and the like.

All of it or nothing: where the person's own git has gone on with what the change had touched, the
repository stays as it is. What is no state (objects, config, hooks) is never touched.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from modules.checkpoints.restore.git_repository import move_repository
from modules.checkpoints.restore.operations import Skipped
from modules.checkpoints.snapshot.diff import git_contents, lookup, walk
from modules.checkpoints.snapshot.entries import GIT, REASONS, Entry
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.files.git.isolated_git import isolated_git, isolated_repository
from modules.files.git.linked_tree import linked_tree
from modules.files.git.state_changes import (
    GitState,
    GitStateChange,
    StateLocked,
    StateMoved,
    apply_changes,
    changes_between,
)
from modules.files.git.state_names import (
    is_object_id,
    is_of_remote,
    of_shared_submodules,
    split_submodule,
)
from utils.i18n import Phrase, UserError, phrase
from utils.system.child import TimedOut
from utils.text.clean import visible


class _ObjectGone(Exception):
    """An object that the state names is not in the repository any more."""


def restore_git(
    objects: ObjectStore,
    root_fd: int,
    root: Path,
    sides: tuple[Entry | None, Entry | None],
    kept: Path,
) -> list[Skipped]:
    """Bring the repository in *root*, the folder *root_fd*, from the first of *sides* to the other.

    Where one of them is None, it goes to the folder *kept* or comes from there. Return why that was
    not done; nothing was changed then. Applied again, it does nothing.
    """
    old, new = sides
    try:
        _check_place(root_fd, root)
        if old is None or new is None:
            return move_repository(objects, root, old, new, kept)
        repository = _repository(root, old, new)
        found = changes_between(*_states(objects, old, new))
        changes = [change for change in found if not is_of_remote(change.name)]
        _check_objects(root, repository, changes)
        apply_changes(repository, changes)
    except (StateMoved, ValueError) as error:
        inner = error.name if isinstance(error, StateMoved) else ""
        name = visible(f"{GIT}/{inner}".rstrip("/"))
        why = phrase("branches, HEAD and index were kept: changed since ({name})", name=name)
        return [Skipped(GIT, why)]
    except StateLocked as error:
        why = phrase(
            "another git process is running: it has locked {name}", name=visible(error.name)
        )
        return [Skipped(GIT, why, is_passing=True)]
    except _ObjectGone:
        return [Skipped(GIT, phrase("git has since removed the commits (git gc)"))]
    except _NotHeld as error:
        return [Skipped(GIT, error.why)]
    except DamagedObject:
        return [Skipped(GIT, phrase("its saved content is damaged"))]
    except OSError as error:
        why = phrase("system error: {why}", why=error.strerror or str(error))
        return [Skipped(GIT, why, is_passing=True)]
    return []


class _NotHeld(Exception):
    """A file of the state is not held; *why* says the reason."""

    def __init__(self, why: Phrase) -> None:
        super().__init__(str(why))
        self.why = why


def _check_place(root_fd: int, root: Path) -> None:
    """Raise `StateMoved` where *root* is another folder by now."""
    if not os.path.samestat(os.fstat(root_fd), root.stat()):
        raise StateMoved("")


def _repository(root: Path, old: Entry, new: Entry) -> Path:
    """Return the repository in *root*, or the one that it is linked to if that is *old* and *new*.

    Raises `StateMoved`.
    """
    if stat.S_ISDIR((root / GIT).lstat().st_mode):
        return root / GIT
    tree = linked_tree(root)
    if tree is None:
        raise StateMoved("")
    status = tree.common.stat()
    if not (status.st_dev, status.st_ino) == old.identity == new.identity:
        raise StateMoved("")
    return tree.common


def _states(objects: ObjectStore, old: Entry, new: Entry) -> tuple[GitState, GitState]:
    contents = git_contents(objects, old), git_contents(objects, new)
    before, after = of_shared_submodules(*contents)
    return _state(objects, old, before), _state(objects, new, after)


def _state(objects: ObjectStore, repository: Entry, contents: Mapping[str, str]) -> GitState:
    state = repository.git_state
    assert state is not None  # noqa: S101 - a plan has it only if it is known
    for name, entry in walk(objects, state):
        if entry.not_stored_reason and name in contents:
            raise _NotHeld(REASONS[entry.not_stored_reason])

    def read(name: str) -> bytes:
        entry = lookup(objects, state, name)
        assert entry is not None  # noqa: S101 - the name is one of the digests
        return objects.read(entry.content)

    return GitState(contents, read)


def _check_objects(root: Path, repository: Path, changes: Sequence[GitStateChange]) -> None:
    """Raise `_ObjectGone` if a ref of *repository* would name what is not there any more."""
    places = {split_submodule(change.name)[0] for change in changes}
    for place in sorted(places):
        own = [change for change in changes if split_submodule(change.name)[0] == place]
        submodule = repository / place if place else None
        _check_objects_in(root, submodule, sorted(set(_object_ids(own))))


def _check_objects_in(root: Path, submodule: Path | None, ids: Sequence[bytes]) -> None:
    try:
        git = isolated_repository(submodule) if submodule else isolated_git(root)
        if not ids or git is None:
            return
        stdin = b"".join(one + b"\n" for one in ids)
        answer = git.run("cat-file", "--batch-check=%(objecttype)", stdin=stdin)
    except (UserError, TimedOut) as error:
        raise OSError(str(error)) from None
    if answer.code or b" missing" in answer.output:
        raise _ObjectGone


def _object_ids(changes: Sequence[GitStateChange]) -> Iterator[bytes]:
    for change in changes:
        value = (change.new or b"").strip()
        if (change.is_ref or change.name.endswith("HEAD")) and is_object_id(value):
            yield value
