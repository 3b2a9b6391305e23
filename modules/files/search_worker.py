"""The search itself, in a process of its own: an evil regular expression can be killed there.

Started by modules.text_search as `python -m modules.files.search_worker`: one `SearchJob` as JSON
on standard input, one `SearchResult` as JSON on standard output. It ends with what it found by then
when it has used its seconds of processor time; the signal breaks even into an expression. Imports
nothing but the standard library, leaves, and chardet for a text that nothing else fits.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from modules.files import encodings
from modules.files.containment import Beneath, Changed, Guarded, Outside, Special
from modules.files.editing.long_text import LongText, OnlyWhole
from modules.files.editing.text_file import NotText, TextFile

_AROUND = 150
_OPENING = 8_192
_MUCH = 20_000_000  # bytes
_LINES = 5_000  # of what is much, searched at once


Match = tuple[int, str, int]
"""The number of a line, the line, and where the match begins in it."""
Finder = Callable[[str], Iterator[Match]]


@dataclass(frozen=True)
class SearchJob:
    """What to search; *files* in the order of the answer, files above *largest* bytes skipped.

    What is much is searched line by line. *seconds* of processor time may be used. *encoding* is
    the person's; *libraries* the folder of the packages that guess at one.
    """

    root: str
    hidden: Sequence[str]
    files: Sequence[str]
    pattern: str
    regex: bool
    ignore_case: bool
    most_hits: int
    largest: int
    seconds: float
    encoding: str
    libraries: str


@dataclass(frozen=True)
class SearchResult:
    """*hits* are (path, line, text), the first of all *total* matching lines in *files* files.

    *skipped* counts files that were too large, *left* those that there was no time for, the one in
    hand included; *error* says what is wrong with the pattern.
    """

    hits: Sequence[tuple[str, int, str]]
    total: int = 0
    files: int = 0
    skipped: int = 0
    left: int = 0
    error: str = ""


class OutOfTime(Exception):
    """The processor time for the search is used up."""


@dataclass
class Clock:
    """Ends a search by a signal, as long as it *is_running*."""

    is_running: bool = False

    def start(self, seconds: float) -> None:
        """Strike after *seconds* of this process's processor time."""
        signal.signal(signal.SIGPROF, self._strike)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _strike(self, *_: object) -> None:
        if self.is_running:
            raise OutOfTime


def search(beneath: Beneath, job: SearchJob, clock: Clock) -> SearchResult:
    """Return the lines of the files of *job* that match, whatever encoding they are in.

    When *clock* strikes it is those found by then.
    """
    try:
        find = _finder(job)
    except (re.error, OverflowError, RecursionError) as error:
        return SearchResult((), error=str(error))
    hits: list[tuple[str, int, str]] = []
    total = files = skipped = done = 0
    try:
        clock.is_running = True
        for path in job.files:
            before = total
            try:
                for number, line, start in _matches(beneath, path, find, job.largest):
                    total += 1
                    files += total == before + 1
                    if len(hits) < job.most_hits:
                        hits.append((path, number, _shown(line, start)))
            except _TooLarge:
                skipped += 1
            done += 1
        clock.is_running = False
    except OutOfTime:
        clock.is_running = False
    return SearchResult(hits, total, files, skipped, len(job.files) - done)


class _TooLarge(Exception):
    """The file is too large to search."""


def _matches(beneath: Beneath, path: str, find: Finder, largest: int) -> Iterator[Match]:
    """Yield what *find* finds in *path*; nothing where no text is to be had there."""
    try:
        with beneath.opened(path, links=False) as file:
            data = os.read(file, _OPENING)
            size = os.fstat(file).st_size
            if not _may_be_text(data):
                return
            if size > largest:
                raise _TooLarge
            if size > _MUCH:
                with os.fdopen(os.dup(file), "rb") as stream:
                    yield from _in_long(LongText.of(stream), find)
                return
            if len(data) == _OPENING:
                with os.fdopen(os.dup(file), "rb") as stream:
                    data += stream.read(_MUCH)
        yield from find(TextFile.decode(data).text)
    except OnlyWhole:
        raise _TooLarge from None
    except (NotText, OSError, Outside, Guarded, Special, Changed):
        return


def _in_long(text: LongText, find: Finder) -> Iterator[Match]:
    lines, done = text.part(1), 0
    while some := list(islice(lines, _LINES)):
        for number, line, start in find("\n".join(some) + "\n"):
            yield done + number, line, start
        done += len(some)


def _may_be_text(opening: bytes) -> bool:
    """Return False for the many files that need no closer look to be binary."""
    zeros = opening.count(0)
    return not zeros or zeros * 5 >= len(opening) or opening[:2] in (b"\xff\xfe", b"\xfe\xff")


def _finder(job: SearchJob) -> Finder:
    if job.regex or job.ignore_case:
        pattern = job.pattern if job.regex else re.escape(job.pattern)
        compiled = re.compile(pattern, re.IGNORECASE if job.ignore_case else 0)
        return lambda text: _by_expression(compiled, text)
    return lambda text: _by_text(job.pattern, text)


def _by_expression(pattern: re.Pattern[str], text: str) -> Iterator[Match]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if found := pattern.search(line):
            yield number, line, found.start()


def _by_text(pattern: str, text: str) -> Iterator[Match]:
    number, counted = 1, 0
    at = text.find(pattern)
    while at >= 0:
        number += text.count("\n", counted, at)
        counted = at
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield number, text[start:end], at - start
        at = text.find(pattern, end)


def _shown(line: str, start: int) -> str:
    """Return *line*, of a very long one what is around the match."""
    if len(line) <= 2 * _AROUND:
        return line
    first = max(0, start - _AROUND)
    last = start + _AROUND
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def main() -> None:
    job = SearchJob(**json.load(sys.stdin))
    root = Path(job.root)
    beneath = Beneath(root, hidden=[root / folder for folder in job.hidden])
    encodings.prefer(job.encoding)
    sys.path.append(job.libraries)
    clock = Clock()
    clock.start(job.seconds)
    json.dump(asdict(search(beneath, job, clock)), sys.stdout)


if __name__ == "__main__":
    main()
