"""The way to the process in which a session works: what it asks, its answer, and a stop."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
from pathlib import Path
from typing import Any

from core.conversation.store import Store
from core.events import Reply
from core.loop.current_question import AskedNow
from modules.agents.session_socket import Message
from modules.agents.socket_folder import MAX_LINE, address, key_name, opened, socket_name
from utils.i18n import Text, UserError, phrase
from utils.text.codec import from_plain, to_plain

_PATIENCE_SECONDS = 5.0
"""Seconds that the other process has to answer."""


class HolderLink:
    """Reaches the processes that have the sessions of *store*, by the sockets in *folder*.

    Every method raises `UserError` where the process cannot be reached, or refuses.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder

    def question(self, session: str) -> AskedNow | None:
        """Return what *session* asks now and takes answers to from here, None for nothing."""
        asked = self._ask(session, {"do": "question"}).get("asked")
        try:
            return None if asked is None else from_plain(AskedNow, asked)
        except (TypeError, ValueError):  # another Onefold, which asks what this one cannot show
            raise _away(session, self._store.holder(session)) from None

    def answer(self, session: str, key: str, reply: Reply) -> bool:
        """Answer the question *key* of *session*; return False when it is over."""
        said = {"do": "answer", "question": key, "reply": to_plain(reply)}
        return bool(self._ask(session, said).get("taken"))

    def stop(self, session: str, work: str) -> None:
        """Stop *work*, which is *session* or part of it."""
        self._ask(session, {"do": "stop", "work": work})

    def _ask(self, session: str, message: Message) -> Message:
        pid = self._store.holder(session)
        if pid is None:
            raise UserError(phrase("{id} is over.", id=session))
        try:
            answer = _asked(self._folder, session, pid, message)
        except TimeoutError:
            raise UserError(
                phrase("Process {pid} does not answer; it may be suspended.", pid=str(pid))
            ) from None
        except (OSError, ValueError):
            raise _away(session, pid) from None
        if problem := answer.get("problem"):
            why: Text = from_plain(Text, problem)
            raise UserError(phrase("{problem}", problem=why))
        return answer


def _away(session: str, pid: int | None) -> UserError:
    return UserError(
        phrase(
            "{id} cannot be reached from here; do it where it works (process {pid}).",
            id=session,
            pid=str(pid or "?"),
        )
    )


def _asked(folder: Path, session: str, pid: int, message: Message) -> Message:
    """Return what the process *pid* answers. Raises `OSError`, or `ValueError` for no answer."""
    with opened(folder) as place, socket.socket(socket.AF_UNIX) as connection:
        key = _key_of(place, session)
        name = socket_name(session)
        if not stat.S_ISSOCK(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
            raise ValueError(f"{name} is no socket")
        connection.settimeout(_PATIENCE_SECONDS)
        connection.connect(address(folder, place, name))
        _check_peer(connection, pid)
        connection.sendall(key + b"\n" + json.dumps(message).encode() + b"\n")
        with connection.makefile("rb") as lines:
            answer: Any = json.loads(lines.readline(MAX_LINE))
    if not isinstance(answer, dict):
        raise ValueError("no answer")
    return answer


def _key_of(place: int, session: str) -> bytes:
    handle = os.open(key_name(session), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    with os.fdopen(handle, "rb") as file:
        return file.read(200).strip()


def _check_peer(connection: socket.socket, pid: int) -> None:
    """Raise `ValueError` where another process than *pid* listens, as far as the system tells."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return
    found, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, 12))
    if found != pid:
        raise ValueError(f"process {found} listens in the place of {pid}")
