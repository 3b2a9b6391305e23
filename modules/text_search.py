"""The model's tool for finding text in the files of the project."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from core.cards import Hit, SearchCard
from core.feature import Feature
from core.tool_spec import OtherNames
from core.tools import Outcome, Risk, ToolError, tool
from modules.files import encodings
from modules.files.editing.long_text import MAX_BYTES
from modules.files.project import Project
from utils.i18n import phrase
from utils.system.programs import system_program
from utils.text.clean import visible
from utils.text.globs import glob_filter
from utils.text.lines import with_count
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from modules.files.search_worker import SearchJob, SearchResult
    from utils.system.child import ChildResult

_CPU_SECONDS = 20.0  # of processor time
_MAX_SECONDS = 300.0  # however long a disk or a busy machine makes us wait
_MAX_HITS = 100
_MAX_FILE_BYTES = 20_000_000
_PROGRAM_ROOT = Path(__file__).parents[1]
_ARGUMENT_BYTES = 500_000  # of paths in one command line; Linux allows 2 MB with the environment

# Lines that make a file worth a look for what it may be besides UTF-8: bytes that UTF-8 has not,
# zero bytes (UTF-16), and ends of line that only old Macs write.
_CONTINUATION, _NO_CONTINUATION = r"[\x80-\xbf]", r"(?:[\x01-\x7f\xc0-\xff]|$)"
_MAYBE_NOT_UTF8 = (
    r"(?-u:[\xc0\xc1\xf5-\xff]|\xe0[\x80-\x9f]|\xed[\xa0-\xbf]|\xf0[\x80-\x8f]|\xf4[\x90-\xbf]"
    rf"|[\xc2-\xf4]{_NO_CONTINUATION}|[\xe0-\xf4]{_CONTINUATION}{_NO_CONTINUATION}|[\xf0-\xf4]{_CONTINUATION}{{2}}{_NO_CONTINUATION}"
    rf"|(?:^|[\x01-\x7f]|[\xc2-\xdf]{_CONTINUATION}|[\xe0-\xef]{_CONTINUATION}{{2}}|[\xf0-\xf4]{_CONTINUATION}{{3}}){_CONTINUATION}"
    r"|\x00|\r[^\n])"
)
# Signs about which the two differ: what is a letter (\w and ²) or a space, and the Turkish İ in
# both cases.
_DISPUTED = r"[İı]|[\x1c-\x1f]|[\p{Pc}&&[^_]]|[^\p{L}\p{Nd}\p{P}\p{Zs}\x00-\x7f]"
# What Python and ripgrep may read in two ways, or only one of them reads: rare escapes, sets of
# sets, extensions, possessive repeats; and "$", which for ripgrep stands after a carriage return.
_RISKY = r"\\[^dDwWsSbt.*+?()\[\]{}|^\\/\-]|\[\[|&&|--|~~|\|\||\{,|\(\?|[*+?}]\+|\$|\r"
_META = r"[\\.+*?()|\[\]{}^$]"


class TextSearch(Feature):
    """Search in text files of any encoding that `TextFile` knows, with Python's expressions.

    ripgrep, where installed, only sorts out the files that cannot match; so the answers are the
    same without it.
    """

    def __init__(
        self,
        project: Project,
        *,
        stop: Stop | None = None,
        seconds: float = _CPU_SECONDS,
        searches: Mapping[str, Callable[[str], Outcome]] | None = None,
    ) -> None:
        """*searches* look for a text at an address, such as @sessions, that is no folder."""
        self._searches = searches or {}
        self._project = project
        self._stop = stop
        self._seconds = seconds
        self._rg = system_program("rg")

    @tool(
        Risk.READ,
        phrase("Search the text of files."),
        verb=phrase("Search"),
        icon="search",
        subject="{pattern}  {path}",
        explores="searches",
        other_names=(
            OtherNames(
                "grep, rg, ripgrep, grep search, search file content, grep files, grep content",
                adds={"regex": True},
                drops=("output_mode", "-n", "head_limit"),
            ),
        ),
    )
    def search_text(
        self,
        pattern: str,
        path: str = ".",
        glob: Annotated[str | None, "Only files that fit, as in *.py"] = None,
        regex: Annotated[bool, "Python's syntax, line by line."] = False,
        ignore_case: bool = False,
    ) -> Outcome:
        """Find lines that contain a text; ignored files are left out."""
        from modules.files.search_worker import SearchJob  # for searches only

        if not pattern or "\n" in pattern or "\0" in pattern:
            raise ToolError(phrase("pattern must be one line of text, and not empty."))
        if search := self._searches.get(path):
            return search(pattern)
        folder = self._project.resolve(path)
        files = self._files(folder, glob)
        job = SearchJob(
            root=str(self._project.root),
            hidden=self._project.hidden,
            files=files,
            pattern=pattern,
            regex=regex,
            ignore_case=ignore_case,
            most_hits=_MAX_HITS,
            largest=MAX_BYTES if files == [folder] else _MAX_FILE_BYTES,
            seconds=self._seconds,
            encoding=encodings.preferred(),
            libraries=_libraries(),
        )
        result = self._search(job)
        if result.error:
            raise ToolError(
                phrase("The pattern is no regular expression: {why}.", why=result.error)
            )
        if result.left and not result.total:
            raise self._too_slow(self._seconds)
        hits = tuple(Hit(visible(name), line, text) for name, line, text in result.hits)
        card = SearchCard(pattern, hits, result.total, result.skipped, result.left > 0)
        return Outcome(_model_text(result, hits, len(files) - result.skipped), card)

    def _files(self, folder: str, glob: str | None) -> list[str]:
        files = self._project.files(folder)
        if glob is None:
            return files
        start = len(folder) + 1 if folder else 0
        matches = glob_filter(glob)
        return [name for name in files if matches(name[start:])]

    def _search(self, job: SearchJob) -> SearchResult:
        from utils.system.child import TimedOut  # for searches only

        try:
            return self._run_worker(replace(job, files=self._candidates(job)))
        except TimedOut:
            raise self._too_slow(_MAX_SECONDS) from None

    def _too_slow(self, seconds: float) -> ToolError:
        return ToolError(
            phrase(
                "The search was not done after {seconds} seconds; use a simpler pattern or "
                "search a smaller folder.",
                seconds=round(seconds),
            )
        )

    def _run_worker(self, job: SearchJob) -> SearchResult:
        from modules.files.search_worker import SearchResult  # for searches only

        command = [sys.executable, "-E", "-s", "-S", "-m", "modules.files.search_worker"]
        result = self._run_program(command, _PROGRAM_ROOT, json.dumps(asdict(job)).encode())
        if result.code:
            raise RuntimeError(f"the search failed: {os.fsdecode(result.errors)}")
        return SearchResult(**json.loads(result.output))

    def _candidates(self, job: SearchJob) -> Sequence[str]:
        """Return those files of *job* that ripgrep cannot rule out; all where it has no say."""
        expression = _ripgrep_expression(job)
        if self._rg is None or expression is None:
            return job.files
        candidates: list[str] = []
        searchable: list[str] = []
        for name in job.files:
            (searchable if self._is_small_file(name) else candidates).append(name)
        options = ["--no-config", "-a", "-E", "none", "-l", "--null", *["-i"] * job.ignore_case]
        disputed = ["-e", _DISPUTED] * (job.regex or job.ignore_case)
        command = [self._rg, *options, "-e", expression, "-e", _MAYBE_NOT_UTF8, *disputed, "--"]
        for files in _batches(searchable):
            result = self._run_program(
                [*command, *(f"./{name}" for name in files)], self._project.root
            )
            if result.code not in (0, 1):  # a file that is gone, an expression it cannot read
                return job.files
            candidates += [name[2:] for name in os.fsdecode(result.output).split("\0")[:-1]]
        return sorted(candidates)

    def _is_small_file(self, name: str) -> bool:
        """Return whether ripgrep may have *name*: it would wait at a pipe and read a terabyte."""
        try:
            status = (self._project.root / name).lstat()
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_FILE_BYTES

    def _run_program(self, command: Sequence[str], folder: Path, stdin: bytes = b"") -> ChildResult:
        from utils.system.child import run_program  # for searches only

        result = run_program(
            command,
            folder=folder,
            environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            seconds=_MAX_SECONDS,
            stdin=stdin,
            on_cancel=self._stop.on_stop if self._stop else None,
        )
        if self._stop is not None and self._stop.is_set():
            raise Stopped
        return result


def _libraries() -> str:
    """Return the folder that chardet is in, which is not imported for it."""
    spec = find_spec("chardet")
    return str(Path(spec.origin).parents[1]) if spec and spec.origin else ""


def _ripgrep_expression(job: SearchJob) -> str | None:
    """Return an expression that matches at least the lines that *job* wants; None if unsure."""
    if "\r" in job.pattern or not _is_utf8(job.pattern):
        return None
    if job.ignore_case and re.search("[İı]", job.pattern):
        return None
    if not job.regex:
        return re.sub(_META, lambda found: f"\\{found[0]}", job.pattern)
    return None if re.search(_RISKY, job.pattern) else job.pattern


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _batches(files: Sequence[str]) -> Iterator[list[str]]:
    """Yield *files* in portions that fit into a command line."""
    batch: list[str] = []
    bytes_left = _ARGUMENT_BYTES
    for name in files:
        bytes_left -= len(os.fsencode(name)) + 16
        if bytes_left < 0:
            yield batch
            batch, bytes_left = [], _ARGUMENT_BYTES
        batch.append(name)
    if batch:
        yield batch


def _model_text(result: SearchResult, hits: Sequence[Hit], searched: int) -> str:
    """Return the answer for the model: the hits by file, as 12│line."""
    skipped = (
        f" Too large to search: {with_count(result.skipped, 'file')}." if result.skipped else ""
    )
    if not hits:
        return f"No line of {with_count(searched, 'file')} matches.{skipped}"
    head = f"{with_count(result.total, 'line')} in {with_count(result.files, 'file')}"
    head += f"; the first {len(hits)}:" if result.total > len(hits) else ":"
    if result.left:
        unfinished = with_count(result.left, "file")
        skipped += (
            f" The time was up: {unfinished} not searched to the end. Search a smaller folder."
        )
    lines = [head + skipped]
    for path, group in groupby(hits, key=lambda hit: hit.path):
        lines += [path, *(f"{hit.line}│{hit.text}" for hit in group)]
    return "\n".join(lines)
