"""What the paired devices have open, so that one that is removed is cut off in the midst of it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection


class DeviceConnections:
    """The connections on which devices are being answered. May be used from any thread.

    A connection is added *before* its device is looked up in the list, and the list is changed
    before `keep` is told: whichever comes first, a removed device is refused or cut.
    """

    def __init__(self) -> None:
        self._open: dict[int, tuple[str, Callable[[], object]]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def add(self, device_id: str, cut: Callable[[], object]) -> Callable[[], None]:
        """Have *cut* called when the device is removed; return what ends that."""
        with self._lock:
            number = next(self._numbers)
            self._open[number] = device_id, cut
        return lambda: self._discard(number)

    def _discard(self, number: int) -> None:
        with self._lock:
            self._open.pop(number, None)

    def keep(self, device_ids: Collection[str]) -> None:
        """Cut the connections of all devices but those of *device_ids*."""
        with self._lock:
            for device_id, cut in self._open.values():
                if device_id not in device_ids:
                    cut()

    @property
    def is_empty(self) -> bool:
        return not self._open
