"""Rooms of Socket.IO, made safe for threads: the clients, and the session that each follows."""

from __future__ import annotations

from collections.abc import Iterable
from threading import RLock
from typing import Any

from socketio import Manager


class ThreadSafeManager(Manager):  # type: ignore[misc]
    """The base's table of clients and rooms, changed and read by one thread at a time.

    The base makes a room with whoever enters it first and drops it with the last, and does not
    look out for others that do so at this moment: who came then would be in no room, and deaf.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = RLock()

    def pre_connect(self, eio_sid: str, namespace: str) -> Any:
        with self._lock:
            return super().pre_connect(eio_sid, namespace)

    def connect(self, sid: str, namespace: str) -> Any:
        with self._lock:
            return super().connect(sid, namespace)

    def is_connected(self, sid: str, namespace: str) -> bool:
        with self._lock:
            connected: bool = super().is_connected(sid, namespace)
            return connected

    def pre_disconnect(self, sid: str, namespace: str) -> Any:
        with self._lock:
            return super().pre_disconnect(sid, namespace)

    def basic_disconnect(self, sid: str, namespace: str, **kwargs: Any) -> None:
        with self._lock:
            super().basic_disconnect(sid, namespace, **kwargs)

    def basic_enter_room(
        self, sid: str, namespace: str, room: str | None, eio_sid: str | None = None
    ) -> None:
        with self._lock:
            super().basic_enter_room(sid, namespace, room, eio_sid)

    def basic_leave_room(self, sid: str, namespace: str, room: str | None) -> None:
        with self._lock:
            super().basic_leave_room(sid, namespace, room)

    def get_participants(self, namespace: str, room: Any) -> Iterable[tuple[str, str]]:
        with self._lock:
            return list(super().get_participants(namespace, room))
