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

from utils.system.process_identity import is_running, started_at

_NAMES = ("null", "zero", "full", "random", "urandom", "tty")
_MODE = stat.S_IFCHR | 0o666
_FOLDER = re.compile(r"onefold-nodes-(\d+)-(\d*)-.*")


class DeviceNodes:
    """The nodes of this process, in a temporary folder, in *cache_folder* where that has none.

    They go with us and are no part of the data: who copies these might read /dev/zero on and on.
    """

    def __init__(self, cache_folder: Path) -> None:
        self._places = [Path(tempfile.gettempdir()), cache_folder]  # to be tried
        self._folder: Path | None = None

    def ready(self) -> tuple[Path, ...]:
        """Return the nodes, as they should be: those of devices that this user owns.

        None where no file system lets devices be, or where we may not make them.
        """
        devices = [path for path in (Path("/dev", name) for name in _NAMES) if _owns(path)]
        if devices and self._folder:
            with suppress(OSError):  # somebody has tidied it away
                return _nodes(self._folder, devices)
        while devices and self._places:
            try:
                self._folder = self._made_in(self._places[0])
                return _nodes(self._folder, devices)
            except OSError:
                del self._places[0]
        return ()

    def _made_in(self, place: Path) -> Path:
        _tidy(place)
        process = os.getpid()
        prefix = f"onefold-nodes-{process}-{started_at(process)}-"
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder


def _nodes(folder: Path, devices: Sequence[Path]) -> tuple[Path, ...]:
    """Return nodes for *devices* in *folder*. Raises `OSError` when they cannot be used there."""
    nodes = []
    for device in devices:
        node = folder / device.name
        number = device.stat().st_rdev
        if not _is_right(node, number):
            node.unlink(missing_ok=True)
            os.mknod(node, _MODE, number)
            node.chmod(0o666)  # whatever the umask is
        nodes.append(node)
    os.close(os.open(nodes[0], os.O_RDONLY | os.O_CLOEXEC))
    return tuple(nodes)


def _owns(path: Path) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISCHR(found.st_mode) and found.st_uid == os.getuid()


def _is_right(node: Path, device: int) -> bool:
    try:
        found = node.lstat()
    except OSError:
        return False
    return (found.st_mode, found.st_rdev) == (_MODE, device)


def _tidy(place: Path) -> None:
    """Remove the folders of those of us that were killed."""
    for folder in place.glob("onefold-nodes-*"):
        match = _FOLDER.fullmatch(folder.name)
        if match and not is_running(int(match[1]), match[2]):
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid():
                    shutil.rmtree(folder)
