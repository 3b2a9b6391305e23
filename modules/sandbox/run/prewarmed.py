"""Prewarmed Python that is ready and waits for the code of one call, so that this is fast.

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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from modules.files.kernel import rename_to_new
from modules.sandbox.filesystem.mount_points import MountPoints, is_empty_folder
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.run.execution import Execution
from modules.sandbox.run.orphan_cleanup import end_orphans
from modules.sandbox.run.process import LaunchSpec
from modules.sandbox.types import MAX_SECONDS, Limits, LockProject
from utils.i18n import UserError

_START_DELAY = 0.1  # seconds without a call after which a Python is started
_START_TIMEOUT = 20.0  # seconds that it may take

Identity = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class PoolKey:
    """Key of a prewarmed Python; a call takes it only if its own key is equal."""

    tier: str
    plan: MountPlan
    limits: Limits
    identities: tuple[Identity, ...]

    @classmethod
    def of(cls, tier: str, plan: MountPlan, limits: Limits) -> PoolKey:
        interpreter = plan.interpreter
        paths = [plan.project, plan.etc, *plan.repository, *plan.hidden, *plan.own_code]
        if plan.home:
            paths.append(plan.home)
        paths += plan.toolchains.folders
        if plan.git_place:
            paths += (plan.git_place / name for name in plan.git_modules)
        if plan.git_lfs:
            paths.append(plan.git_lfs)
        if interpreter:
            paths += [interpreter.python, interpreter.python.resolve()]
        mount_points = {plan.project / name for name in plan.mount_points}
        identities = tuple(_identity_of(path) for path in paths if path not in mount_points)
        return cls(tier, plan, replace(limits, seconds=MAX_SECONDS), identities)


Prepared = tuple[PoolKey, Callable[[], LaunchSpec]]
"""Key that a prewarmed Python is to have, and a function that returns how to launch it."""


@dataclass(slots=True)
class ParkedMounts:
    """Mount points of a prewarmed Python, kept out of the project while it waits for its call.

    A mount stays on its folder when that is renamed from where it is no mount point: from here.
    """

    project: Path
    folder: Path
    parked: dict[str, Path] = field(default_factory=dict)

    def park(self, names: Sequence[str]) -> None:
        """Raises `OSError` if it cannot be done, or if one has become somebody's own by now."""
        for name in filter(lambda name: os.path.lexists(self.project / name), names):
            parked_path = self.folder / f"parked-{os.getpid()}-{next(_NUMBERS)}"
            _rename(self.project / name, parked_path)
            if not is_empty_folder(parked_path):  # made by the person while the Python was starting
                _rename(parked_path, self.project / name)
                raise FileExistsError(name)
            self.parked[name] = parked_path

    def restore(self) -> None:
        """Raises `OSError` if that cannot be done, or something else is there by now."""
        for name, parked_path in list(self.parked.items()):
            _rename(parked_path, self.project / name)
            del self.parked[name]

    def clear(self) -> None:
        """Remove what is parked; only when no process of the prewarmed Python is alive."""
        for parked_path in self.parked.values():
            with suppress(OSError):
                parked_path.rmdir()
        self.parked.clear()


class WarmInterpreter:
    """At most one waiting Python, started in the background once the first call is over.

    It keeps nothing of the session that it is for: that ends it when it is garbage itself.
    """

    def __init__(self, mount_points: MountPoints, project: Path, folder: Path) -> None:
        self._mount_points = mount_points
        self._project = project
        self._folder = folder
        self._key: PoolKey | None = None
        self._execution: Execution | None = None
        self._parked_mounts = ParkedMounts(project, folder)
        self._thread: threading.Thread | None = None
        self._busy = threading.Event()
        self._is_over = False

    @property
    def is_waiting(self) -> bool:
        return self._execution is not None

    def pause(self) -> None:
        """Start nothing from now on; a start under way is waited for."""
        self._busy.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None

    def take(self, key: PoolKey, code: str, limits: Limits) -> Execution | None:
        """Let the prewarmed Python run *code* if its key is *key*, else end it; after `pause`."""
        execution, self._execution = self._execution, None
        if execution is None:
            return None
        parked_mounts, self._parked_mounts = (
            self._parked_mounts,
            ParkedMounts(self._project, self._folder),
        )
        if key == self._key:
            with suppress(OSError):
                parked_mounts.restore()
                if execution.send_code(code, limits):
                    return execution
        _end_and_clear(execution, parked_mounts)
        return None

    def prepare(self, prepare_key: Callable[[], Prepared], lock_project: LockProject) -> None:
        """Start a Python when there was no call for a moment, as *prepare_key* says by then.

        It starts with the project locked, so that nobody sees or undoes its mount points.
        """
        if self._thread or self._execution:
            return
        self._busy.clear()
        self._thread = threading.Thread(
            target=self._start, args=(prepare_key, lock_project), name="sandbox-spare", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End for good."""
        self._is_over = True
        self.discard()

    def close_in_background(self) -> None:
        """End for good, without waiting for it.

        For the garbage collector, which runs in any thread at any moment: also in those that
        `close` waits for, and while the locks of `threading` are held.
        """
        self._is_over = True
        _thread.start_new_thread(self.discard, ())

    def discard(self) -> None:
        self.pause()
        execution, self._execution = self._execution, None
        if execution:
            _end_and_clear(execution, self._parked_mounts)

    def _start(self, prepare_key: Callable[[], Prepared], lock_project: LockProject) -> None:
        if self._busy.wait(_START_DELAY):
            return
        try:
            key, make_spec = prepare_key()
        except UserError:  # the next call will say it
            return
        if not _can_prewarm(key.plan):
            return
        _remove_stale(self._folder)
        parked_mounts = ParkedMounts(self._project, self._folder)
        # OSError: the names are in use, or our data lie on another disk than the project.
        # Problem: somebody looks at the project for very long.
        with suppress(OSError, UserError), ExitStack() as stack:
            stack.enter_context(lock_project())
            if self._busy.is_set():  # meanwhile there is a call
                return
            stack.enter_context(_preserving_times(self._project))
            sync_fd = None
            if key.plan.mount_points:
                sync_fd = stack.enter_context(
                    self._mount_points.reserved_exclusively(key.plan.mount_points)
                )
            execution = Execution(replace(make_spec(), sync_fd=sync_fd), key.limits)
            cleanup = stack.enter_context(ExitStack())
            cleanup.callback(_end_and_clear, execution, parked_mounts)
            execution.start()
            if execution.is_ready(_START_TIMEOUT):
                parked_mounts.park(key.plan.mount_points)
                if not self._is_over:
                    cleanup.pop_all()
                    self._key, self._execution, self._parked_mounts = key, execution, parked_mounts


@contextmanager
def _preserving_times(folder: Path) -> Iterator[None]:
    """Restore the times of *folder* that mount points change, unless it changed beside that.

    What an undo has just brought back is not to differ a moment later.
    """
    names, before = set(os.listdir(folder)), folder.stat()  # noqa: PTH208 - names alone
    try:
        yield
    finally:
        if set(os.listdir(folder)) == names:  # noqa: PTH208
            os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


def _end_and_clear(execution: Execution, parked_mounts: ParkedMounts) -> None:
    execution.stop_and_wait()
    parked_mounts.clear()


def _can_prewarm(plan: MountPlan) -> bool:
    """Return whether no file of the project has a part in starting its Python."""
    interpreter = plan.interpreter
    if interpreter is None:
        return False
    return plan.project not in interpreter.python.resolve().parents


def _remove_stale(folder: Path) -> None:
    """Remove what an Onefold that was killed has left: hanging processes, parked mount points."""
    end_orphans(folder)
    for parked_path in folder.glob("parked-*"):
        process = parked_path.name.split("-")[1]
        if not Path("/proc", process).exists():
            with suppress(OSError):
                parked_path.rmdir()


def _rename(old: Path, new: Path) -> None:
    rename_to_new(_AT_FDCWD, os.fspath(old), _AT_FDCWD, os.fspath(new))


def _identity_of(path: Path) -> Identity:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


_AT_FDCWD = -100  # AT_FDCWD; the paths are whole
_NUMBERS = itertools.count()
