"""Socket.IO handlers: each calls the API of a session and answers with its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flask import request
from flask_socketio import SocketIO, join_room, leave_room

from modules.web.api.session_api import SessionApi
from modules.web.files.watcher import FolderWatcher
from modules.web.http.errors import ApiError, as_api_errors, bad_request
from modules.web.http.params import arguments
from modules.web.servers.event_loop import EventLoop
from modules.web.servers.websocket_limits import abort_connection, is_behind
from modules.web.sessions.event_bus import MAX_LAG, room_name
from modules.web.sessions.notifier import OnError

if TYPE_CHECKING:
    from modules.web.api.shells_api import ShellsApi

MAX_CLIENTS = 64
Json = dict[str, Any]


class SocketHandlers:
    """Handlers of the pages' messages on *socketio*."""

    def __init__(
        self,
        socketio: SocketIO,
        loop: EventLoop,
        api: SessionApi,
        watcher: FolderWatcher,
        on_error: OnError,
        shells: ShellsApi | None = None,
    ) -> None:
        """Without *shells* there is no message about terminals that is answered."""
        self._socketio = socketio
        self._loop = loop
        self._api = api
        self._watcher = watcher
        self._on_error = on_error
        self._shells = shells
        self._register("attach", self.attach)
        self._register("detach", self.detach)
        self._register("watch", self.watch)
        for name in ("send", "answer", "stop", "queue", "command"):
            self._register(name, self._offloading(getattr(api, name)))
        if shells:
            for name in ("terminals", "open", "show", "drawn", "type", "resize", "close"):
                self._register(f"terminal-{name}", self._for_page(getattr(shells, name)))
        socketio.on_event("connect", self.connect)
        socketio.on_event("disconnect", self.disconnect)

    def connect(self, *_: object) -> bool:
        """Return whether there is room for one more, who counts already."""
        connections = list(self._socketio.server.eio.sockets.values())
        return sum(not connection.closed for connection in connections) <= MAX_CLIENTS

    def disconnect(self, *_: object) -> None:
        self._watcher.unwatch(_client_id())
        if self._shells:
            self._shells.leave(_client_id())

    def attach(self, payload: Mapping[str, Any]) -> Json:
        """Attach the client to a session. It joins first, so that it misses nothing; events coming
        twice it tells apart by their numbers."""
        kwargs = arguments(self._api.attach, payload)
        join_room(room_name(kwargs["session"]))
        try:
            return self._loop.offload(self._api.attach, **kwargs)
        except ApiError:
            leave_room(room_name(kwargs["session"]))
            raise

    def detach(self, payload: Mapping[str, Any]) -> Json:
        leave_room(room_name(str(payload.get("session"))))
        return {}

    def watch(self, payload: Mapping[str, Any]) -> Json:
        self._watcher.watch(_client_id(), **arguments(_watch_arguments, payload))
        return {}

    def drop_slow(self) -> None:
        """Disconnect the clients that lag too far behind; they come back by a snapshot."""
        for connection in list(self._socketio.server.eio.sockets.values()):
            if is_behind(connection, MAX_LAG):
                abort_connection(connection)

    def _offloading(self, work: Callable[..., Json]) -> Callable[[Mapping[str, Any]], Json]:
        return lambda given: self._loop.offload(work, **arguments(work, given))

    def _for_page(self, work: Callable[..., Json]) -> Callable[[Mapping[str, Any]], Json]:
        """Return a handler that does *work* for the page that asks, whatever that calls itself."""

        def handle(payload: Mapping[str, Any]) -> Json:
            given = arguments(work, {**payload, "page": _client_id()})
            with as_api_errors():
                return self._loop.offload(work, **given)

        return handle

    def _register(self, name: str, work: Callable[[Mapping[str, Any]], Json]) -> None:
        def handle(payload: object = None, *_: object) -> Json:
            try:
                if not isinstance(payload, dict):
                    raise bad_request("an object is expected")
                return {"ok": True, **work(payload)}
            except ApiError as api_error:
                return {"ok": False, **api_error.to_json()}
            except Exception as error:  # noqa: BLE001 - one place for our failures in a handler
                return {"ok": False, "code": "failed", "error": str(self._on_error(error))}

        self._socketio.on_event(name, handle)


def _watch_arguments(folders: list[str], files: list[str]) -> None:
    """Signature that the arguments of `watch` are parsed by."""


def _client_id() -> str:
    client_id: str = getattr(request, "sid", "")
    return client_id


def announce_shutdown(socketio: SocketIO) -> None:
    """Tell every page that the server ends."""
    with suppress(OSError):
        socketio.emit("bye", {"why": "restart"})
