"""A Python that is ready and waits for its one piece of code, so that the common call is fast.

It is confined exactly as a call of its own would be, runs one call and ends with it. What differs
is only when it was started. While it waits nothing of the project's runs in it (see
`python_runner`), and no mount point is left in the project: see `ParkedMounts`.
"""

from __future__ import annotations

import _thread
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from modules.files.kernel import rename_to_new
from modules.sandbox.filesystem.mount_points import MountPoints, is_empty_folder
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.run.execution import Execution
from modules.sandbox.run.orphan_cleanup import end_orphans
from modules.sandbox.run.process import Order
from modules.sandbox.types import LONGEST, Limits
from utils.i18n import UserError

_IDLE = 0.1  # seconds without a call after which a spare is started
_STARTING = 20.0  # seconds that it may take

Mark = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class PoolKey:
    """What a spare was made for; a call takes it only if its own is equal."""

    tier: str
    view: MountPlan
    limits: Limits
    marks: tuple[Mark, ...]

    @classmethod
    def of(cls, tier: str, view: MountPlan, limits: Limits) -> PoolKey:
        found = view.interpreter
        paths = [view.project, view.etc, *view.repository, *view.covered, *view.own]
        if found:
            paths += [found.python, found.python.resolve()]
        ghosts = {view.project / name for name in view.ghosts}
        marks = tuple(_mark(path) for path in paths if path not in ghosts)
        return cls(tier, view, replace(limits, seconds=LONGEST), marks)


Wanted = tuple[PoolKey, Callable[[], Order]]
"""What a spare is to fit, and how to start it."""

Alone = Callable[[], AbstractContextManager[None]]
"""Keeps everybody else from looking at the project, and from undoing anything in it."""


@dataclass(slots=True)
class ParkedMounts:
    """Takes a spare's mount points out of the project while it waits, and back for its call.

    A mount stays on its folder when that is renamed from where it is no mount point: from here.
    """

    project: Path
    folder: Path
    parked: dict[str, Path] = field(default_factory=dict)

    def park(self, names: Sequence[str]) -> None:
        """Raises `OSError` if it cannot be done, or if one has become somebody's own by now."""
        for name in filter(lambda name: os.path.lexists(self.project / name), names):
            place = self.folder / f"parked-{os.getpid()}-{next(_NUMBERS)}"
            _rename(self.project / name, place)
            if not is_empty_folder(place):  # made by the person while the spare was starting
                _rename(place, self.project / name)
                raise FileExistsError(name)
            self.parked[name] = place

    def bring_back(self) -> None:
        """Raises `OSError` if that cannot be done, or something else is there by now."""
        for name, place in list(self.parked.items()):
            _rename(place, self.project / name)
            del self.parked[name]

    def clear(self) -> None:
        """Remove what is parked; only when no process of the spare is alive."""
        for place in self.parked.values():
            with suppress(OSError):
                place.rmdir()
        self.parked.clear()


class WarmInterpreter:
    """At most one waiting Python, started in the background once the first call is over."""

    def __init__(
        self, ghosts: MountPoints, project: Path, folder: Path, alone: Alone = nullcontext
    ) -> None:
        """It is started *alone*: its mount points and their times are not to be seen, or undone."""
        self._ghosts = ghosts
        self._alone = alone
        self._project = project
        self._folder = folder
        self._fit: PoolKey | None = None
        self._call: Execution | None = None
        self._parking = ParkedMounts(project, folder)
        self._thread: threading.Thread | None = None
        self._busy = threading.Event()
        self._is_over = False

    @property
    def is_there(self) -> bool:
        return self._call is not None

    def pause(self) -> None:
        """Start nothing from now on; a start under way is waited for."""
        self._busy.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None

    def take(self, fit: PoolKey, code: str, limits: Limits) -> Execution | None:
        """Let the spare run *code* if it fits, else get rid of it; after `pause`."""
        call, self._call = self._call, None
        if call is None:
            return None
        parking, self._parking = self._parking, ParkedMounts(self._project, self._folder)
        if fit == self._fit:
            with suppress(OSError):
                parking.bring_back()
                if call.begin(code, limits):
                    return call
        _end(call, parking)
        return None

    def prepare(self, wanted: Callable[[], Wanted]) -> None:
        """Start a spare when there has been no call for a moment, as *wanted* by then."""
        if self._thread or self._call:
            return
        self._busy.clear()
        self._thread = threading.Thread(
            target=self._start, args=(wanted,), name="sandbox-spare", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End for good."""
        self._is_over = True
        self.discard()

    def abandon(self) -> None:
        """End for good, without waiting for it.

        For the garbage collector, which runs in any thread at any moment: also in those that
        `close` waits for, and while the locks of `threading` are held.
        """
        self._is_over = True
        _thread.start_new_thread(self.discard, ())

    def discard(self) -> None:
        self.pause()
        call, self._call = self._call, None
        if call:
            _end(call, self._parking)

    def _start(self, wanted: Callable[[], Wanted]) -> None:
        if self._busy.wait(_IDLE):
            return
        try:
            fit, order = wanted()
        except UserError:  # the next call will say it
            return
        if not _may_wait(fit.view):
            return
        _tidy(self._folder)
        parking = ParkedMounts(self._project, self._folder)
        # OSError: the names are in use, or our data lie on another disk than the project.
        # Problem: somebody looks at the project for very long.
        with suppress(OSError, UserError), ExitStack() as stack:
            stack.enter_context(self._alone())
            if self._busy.is_set():  # meanwhile there is a call
                return
            stack.enter_context(_times_kept(self._project))
            life = None
            if fit.view.ghosts:
                life = stack.enter_context(self._ghosts.alone(fit.view.ghosts))
            call = Execution(replace(order(), life=life), fit.limits)
            unwanted = stack.enter_context(ExitStack())
            unwanted.callback(_end, call, parking)
            call.start()
            if call.is_ready(_STARTING):
                parking.park(fit.view.ghosts)
                if not self._is_over:
                    unwanted.pop_all()
                    self._fit, self._call, self._parking = fit, call, parking


@contextmanager
def _times_kept(folder: Path) -> Iterator[None]:
    """Give *folder* back the time that mount points change, unless it changed beside that.

    What an undo has just brought back is not to differ a moment later.
    """
    names, before = set(os.listdir(folder)), folder.stat()  # noqa: PTH208 - names alone
    try:
        yield
    finally:
        if set(os.listdir(folder)) == names:  # noqa: PTH208
            os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


def _end(call: Execution, parking: ParkedMounts) -> None:
    call.end()
    parking.clear()


def _may_wait(view: MountPlan) -> bool:
    """Return whether no file of the project has a part in starting its Python."""
    found = view.interpreter
    if found is None:
        return False
    return view.project not in found.python.resolve().parents


def _tidy(folder: Path) -> None:
    """Remove what an Onefold that was killed has left: hanging processes, parked mount points."""
    end_orphans(folder)
    for place in folder.glob("parked-*"):
        process = place.name.split("-")[1]
        if not Path("/proc", process).exists():
            with suppress(OSError):
                place.rmdir()


def _rename(old: Path, new: Path) -> None:
    rename_to_new(_HERE, os.fspath(old), _HERE, os.fspath(new))


def _mark(path: Path) -> Mark:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_HERE = -100  # AT_FDCWD; the paths are whole
_NUMBERS = itertools.count()
