"""Scopes of test runs: of which part of a project a run tells, and whether a task changed that."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from modules.checks.commands import runs_tests
from modules.checks.finding import is_test

_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "e2e", "testing"})
_NO_SOURCE = (".md", ".rst", ".txt", ".adoc", ".png", ".svg", ".jpg", ".gif", ".lock", ".log")
_INTO = frozenset({"cd", "pushd"})
_FOLDER_OPTIONS = frozenset({"-C", "--prefix", "--cwd", "--directory", "--dir"})
"""Options after which a program works in the folder that they name."""
_OTHER_OPTIONS = re.compile(
    r"(?:-[cfgkmopnWj]|-run|--(?:config|ignore|exclude|deselect|cov|base|junit|log|conf|out|env"
    r"|report|grep|filter)\S*)"
)
"""Options whose values say nothing of which tests run."""
_SEPARATORS = frozenset({"&&", ";", "||", "|", "&"})


@dataclass(frozen=True, slots=True)
class ChangedParts:
    """The *changed* files of a task, among all *files* of the project."""

    changed: Sequence[str] = ()
    files: Sequence[str] = ()

    def other_folders(self, command: str) -> tuple[str, ...]:
        """Return the folders of which *command* runs the tests where these are others' tests.

        That is so where nothing that was changed is in them, and tests elsewhere are of what was:
        those of its own folder or of one above. () where it may well be the tests that are meant:
        as in a folder that has none, or that is named in a way of which only a shell knows where.
        """
        changed = self._sources()
        scopes = tuple(dict.fromkeys(_scopes(command, self.files)))
        if not changed or any(_is_in(path, scope) for path in changed for scope in scopes):
            return ()
        tests = [path for path in self.files if is_test(path)]
        if not all(any(_is_in(test, scope) for test in tests) for scope in scopes):
            return ()
        bases = {
            _base(test, is_folder=False)
            for test in tests
            if not any(_is_in(test, scope) for scope in scopes)
        }
        is_elsewhere = any(_is_in(path, base) for path in changed for base in bases)
        return scopes if is_elsewhere else ()

    def _sources(self) -> list[str]:
        """Return what of the changed files tests can be of; else the tests that were changed."""
        files = [path for path in self.changed if not path.lower().endswith(_NO_SOURCE)]
        return [path for path in files if not is_test(path)] or files


def _is_in(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _base(path: str, *, is_folder: bool) -> str:
    """Return the folder that has the tests at *path*, or in it, beside what they are of."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        if part in _TEST_FOLDERS:
            return "/".join(parts[:place])
    return path if is_folder else "/".join(parts[:-1])


def _scopes(command: str, files: Sequence[str]) -> Iterator[str]:
    """Yield the folders, "" for the project, of which *command* may run tests."""
    folder = ""
    for words in _parts(command):
        if words[0] in _INTO and len(words) == 2:
            folder = _joined(folder, words[1])
        if not runs_tests(" ".join(words)):
            continue
        scope, named = folder, []
        for option, word in _with_options(words[1:]):
            path = _joined(folder, re.sub(r"(?:::.*|/?\.\.\.)$", "", word))
            if option in _FOLDER_OPTIONS:
                scope = path
            elif not _OTHER_OPTIONS.fullmatch(option) and path and _is_there(path, files):
                named.append(_base(path, is_folder=path not in files))
        yield from named or [_base(scope, is_folder=True)]


def _parts(command: str) -> Iterator[list[str]]:
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    part: list[str] = []
    for word in words:
        is_end = word in _SEPARATORS
        if not is_end:
            part.append(word.rstrip(";") or word)
        if part and (is_end or word.endswith(";")):
            yield part
            part = []
    if part:
        yield part


def _with_options(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each of *words* that is no option, with the option that stands before it or ""."""
    option = ""
    for word in words:
        if not word.startswith("-"):
            yield option, word
            option = ""
            continue
        option, _, value = word.partition("=")
        if value:
            yield option, value
            option = ""


def _joined(folder: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "" if joined in (".", "/") or joined.startswith("../") else joined


def _is_there(path: str, files: Sequence[str]) -> bool:
    return any(_is_in(file, path) for file in files)
