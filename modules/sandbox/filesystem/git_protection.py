"""Putting git's dangerous files back, where a tier cannot keep programs from changing them.

These are the files in `.git` that make git run a command, or look for such files elsewhere: its
own, those of its worktrees and of the submodules that it keeps. A run that was cut short by a kill
is settled at the next start.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from modules.sandbox.filesystem.git_baseline import Baseline, children, is_folder
from modules.sandbox.filesystem.git_run_record import InUse, RunRecord, UnreadableRecord
from modules.sandbox.filesystem.moved_folders import FolderSearch, put_in_place, set_aside
from modules.sandbox.run.orphan_cleanup import wait_for_launchers
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.lines import listed

_MOST_INNER = 200
_MOST_FOLDERS = 20_000  # that are searched for them
_DYING = 30.0  # seconds that the processes of a killed run may take to be gone


@dataclass(frozen=True, slots=True)
class Restored:
    """What was changed, by path in the project: *files* and *folders* that were put back, files
    that were *reduced* by lines that would run something, and folders that are *lost* since this
    run: gone, or others now stand there.
    """

    files: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


_State = Literal["same", "back", "replaced", "lost"]
"""What became of a folder: the same one in its place, or put back there; another, or none."""

_guard = threading.Lock()
_kept: dict[tuple[Path, Path], GitProtection] = {}


def kept_git_of(project: Path, record: Path) -> GitProtection:
    """Return the one that all sandboxes of this process around *project* share."""
    with _guard:
        key = project.resolve(), record
        return _kept.setdefault(key, GitProtection(key[0], RunRecord(record)))


class GitProtection:
    """Keeps the dangerous files of repositories in *project* what they were before each run.

    Of runs at the same time, what was before the first one counts. Until the last of them is over
    it is also in *record*. A repository that a run takes away is remembered: what stands in its
    place after a later run is given its files.
    """

    def __init__(self, project: Path, record: RunRecord | None = None) -> None:
        self._project = project
        self._record = record
        self._lock = threading.RLock()
        self._running = 0
        self._parts: list[Baseline] = []
        self._lost: dict[Path, Baseline] = {}
        self._elsewhere: set[Path] = set()  # repositories whose folders a run has moved
        self._news: list[Phrase] = []

    def begin(self, gits: Iterable[Path]) -> None:
        """Look at *gits*, each a `.git`, before a run. One that is not there is to stay away.

        Raises `UserError`, before anything is run, where that cannot be written down.
        """
        with self._lock:
            if trouble := self.settle():
                raise UserError(trouble)
            parts = self._looked_at(gits)
            if self._record and len(parts) > len(self._parts):
                try:
                    self._record.write(self._project, parts)
                except OSError as error:
                    raise UserError(
                        phrase(
                            "Nothing was run: what git obeys here cannot be written down before "
                            "it, to be put back after a kill: {why}.",
                            why=error.strerror or str(error),
                        )
                    ) from error
            self._parts = parts
            self._running += 1

    def _looked_at(self, gits: Iterable[Path]) -> list[Baseline]:
        folders = [folder for git in (*gits, *self._elsewhere) for folder in _repositories_of(git)]
        if self._running:
            known = {part.folder for part in self._parts}
            return [*self._parts, *(Baseline.of(one) for one in folders if one not in known)]
        self._lost = {place: part for place, part in self._lost.items()
                      if not os.path.lexists(place)}  # fmt: skip
        places = dict.fromkeys((*folders, *self._lost))
        return [self._lost.get(folder) or Baseline.of(folder) for folder in places]

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
                    self._parts = []
                    if self._record:
                        self._record.close(is_done=is_done)
            return restored

    def settle(self) -> Phrase | None:
        """Put back what a run changed that was killed with its Onefold; `news` tells of it.

        Return why that cannot be done, None where all is well.
        """
        if not self._record or self._running or not self._record.exists():
            return None
        with self._lock:
            try:
                with self._record.left(self._project) as self._parts:
                    if self._parts and not wait_for_launchers(self._project, _DYING):
                        raise InUse
                    self._news += map(_after_a_kill, put_back(self._restore()))
            except InUse:
                return phrase("Another Onefold runs a program in this folder; wait for it.")
            except UnreadableRecord:
                self._news.append(_unsettled(phrase("its record cannot be read")))
                self._record.put_aside()
            except OSError as error:
                trouble = _unsettled(error.strerror or str(error))
                self._news += [trouble] if trouble not in self._news else []
                return trouble
            finally:
                self._parts = []
        return None

    def news(self) -> list[Phrase]:
        """Return what was put back after a kill and nobody was told yet."""
        with self._lock:
            told, self._news = self._news, []
            return told

    def _restore(self) -> Restored:
        files: list[str] = []
        reduced: list[str] = []
        folders: list[str] = []
        missing: list[Baseline] = []
        lost: dict[Path, Baseline] = {}
        search = FolderSearch(self._project)
        for part in [*self._parts]:
            state = self._put_back(part, search)
            if state == "back":
                folders.append(self._name(part.folder))
            if state in ("lost", "replaced") and part not in self._lost.values():
                missing.append(part)
            if state == "lost":
                lost[part.folder] = part
            else:
                for one in (part, *self._new_in(part.folder)):
                    name = self._name(one.folder)
                    whole, partly = one.restore()
                    files += (f"{name}/{file}" for file in whole)
                    reduced += (f"{name}/{file}" for file in partly)
        self._lost = lost
        names = sorted(self._name(part.folder) for part in missing)
        above = [name for name in names if not any(name.startswith(f"{one}/") for one in names)]
        return Restored(
            tuple(sorted(set(files))), tuple(sorted(set(reduced))), tuple(folders), tuple(above)
        )

    def _new_in(self, folder: Path) -> list[Baseline]:
        """Return what a run has made in *folder* that git takes for repositories of its own."""
        known = {part.folder for part in self._parts}
        return [Baseline.of_new(one) for one in _repositories_of(folder) if one not in known]

    def _put_back(self, part: Baseline, search: FolderSearch) -> _State:
        """Have the folder of *part* where it was, as far as that goes."""
        if part.is_same():
            return "same"
        try:
            found = search.place_of(part.identity) if part.identity else None
            if part.is_parent_there():
                return _put_there(part, found)
        except OSError:
            return "lost"
        if found is None:
            return "lost"
        part.move_to(found)  # with the folder around it
        self._elsewhere.add(found)
        return "same"

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self._project).as_posix()


def _put_there(part: Baseline, found: Path | None) -> _State:
    """Have *part*, which is *found* somewhere else or not at all, in its old place.

    Raises `OSError` where it cannot be moved.
    """
    if found:
        put_in_place(found, part.folder)
        return "back"
    if part.content is None and is_folder(part.folder):  # another one: it gets the same files
        return "replaced" if part.identity else "same"
    set_aside(part.folder)
    part.write()
    return "lost" if part.identity else "back"


def _repositories_of(git: Path) -> Iterator[Path]:
    """Yield *git* itself, and the folders in it that git takes for repositories."""
    yield git
    inner = (one for name in ("worktrees", "modules") for one in _repositories(git / name))
    yield from itertools.islice(inner, _MOST_INNER)


def _repositories(folder: Path) -> Iterator[Path]:
    """Yield the repositories below *folder*, the uppermost first, as far as that ends."""
    waiting = deque([folder])
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        for path in filter(is_folder, children(waiting.popleft())):
            is_one = os.path.isfile(path / "HEAD")  # noqa: PTH113 - pathlib raises where it is locked
            if is_one:
                yield path
            waiting.append(path / "modules" if is_one else path)


def put_back(restored: Restored) -> Iterator[Phrase]:
    """Say what a run did to what git obeys."""
    if restored.lost:
        yield phrase(
            "The run replaced or removed {names}: look there before you use git.",
            names=listed(restored.lost),
        )
    if restored.folders:
        yield phrase(
            "The run moved or replaced {names}, which git obeys; put back.",
            names=listed(restored.folders),
        )
    if restored.files:
        names = listed(restored.files)
        yield phrase("The run changed what git obeys; put back: {names}", names=names)
    if restored.reduced:
        names = listed(restored.reduced)
        yield phrase("Lines by which git would run something were taken out: {names}", names=names)


def _after_a_kill(said: Phrase) -> Phrase:
    return phrase("After a run that was cut short: {what}", what=said)


def _unsettled(why: Text) -> Phrase:
    return phrase(
        "A run was cut short, and what git obeys could not be put back: {why}. Look at .git/config "
        "and .git/hooks before you use git.",
        why=why,
    )
