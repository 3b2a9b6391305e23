"""Protection of git's dangerous files by restoring them, where a tier cannot keep them read-only.

These are the files in `.git` that make git run a command, or look for such files elsewhere: its
own, those of its worktrees and of the submodules that it keeps. A run that was cut short by a kill
is recovered from at the next start.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from modules.sandbox.filesystem.moved_folders import FolderSearch, move_back, set_aside
from modules.sandbox.git.baseline import Baseline, children, is_folder
from modules.sandbox.git.held_objects import HeldObjects
from modules.sandbox.git.restored import (
    Restored,
    not_recovered_note,
    recovered_note,
    restoration_notes,
)
from modules.sandbox.git.run_record import InUse, RunRecord, UnreadableRecord
from modules.sandbox.run.orphan_cleanup import wait_for_launchers
from utils.i18n import Phrase, UserError, phrase

_MAX_INNER = 200
_MAX_FOLDERS = 20_000  # that are searched for them
_KILL_TIMEOUT = 30.0  # seconds that the processes of a killed run may take to be gone


_FolderState = Literal["same", "back", "replaced", "lost"]
"""State of a folder after a run: the same one in its place, or restored there; another, or none."""


class GitProtection:
    """Keeps the dangerous files of repositories in *project* what they were before each run.

    Of runs at the same time, what was before the first one counts. Until the last of them is over
    it is also in *record*. A repository that a run takes away is remembered: what stands in its
    place after a later run is given its files.
    """

    def __init__(
        self, project: Path, record: RunRecord | None = None, held: HeldObjects | None = None
    ) -> None:
        self._project = project
        self._record = record
        self._held = held
        self._lock = threading.RLock()
        self._running = 0
        self._holds = False  # objects, for the runs that go on
        self._baselines: list[Baseline] = []
        self._lost: dict[Path, Baseline] = {}
        self._moved: set[Path] = set()  # repositories whose folders a run has moved
        self._warnings: list[Phrase] = []

    def begin(self, gits: Iterable[Path], writable: Iterable[Path] = ()) -> None:
        """Take the baselines of *gits*, each a `.git`, before a run. A missing one stays away.

        A run loses no object of those that are *writable*, and not the project's own of these.
        Raises `UserError`, before anything is run, where that cannot be written down.
        """
        with self._lock:
            if problem := self.recover():
                raise UserError(problem)
            baselines = self._take_baselines(gits)
            if self._record and len(baselines) > len(self._baselines):
                try:
                    self._record.write(self._project, baselines)
                except OSError as error:
                    raise UserError(
                        phrase(
                            "Nothing was run: what git obeys here cannot be written down before "
                            "it, to be put back after a kill: {why}.",
                            why=error.strerror or str(error),
                        )
                    ) from error
            if self._held and (folders := [git for git in writable if is_folder(git)]):
                repositories = itertools.chain(*map(_repositories_of, folders))
                self._holds = True
                with suppress(OSError):  # what cannot be held is not: `end` tells of it
                    self._held.hold(repositories, is_first=not self._running)
            self._baselines = baselines
            self._running += 1

    def _take_baselines(self, gits: Iterable[Path]) -> list[Baseline]:
        folders = [folder for git in (*gits, *self._moved) for folder in _repositories_of(git)]
        if self._running:
            baseline_folders = {baseline.folder for baseline in self._baselines}
            return [
                *self._baselines,
                *(Baseline.take(one) for one in folders if one not in baseline_folders),
            ]
        self._lost = {path: baseline for path, baseline in self._lost.items()
                      if not os.path.lexists(path)}  # fmt: skip
        all_folders = dict.fromkeys((*folders, *self._lost))
        return [self._lost.get(folder) or Baseline.take(folder) for folder in all_folders]

    def end(self) -> Restored:
        """Make the files what they were, and put folders back that were moved or replaced.

        What cannot be put back (`OSError`) is tried again before the next run.
        """
        with self._lock:
            is_done = False
            try:
                restored = self._restore()
                is_done = True
            finally:
                self._running -= 1
                if not self._running:
                    self._baselines, self._holds = [], False
                    if self._record:
                        self._record.close(is_done=is_done)
            return restored

    def disarm(self, folders: Iterable[Path]) -> Restored:
        """Take out of the repositories *folders*, which a run has made, what git would run."""
        files: list[str] = []
        cleaned: list[str] = []
        for folder in itertools.chain(*map(_repositories_of, folders)):
            whole, partly = Baseline.take_new(folder).restore()
            files += (f"{self._relative_name(folder)}/{file}" for file in whole)
            cleaned += (f"{self._relative_name(folder)}/{file}" for file in partly)
        return Restored(tuple(sorted(set(files))), tuple(sorted(set(cleaned))))

    def recover(self) -> Phrase | None:
        """Restore what a run changed that was killed with its Onefold; `warnings` tells of it.

        Return why that cannot be done, None where all is well.
        """
        if not self._record or self._running or not self._record.exists():
            return None
        with self._lock:
            try:
                with self._record.leftover(self._project) as self._baselines:
                    self._holds = self._held is not None
                    if self._baselines and not wait_for_launchers(self._project, _KILL_TIMEOUT):
                        raise InUse
                    self._warnings += map(recovered_note, restoration_notes(self._restore()))
            except InUse:
                return phrase("Another Onefold runs a program in this folder; wait for it.")
            except UnreadableRecord:
                self._warnings.append(not_recovered_note(phrase("its record cannot be read")))
                self._record.quarantine()
            except OSError as error:
                problem = not_recovered_note(error.strerror or str(error))
                self._warnings += [problem] if problem not in self._warnings else []
                return problem
            finally:
                self._baselines, self._holds = [], False
        return None

    def warnings(self) -> list[Phrase]:
        """Return notes, once, on what was restored after a kill."""
        with self._lock:
            pending, self._warnings = self._warnings, []
            return pending

    def _restore(self) -> Restored:
        files: list[str] = []
        cleaned: list[str] = []
        folders: list[str] = []
        missing: list[Baseline] = []
        lost: dict[Path, Baseline] = {}
        search = FolderSearch(self._project)
        rebuilt: Path | None = None
        for baseline in [*self._baselines]:
            state = self._restore_folder(baseline, search)
            if state == "lost" and self._is_rebuilt(baseline):
                state, rebuilt = "back", baseline.folder
            elif rebuilt and rebuilt in baseline.folder.parents:
                state = "same"  # with that around it
            if state == "back":
                folders.append(self._relative_name(baseline.folder))
            if state in ("lost", "replaced") and baseline not in self._lost.values():
                missing.append(baseline)
            if state == "lost":
                lost[baseline.folder] = baseline
            else:
                if baseline.fingerprint is None and is_folder(baseline.folder):
                    is_project = baseline.folder.parent == self._project
                    baseline = Baseline.take_new(baseline.folder, is_project=is_project)
                for one in (baseline, *self._new_repositories_in(baseline.folder)):
                    name = self._relative_name(one.folder)
                    whole, partly = one.restore()
                    if not (rebuilt and rebuilt in (one.folder, *one.folder.parents)):
                        files += (f"{name}/{file}" for file in whole)
                    cleaned += (f"{name}/{file}" for file in partly)
        self._lost = lost
        objects, packs = self._held.put_back() if self._held and self._holds else ((), ())
        names = sorted(self._relative_name(baseline.folder) for baseline in missing)
        uppermost = [name for name in names if not any(name.startswith(f"{one}/") for one in names)]
        return Restored(
            tuple(sorted(set(files))),
            tuple(sorted(set(cleaned))),
            tuple(folders),
            tuple(uppermost),
            objects,
            packs,
        )

    def _is_rebuilt(self, baseline: Baseline) -> bool:
        """Return whether the repository of *baseline*, which is gone, was made anew."""
        if not (self._held and self._holds and self._held.state.rebuild(baseline.folder)):
            return False
        baseline.is_remade()
        return True

    def _new_repositories_in(self, folder: Path) -> list[Baseline]:
        """Return what a run has made in *folder* that git takes for repositories of its own."""
        baseline_folders = {baseline.folder for baseline in self._baselines}
        return [
            Baseline.take_new(one)
            for one in _repositories_of(folder)
            if one not in baseline_folders
        ]

    def _restore_folder(self, baseline: Baseline, search: FolderSearch) -> _FolderState:
        """Restore the folder of *baseline* to its place, as far as that goes."""
        if baseline.is_same():
            return "same"
        try:
            found = search.find(baseline.identity) if baseline.identity else None
            if baseline.is_parent_there():
                return _restore_place(baseline, found)
        except OSError:
            return "lost"
        if found is None:
            return "lost"
        baseline.move_to(found)  # with the folder around it
        self._moved.add(found)
        return "same"

    def _relative_name(self, folder: Path) -> str:
        return folder.relative_to(self._project).as_posix()


def _restore_place(baseline: Baseline, found: Path | None) -> _FolderState:
    """Move *baseline*, which is *found* somewhere else or not at all, to its old place.

    Raises `OSError` where it cannot be moved.
    """
    if found:
        move_back(found, baseline.folder)
        return "back"
    if baseline.content is None and is_folder(
        baseline.folder
    ):  # another one: it gets the same files
        return "replaced" if baseline.identity else "same"
    set_aside(baseline.folder)
    baseline.write_file()
    return "lost" if baseline.identity else "back"


def _repositories_of(git: Path) -> Iterator[Path]:
    """Yield *git* itself, and the folders in it that git takes for repositories."""
    yield git
    inner = (one for name in ("worktrees", "modules") for one in _repositories(git / name))
    yield from itertools.islice(inner, _MAX_INNER)


def _repositories(folder: Path) -> Iterator[Path]:
    """Yield the repositories below *folder*, the uppermost first, as far as that ends."""
    pending = deque([folder])
    for _ in range(_MAX_FOLDERS):
        if not pending:
            return
        for path in filter(is_folder, children(pending.popleft())):
            is_repository = os.path.isfile(path / "HEAD")  # noqa: PTH113 - pathlib raises where it is locked
            if is_repository:
                yield path
            pending.append(path / "modules" if is_repository else path)
