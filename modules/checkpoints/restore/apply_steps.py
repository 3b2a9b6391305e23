"""What can be done to one path when a plan is carried out, in the order in which it must be."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from modules.checkpoints.restore.atomic_file import AtomicReplacer, expect, is_like, set_attributes
from modules.checkpoints.restore.operations import Operation
from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import Entry, is_folder, same_content

ApplyStep = Callable[[AtomicReplacer, Operation, Entry | None], None]
"""Does a step where its entry is. Raises `OSError`, `Damaged`, `Changed`, `NotEmpty`."""


class NotEmpty(Exception):
    """A folder was to be removed, and there is something else in it."""


@dataclass(frozen=True, slots=True)
class ApplyPhase:
    """One pass over the steps that *takes*(what it is to be, what is there) picks.

    What *is_apart* does to one path does not depend on what it does to another.
    """

    takes: Callable[[Entry | None, Entry | None], bool]
    act: ApplyStep
    deepest_first: bool = False
    is_apart: bool = False


def make_folder(placer: AtomicReplacer, step: Operation, current: Entry | None) -> None:
    if current is not None:
        placer.remove(step.path, current)
    with placer.place(step.path) as (handle, name):
        os.mkdir(name, 0o700, dir_fd=handle)


def put(placer: AtomicReplacer, step: Operation, current: Entry | None) -> None:
    assert step.new is not None  # noqa: S101 - the phase takes no others
    placer.put(step.path, step.new, current)


def set_file(placer: AtomicReplacer, step: Operation, current: Entry | None) -> None:
    """Give a file or link of the right content its mode and time."""
    assert current is not None and step.new is not None  # noqa: S101, PT018
    with placer.place(step.path) as (handle, name):
        status = dirfd.status_of(handle, name)
        is_done = status is not None and is_like(status, step.new)  # by another name of it
        if not is_done:
            expect(status, current)
        if not is_done or current.extras != step.new.extras:
            set_attributes(handle, name, step.new)


def remove(placer: AtomicReplacer, step: Operation, current: Entry | None) -> None:
    assert current is not None  # noqa: S101 - the phase takes no others
    placer.remove(step.path, current)


def remove_folder(placer: AtomicReplacer, step: Operation, _: Entry | None) -> None:
    """Remove a folder if nothing is left in it."""
    with placer.place(step.path) as (handle, name):
        try:
            os.rmdir(name, dir_fd=handle)
        except OSError:
            if dirfd.status_of(handle, name) is None:
                return
            raise NotEmpty from None
    if step.new is not None:
        put(placer, step, None)


def set_folder(placer: AtomicReplacer, step: Operation, _: Entry | None) -> None:
    assert step.new is not None  # noqa: S101 - the phase takes no others
    if step.path:
        with placer.place(step.path) as (handle, name):
            set_attributes(handle, name, step.new)
    else:
        set_attributes(placer.root, ".", step.new)


def _only_attributes(new: Entry | None, now: Entry | None) -> bool:
    """Return whether a file has its content and no other name that must not change with it."""
    if new is None or now is None or is_folder(new) or not same_content(new, now):
        return False
    if not now.is_file or now.links == new.links == 1:
        return True
    return now.identity == new.identity and now.links <= new.links


def needs_putting(new: Entry | None, now: Entry | None) -> bool:
    is_other = not is_folder(now) and not _only_attributes(new, now)
    return new is not None and not is_folder(new) and is_other


# A file may have several names: its attributes come last, when no step expects the old ones.
PHASES = (
    ApplyPhase(lambda new, now: is_folder(new) and not is_folder(now), make_folder),
    ApplyPhase(needs_putting, put, is_apart=True),
    ApplyPhase(lambda new, now: new is None and not is_folder(now), remove, is_apart=True),
    ApplyPhase(lambda new, now: not is_folder(new) and is_folder(now), remove_folder, True),
    ApplyPhase(_only_attributes, set_file),
    ApplyPhase(lambda new, _: is_folder(new), set_folder, True),
)
