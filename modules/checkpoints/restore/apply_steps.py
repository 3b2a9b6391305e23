"""Steps that apply one operation of a plan, in the order in which they must run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from modules.checkpoints.restore.atomic_file import (
    AtomicReplacer,
    check_unchanged,
    matches_stat,
    set_metadata,
)
from modules.checkpoints.restore.operations import PathOperation
from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import Entry, is_folder, same_content

ApplyStep = Callable[[AtomicReplacer, PathOperation, Entry | None], None]
"""Applies an operation. Raises `OSError`, `DamagedObject`, `ConcurrentChange`, `NotEmpty`,
`SocketInUse`."""


class NotEmpty(Exception):
    """Folder that was to be removed, but has something else in it."""


@dataclass(frozen=True, slots=True)
class ApplyPhase:
    """One pass over the operations that *selects*(what it is to be, what is there) picks.

    One that *is_parallel* does to a path nothing that depends on what it does to another.
    """

    selects: Callable[[Entry | None, Entry | None], bool]
    apply: ApplyStep
    deepest_first: bool = False
    is_parallel: bool = False


def make_folder(replacer: AtomicReplacer, operation: PathOperation, current: Entry | None) -> None:
    if current is not None:
        replacer.remove(operation.path, current)
    with replacer.parent(operation.path) as (dir_fd, name):
        os.mkdir(name, 0o700, dir_fd=dir_fd)


def put_file(replacer: AtomicReplacer, operation: PathOperation, current: Entry | None) -> None:
    assert operation.new is not None  # noqa: S101 - the phase takes no others
    replacer.put(operation.path, operation.new, current)


def set_file_metadata(
    replacer: AtomicReplacer, operation: PathOperation, current: Entry | None
) -> None:
    """Give a file or link of the right content its mode and time."""
    assert current is not None and operation.new is not None  # noqa: S101, PT018
    with replacer.parent(operation.path) as (dir_fd, name):
        status = dirfd.stat_or_none(dir_fd, name)
        is_done = status is not None and matches_stat(
            status, operation.new
        )  # by another name of it
        if not is_done:
            check_unchanged(status, current)
        if not is_done or current.metadata != operation.new.metadata:
            set_metadata(dir_fd, name, operation.new)


def remove_file(replacer: AtomicReplacer, operation: PathOperation, current: Entry | None) -> None:
    assert current is not None  # noqa: S101 - the phase takes no others
    replacer.remove(operation.path, current)


def remove_folder(replacer: AtomicReplacer, operation: PathOperation, _: Entry | None) -> None:
    """Remove a folder if nothing is left in it."""
    with replacer.parent(operation.path) as (dir_fd, name):
        try:
            os.rmdir(name, dir_fd=dir_fd)
        except OSError:
            if dirfd.stat_or_none(dir_fd, name) is None:
                return
            raise NotEmpty from None
    if operation.new is not None:
        put_file(replacer, operation, None)


def set_folder_metadata(
    replacer: AtomicReplacer, operation: PathOperation, _: Entry | None
) -> None:
    assert operation.new is not None  # noqa: S101 - the phase takes no others
    if operation.path:
        with replacer.parent(operation.path) as (dir_fd, name):
            set_metadata(dir_fd, name, operation.new)
    else:
        set_metadata(replacer.root_fd, ".", operation.new)


def _differs_in_metadata_only(new: Entry | None, now: Entry | None) -> bool:
    """Return whether a file has its content and no other name that must not change with it."""
    if new is None or now is None or is_folder(new) or not same_content(new, now):
        return False
    if not now.is_file or now.links == new.links == 1:
        return True
    return now.identity == new.identity and now.links <= new.links


def needs_replacing(new: Entry | None, now: Entry | None) -> bool:
    is_other = not is_folder(now) and not _differs_in_metadata_only(new, now)
    return new is not None and not is_folder(new) and is_other


def needs_rewriting(new: Entry | None, now: Entry | None) -> bool:
    """Return whether *now* is the very file that is to be *new*, with something else in it."""
    is_same_file = new is not None and now is not None and new.identity == now.identity
    return is_same_file and needs_replacing(new, now)


def _needs_creating(new: Entry | None, now: Entry | None) -> bool:
    return needs_replacing(new, now) and not needs_rewriting(new, now)


# A file may have several names: its attributes come last, when no step expects the old ones.
PHASES = (
    ApplyPhase(lambda new, now: is_folder(new) and not is_folder(now), make_folder),
    ApplyPhase(_needs_creating, put_file, is_parallel=True),
    ApplyPhase(lambda new, now: new is None and not is_folder(now), remove_file, is_parallel=True),
    ApplyPhase(needs_rewriting, put_file, is_parallel=True),  # its other names change with it
    ApplyPhase(lambda new, now: not is_folder(new) and is_folder(now), remove_folder, True),
    ApplyPhase(_differs_in_metadata_only, set_file_metadata),
    ApplyPhase(lambda new, _: is_folder(new), set_folder_metadata, True),
)
