"""Socket.IO: every handler hands on to a desk and answers with what that returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from flask import request
from flask_socketio import SocketIO, join_room, leave_room

from modules.web.api.session_api import SessionApi
from modules.web.files.watcher import FolderWatcher
from modules.web.http.errors import ApiError, bad
from modules.web.http.params import arguments
from modules.web.servers.event_loop import EventLoop
from modules.web.servers.websocket_limits import is_behind, let_go
from modules.web.sessions.event_bus import MAX_LAG, room
from modules.web.sessions.notifier import Failed

MOST_CLIENTS = 64
Answer = dict[str, Any]


class Sockets:
    """Answers what the pages say on *socketio*."""

    def __init__(
        self,
        socketio: SocketIO,
        hub: EventLoop,
        desk: SessionApi,
        watch: FolderWatcher,
        failed: Failed,
    ) -> None:
        self._socketio = socketio
        self._hub = hub
        self._desk = desk
        self._watch = watch
        self._failed = failed
        self._on("attach", self.attach)
        self._on("detach", self.detach)
        self._on("watch", self.watch)
        for name in ("send", "answer", "stop", "queue", "command"):
            self._on(name, self._offloaded(getattr(desk, name)))
        socketio.on_event("connect", self.connect)
        socketio.on_event("disconnect", self.disconnect)

    def connect(self, *_: object) -> bool:
        """Return whether there is room for one more, who counts already."""
        connections = list(self._socketio.server.eio.sockets.values())
        return sum(not each.closed for each in connections) <= MOST_CLIENTS

    def disconnect(self, *_: object) -> None:
        self._watch.forget(_client())

    def attach(self, given: Mapping[str, Any]) -> Answer:
        """Let the client follow a session. It joins first, so that it can miss nothing; what comes
        twice it tells by the numbers."""
        named = arguments(self._desk.attach, given)
        join_room(room(named["session"]))
        try:
            return self._hub.offload(self._desk.attach, **named)
        except ApiError:
            leave_room(room(named["session"]))
            raise

    def detach(self, given: Mapping[str, Any]) -> Answer:
        leave_room(room(str(given.get("session"))))
        return {}

    def watch(self, given: Mapping[str, Any]) -> Answer:
        self._watch.want(_client(), **arguments(_wanted, given))
        return {}

    def drop_slow(self) -> None:
        """Disconnect the clients that lag too far behind; they come back by a snapshot."""
        for connection in list(self._socketio.server.eio.sockets.values()):
            if is_behind(connection, MAX_LAG):
                let_go(connection)

    def _offloaded(self, work: Callable[..., Answer]) -> Callable[[Mapping[str, Any]], Answer]:
        return lambda given: self._hub.offload(work, **arguments(work, given))

    def _on(self, name: str, work: Callable[[Mapping[str, Any]], Answer]) -> None:
        def handle(given: object = None, *_: object) -> Answer:
            try:
                if not isinstance(given, dict):
                    raise bad("an object is expected")
                return {"ok": True, **work(given)}
            except ApiError as refused:
                return {"ok": False, **refused.to_json()}
            except Exception as error:  # noqa: BLE001 - one place for our failures in a handler
                return {"ok": False, "code": "failed", "error": str(self._failed(error))}

        self._socketio.on_event(name, handle)


def _wanted(folders: list[str], files: list[str]) -> None:
    """The shape of what `watch` takes."""


def _client() -> str:
    client: str = getattr(request, "sid", "")
    return client


def say_bye(socketio: SocketIO) -> None:
    """Tell every page that the server ends."""
    with suppress(OSError):
        socketio.emit("bye", {"why": "restart"})
