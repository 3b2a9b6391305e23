"""Probing whether the kernel lets us have control groups: by making one and filling it.

Root in a container often can, a user where a part of the tree is handed over to him. Files alone
say nothing: a program is run that takes more memory than its group has, and must be killed.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.sandbox.limits.cgroup import Cgroup, CgroupParent
from modules.sandbox.types import MEBIBYTE, Limits
from utils.system.process_identity import is_running, start_ticks

_NAME = re.compile(r"onefold-(\d+)-(\d+)-\d+")
_TRIAL_LIMITS = Limits(memory=24 * MEBIBYTE, processes=16)
_MEMORY_HOG = "read -r _; head -c 96m /dev/zero | tail -c 90m > /dev/null"
_SECONDS = 10.0
_REMOVE_ATTEMPTS = 20
_NUMBERS = itertools.count()


class CgroupFactory:
    """Factory of groups in *place*, each for one call; remaining ones are removed with it."""

    def __init__(self, parent: CgroupParent) -> None:
        self.parent = parent
        self._ready: list[Cgroup] = []
        self._unremoved: list[Cgroup] = []
        weakref.finalize(self, _remove, self._ready, self._unremoved)

    def warm_up(self) -> None:
        """Make the next use of `create` and `Cgroup.add_process` fast, without waiting for it.

        The kernel waits many milliseconds before the first move of a process, and not again for a
        while: so we move ourselves to where we are, while the sandbox is being set up. It makes no
        group in the meantime, hence that comes first.
        """
        with suppress(OSError):  # then `create` will say so
            if not self._ready:
                self._ready.append(self._new())
            threading.Thread(
                target=_move_to_own_group, args=(self.parent,), name="sandbox-group", daemon=True
            ).start()

    @contextmanager
    def create(self, limits: Limits) -> Iterator[Cgroup]:
        """Make a group that lasts as long as the block. Raises `OSError` if it cannot be made."""
        group = self._ready.pop() if self._ready else self._new()
        try:
            group.limit(limits)
            yield group
        finally:
            if not group.remove():
                self._unremoved.append(group)

    def _new(self) -> Cgroup:
        self._unremoved[:] = [group for group in self._unremoved if not group.remove()]
        name = f"onefold-{os.getpid()}-{start_ticks(os.getpid()) or 0}-{next(_NUMBERS)}"
        return Cgroup(self.parent, name)

    def remove_stale(self) -> None:
        """Remove the groups of those who were killed."""
        for folder in self.parent.folders():
            for path in folder.glob("onefold-*"):
                match = _NAME.fullmatch(path.name)
                if match and not is_running(int(match[1]), match[2]):
                    with suppress(OSError):
                        path.rmdir()


def find_cgroups(cache_folder: Path) -> CgroupFactory | None:
    """Return where groups can be had, None if nowhere; *cache_folder* remembers what was tried."""
    file = cache_folder / "groups.json"
    for parent in _places():
        factory = CgroupFactory(parent)
        with suppress(OSError):
            factory.remove_stale()
            key = [_boot_id(), os.getuid(), *map(os.fspath, parent.folders())]
            with factory.create(
                _TRIAL_LIMITS
            ):  # also where it is remembered: it may have been taken away
                remembered = _read(file) == key
            if remembered or _enforces_limits(factory):
                _write(file, key)
                return factory
    return None


def _remove(*lists: Sequence[Cgroup]) -> None:
    """Remove what is left; the kernel may take a moment to see that a group's last process died."""
    for group in itertools.chain(*lists):
        for _ in range(_REMOVE_ATTEMPTS):
            if group.remove():
                break
            time.sleep(0.005)


def _enforces_limits(factory: CgroupFactory) -> bool:
    """Return whether a program in a group of ours is held to its limits."""
    with factory.create(_TRIAL_LIMITS) as group:
        hog = subprocess.Popen(  # noqa: S603 - the command is ours
            ["/bin/sh", "-c", _MEMORY_HOG],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            start_new_session=True,
        )
        with hog:
            try:
                group.add_process(hog.pid)
                hog.communicate(b"\n", _SECONDS)
            except (OSError, subprocess.TimeoutExpired):
                hog.kill()
                return False
        return group.oom_kills() > 0


def _places() -> Iterator[CgroupParent]:
    """Yield the places where groups might be made: in our own group, else in those around it."""
    own = _own_groups()
    mounts = _mounts()
    if "" in own and "" in mounts:
        for path in _writable_ancestors(mounts[""], own[""]):
            with suppress(OSError):  # enabled already, or not for us to enable
                (path / "cgroup.subtree_control").write_text("+memory +pids", encoding="ascii")
            yield CgroupParent(path, path)
    if own.keys() & mounts.keys() >= {"memory", "pids"}:
        memory = next(_writable_ancestors(mounts["memory"], own["memory"]), None)
        processes = next(_writable_ancestors(mounts["pids"], own["pids"]), None)
        if memory and processes and memory != processes:
            yield CgroupParent(memory, processes)


def _writable_ancestors(mount: Path, own_group: str) -> Iterator[Path]:
    """Yield the folder of the group *own_group* and those above it, as far as we may write
    there."""
    path = mount / own_group.lstrip("/")
    for folder in (path, *path.parents):
        if folder != mount and mount not in folder.parents:
            return
        if folder.is_dir() and os.access(folder, os.W_OK):
            yield folder


def _move_to_own_group(parent: CgroupParent) -> None:
    """Move this process to the group it is in, in the tree of *parent*."""
    controller = "" if parent.is_v2 else "memory"
    mounts, own_groups = _mounts(), _own_groups()
    if controller in mounts and controller in own_groups:
        folder = mounts[controller] / own_groups[controller].lstrip("/")
        with suppress(OSError):  # then the move of the program will take its time
            (folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")


def _own_groups() -> dict[str, str]:
    """Return our group by controller, "" standing for version 2."""
    found: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            found |= dict.fromkeys(controllers.split(","), path)
    return found


def _mounts() -> dict[str, Path]:
    """Return where the trees are mounted by controller, "" standing for version 2."""
    found: dict[str, Path] = {}
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            path = Path(before.split(" ")[4])
            if kind == "cgroup2":
                found[""] = path
            elif kind == "cgroup":
                found |= dict.fromkeys(options.split(","), path)
    return found


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _read(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write(file: Path, key: object) -> None:
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(key), encoding="utf-8")
