"""The log: the requests of a session in a file, each as what is new in it.

A request continues the one before but for its last few bytes, so that a session takes little more
than what was said in it. A frame is a line of JSON, then the compressed rest of the body.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from utils.i18n import UserError, phrase

MAX_BYTES = 64_000_000
"""Size of the file of one session from which on its older requests are given up."""

_WINDOW_BITS, _MEMORY_LEVEL = 13, 4


class SentRequest(NamedTuple):
    """One request: its *body* to the byte, and the *step* of the *turn* that it was sent for.

    A step that was tried again has several. *when* is in seconds since the epoch.
    """

    turn: int
    step: int
    when: float
    body: bytes


class _Head(NamedTuple):
    """The line of a frame: *prefix* bytes are those of the body before, *size* bytes follow."""

    turn: int
    step: int
    when: float
    prefix: int
    size: int


class RequestLog:
    """The files below *folder*, one for each session, readable by their owner only.

    One process at a time appends to the file of a session. A frame that a kill left in part is
    passed over, and cut off before the next. *max_bytes* is what a file may have.
    """

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._session = ""
        self._body = b""

    def append(self, session: str, request: SentRequest) -> None:
        """Keep *request*. Raises `OSError`."""
        import zlib  # with the first request: a start needs none

        path = self._path(session)
        if session != self._session:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._cut_partial_frame(path)
            self._session, self._body = session, b""
        with suppress(FileNotFoundError):
            if path.stat().st_size > self._max_bytes:
                path.unlink()
                self._body = b""
        prefix = _common_prefix(self._body, request.body)
        # The fastest level, with little memory to clear: what is new is short, as a rule.
        packer = zlib.compressobj(1, wbits=_WINDOW_BITS, memLevel=_MEMORY_LEVEL)
        rest = packer.compress(request.body[prefix:]) + packer.flush()
        head = _Head(request.turn, request.step, request.when, prefix, len(rest))
        try:
            _append(path, json.dumps(head._asdict()).encode() + b"\n" + rest)
        except OSError:
            self._session = ""  # what came of it on disk is cut off before the next
            raise
        self._body = request.body

    def read(self, session: str) -> Iterator[SentRequest]:
        """Yield the requests of *session*, the oldest first. Raises `UserError`."""
        import zlib

        body = b""
        with _as_user_errors(self._path(session)), self._path(session).open("rb") as file:
            for head, rest in _frames(file):
                try:
                    body = body[: head.prefix] + zlib.decompress(rest)
                except zlib.error as error:
                    raise _failure(self._path(session), str(error)) from None
                yield SentRequest(head.turn, head.step, head.when, body)

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
    """Return *requests* for an export; without white space a body is what was sent, to the byte."""
    return [
        {"turn": one.turn, "step": one.step, "when": one.when, "body": json.loads(one.body)}
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


def _append(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        unwritten = memoryview(data)
        while unwritten:
            unwritten = unwritten[os.write(handle, unwritten) :]
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
