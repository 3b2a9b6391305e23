"""The log: the requests of a session in a file, each as what is new in it.

A request continues the one before but for its last few bytes, so that a session takes little more
than what was said in it. A frame is a line of JSON, then the compressed rest of the body.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from utils.frozen import frozen
from utils.i18n import UserError, phrase

MAX_BYTES = 64_000_000
"""Size of the file of one session from which on its older requests are given up."""

_WINDOW_BITS, _MEMORY_LEVEL = 13, 4


@frozen
class SentRequest:
    """One request: its *body* to the byte, and the *step* of the *turn* that it was sent for.

    A step that was tried again has several. *when* is in seconds since the epoch. One of a helper
    has in *parent* the call that the helper is.
    """

    turn: int
    step: int
    when: float
    body: bytes
    parent: str = ""


@frozen
class _Head:
    """The line of a frame: *prefix* bytes are those of the body before, *size* bytes follow.

    That body is the last one of the session's own, or with *continues* of the helper *parent*.
    """

    turn: int
    step: int
    when: float
    prefix: int
    size: int
    parent: str = ""
    continues: bool = False

    def to_json(self) -> bytes:
        """Return the line, which of the session's own is as it was before helpers had any."""
        told = asdict(self)
        if not self.parent:
            del told["parent"], told["continues"]
        return json.dumps(told).encode()


class _Bodies:
    """The last bodies: of the session's own, and of the helpers of one turn."""

    def __init__(self) -> None:
        self._own = b""
        self._turn = 0
        self._helpers: dict[str, bytes] = {}

    def begin_turn(self, turn: int) -> None:
        if turn != self._turn:
            self._turn = turn
            self._helpers.clear()

    def has(self, parent: str) -> bool:
        """Return whether the helper *parent* has one."""
        return parent in self._helpers

    def last(self, parent: str) -> bytes:
        """Return that of the helper *parent*, with "" of the session's own."""
        return self._helpers[parent] if parent else self._own

    def note(self, parent: str, body: bytes) -> None:
        if parent:
            self._helpers[parent] = body
        else:
            self._own = body


class RequestLog:
    """The files below *folder*, one for each session, readable by their owner only.

    One process at a time appends to the file of a session. A frame that a kill left in part is
    passed over, and cut off before the next. *max_bytes* is what a file may have.
    """

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._session = ""
        self._size = 0  # of the file as it was left here
        self._bodies = _Bodies()
        self._lock = threading.Lock()  # helpers work at once

    def append(self, session: str, request: SentRequest) -> None:
        """Keep *request*; from any thread. Raises `OSError`."""
        with self._lock:
            self._append(session, request)

    def _append(self, session: str, request: SentRequest) -> None:
        import zlib  # with the first request: a start needs none

        path = self._path(session)
        size = _size_of(path)
        if (session, size) != (self._session, self._size):  # or others wrote or deleted it since
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._cut_partial_frame(path)
            self._session, self._bodies = session, _Bodies()
        if size > self._max_bytes:
            path.unlink(missing_ok=True)
            self._bodies = _Bodies()
        self._bodies.begin_turn(request.turn)
        continues = self._bodies.has(request.parent)
        before = self._bodies.last(request.parent if continues else "")
        prefix = _common_prefix(before, request.body)
        # The fastest level, with little memory to clear: what is new is short, as a rule.
        packer = zlib.compressobj(1, wbits=_WINDOW_BITS, memLevel=_MEMORY_LEVEL)
        rest = packer.compress(request.body[prefix:]) + packer.flush()
        about = request.turn, request.step, request.when
        head = _Head(*about, prefix, len(rest), request.parent, continues)
        try:
            self._size = _append(path, head.to_json() + b"\n" + rest)
        except OSError:
            self._session = ""  # what came of it on disk is cut off before the next
            raise
        self._bodies.note(request.parent, request.body)

    def read(self, session: str) -> Iterator[SentRequest]:
        """Yield the requests of *session* and its helpers, the oldest first. Raises `UserError`."""
        import zlib

        bodies = _Bodies()
        with _as_user_errors(self._path(session)), self._path(session).open("rb") as file:
            for head, rest in _frames(file):
                bodies.begin_turn(head.turn)
                before = bodies.last(head.parent if head.continues else "")
                try:
                    body = before[: head.prefix] + zlib.decompress(rest)
                except zlib.error as error:
                    raise _failure(self._path(session), str(error)) from None
                bodies.note(head.parent, body)
                yield SentRequest(head.turn, head.step, head.when, body, head.parent)

    def forget(self, session: str) -> None:
        """Delete all that is kept of *session*. Raises `UserError`."""
        with _as_user_errors(self._path(session)):
            self._path(session).unlink()

    def _path(self, session: str) -> Path:
        return self._folder / session

    def _cut_partial_frame(self, path: Path) -> None:
        """Leave whole frames only."""
        try:
            with path.open("r+b") as file:
                end = 0
                for _ in _frames(file):
                    end = file.tell()
                file.truncate(end)
        except FileNotFoundError:
            return


@contextmanager
def _as_user_errors(path: Path) -> Iterator[None]:
    """Let a failure of the disk be one for people; what is not there is none."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        why = error.strerror or str(error)
        raise _failure(path, why) from None


def _failure(path: Path, why: str) -> UserError:
    return UserError(phrase("Cannot read or save {path}: {why}.", path=str(path), why=why))


def requests_as_json(requests: Iterable[SentRequest]) -> list[dict[str, Any]]:
    """Return *requests* for an export; without white space a body is what was sent, to the byte.

    Those of helpers name the call that the helper is.
    """
    return [
        {
            **{"turn": one.turn, "step": one.step, "when": one.when},
            **({"parent": one.parent} if one.parent else {}),
            "body": json.loads(one.body),
        }
        for one in requests
    ]


def _frames(file: BinaryIO) -> Iterator[tuple[_Head, bytes]]:
    """Yield the frames in *file* up to its end, or to one that is there in part."""
    while line := file.readline():
        try:
            head = _Head(**json.loads(line))
        except (ValueError, TypeError):
            return
        rest = file.read(head.size)
        if len(rest) < head.size:
            return
        yield head, rest


def _size_of(path: Path) -> int:
    """Return the bytes of the file *path*, 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _append(path: Path, data: bytes) -> int:
    """Write *data* behind the file *path*; return the bytes that it has then."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        unwritten = memoryview(data)
        while unwritten:
            unwritten = unwritten[os.write(handle, unwritten) :]
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


def _common_prefix(one: bytes, other: bytes) -> int:
    """Return how many bytes both begin with, by halves: each comparison is one of memory."""
    view = memoryview(one)  # of which a part is no copy
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if other.startswith(view[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low
