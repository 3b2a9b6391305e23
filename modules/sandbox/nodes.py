"""Device nodes of our own, for whoever owns the machine's.

A program that runs as root could else take /dev/null away from everybody: no mount keeps the owner
of a device from changing its permissions and leaves the device usable.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_NAMES = ("null", "zero", "full", "random", "urandom", "tty")
_MODE = stat.S_IFCHR | 0o666


class Nodes:
    """The nodes in a folder of *cache_folder*, which stay from call to call."""

    def __init__(self, cache_folder: Path) -> None:
        self._folder = cache_folder / "nodes"

    def ready(self) -> tuple[Path, ...]:
        """Return the nodes, as they should be: those of devices that this user owns.

        None where a file system does not let devices be, or where we may not make them.
        """
        with suppress(OSError):
            nodes = tuple(self._made(name) for name in _NAMES if _owns(Path("/dev", name)))
            for node in nodes[:1]:
                os.close(os.open(node, os.O_RDONLY | os.O_CLOEXEC))
            return nodes
        return ()

    def _made(self, name: str) -> Path:
        device = Path("/dev", name).stat().st_rdev
        node = self._folder / name
        if not _is_right(node, device):
            self._folder.mkdir(parents=True, exist_ok=True)
            new = node.with_name(f"{name}.{os.getpid()}")
            os.mknod(new, _MODE, device)
            new.chmod(0o666)  # whatever the umask is
            new.rename(node)
        return node


def _owns(path: Path) -> bool:
    found = path.stat()
    return stat.S_ISCHR(found.st_mode) and found.st_uid == os.getuid()


def _is_right(node: Path, device: int) -> bool:
    try:
        found = node.lstat()
    except OSError:
        return False
    return (found.st_mode, found.st_rdev) == (_MODE, device)
