"""Device nodes of our own, for whoever owns the machine's.

A program that runs as root could else take /dev/null away from everybody: no mount keeps the owner
of a device from changing its permissions and leaves the device usable.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from utils.system.process_identity import is_running, start_ticks

_NAMES = ("null", "zero", "full", "random", "urandom", "tty")
_MODE = stat.S_IFCHR | 0o666
_FOLDER = re.compile(r"onefold-nodes-(\d+)-(\d*)-.*")


class DeviceNodes:
    """The nodes of this process, in a temporary folder, in *cache_folder* where that has none.

    They go with us and are no part of the data: who copies these might read /dev/zero on and on.
    """

    def __init__(self, cache_folder: Path) -> None:
        self._candidates = [Path(tempfile.gettempdir()), cache_folder]  # to be tried
        self._folder: Path | None = None

    def nodes(self) -> tuple[Path, ...]:
        """Return the nodes, as they should be: those of devices that this user owns.

        None where no file system lets devices be, or where we may not make them.
        """
        devices = [
            path for path in (Path("/dev", name) for name in _NAMES) if _is_owned_device(path)
        ]
        if devices and self._folder:
            with suppress(OSError):  # somebody has removed it
                return _create_nodes(self._folder, devices)
        while devices and self._candidates:
            try:
                self._folder = self._create_folder(self._candidates[0])
                return _create_nodes(self._folder, devices)
            except OSError:
                del self._candidates[0]
        return ()

    def _create_folder(self, parent: Path) -> Path:
        _remove_stale(parent)
        process = os.getpid()
        prefix = f"onefold-nodes-{process}-{start_ticks(process)}-"
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder


def _create_nodes(folder: Path, devices: Sequence[Path]) -> tuple[Path, ...]:
    """Return nodes for *devices* in *folder*. Raises `OSError` when they cannot be used there."""
    nodes = []
    for device in devices:
        node = folder / device.name
        number = device.stat().st_rdev
        if not _is_node_of(node, number):
            node.unlink(missing_ok=True)
            os.mknod(node, _MODE, number)
            node.chmod(0o666)  # whatever the umask is
        nodes.append(node)
    os.close(os.open(nodes[0], os.O_RDONLY | os.O_CLOEXEC))
    return tuple(nodes)


def _is_owned_device(path: Path) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return stat.S_ISCHR(status.st_mode) and status.st_uid == os.getuid()


def _is_node_of(node: Path, device: int) -> bool:
    try:
        status = node.lstat()
    except OSError:
        return False
    return (status.st_mode, status.st_rdev) == (_MODE, device)


def _remove_stale(parent: Path) -> None:
    """Remove the folders of those of us that were killed."""
    for folder in parent.glob("onefold-nodes-*"):
        match = _FOLDER.fullmatch(folder.name)
        if match and not is_running(int(match[1]), match[2]):
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid():
                    shutil.rmtree(folder)
