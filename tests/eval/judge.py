"""The judge: runs tests on what a model wrote, in the sandbox."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path

from modules.sandbox.sandbox import Limits, Program, Result, Sandbox
from utils.waiting import Stop

MAX_OUTPUT_CHARACTERS = 4_000
_PROCESSES = 4_096
"""Threads count, and exercises on concurrency start many."""
_PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
_DRIVER = """
import sys
sys.path.insert(0, {packages!r})
sys.dont_write_bytecode = True
import pytest

class Count:
    passed = failed = 0

    def pytest_runtest_logreport(self, report):
        self.failed += report.failed
        self.passed += report.passed and report.when == "call"

count = Count()
options = ["-q", "--tb=short", "--color=no", "-p", "no:cacheprovider"]
code = pytest.main([*options, *{names!r}], [count])
print({word!r} if code == 0 and count.passed and not count.failed else "")
"""


@dataclass(frozen=True)
class TestRun:
    """Run of tests: *is_judged* is False where they could not be run at all."""

    __test__ = False
    has_passed: bool
    output: str
    is_judged: bool = True


class Judge:
    """Runs tests in folders of its own below *folder*, each for at most *seconds*.

    Nothing of it runs outside of the sandbox, and nothing reaches the network.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self._work = folder / "judge"
        self._cache = folder / "cache"
        self._packages = folder / "packages"
        self._limits = Limits(seconds=seconds, processes=_PROCESSES)
        self._work.mkdir(parents=True, exist_ok=True)
        self._cache.mkdir(exist_ok=True)
        _copy_packages(self._packages)

    @contextmanager
    def new_folder(self, name: str) -> Iterator[Path]:
        """Make an empty folder with that *name*, for a while."""
        made = Path(tempfile.mkdtemp(dir=self._work))
        folder = made / name
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove(made)

    def run_pytest(self, folder: Path, names: Sequence[str] = ()) -> TestRun:
        """Run the tests *names* of *folder*, all without any. At least one has to pass.

        A program that ends itself with exit code 0 has not passed: a word is waited for that is
        said at the end.
        """
        word = secrets.token_hex(16)
        code = _DRIVER.format(packages=str(self._packages), names=list(names), word=word)
        result = self._run(folder, Program("python", code), self._packages)
        return TestRun(result.exit_code == 0 and word in result.tail + result.head, _end(result))

    def run_command(self, folder: Path, command: str) -> TestRun:
        """Run *command* in *folder*; passed is what ends with 0."""
        result = self._run(folder, Program("bash", command))
        return TestRun(result.exit_code == 0, _end(result))

    def _run(self, folder: Path, program: Program, *shown: Path) -> Result:
        """Return how *program* ended. Raises `UserError` where nothing can be confined."""
        sandbox = Sandbox(
            folder,
            hidden=[self._cache],
            cache_folder=self._cache,
            environment=dict(os.environ),
            show_folders=shown,
        )
        with closing(sandbox):
            run = sandbox.run(program, self._limits, Stop())
            while True:
                try:
                    next(run)
                except StopIteration as end:
                    result: Result = end.value
                    return result


def _remove(folder: Path) -> None:
    """Remove *folder*, also where a test took rights away from itself."""
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = Path(path, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(folder)


def _end(result: Result) -> str:
    """Return the end of what was printed, and why it ended where nobody would know."""
    why = "" if result.exit_reason == "exited" else f"\nThe tests ended: {result.exit_reason}."
    return result.output.strip()[-MAX_OUTPUT_CHARACTERS:] + why


def _copy_packages(folder: Path) -> None:
    """Copy pytest and what it needs, plain Python all of it, to *folder* for the sandbox to see."""
    if folder.is_dir():
        return
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
    for package in _PACKAGES:
        distribution = Distribution.from_name(package)
        for file in distribution.files or ():
            if file.suffix == ".py" and ".." not in file.parts:
                target = unfinished / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_binary())
    unfinished.rename(folder)
