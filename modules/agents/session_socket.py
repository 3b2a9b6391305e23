"""The socket of a session that works: other processes of the person ask and answer by it."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import select
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from modules.agents.socket_folder import MAX_LINE, address, key_name, opened, socket_name

Message = Mapping[str, Any]
_PATIENCE_SECONDS = 2.0
"""Seconds that who connects has to say what they want, and to take what they are told."""


class SessionSocket:
    """Hands what is asked by the socket of *session* to *handle*, until it is closed.

    It is there for as long as a turn runs, in the private *folder*. Who connects has to know the
    key, which is new each time and stands in a file that only the person can read: a program that
    is confined cannot, and so is not heard even where it could connect.
    """

    def __init__(self, folder: Path, session: str, handle: Callable[[Message], Message]) -> None:
        """Raises `OSError` where there can be no socket: the session works without one then."""
        self._folder = folder
        self._session = session
        self._handle = handle
        self._key = secrets.token_hex(32)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            self._listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            with opened(folder) as place:
                for name in (socket_name(session), key_name(session)):
                    with suppress(FileNotFoundError):  # left by one that was killed
                        os.unlink(name, dir_fd=place)
                self._write_key(place)
                self._listener.bind(address(folder, place, socket_name(session)))
                os.chmod(socket_name(session), 0o600, dir_fd=place)
            self._listener.listen(8)
            self._woken, self._wakes = map(stack.enter_context, socket.socketpair())
            name = f"socket {session}"
            self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:  # there is no room for one more
                raise OSError(*error.args) from error
            stack.pop_all()

    def _write_key(self, place: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(key_name(self._session), flags, 0o600, dir_fd=place)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(self._key)

    def close(self) -> None:
        """Take the socket away; who is just being told something is told it."""
        with suppress(OSError), opened(self._folder) as place:
            for name in (socket_name(self._session), key_name(self._session)):
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=place)
        self._wakes.close()
        self._thread.join(_PATIENCE_SECONDS)

    def _serve(self) -> None:
        with self._listener, self._woken:
            while True:
                if self._woken.fileno() in _ready((self._listener, self._woken), None):
                    return
                connection, _ = self._listener.accept()
                with closing(connection), suppress(OSError):
                    self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE_SECONDS)
        message = self._understood(connection)
        if message is not None and not _has_left(connection):
            connection.sendall(json.dumps(self._handle(message)).encode() + b"\n")

    def _understood(self, connection: socket.socket) -> Message | None:
        """Return what is asked; None for who does not know the key, and is told nothing."""
        with connection.makefile("rb") as lines:
            key = lines.readline(200).strip()
            if not hmac.compare_digest(key, self._key.encode()):
                return None
            try:
                message = json.loads(lines.readline(MAX_LINE))
            except ValueError:
                return None
        return message if isinstance(message, dict) else None


def _has_left(connection: socket.socket) -> bool:
    """Return whether who asked waits no longer, so that what they said counts no more."""
    return bool(_ready((connection,), 0))


def _ready(sockets: Sequence[socket.socket], milliseconds: int | None) -> set[int]:
    """Return the numbers of those of *sockets* that have something; None waits for one."""
    poll = select.poll()  # `select` takes no number above 1023, and a server may have such
    for one in sockets:
        poll.register(one, select.POLLIN)
    return {number for number, _ in poll.poll(milliseconds)}
