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
from modules.files.containment import (
    ConfinedFolder,
    ContentChanged,
    NotRegularFile,
    OutsideFolder,
    ProtectedPath,
)
from modules.files.editing.long_text import LongText, NotLineByLine
from modules.files.editing.text_file import NotText, TextFile

_CONTEXT = 150
_PROBE_BYTES = 8_192
_STREAM_ABOVE = 20_000_000  # bytes
_LINES_PER_BATCH = 5_000  # of what is much, searched at once


Match = tuple[int, str, int]
"""The number of a line, the line, and where the match begins in it."""
Finder = Callable[[str], Iterator[Match]]


@dataclass(frozen=True)
class SearchJob:
    """Job of a search; *files* in the order of the answer, those above *largest* bytes skipped.

    Long texts are searched line by line. *seconds* of processor time may be used. *encoding* is
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
class CpuTimer:
    """Ends a search by a signal, as long as it *is_running*."""

    is_running: bool = False

    def start(self, seconds: float) -> None:
        """Strike after *seconds* of this process's processor time."""
        signal.signal(signal.SIGPROF, self._expire)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _expire(self, *_: object) -> None:
        if self.is_running:
            raise OutOfTime


def search(folder_root: ConfinedFolder, job: SearchJob, timer: CpuTimer) -> SearchResult:
    """Return the lines of the files of *job* that match, whatever encoding they are in.

    When *timer* strikes it is those found by then.
    """
    try:
        find = _finder(job)
    except (re.error, OverflowError, RecursionError) as error:
        return SearchResult((), error=str(error))
    hits: list[tuple[str, int, str]] = []
    matches = files = skipped = files_done = 0
    try:
        timer.is_running = True
        for path in job.files:
            before = matches
            try:
                for number, line, start in _matches(folder_root, path, find, job.largest):
                    matches += 1
                    files += matches == before + 1
                    if len(hits) < job.most_hits:
                        hits.append((path, number, _excerpt(line, start)))
            except _TooLarge:
                skipped += 1
            files_done += 1
        timer.is_running = False
    except OutOfTime:
        timer.is_running = False
    return SearchResult(hits, matches, files, skipped, len(job.files) - files_done)


class _TooLarge(Exception):
    """The file is too large to search."""


def _matches(folder_root: ConfinedFolder, path: str, find: Finder, largest: int) -> Iterator[Match]:
    """Yield what *find* finds in *path*; nothing where no text is to be had there."""
    try:
        with folder_root.open_file(path, follow_links=False) as file:
            data = os.read(file, _PROBE_BYTES)
            size = os.fstat(file).st_size
            if not _may_be_text(data):
                return
            if size > largest:
                raise _TooLarge
            if size > _STREAM_ABOVE:
                with os.fdopen(os.dup(file), "rb") as stream:
                    yield from _matches_in_long(LongText.scan(stream), find)
                return
            if len(data) == _PROBE_BYTES:
                with os.fdopen(os.dup(file), "rb") as stream:
                    data += stream.read(_STREAM_ABOVE)
        yield from find(TextFile.decode(data).text)
    except NotLineByLine:
        raise _TooLarge from None
    except (NotText, OSError, OutsideFolder, ProtectedPath, NotRegularFile, ContentChanged):
        return


def _matches_in_long(text: LongText, find: Finder) -> Iterator[Match]:
    lines, lines_done = text.read_lines(1), 0
    while batch := list(islice(lines, _LINES_PER_BATCH)):
        for number, line, start in find("\n".join(batch) + "\n"):
            yield lines_done + number, line, start
        lines_done += len(batch)


def _may_be_text(opening: bytes) -> bool:
    """Return False for the many files that need no closer look to be binary."""
    zeros = opening.count(0)
    return not zeros or zeros * 5 >= len(opening) or opening[:2] in (b"\xff\xfe", b"\xfe\xff")


def _finder(job: SearchJob) -> Finder:
    if job.regex or job.ignore_case:
        pattern = job.pattern if job.regex else re.escape(job.pattern)
        compiled = re.compile(pattern, re.IGNORECASE if job.ignore_case else 0)
        return lambda text: _regex_matches(compiled, text)
    return lambda text: _literal_matches(job.pattern, text)


def _regex_matches(pattern: re.Pattern[str], text: str) -> Iterator[Match]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if found := pattern.search(line):
            yield number, line, found.start()


def _literal_matches(pattern: str, text: str) -> Iterator[Match]:
    number, counted = 1, 0
    offset = text.find(pattern)
    while offset >= 0:
        number += text.count("\n", counted, offset)
        counted = offset
        start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        end = len(text) if end < 0 else end
        yield number, text[start:end], offset - start
        offset = text.find(pattern, end)


def _excerpt(line: str, start: int) -> str:
    """Return *line*, of a very long one what is around the match."""
    if len(line) <= 2 * _CONTEXT:
        return line
    first = max(0, start - _CONTEXT)
    last = start + _CONTEXT
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def main() -> None:
    job = SearchJob(**json.load(sys.stdin))
    root = Path(job.root)
    folder_root = ConfinedFolder(root, hidden=[root / folder for folder in job.hidden])
    encodings.set_preferred(job.encoding)
    sys.path.append(job.libraries)
    timer = CpuTimer()
    timer.start(job.seconds)
    json.dump(asdict(search(folder_root, job, timer)), sys.stdout)


if __name__ == "__main__":
    main()
