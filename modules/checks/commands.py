"""Commands of checks: which are the same, and which exit codes prove anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_REDIRECTIONS = re.compile(r"\s*(?:2>&1|&>\s?/dev/null|[12]?>\s?/dev/null)")
_MASKS = re.compile(r"[|;\n`]|\$\(|(?<!&)&(?!&)|\bset \+e\b")
"""What may make the exit code another than that of the program: `||`, `;`, a pipe and others."""
_ASSIGNMENT = re.compile(r"\w+=\S*")
_QUIET_FLAGS = frozenset({"-q", "-qq", "-v", "-vv", "-vvv", "--quiet", "--verbose", "-s"})
_HARMLESS_FLAGS = frozenset(
    {"--collect-only", "--co", "--version", "--help", "-h", "-V", "--dry-run", "--no-run"}
)
_CHECKERS = re.compile(
    r"(?:(?:uv run|poetry run|pipenv run|pdm run|hatch run|bundle exec|npx|pnpm exec|yarn|bunx"
    r"|time|timeout \d+\w?|xvfb-run)\s+(?:-\S+\s+)*)*"
    r"(?:python[\d.]*\s+(?:-\w\s+)*-m\s+(?:pytest|unittest|nose2|tox|nox|mypy|ruff|flake8|doctest)"
    r"|pytest|py\.test|tox|nox|mypy|pyright|ruff|flake8|pylint|eslint|tsc|jest|vitest|mocha|ava"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:-\S+\s+)*(?:test|t|lint|check|typecheck|build)\b\S*"
    r"|(?:cargo|go|dotnet|mvn|deno|bun|swift|mix|sbt|zig build)\s+(?:test|check|vet|build|clippy)"
    r"|(?:\./)?gradlew?\s+(?:test|check|build)|make\s+(?:-\S+\s+)*(?:test|check|lint)\S*"
    r"|node\s+--test|phpunit|rspec|rake\s+test|ctest|bats|(?:\S*/)?(?:run_?)?tests?\.(?:sh|py)"
    r"|(?:bash|sh|python[\d.]*)\s+\S*tests?\S*\.(?:sh|py))(?=\s|$)"
)
_TRIVIAL = frozenset(
    {
        *("echo", "printf", "ls", "cat", "pwd", "true", ":", "cd", "mkdir", "touch", "cp", "mv"),
        *("rm", "sleep", "head", "tail", "wc", "which", "date", "export", "exit", "git", "chmod"),
    }
)


def normalized(command: str) -> str:
    """Return *command* so that two which run the same are equal."""
    try:
        words = shlex.split(_REDIRECTIONS.sub("", command.strip()))
    except ValueError:
        return command.strip()
    if _MASKS.search(_REDIRECTIONS.sub("", command)):
        return command.strip()
    if re.fullmatch(r"python[\d.]*", words[0] if words else "") and words[1:2] == ["-m"]:
        words = words[2:]
    return shlex.join(word for word in words if word not in _QUIET_FLAGS)


def proves(command: str, checks: Sequence[str] = ()) -> bool:
    """Return whether exit code 0 of *command* says that tests, or checks like them, passed.

    It does of one of *checks*, and of a test runner whose exit code nothing hides.
    """
    if normalized(command) in map(normalized, checks):
        return True
    parts = _parts(command)
    return any(_CHECKERS.match(part) and not _is_harmless(part) for part in parts)


def does_anything(command: str) -> bool:
    """Return whether exit code 0 of *command* says anything of what was made."""
    return any(part.split(maxsplit=1)[0] not in _TRIVIAL for part in _parts(command) if part)


def _parts(command: str) -> list[str]:
    """Return the commands that all must succeed for *command* to; none where that cannot be told.

    They are without the variables that stand before them.
    """
    plain = _REDIRECTIONS.sub("", command.strip())
    if _MASKS.search(plain):
        return []
    return [_without_variables(part.strip()) for part in plain.split("&&")]


def _without_variables(part: str) -> str:
    words = part.removeprefix("env ").split(" ")
    while words and _ASSIGNMENT.fullmatch(words[0]):
        words = words[1:]
    return " ".join(words)


def _is_harmless(part: str) -> bool:
    words = part.split()
    return not _HARMLESS_FLAGS.isdisjoint(words) or (words[0] == "make" and "-n" in words)
