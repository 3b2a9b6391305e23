"""Exercises in Exercism's layout, as in the polyglot benchmark.

A folder of tracks has `TRACK/exercises/practice/NAME/` with `.docs/instructions.md`, the files to
complete, their tests, and in `.meta/` a solution and `config.json`, which says which is which.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tests.eval.judge import Judge
from tests.eval.languages import LANGUAGES, Language
from tests.eval.tasks import Submission, TaskError, Verdict, read_text, write_text

_TEXTS = ("introduction.md", "instructions.md", "instructions.append.md")
_UNSEEN = (".approaches", ".articles", ".docs", ".meta", "node_modules")
_BUILD_FILES = ("CMakeLists.txt", "Cargo.toml")
"""Files that say what a test is: they stay as they were."""
_PROMPT = """\
Solve the exercise below in this folder. Complete {files}, and keep the names that are there: \
tests that you do not see call them. What you write in other files does not count. Use the \
standard library alone, and do not ask back.

{instructions}
"""
_AGAIN = """
Your solution so far, which is in the folder, does not pass the tests. They are right. Correct it. \
They said:

{failure}
"""


@dataclass(frozen=True)
class Exercise:
    """The exercise *name* of the track *group*, in *source*."""

    group: str
    name: str
    source: Path
    solutions: tuple[str, ...]
    hidden: tuple[str, ...]
    examples: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"

    def prompt(self, failure: str) -> str:
        docs = (self.source / ".docs" / name for name in _TEXTS)
        texts = [path.read_text(encoding="utf-8").strip() for path in docs if path.is_file()]
        asked = _PROMPT.format(files=", ".join(self.solutions), instructions="\n\n".join(texts))
        return asked + (_AGAIN.format(failure=failure) if failure else "")

    def lay(self, folder: Path, earlier: Submission) -> None:
        self._copy(folder, [name for name in self._files() if not self._is_hidden(name)])
        for name, text in earlier.items():
            write_text(folder, name, text)

    def collect(self, folder: Path) -> Submission:
        found = {name: read_text(folder, name) for name in self._counted(folder)}
        return {name: text for name, text in found.items() if text is not None}

    def judge(self, submission: Submission, judge: Judge) -> Verdict:
        with judge.new_folder(self.name) as folder:
            self._copy(folder, self._files())
            for name in self.solutions:
                (folder / name).unlink(missing_ok=True)
            for name, text in submission.items():
                write_text(folder, name, text)
            return self._run_tests(folder, judge)

    def solution(self) -> Submission:
        if not self.examples:
            raise TaskError(f"{self.id} has no solution of its own.")
        files = dict.fromkeys(beside for one in self.examples for beside in self._with_beside(one))
        return {self._place(one): (self.source / one).read_text("utf-8") for one in files}

    @property
    def _language(self) -> Language:
        return LANGUAGES[self.group]

    def _run_tests(self, folder: Path, judge: Judge) -> Verdict:
        language = self._language
        if language.has_node_modules:
            modules = self.source.parents[2] / "node_modules"
            shutil.copytree(modules, folder / "node_modules", symlinks=True)
        if language.command:
            run = judge.run_command(folder, language.command)
        else:
            run = judge.run_pytest(folder)
        return Verdict("passed" if run.has_passed else "failed", run.output)

    def _files(self) -> list[str]:
        paths = (path for path in self.source.rglob("*") if path.is_file())
        names = (path.relative_to(self.source) for path in paths)
        return sorted(name.as_posix() for name in names if name.parts[0] not in _UNSEEN)

    def _copy(self, folder: Path, names: Collection[str]) -> None:
        for name in names:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if self._is_hidden(name):
                text = (self.source / name).read_bytes().decode("utf-8")
                write_text(folder, name, self._language.all_enabled(text))
            else:
                shutil.copy(self.source / name, target)

    def _is_hidden(self, name: str) -> bool:
        return name in self.hidden or _matches(name, self._language.tests)

    def _counted(self, folder: Path) -> Iterator[str]:
        """Yield the names of the files that count: those to complete, and more where allowed."""
        yield from self.solutions
        if not self._language.sources:
            return
        given = {*self.solutions, *self._files()}
        for path in folder.glob(self._language.sources):
            name = path.relative_to(folder).as_posix()
            if name not in given and not self._is_hidden(name):
                yield name

    def _with_beside(self, example: str) -> Iterator[str]:
        """Yield *example* and, where further files may be handed in, those beside it."""
        yield example
        if self._language.sources:
            path = self.source / example
            beside = sorted(path.parent.rglob(f"*{path.suffix}"))
            yield from (one.relative_to(self.source).as_posix() for one in beside)

    def _place(self, example: str) -> str:
        """Return the name of the file that *example*, one of the solution, is the solution of."""
        path = PurePosixPath(example)
        alike = [one for one in self.solutions if PurePosixPath(one).suffix == path.suffix]
        same = [one for one in alike if PurePosixPath(one).name == path.name]
        if same or len(alike) == 1:
            return (same or alike)[0]
        if not alike or not self._language.sources:
            raise TaskError(f"{self.id}: config.json does not say what {example} is for.")
        return str(PurePosixPath(alike[0]).with_name(path.name))


def _matches(name: str, patterns: Collection[str]) -> bool:
    """Return whether *name* matches one of *patterns*; one with a folder in it, from there on."""
    path = PurePosixPath(name)
    for pattern in patterns:
        folder, _, rest = pattern.partition("/**/")
        if rest:
            if name.startswith(f"{folder}/") and path.match(rest):
                return True
        elif path.match(pattern):
            return True
    return False


def find_exercises(tracks: Path, languages: Collection[str]) -> list[Exercise]:
    """Return the exercises of *languages* in *tracks*. Raises `TaskError` where there are none."""
    found = []
    for language in languages:
        folder = tracks / language / "exercises" / "practice"
        configs = sorted(folder.glob("*/.meta/config.json"))
        found += [_read(language, path.parents[1], path) for path in configs]
    if not found:
        wanted = " or ".join(f"{one}/exercises/practice" for one in languages)
        raise TaskError(
            f"There are no exercises in {str(tracks)!r}: it should hold {wanted}, as the "
            "repository Aider-AI/polyglot-benchmark on GitHub does."
        )
    return found


def _read(language: str, source: Path, config: Path) -> Exercise:
    try:
        files: Mapping[str, Any] = json.loads(config.read_text("utf-8"))["files"]
        solutions, examples = files["solution"], files.get("example") or files.get("exemplar") or []
        hidden = [*files.get("test", []), *files.get("editor", [])]
    except (ValueError, KeyError, TypeError):
        raise TaskError(f"{config} does not say under files which is which.") from None
    names = [one for one in (*solutions, *examples, *hidden) if not _is_inside(source, one)]
    if names:
        raise TaskError(f"{config} names {names[0]!r}, which is not in the exercise.")
    counted = tuple(one for one in solutions if one not in (*hidden, *_BUILD_FILES))
    return Exercise(language, source.name, source, counted, tuple(hidden), tuple(examples))


def _is_inside(source: Path, name: object) -> bool:
    """Return whether *name* stays in *source*, whose files another has written."""
    return isinstance(name, str) and (source / name).resolve().is_relative_to(source.resolve())
