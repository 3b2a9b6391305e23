"""A control group of our own for one call: the kernel limits what is in it as a whole.

Facts: cgroups(7); the files of version 1 and 2 in Linux, Documentation/admin-guide/cgroup-v1 and
cgroup-v2.rst. Version 2 has one folder with all of it, version 1 a folder for each controller.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from modules.sandbox.types import Limits
from utils.frozen import frozen


@frozen
class CgroupParent:
    """The folders in which groups are made; in version 2 both are the same."""

    memory: Path
    processes: Path

    @property
    def is_v2(self) -> bool:
        return self.memory == self.processes

    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((self.memory, self.processes)))


class Cgroup:
    """The group *name* in *parent*. Raises `OSError` if it cannot be made.

    Whoever makes it removes it.
    """

    def __init__(self, parent: CgroupParent, name: str) -> None:
        self._parent = parent
        self._name = name
        try:
            for folder in parent.folders():
                (folder / name).mkdir()
        except OSError:
            self.remove()
            raise

    def limit(self, limits: Limits) -> None:
        """Raises `OSError` if that cannot be done."""
        for file, value in self._limit_values(limits).items():
            file.write_text(str(value), encoding="ascii")

    def _limit_values(self, limits: Limits) -> Mapping[Path, int]:
        """Return the values to write, by file and in this order; optional ones only if there."""
        memory, processes = self._parent.memory / self._name, self._parent.processes / self._name
        values = {processes / "pids.max": limits.processes}
        if self._parent.is_v2:
            values |= {memory / "memory.max": limits.memory}
            optional = {"memory.swap.max": 0, "memory.oom.group": 1}
        else:
            values |= {memory / "memory.limit_in_bytes": limits.memory}
            optional = {"memory.memsw.limit_in_bytes": limits.memory}
        return values | {memory / k: v for k, v in optional.items() if (memory / k).exists()}

    def add_process(self, process: int) -> None:
        """Move *process* here; what it starts from now on is here as well."""
        for folder in self._parent.folders():
            (folder / self._name / "cgroup.procs").write_text(str(process), encoding="ascii")

    def members(self) -> set[int]:
        """Return the processes in the group, but for those that have no number here."""
        found: set[int] = set()
        for folder in self._parent.folders():
            with suppress(OSError):
                text = (folder / self._name / "cgroup.procs").read_text(encoding="ascii")
                found |= set(map(int, text.split()))
        # The kernel names one of another pid namespace 0; a signal to 0 is one to ourselves.
        return found - {0}

    def oom_kills(self) -> int:
        """Return how many processes the kernel has killed for want of memory in the group."""
        file = "memory.events" if self._parent.is_v2 else "memory.oom_control"
        return _read_counter(self._parent.memory / self._name / file, "oom_kill")

    def pids_limit_hits(self) -> int:
        """Return how often a process more was refused."""
        return _read_counter(self._parent.processes / self._name / "pids.events", "max")

    def remove(self) -> bool:
        """Kill what is left in the group, and remove it; return whether it is gone."""
        for process in self.members():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        for folder in self._parent.folders():
            with suppress(OSError):
                (folder / self._name).rmdir()
        return not any((folder / self._name).exists() for folder in self._parent.folders())


def _read_counter(file: Path, key: str) -> int:
    """Return the number after *key* in a file of lines "key number", 0 if there is none."""
    with suppress(OSError):
        for line in file.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0
