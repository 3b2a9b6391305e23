"""Finding the checks that a project names in its own files.

Only what a tool reads counts: no prose, and nothing is run to find out.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from core.tools import ToolError
from utils.i18n import UserError

SOURCES = (
    *("Makefile", "makefile", "GNUmakefile", "package.json", "pyproject.toml", "pytest.ini"),
    *("setup.cfg", "tox.ini", "noxfile.py", "manage.py", "Cargo.toml", "go.mod"),
)
"""The files that name checks, at the top of the project."""
_MAX_BYTES = 500_000  # of such a file
_TEST_FOLDERS = ("tests", "test")
_MAX_DEPTH = 3
_MAX_READ = 20
"""How far below the top tests are looked for, and how many of them are looked into."""
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
_IS_TEST = re.compile(
    r"^\s*(?:async\s+)?def test|^class \w*Test|\bTestCase\b|\bpytest\b", re.MULTILINE
)
"""What a file of that name has where it is one of tests, and no script that is called so."""
_FOR_PYTEST = re.compile(
    r"^(?:async\s+)?def test|^class Test\w*(?:\(\))?:|^@?(?:import |from )?pytest\b|\bpytest\.",
    re.MULTILINE,
)
"""A test that only pytest runs."""
_NPM_STUB = "no test specified"
_WATCHES = re.compile(r"\b(?:react-scripts|craco|react-app-rewired) test\b(?!.*--watchAll)")
"""Scripts that run the tests on and on, unless they are told that nobody is there (`CI`)."""
_TARGET = re.compile(r"^(?:[\w.-]+ +)*(check|test)(?: +[\w.-]+)*\s*:(?!=)", re.MULTILINE)
_TOX = re.compile(r"^\[(tox|testenv)", re.MULTILINE)
_PYTEST_SECTION = re.compile(r"^\[(tool:)?pytest\]", re.MULTILINE)
_OWN_FILES = re.compile(
    r"(^|/)(conftest\.py|\.?(pytest|tox|mypy|jest|vitest|mocharc|karma|babel|noxfile|phpunit)[^/]*"
    r"|setup\.cfg|pyproject\.toml|package\.json|\.npmrc|[Mm]akefile|GNUmakefile|Cargo\.toml|go\.mod"
    r"|go\.work|build\.rs|\.cargo/config(\.toml)?|(vite|playwright|cypress|ava)\.config\.\w+|.*\.mk"
    r"|(site|user)customize\.py|\.?ruff\.toml|\.flake8|\.?eslint(rc|\.config)[^/]*"
    r"|tsconfig[^/]*\.json)$"
)
_RUNNERS = frozenset({"pytest", "_pytest", "unittest", "pluggy", "iniconfig", "mypy", "tox", "nox"})
"""Modules of test runners: `python3 -m` takes one of the folder before its own."""
_TESTS = re.compile(
    r"(^|/)(tests?|__tests__|specs?)/|(^|/)test_[^/]*\.\w+$|_(test|spec)\.\w+$|\.(test|spec)\.\w+$"
    r"|(^|/)(run[_-]?)?(tests?|specs?|check)\.\w+$|[a-z](Tests?|Spec)\.\w+$"
)


class ProjectFiles(Protocol):
    """The project, as far as checks are found in it."""

    def read_bytes(self, path: str, limit: int = ...) -> bytes: ...
    def list_names(self, path: str) -> Sequence[tuple[str, bool]]: ...


def found_checks(project: ProjectFiles) -> list[str]:
    """Return the commands that check *project*, as its own files name them; () for none."""
    try:
        top = dict(project.list_names(""))
    except (ToolError, UserError):
        return []
    texts = {name: _read(project, name) for name in SOURCES if name in top and not top[name]}
    return list(
        dict.fromkeys(_commands(project, texts, {n for n, is_dir in top.items() if is_dir}))
    )


def _read(project: ProjectFiles, path: str) -> str:
    try:
        return project.read_bytes(path, _MAX_BYTES).decode("utf-8", "replace")
    except (ToolError, UserError):
        return ""


def _commands(project: ProjectFiles, texts: dict[str, str], folders: set[str]) -> Iterator[str]:
    makefile = next(
        (texts[name] for name in ("GNUmakefile", "makefile", "Makefile") if name in texts), ""
    )
    targets = {match[1] for match in _TARGET.finditer(makefile)}
    if targets:  # it says how all of it is checked
        yield "make check" if "check" in targets else "make test"
        return
    if command := _python(project, texts, folders):
        yield command
    if script := _npm_test(texts.get("package.json", "")):
        yield "CI=true npm test" if _WATCHES.search(script) else "npm test"
    if "Cargo.toml" in texts:
        yield "cargo test"
    if "go.mod" in texts:
        yield "go test ./..."


def _python(project: ProjectFiles, texts: dict[str, str], folders: set[str]) -> str:
    tools = _table(texts.get("pyproject.toml", "")).get("tool", {})
    tools = tools if isinstance(tools, dict) else {}
    has_section = any(
        _PYTEST_SECTION.search(texts.get(name, ""))
        for name in ("setup.cfg", "tox.ini", "pytest.ini")
    )
    if "pytest" in tools or has_section or "pytest.ini" in texts:
        return "python3 -m pytest -q"
    if "manage.py" in texts and "django" in texts["manage.py"].lower():
        return "python3 manage.py test"
    for folder in (one for one in _TEST_FOLDERS if one in folders):
        if command := _test_folder(project, folder):
            return command
    if "tox" in tools or _TOX.search(texts.get("tox.ini", "")):
        return "tox -q"
    if "noxfile.py" in texts:
        return "nox"
    return _test_files(project)


def _test_folder(project: ProjectFiles, folder: str) -> str:
    """Return what runs the Python tests in *folder*, "" where there are none."""
    tests = list(islice(_tests_below(project, folder, _MAX_DEPTH), _MAX_READ))
    if not tests:
        return ""
    # unittest looks into no folder that is no package, and ends well without any test.
    is_flat = all(posixpath.dirname(path) == folder for path in tests)
    if is_flat and all(map(_is_unittest, (_read(project, path) for path in tests))):
        return f"python3 -m unittest discover -s {folder}"
    return "python3 -m pytest -q"


def _tests_below(project: ProjectFiles, folder: str, depth: int) -> Iterator[str]:
    """Yield the files of Python tests in *folder* and in those below it, the nearest first."""
    try:
        names = sorted(project.list_names(folder))
    except (ToolError, UserError):
        return
    for name, is_folder in names:
        if not is_folder and _TEST_FILE.fullmatch(name):
            yield f"{folder}/{name}"
    for name, is_folder in names if depth > 1 else ():
        if is_folder and not name.startswith((".", "__")):
            yield from _tests_below(project, f"{folder}/{name}", depth - 1)


def _test_files(project: ProjectFiles) -> str:
    """Return what runs the Python tests beside the code, "" where there are none."""
    try:
        names = sorted(name for name, is_folder in project.list_names("") if not is_folder)
    except (ToolError, UserError):
        return ""
    tests = [name for name in names if _TEST_FILE.fullmatch(name)][:_MAX_READ]
    texts = [text for text in (_read(project, name) for name in tests) if _IS_TEST.search(text)]
    if not texts:
        return ""
    # unittest looks for no others.
    is_found = all(name.startswith("test") for name in tests)
    is_unittest = is_found and all(map(_is_unittest, texts))
    return "python3 -m unittest" if is_unittest else "python3 -m pytest -q"


def _is_unittest(text: str) -> bool:
    """Return whether unittest runs the tests in *text*: plain functions it passes over."""
    return "unittest" in text and not _FOR_PYTEST.search(text)


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _npm_test(text: str) -> str:
    """Return the script of the tests in a package.json, "" for none."""
    try:
        package = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return ""
    scripts = package.get("scripts") if isinstance(package, dict) else None
    test = scripts.get("test") if isinstance(scripts, dict) else None
    return test.strip() if isinstance(test, str) and _NPM_STUB not in test else ""


def is_test(path: str) -> bool:
    """Return whether *path* has the name of a test, or is in a folder of tests."""
    return bool(_TESTS.search(path))


def is_part_of_checks(path: str, *, is_new: bool) -> bool:
    """Return whether checks are made of the file *path*; a test that *is_new* weakens none."""
    return bool(_OWN_FILES.search(path)) or _is_shadow(path) or (not is_new and is_test(path))


def _is_shadow(path: str) -> bool:
    """Return whether Python takes the file *path* for a module of its own, or of a test runner."""
    top, _, below = path.partition("/")
    if below or not top.endswith(".py"):
        return top in _RUNNERS and path.endswith(".py")
    name = top.removesuffix(".py")
    return name in _RUNNERS or (name in sys.stdlib_module_names and name != "test")
