"""Objects of git, held by another name for as long as a run takes, so that none is ever lost.

Where programs write to a repository itself they can take away what undo needs: `rm -rf`, `git gc
--prune=now`. What git never changes once it is written (objects, packs, contents of git-lfs) has
a second name or a copy in a folder of ours meanwhile, and the state a copy. After the run what is
missing, or is another content, is put back; but not what a whole new pack holds by now.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from modules.files.git.isolated_git import isolated_repository
from modules.files.kernel import reflink
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.filesystem.held_folder import HeldFolder
from modules.sandbox.git.held_state import HeldState, files_in
from modules.sandbox.git.object_files import (
    Statuses,
    clear_way,
    derived_files,
    folders_in,
    lasting_files,
    repository_of,
)
from modules.sandbox.git.pack_index import loose_id, pack_ids
from utils.system.child import TimedOut

_COPIED = 64 << 20
"""Bytes of copies, the smallest files first; what is beyond has a second name (a hard link)."""
_MAX_COPIED = 512 << 20
"""The same where there can be no second name, on another file system."""
_MAX_IDS = 2_000_000
_COMPARED = 1 << 20  # bytes at a time

_Stamp = tuple[int, int, int, int]


class HeldObjects:
    """What is held of the repositories in *project*, in *folder*, which is made when needed.

    Names are paths in the project.
    """

    def __init__(self, project: Path, folder: Path) -> None:
        self._project = project
        self._objects = folder / "objects"
        self._folder = folder
        self.state = HeldState(project, folder / "state")
        self._stamps: dict[str, _Stamp] = {}  # of all that was there, held or not
        self._derived: dict[str, _Stamp] = {}

    def hold(self, repositories: Iterable[Path], *, is_first: bool) -> None:
        """Hold the objects of *repositories*, and all of the project's own, before a run.

        What cannot be held is not; `put_back` tells what of it is lost. If it *is_first*, no
        other run goes on, and what is held of what is gone by now is let go.
        """
        found, held = self._found(repositories, is_first=is_first), dict(files_in(self._objects))
        if is_first:
            self._stamps.clear()
            self.state.hold()
            for name in held.keys() - found.keys():
                (self._objects / name).unlink()
                del held[name]
        else:
            found = self._without_unproved_packs(found)
        copied = sum(size for name, size in held.items() if name in found and size <= _COPIED)
        new = sorted(found.keys() - self._stamps.keys(), key=lambda name: found[name].st_size)
        self._stamps |= {name: _stamp_of(found[name]) for name in new}
        self._make_folders(found.keys() - held.keys())
        with HeldFolder.open(self._project) as project:
            for name in (one for one in new if held.get(one) != found[one].st_size):
                if name in held:
                    (self._objects / name).unlink()
                    del held[name]
                own = self._hold_one(project, name, found[name].st_size, copied)
                copied += own or 0
                if own is None and (status := project.status(name)):
                    self._stamps[name] = _stamp_of(status)  # a second name is another stamp
                if own is not None or (self._objects / name).exists():
                    held[name] = found[name].st_size

    def _without_unproved_packs(self, found: Statuses) -> Statuses:
        """Return *found* without packs of runs that go on, unless git finds them to be whole."""
        new = (name for name in found if name.endswith(".idx") and name not in self._stamps)
        stems = {name.removesuffix(".idx") for name in new if self._is_whole(name) is not True}
        return {name: one for name, one in found.items() if name.rpartition(".")[0] not in stems}

    def _make_folders(self, names: Iterable[str]) -> None:
        folders = {os.path.dirname(name) for name in names}  # noqa: PTH120
        with suppress(OSError):  # what cannot be held is not
            for folder in folders:
                (self._objects / folder).mkdir(parents=True, exist_ok=True)

    def put_back(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Put back what a run has taken away or changed, and take away what leads git elsewhere.

        Return what of it could not be held, and packs that were not what they say. Raises
        `OSError`.
        """
        held = dict(files_in(self._objects))  # another Onefold may have let go of some
        if not ((held or self._stamps) and self._project.is_dir()):
            return (), ()
        names = {*self._stamps, *held}
        with HeldFolder.open(self._project) as project:
            places = {place for place in {*map(repository_of, names)} if project.is_folder(place)}
            false_packs = [pack for place in sorted(places) for pack in self._tidy(project, place)]
            now = lasting_files(project, {os.path.dirname(name) for name in names})  # noqa: PTH120
            gone = {
                name
                for name in names
                if repository_of(name) in places
                and self._is_gone(project, name, now.get(name), held)
            }
            if gone:
                gone -= self._superfluous(project, gone, held)
            for name in sorted(gone & held.keys(), key=lambda one: (one.endswith(".idx"), one)):
                clear_way(project, name)
                is_large = held[name] > _COPIED
                mode = stat.S_IMODE((self._objects / name).stat().st_mode)
                project.copy(name, self._objects / name, mode, may_link=is_large)
                if status := project.status(name):
                    self._stamps[name] = _stamp_of(status)
        return tuple(sorted(gone - held.keys())), tuple(false_packs)

    def _tidy(self, project: HeldFolder, repository: str) -> Iterator[str]:
        """Take away of *repository* what a run has made of its objects that git would believe.

        That is what git makes anew, and new packs that are not whole, which are yielded.
        """
        self.state.complete(project, repository)
        for name, status in derived_files(project, repository).items():
            if self._derived.get(name) != _stamp_of(status):
                clear_way(project, name)
                project.remove(name)
        packs = lasting_files(project, [f"{repository}/objects/pack"])
        for index in (name for name in packs if name.endswith(".idx")):
            if index in self._stamps or (self._objects / index).exists():
                continue
            if self._is_whole(index) is False:
                stem = index.removesuffix(".idx")
                clear_way(project, index)
                for name in (index, *(one for one in packs if one.startswith(f"{stem}."))):
                    project.remove(name)
                yield f"{stem}.pack"

    def release(self) -> None:
        """Let go of all that is held."""
        self._stamps.clear()
        remove_scratch(self._folder)

    def _found(self, repositories: Iterable[Path], *, is_first: bool) -> Statuses:
        found: Statuses = {}
        derived = {} if is_first else self._derived
        known = {repository_of(name) for name in self._stamps} if not is_first else frozenset()
        with HeldFolder.open(self._project) as project:
            for repository in repositories:
                name = repository.relative_to(self._project).as_posix()
                found |= lasting_files(project, folders_in(project, name))
                if name not in known:  # in others they may be of a run that goes on
                    now = derived_files(project, name)
                    derived |= {one: _stamp_of(status) for one, status in now.items()}
        self._derived = derived
        return found

    def _hold_one(self, project: HeldFolder, name: str, size: int, copied: int) -> int | None:
        """Hold the file *name*; return the bytes of its copy, None for a second name or none."""
        target = os.path.join(self._objects, name)  # noqa: PTH118 - there are many of them
        try:
            if copied + size > _COPIED:
                with suppress(OSError):
                    project.give_name(name, Path(target))
                    return None
            with project.opened(name) as source, open(target, "xb") as out:  # noqa: PTH123
                is_shared = size > _COMPARED and reflink(source.fileno(), out.fileno())
                if not is_shared and copied + size > _MAX_COPIED:
                    raise OSError
                if not is_shared:
                    shutil.copyfileobj(source, out, _COMPARED)
                os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(source.fileno()).st_mode))
        except OSError:
            with suppress(OSError):
                os.unlink(target)  # noqa: PTH108
            return None
        return 0 if is_shared else size

    def _is_gone(
        self, project: HeldFolder, name: str, now: os.stat_result | None, held: Mapping[str, int]
    ) -> bool:
        """Return whether the file *name* is missing, or holds something else."""
        if now is None:
            return True
        if self._stamps.get(name) == _stamp_of(now) or name not in held:
            return False
        try:
            with project.opened(name) as file, (self._objects / name).open("rb") as copy:
                return not _are_alike(file.fileno(), copy.fileno())
        except OSError:
            return True  # it is locked

    def _superfluous(
        self, project: HeldFolder, gone: set[str], held: Mapping[str, int]
    ) -> set[str]:
        """Return what of *gone* holds nothing but what is in whole packs that are there."""
        found: set[str] = set()
        for folder in sorted({name.rpartition("objects/")[0] for name in gone}):
            own = {name for name in gone if name.rpartition("objects/")[0] == folder}
            ids = self._packed_ids(project, f"{folder}objects/pack", gone)
            if not ids:
                continue
            found |= {name for name in own if (one := loose_id(name)) and one in ids}
            for index in (name for name in own & held.keys() if name.endswith(".idx")):
                stem = index.removesuffix(".idx")
                with (self._objects / index).open("rb") as copy:
                    were = pack_ids(copy, _MAX_IDS)
                if f"{stem}.pack" in own and were and were <= ids:
                    found |= {name for name in own if name.startswith(f"{stem}.")}
        return found

    def _packed_ids(self, project: HeldFolder, folder: str, gone: set[str]) -> frozenset[bytes]:
        """Return the objects in the packs in *folder*; of new packs, in those that are whole."""
        ids: set[bytes] = set()
        packs = lasting_files(project, [folder]).keys() - gone
        for index in sorted(name for name in packs if name.endswith(".idx")):
            if f"{index.removesuffix('.idx')}.pack" not in packs:
                continue
            if index not in self._stamps and self._is_whole(index) is not True:
                continue
            with project.opened(index) as file:
                ids |= pack_ids(file, _MAX_IDS)
            if len(ids) > _MAX_IDS:
                return frozenset()
        return frozenset(ids)

    def _is_whole(self, index: str) -> bool | None:
        """Return whether the pack with the index *index* is what that says, object for object.

        None where git does not tell.
        """
        path = self._project / index
        with suppress(OSError, TimedOut):
            if path.resolve() == path and (git := isolated_repository(path.parents[2])):
                return git.run("verify-pack", os.fspath(path)).code == 0
        return None


def _stamp_of(status: os.stat_result) -> _Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _are_alike(one: int, other: int) -> bool:
    statuses = os.fstat(one), os.fstat(other)
    if os.path.samestat(*statuses):
        return True
    size = statuses[0].st_size
    return size == statuses[1].st_size and all(
        os.pread(one, _COMPARED, place) == os.pread(other, _COMPARED, place)
        for place in range(0, size, _COMPARED)
    )
