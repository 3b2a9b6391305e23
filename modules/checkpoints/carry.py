"""Carrying out a plan in the folder, in an order that leaves nothing half done."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from modules.checkpoints import beneath
from modules.checkpoints.entries import Entry, parent_of, same, same_content
from modules.checkpoints.placing import Changed, Placer, expect, is_like, set_attributes
from modules.checkpoints.plan import Left, Plan, Step
from modules.checkpoints.trees import Move, lookup
from modules.checkpoints.vault import Damaged, Vault
from modules.files.kernel import rename_to_new
from utils.phrases import phrase


@dataclass(slots=True)
class Carrier:
    """Works beneath the descriptor *root*; *number* is that of the journal entry.

    What could not be done is in *left* afterwards. Done again after a kill, it does only the rest.
    """

    vault: Vault
    root: int
    number: int
    left: list[Left] = field(default_factory=list)
    _placer: Placer = field(init=False)

    def __post_init__(self) -> None:
        self._placer = Placer(self.vault, self.root, f".onefold-undo-{self.number}")

    def carry(self, steps: list[Step], now: Entry) -> None:
        """Do *steps* where the folder, which is *now* (root entry), is as they expect it."""
        due = list(self._due(steps, now))
        linked = {step.new.identity for step in steps if step.new and step.new.links > 1}
        self._placer.find_twins(linked, now)
        try:
            self._unlock({parent_of(step.path) for step, _ in due if step.path})
            for phase in _PHASES:
                jobs = [(step, current) for step, current in due if phase.takes(step.new, current)]
                for step, current in reversed(jobs) if phase.deepest_first else jobs:
                    self._try(step.path, phase.act, step, current)
        finally:
            self._placer.close()

    def move(self, moves: Iterable[Move]) -> None:
        for move in moves:
            try:
                self._move(move)
            except OSError as error:
                self._leave(move.old, error)

    def clean(self, plan: Plan) -> None:
        """Remove the one temporary file that a killed run may have left."""
        for folder in {parent_of(step.path) for step in plan.steps}:
            with suppress(OSError), beneath.folder(self.root, folder) as handle:
                self._placer.clean(handle)

    def _due(self, steps: list[Step], now: Entry) -> Iterator[tuple[Step, Entry | None]]:
        for step in sorted(steps, key=lambda step: step.path):
            try:
                current = lookup(self.vault, now, step.path)
            except Damaged as error:
                self._leave(step.path, error)
                continue
            if same(current, step.new) and not _is_folder(step.new):
                continue
            if _is_as_expected(step, current):
                yield step, current
            else:
                self._leave(step.path, Changed())

    def _try(
        self,
        path: str,
        act: Callable[[Carrier, Step, Entry | None], None],
        step: Step,
        current: Entry | None,
    ) -> None:
        try:
            act(self, step, current)
        except (OSError, Damaged, Changed) as error:
            self._leave(path, error)

    def _leave(self, path: str, error: Exception) -> None:
        match error:
            case Damaged():
                why = phrase("what was held of it is damaged")
            case Changed() | FileExistsError():
                why = phrase("somebody changed it meanwhile")
            case OSError():
                why = phrase("the system says: {why}", why=error.strerror or str(error))
            case _:
                raise error
        self.left.append(Left(path, why))

    def _move(self, move: Move) -> None:
        with beneath.place(self.root, move.old) as (source, name):
            if beneath.status_of(source, name) is None:
                return  # done before a kill
            self._make_parents(move.new)
            self._unlock({parent_of(move.old), parent_of(move.new)})
            with beneath.place(self.root, move.new) as (target, new_name):
                rename_to_new(source, name, target, new_name)

    def _make_parents(self, path: str) -> None:
        done = ""
        for name in parent_of(path).split("/") if parent_of(path) else ():
            with beneath.folder(self.root, done) as handle, suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=handle)
            done = f"{done}/{name}" if done else name

    def _unlock(self, folders: set[str]) -> None:
        """Make *folders* writable for us; their own steps give them their modes back."""
        for path in sorted(folders):
            with suppress(OSError), beneath.place(self.root, path) as (handle, name):
                status = beneath.status_of(handle, name or ".")
                if status is not None and stat.S_ISDIR(status.st_mode):
                    mode = stat.S_IMODE(status.st_mode)
                    if mode & 0o700 != 0o700:
                        beneath.set_mode(handle, name or ".", mode | 0o700)

    def make_folder(self, step: Step, current: Entry | None) -> None:
        if current is not None:
            self._placer.remove(step.path, current)
        with self._placer.place(step.path) as (handle, name):
            os.mkdir(name, 0o700, dir_fd=handle)

    def put(self, step: Step, current: Entry | None) -> None:
        assert step.new is not None  # noqa: S101 - the phase takes no others
        self._placer.put(step.path, step.new, current)

    def set_file(self, step: Step, current: Entry | None) -> None:
        """Give a file or link of the right content its mode and time."""
        assert current is not None and step.new is not None  # noqa: S101, PT018
        with self._placer.place(step.path) as (handle, name):
            status = beneath.status_of(handle, name)
            if status is None or not is_like(status, step.new):  # else done by another name of it
                expect(status, current)
                set_attributes(handle, name, step.new)

    def remove(self, step: Step, current: Entry | None) -> None:
        assert current is not None  # noqa: S101 - the phase takes no others
        self._placer.remove(step.path, current)

    def remove_folder(self, step: Step, _: Entry | None) -> None:
        """Remove a folder if nothing is left in it, else say so."""
        with self._placer.place(step.path) as (handle, name):
            try:
                os.rmdir(name, dir_fd=handle)
            except OSError:
                if beneath.status_of(handle, name) is None:
                    return
                self.left.append(Left(step.path, phrase("kept: there is something else in it")))
                return
        if step.new is not None:
            self.put(step, None)

    def set_folder(self, step: Step, _: Entry | None) -> None:
        assert step.new is not None  # noqa: S101 - the phase takes no others
        if step.path:
            with self._placer.place(step.path) as (handle, name):
                set_attributes(handle, name, step.new)
        else:
            set_attributes(self.root, ".", step.new)


@dataclass(frozen=True, slots=True)
class _Phase:
    """One pass over the steps that *takes*(what it is to be, what is there) picks."""

    takes: Callable[[Entry | None, Entry | None], bool]
    act: Callable[[Carrier, Step, Entry | None], None]
    deepest_first: bool = False


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.is_folder


def _only_attributes(new: Entry | None, now: Entry | None) -> bool:
    """Return whether a file has its content and no other name that must not change with it."""
    if new is None or now is None or new.is_folder or not same_content(new, now):
        return False
    are_same_names = now.identity == new.identity and now.links == new.links
    return now.links == 1 or are_same_names or not now.is_file


def _needs_putting(new: Entry | None, now: Entry | None) -> bool:
    is_other = not _is_folder(now) and not _only_attributes(new, now)
    return new is not None and not new.is_folder and is_other


# A file may have several names: its attributes come last, when no step expects the old ones.
_PHASES = (
    _Phase(lambda new, now: _is_folder(new) and not _is_folder(now), Carrier.make_folder),
    _Phase(_needs_putting, Carrier.put),
    _Phase(lambda new, now: new is None and not _is_folder(now), Carrier.remove),
    _Phase(lambda new, now: not _is_folder(new) and _is_folder(now), Carrier.remove_folder, True),
    _Phase(_only_attributes, Carrier.set_file),
    _Phase(lambda new, _: _is_folder(new), Carrier.set_folder, True),
)


def _is_as_expected(step: Step, current: Entry | None) -> bool:
    if _is_folder(current) and (_is_folder(step.new) or _is_folder(step.old)):
        return True
    if current and step.old and step.new and same_content(step.old, step.new):
        return same_content(current, step.old)  # only its attributes are to change
    makes_folder = _is_folder(step.new) and not _is_folder(step.old)
    return same(current, step.old) or (current is None and makes_folder)
