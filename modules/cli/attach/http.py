"""The way to a running browser server, for the terminal that joins it. See docs/protocol.md."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode, urlsplit

from core.events import Event, HelperEvent, HelperStep
from utils.i18n import Phrase, UserError, phrase
from utils.system.sockets import shut_down
from utils.text.codec import from_plain
from utils.waiting import Stop

Packet = dict[str, Any]
_EVENTS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Event)}
READ_TIMEOUT = 30.0
"""Seconds without a sign of life after which the server is taken to be gone."""


class ConnectionLost(Exception):
    """The connection broke; the session goes on without us."""


class SessionDeleted(Exception):
    """There is no such session any more."""


class ServerLink:
    """Talks to the server that *file* tells of at that moment, be it another than before."""

    def __init__(self, file: Path, port: int) -> None:
        self._file = file
        self._port = port

    @property
    def project(self) -> Path | None:
        """The folder that the server works in; None where there is no server."""
        try:
            return Path(json.loads(self._file.read_bytes())["project"])
        except (OSError, ValueError, KeyError):
            return None

    def request(self, method: str, path: str, **body: Any) -> Packet:
        """Make one request and return the answer.

        Raises `UserError` when it is refused, or when there is no server.
        """
        return self._told(method, path, json.dumps(body).encode() if method != "GET" else None)

    def upload(self, path: str, data: bytes) -> Packet:
        """Send the bytes of a file and return the answer. Raises `UserError` as `request`."""
        return self._told("POST", path, data, "application/octet-stream")

    def _told(
        self, method: str, path: str, sent: bytes | None, kind: str = "application/json"
    ) -> Packet:
        try:
            with self._open_response(method, path, sent, Stop(), kind) as answer:
                told: Packet = json.loads(answer.read() or b"{}")
        except (OSError, HTTPException, ValueError, KeyError):
            raise _no_server_error(self._port) from None
        if answer.status >= 400:
            raise UserError(_refusal_reason(told))
        return told

    def events(
        self, session: str, boot: str, after: int, stop: Stop
    ) -> Iterator[tuple[str, Packet]]:
        """Yield each event, "attached" first, until `ConnectionLost` or `SessionDeleted` is raised.

        *stop* ends the connection at once, whatever it waits for.
        """
        query = urlencode({"session": session, "boot": boot, "after": after})
        try:
            with self._open_response("GET", f"/events?{query}", None, stop) as response:
                if response.status == 404:
                    raise SessionDeleted
                if response.status == 200:
                    yield from _read_events(response)
        except (OSError, HTTPException, ValueError, KeyError):
            pass
        raise ConnectionLost

    @contextmanager
    def _open_response(
        self,
        method: str,
        path: str,
        json_body: bytes | None,
        stop: Stop,
        kind: str = "application/json",
    ) -> Iterator[HTTPResponse]:
        """Make one request, and keep its connection until this ends."""
        server_info = json.loads(self._file.read_bytes())
        server = urlsplit(server_info["url"])
        headers = {
            "Authorization": f"Bearer {server_info['token']}",
            "Content-Type": kind,
            "Connection": "close",
        }
        with closing(
            HTTPConnection(server.hostname or "", server.port, timeout=READ_TIMEOUT)
        ) as connection:
            connection.connect()
            socket = connection.sock  # which the line forgets as soon as the answer begins
            with stop.on_stop(lambda: shut_down(socket)):
                connection.request(method, path, json_body, headers)
                with closing(connection.getresponse()) as response:
                    yield response


def _read_events(response: HTTPResponse) -> Iterator[tuple[str, Packet]]:
    """Yield the events of a stream, by name, until it ends."""
    name = ""
    while line := response.readline():
        key, _, value = line.decode().rstrip("\n").partition(": ")
        name = value if key == "event" else name
        if key == "data" and name == "session":  # the only news of it that this carries
            raise SessionDeleted
        if key == "data":
            yield name, json.loads(value)


def to_event(packet: Packet) -> Event:
    """Return the event that *packet* tells of, with the one in it."""
    if packet["type"] == HelperEvent.__name__:
        step = to_event(packet["event"])
        if not isinstance(step, HelperStep):
            raise ValueError(f"no helper tells of a {packet['event']['type']}")
        return HelperEvent(packet["parent"], step)
    event: Event = from_plain(_EVENTS[packet["type"]], packet)
    return event


def new_id() -> str:
    """Return an id for a command."""
    return uuid.uuid4().hex


def _refusal_reason(reply: Packet) -> Phrase:
    if isinstance(reply.get("phrase"), dict):
        reason: Phrase = from_plain(Phrase, reply["phrase"])
        return reason
    return phrase("The server refused the request: {why}", why=str(reply.get("error", "?")))


def _no_server_error(port: int) -> UserError:
    return UserError(
        phrase(
            "No Onefold server on port {port}. Start one with --web, or choose another port "
            "with --port.",
            port=port,
        )
    )
