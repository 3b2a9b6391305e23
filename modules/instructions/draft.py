"""A draft of AGENTS.md from what the files of a project say, without a model.

Short on purpose: in trials (arXiv 2602.11988) what models wrote into such files did harm, what
people wrote did good. So this holds the facts that tools find, and the rest is left to the person.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from core.tools import ToolError
from modules.checks.finding import found_checks
from modules.files.project import Project
from utils.text.clean import visible

_MAX_COMMANDS = 20
_MAX_FOLDERS = 15
_PLAIN_NAME = re.compile(r"[\w][\w:.-]{0,60}")
_PLAIN_COMMAND = re.compile(
    r"(?:python3? -m|pytest|tox|nox|uv|poetry|hatch|pdm|ruff|mypy|npm|pnpm|yarn|bun|make|just|cargo"
    r"|go|dotnet|mvn|\./mvnw|gradle|\./gradlew|cmake|ctest|bundle|rake|composer|mix|swift|zig)"
    r"(?: [\w./:=@,+*\"'-]+){0,12}"
)
_RUN_LINE = re.compile(r"^\s*(?:-\s+)?(?:run|script)?:?\s*\|?-?\s*(.*?)\s*$")
_TARGET = re.compile(r"^([A-Za-z][\w.-]*)\s*:(?![=:])", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]*)(?:\s+[^:=]*)?:(?!=)", re.MULTILINE)
_USUAL = ("build", "test", "tests", "check", "lint", "format", "fmt", "typecheck", "run", "start")
"""Names of scripts and targets that come first."""
_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lockb": "bun",
    "bun.lock": "bun",
}
_BY_FILE = {
    "Cargo.toml": ("cargo build", "cargo test", "cargo clippy"),
    "go.mod": ("go build ./...", "go vet ./...", "go test ./..."),
    "pom.xml": ("mvn -q test",),
    "build.gradle": ("gradle test",),
    "build.gradle.kts": ("gradle test",),
    "CMakeLists.txt": ("cmake -B build", "cmake --build build", "ctest --test-dir build"),
    "tox.ini": ("tox",),
    "noxfile.py": ("nox",),
    "mix.exs": ("mix test",),
    "Package.swift": ("swift build", "swift test"),
}


def draft(project: Project) -> str:
    """Return the text of an AGENTS.md for *project*."""
    files = project.files()
    names = {path for path in files if "/" not in path}
    commands = list(dict.fromkeys(_commands(project, names, files)))[:_MAX_COMMANDS]
    parts = [f"# {project.name}"]
    if commands:
        parts.append("\n".join(["## Commands", "", *(f"- `{one}`" for one in commands)]))
    if layout := _layout(files):
        parts.append("\n".join(["## Layout", "", *layout]))
    if style := list(_style(project, names)):
        parts.append("\n".join(["## Style", "", *style]))
    if len(parts) == 1:
        parts.append("Nothing was found here yet that tells how this project is built or tested.")
    return "\n\n".join(parts) + "\n"


# --- commands ------------------------------------------------------------------------------------


def _commands(project: Project, names: set[str], files: Iterable[str]) -> Iterator[str]:
    yield from _make_targets(project, names)
    yield from _just_recipes(project, names)
    yield from _package_scripts(project, names)
    yield from _python_commands(project, names, files)
    for name, commands in _BY_FILE.items():
        if name in names:
            yield from commands
    yield from _ci_commands(project, files)


def _make_targets(project: Project, names: set[str]) -> Iterator[str]:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if name in names:
            targets = _TARGET.findall(_text(project, name))
            yield from (f"make {target}" for target in _usual_first(targets, only=True))
            return


def _just_recipes(project: Project, names: set[str]) -> Iterator[str]:
    for name in ("justfile", "Justfile", ".justfile"):
        if name in names:
            recipes = _RECIPE.findall(_text(project, name))
            yield from (f"just {recipe}" for recipe in _usual_first(recipes, only=True))


def _package_scripts(project: Project, names: set[str]) -> Iterator[str]:
    if "package.json" not in names:
        return
    scripts = _json(project, "package.json").get("scripts")
    runner = next((tool for lock, tool in _LOCKS.items() if lock in names), "npm")
    yield f"{runner} install"
    for script in _usual_first(scripts if isinstance(scripts, dict) else ()):
        yield f"{runner} run {script}"


def _python_commands(project: Project, names: set[str], files: Iterable[str]) -> Iterator[str]:
    tools: dict[str, Any] = {}
    if "pyproject.toml" in names:
        found = _toml(project, "pyproject.toml").get("tool")
        tools = found if isinstance(found, dict) else {}
    prefix = "uv run " if "uv.lock" in names else "poetry run " if "poetry.lock" in names else ""
    if "requirements.txt" in names and not prefix:
        yield "python3 -m pip install -r requirements.txt"
    if tests := _python_tests(project, files):
        yield f"{prefix}pytest" if prefix and "pytest" in tests else tests
    if "ruff" in tools or "ruff.toml" in names:
        yield f"{prefix}ruff check ."
        yield f"{prefix}ruff format ."
    if "mypy" in tools or "mypy.ini" in names:
        yield f"{prefix}mypy ."


def _python_tests(project: Project, files: Iterable[str]) -> str:
    """Return the command that a receipt would rest on, else pytest where there are test files."""
    for check in found_checks(project):
        if check.startswith("python3 -m"):
            return check.removesuffix(" -q")
    is_tested = any(re.search(r"(^|/)(test_\w+|conftest)\.py$", path) for path in files)
    return "python3 -m pytest" if is_tested else ""


def _ci_commands(project: Project, files: Iterable[str]) -> Iterator[str]:
    """Yield the plain commands of the files of CI; what could be anything else is left out."""
    for path in files:
        if re.fullmatch(r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml", path):
            for line in _text(project, path).splitlines():
                said = _RUN_LINE.match(line)
                if said and _PLAIN_COMMAND.fullmatch(said[1]):
                    yield said[1]


def _usual_first(names: Iterable[str], *, only: bool = False) -> list[str]:
    """Return those of *names* that are plain, the usual ones first, or *only* these."""
    plain = list(dict.fromkeys(name for name in names if _PLAIN_NAME.fullmatch(name)))
    usual = [name for name in _USUAL if name in plain]
    return usual if only and usual else [*usual, *(name for name in plain if name not in usual)]


# --- layout and style ----------------------------------------------------------------------------


def _layout(files: Iterable[str]) -> list[str]:
    """Return a line for each folder of the project: how many files, mostly of what kind."""
    kinds: dict[str, Counter[str]] = {}
    for path in files:
        folder, slash, rest = path.partition("/")
        if slash and not folder.startswith("."):
            name = rest.rpartition("/")[2]
            suffix = name.rpartition(".")[2] if "." in name.lstrip(".") else ""
            kinds.setdefault(folder, Counter())[suffix] += 1
    lines = []
    for folder, counts in sorted(kinds.items())[:_MAX_FOLDERS]:
        suffix, _ = counts.most_common(1)[0]
        kind = f", mostly .{visible(suffix)}" if suffix and len(counts) > 1 else ""
        kind = f", .{visible(suffix)}" if suffix and len(counts) == 1 else kind
        total = counts.total()
        lines.append(f"- `{visible(folder)}/`: {total} {'file' if total == 1 else 'files'}{kind}")
    return lines


def _style(project: Project, names: set[str]) -> Iterator[str]:
    if ".editorconfig" in names:
        yield "- `.editorconfig` says how files are indented."
    for name in ("CONTRIBUTING.md", "CONTRIBUTING.rst"):
        if name in names:
            yield f"- `{name}` says how to contribute."
    if "pyproject.toml" in names:
        project_table = _toml(project, "pyproject.toml").get("project")
        version = project_table.get("requires-python") if isinstance(project_table, dict) else None
        if isinstance(version, str) and re.fullmatch(r"[\d.,<>=~! ]{1,40}", version):
            yield f"- Python {version.strip()}"


# --- reading -------------------------------------------------------------------------------------


def _text(project: Project, path: str) -> str:
    """Return the text of *path*, "" where there is none to be had."""
    try:
        return project.read_text(path).text
    except ToolError:
        return ""


def _json(project: Project, path: str) -> dict[str, Any]:
    try:
        value = json.loads(_text(project, path))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _toml(project: Project, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(project, path))
    except (ValueError, RecursionError):
        return {}
