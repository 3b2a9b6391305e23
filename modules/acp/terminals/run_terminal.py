"""One run in a terminal of the client's, which shows it through a socket and runs nothing."""

from __future__ import annotations

import json
import os
import secrets
import select
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.acp.client_link import ClientLink
from modules.acp.terminals.live_text import LiveText
from utils.waiting import Stop

_VIEWER = Path(__file__).with_name("run_viewer.py")
_CREATE_SECONDS = 1.0
"""Seconds that a run which is over waits for the client to have made its terminal."""
_VIEW_SECONDS = 10.0
"""Seconds that the terminal then has to show all of it, on a busy machine."""
_STOPPED_SECONDS = 0.5
"""The same where the person has stopped the task."""
_LOOK_SECONDS = 0.5
_MAX_WAITING = 1_000_000
"""Bytes that wait for a terminal; of more, the oldest are left out."""
_LEFT_OUT = "\n[…]\n"


class RunTerminal:
    """A run as a terminal of *client* shows it, in a thread of its own; the run waits for nothing.

    Only who runs the command that the client was told can connect, once. When the terminal is
    closed before the run is over, *stop_run* is called. *on_created* is called with the id of the
    terminal while the run goes on, *on_failed* when it could not show all of a run that is over.
    """

    def __init__(
        self,
        client: ClientLink,
        session: str,
        folders: tuple[Path, Path],
        stop_run: Callable[[], None],
        on_created: Callable[[str], None],
        on_failed: Callable[[], None],
    ) -> None:
        """*folders* are that of the sockets, a private one, and that of the project."""
        self._client, self._session = client, session
        self._sockets, self._root = folders
        self._stop_run = stop_run
        self._on_created, self._on_failed = on_created, on_failed
        self._lock = threading.Lock()
        self._text = LiveText()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._answered = threading.Event()
        self._given_up = Stop()
        self._id = ""
        self.was_made = False
        """Whether the client made a terminal in time."""
        self._ends_at: float | None = None
        self._woken, self._wakes = socket.socketpair()
        self._wakes.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="run-terminal", daemon=True)
        self._thread.start()

    def add(self, text: str) -> bool:
        """Show *text*; return whether there is a terminal for it."""
        with self._lock:
            self._put({"text": self._text.add(text)})
            return bool(self._id)

    def finish(self, exit_code: int, *, is_stopped: bool) -> str:
        """End what is shown with *exit_code*; return the id of the terminal, "" where none is."""
        self._answered.wait(0 if is_stopped else _CREATE_SECONDS)
        with self._lock:
            self._put({"exit_code": exit_code})
            seconds = _STOPPED_SECONDS if is_stopped else _VIEW_SECONDS
            self._ends_at = time.monotonic() + seconds
            if not self._id:
                self._given_up.set()
        return self._id

    def wait(self) -> None:
        """Wait until all of a run that is over was shown, or cannot be: see `finish`."""
        self._thread.join()

    def _put(self, said: dict[str, str | int]) -> None:
        line = json.dumps(said).encode() + b"\n"
        self._waiting.append(line)
        self._size += len(line)
        if self._size > _MAX_WAITING:
            while self._size > _MAX_WAITING // 2 and len(self._waiting) > 2:
                self._size -= len(self._waiting.popleft())
            self._waiting.appendleft(json.dumps({"text": _LEFT_OUT}).encode() + b"\n")
        with suppress(OSError):  # it wakes anyway, or is at its end
            self._wakes.send(b".")

    # --- its thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        with self._woken, self._wakes:
            try:
                with self._listening() as (listener, path):
                    self._show(listener, path)
            except OSError:  # no socket can be made here: the client is shown the run as text
                self._answered.set()

    def _show(self, listener: socket.socket, path: Path) -> None:
        command = [sys.executable, "-I", "-S", str(_VIEWER), str(self._sockets), path.name]
        terminal = self._client.open_terminal(
            self._session, command, str(self._root), self._given_up
        )
        with self._lock:
            is_late = self._given_up.is_set()
            if terminal and not is_late:
                self._id, self.was_made = terminal, True
                self._on_created(terminal)  # within the lock: before what a finished run is shown
            self._answered.set()
        if not terminal:
            return
        is_shown = not is_late and self._serve(listener, path)
        with self._lock:
            self._id = ""
            is_over = self._ends_at is not None
        if not is_over:
            self._stop_run()
        elif not (is_shown or is_late):
            self._on_failed()
        self._client.release_terminal(self._session, terminal, is_ending=is_shown)

    @contextmanager
    def _listening(self) -> Iterator[tuple[socket.socket, Path]]:
        """Yield a socket with a name that nobody can guess, in a folder of our own."""
        self._sockets.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = secrets.token_hex(16)
        folder = os.open(self._sockets, os.O_RDONLY | os.O_DIRECTORY)
        path = self._sockets / name
        # The path of a socket has 107 bytes at most; Linux has a short one for each folder.
        short = f"/proc/self/fd/{folder}/{name}"
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(short if sys.platform == "linux" else str(path))
                path.chmod(0o600)
                listener.listen(1)
                yield listener, path
        finally:
            path.unlink(missing_ok=True)
            os.close(folder)

    def _serve(self, listener: socket.socket, path: Path) -> bool:
        """Send all to who connects; return whether it took the end as well."""
        while not select.select([listener], [], [], _LOOK_SECONDS)[0]:
            if self._is_too_late():
                return False
        connection, _ = listener.accept()
        path.unlink(missing_ok=True)  # it was for one
        with connection:
            connection.setblocking(False)
            try:
                return self._converse(connection)
            except OSError:
                return False

    def _converse(self, connection: socket.socket) -> bool:
        rest, has_ended = b"", False
        while not self._is_too_late():
            with self._lock:
                while self._waiting and not rest:
                    rest = self._waiting.popleft()
                    self._size -= len(rest)
                    has_ended = self._ends_at is not None and not self._waiting
            readable, writable, _ = select.select(
                [connection, self._woken], [connection] if rest else [], [], _LOOK_SECONDS
            )
            if self._woken in readable:
                self._woken.recv(4096)
            if writable:
                rest = rest[connection.send(rest) :]
            if connection in readable and not connection.recv(4096):
                return has_ended and not rest
        return False

    def _is_too_late(self) -> bool:
        with self._lock:
            return self._ends_at is not None and time.monotonic() > self._ends_at
