"""The index of a project's symbols: read when somebody looks, kept by file.

A file is read again when it has changed. What a question has no time to read is left to the next
one, and said: a hundred thousand files take some seconds the first time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple, cast

from core.tools import ToolError
from modules.files.project import Project
from modules.symbols.definitions import Kind, definitions_in
from modules.symbols.languages import Language, language_of

_READ_SECONDS = 2.0
"""Seconds that one question may spend on reading files."""
_MAX_FILE_BYTES = 1_000_000
_MAX_CHARACTERS = 50_000_000
"""Of what is kept of all files."""
_GRAIN_NS = 2_000_000_000
"""Nanoseconds within which a file may change and keep its time."""


class Symbol(NamedTuple):
    """What is defined at *line*, from 1, of the file *path*."""

    name: str
    kind: Kind
    path: str
    line: int


class SymbolsFound(NamedTuple):
    """The *symbols* that fit best, the best first; *unread* counts files not read so far."""

    symbols: Sequence[Symbol]
    unread: int


class _KnownFile(NamedTuple):
    """The definitions of a file, a line for each; *stamp* is None where they may be old already."""

    stamp: tuple[int, ...] | None
    lines: str


class SymbolIndex:
    """Finds the symbols of *project*; *files* gives the paths to look at, by default all that no
    rule ignores. Nothing is read before the first question. May be used from any thread.
    """

    def __init__(self, project: Project, files: Callable[[], Iterable[str]] | None = None) -> None:
        self._project = project
        self._files = files or project.files
        self._known: dict[str, _KnownFile] = {}
        self._lock = threading.Lock()

    def find_symbols(self, query: str, limit: int) -> SymbolsFound:
        """Return at most *limit* symbols: the first word of *query* is in the name, each other in
        the name or the path. An empty query finds nothing.
        """
        words = query.lower().split()
        if not words:
            return SymbolsFound((), 0)
        with self._lock:
            unread = self._read()
            known = self._known
        found = nsmallest(limit, _matches(known, words), key=lambda symbol: _rank(symbol, words[0]))
        return SymbolsFound(found, unread)

    def find_exact(self, names: Collection[str]) -> Mapping[str, Sequence[Symbol]]:
        """Return the functions and types that are called one of *names*, to the letter.

        A name with a full stop is that of something within another.
        """
        with self._lock:
            self._read()
            known = self._known
        found: dict[str, list[Symbol]] = {}
        for path, (_, lines) in known.items():
            if not any(name in lines for name in names):
                continue
            for symbol in (_symbol(path, line) for line in lines.split("\n")[:-1]):
                for name in _names_of(symbol).intersection(names):
                    found.setdefault(name, []).append(symbol)
        return found

    def _read(self) -> int:
        """Bring what is known up to date; return how many files there was no time or room for."""
        # What listing and comparing takes does not count: each question reads some files.
        seconds, room, unread = _READ_SECONDS, _MAX_CHARACTERS, 0
        now: dict[str, _KnownFile] = {}
        for path in self._files():
            language = language_of(path)
            if language is None:
                continue
            known = self._known.get(path)
            stamp = self._stamp(path) if known else None
            if known is None or known.stamp is None or known.stamp != stamp:
                if seconds < 0 or room < 0:
                    unread += 1
                    continue
                started = time.monotonic()
                stamp = _settled(self._stamp(path))
                known = _KnownFile(stamp, self._definitions(path, language))
                seconds -= time.monotonic() - started
            now[path] = known
            room -= len(known.lines)
        self._known = now
        return unread

    def _stamp(self, path: str) -> tuple[int, ...] | None:
        try:
            status = self._project.stat(path)
        except ToolError:  # nothing that may be looked at
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino) if status else None

    def _definitions(self, path: str, language: Language) -> str:
        """Return the definitions in *path*, a line for each; none of what is no text."""
        try:
            data = self._project.read_bytes(path, _MAX_FILE_BYTES)
            text = self._project.decode_text(path, data).text
        except ToolError:  # gone, too large, or no text
            return ""
        return "".join(
            f"{each.line} {each.kind} {each.name}\n" for each in definitions_in(text, language)
        )


def _settled(stamp: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return *stamp*, None if the file may still change without another."""
    return stamp if stamp and abs(time.time_ns() - stamp[0]) > _GRAIN_NS else None


def _matches(known: dict[str, _KnownFile], words: Sequence[str]) -> Iterator[Symbol]:
    for path, (_, lines) in known.items():
        if words[0] not in lines.lower():
            continue
        for line in lines.split("\n")[:-1]:
            symbol = _symbol(path, line)
            place = f"{symbol.name}\n{path}".lower()
            if words[0] in symbol.name.lower() and all(word in place for word in words):
                yield symbol


def _symbol(path: str, line: str) -> Symbol:
    number, kind, name = line.split(" ", 2)
    return Symbol(name, cast("Kind", kind), path, int(number))


def _names_of(symbol: Symbol) -> set[str]:
    """Return what *symbol* may be called: alone, and as within each of those around it."""
    if symbol.kind == "heading":
        return set()
    parts = symbol.name.split(".")
    return {".".join(parts[start:]) for start in range(len(parts))}


def _rank(symbol: Symbol, word: str) -> tuple[int, int, str, int]:
    """Return how far *symbol* is from *word*: names that begin so first, then short ones."""
    name = symbol.name.lower()
    own_name = name.rpartition(".")[2]
    if word in (name, own_name):
        place = 0
    elif own_name.startswith(word) or name.startswith(word):
        place = 1
    else:
        place = 2 if word in own_name else 3
    return place, len(name), symbol.path, symbol.line
