"""Commands of checks: which are the same, and which exit codes prove anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_REDIRECTIONS = re.compile(r"\s*(?:2>&1|&>\s?/dev/null|[12]?>\s?/dev/null)")
_MASKS = re.compile(r"[|;\n`(){}#!…]|<<|\$\(|(?<!&)&(?!&)")
"""What may make the exit code another than that of the program: `||`, `;`, a pipe and others.

As well as what makes a word mean something else, a function or a comment, and what was cut off.
"""
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\`$]|\\.)*\"")
"""Words in which the shell reads nothing but text."""
_SHELL_CHANGES = frozenset(
    {
        *("alias", "builtin", "declare", "enable", "eval", "exec", "exit", "export", "function"),
        *("hash", "local", "readonly", "return", "set", "shopt", "source", ".", "trap", "typeset"),
        *("unset", "if", "while", "until", "for", "case", "[[", "select", "break", "continue"),
    }
)
"""Words of bash after which a program may not be run at all, or another of its name."""
_ACTIVATION = re.compile(r"(?:source|\.) (?:\./)?\.?venv/bin/activate")
_OTHER_PROGRAM = re.compile(r"(?:PATH|BASH_\w+|SHELL|LD_\w+|MAKE\w*|\w+_?ADDOPTS)\+?=")
"""Variables that say which program runs, or what it leaves out."""
_ASSIGNMENT = re.compile(r"\w+\+?=\S*")
_QUIET_FLAGS = frozenset({"-q", "-qq", "-v", "-vv", "-vvv", "--quiet", "--verbose", "-s"})
_OTHER_FLAGS_OF = {name: frozenset({"-q", "-v"}) for name in ("make", "npm", "pnpm", "yarn")}
"""Flags that are no quiet ones of these programs: `make -v` runs nothing."""
_HARMLESS_FLAGS = frozenset(
    {
        *("--collect-only", "--co", "--version", "--help", "-h", "-V", "--dry-run", "--no-run"),
        *("--setup-plan", "--setup-only", "--fixtures", "--markers", "--cache-show", "--notest"),
        *(
            "--exit-zero",
            "--passWithNoTests",
            "--pass-with-no-tests",
            "--listTests",
            *("--list", "--listenvs", "--showConfig", "--print-config", "--show-files"),
            *("--listFilesOnly", "--count", "--show-config", "--list-sessions", "--showconfig"),
            "--list-tests",
        ),
        *("--if-present", "--ignore-scripts", "--show-only", "--no-test", "--init"),
    }
)
"""Flags with which a test runner runs nothing, or ends with 0 whatever came of it."""
_SKIPPING = ("-DskipTests", "-Dmaven.test.skip", "-Dmaven.main.skip")
_SKIPPED = re.compile(r" (?:-x|--exclude-task) ?:?(?:\S+:)?(?:test|check)\b")
_LISTS = {
    "tox": frozenset({"-l", "-a", "--listenvs-all", "list", "l", "config", "c"}),
    "nox": frozenset({"-l"}),
    "ctest": frozenset({"-N"}),
    "gradle": frozenset({"-m", "tasks"}),
    "gradlew": frozenset({"-m", "tasks"}),
    "dotnet": frozenset({"-t"}),
    "go": frozenset({"-list", "-c", "-n", "-exec"}),
    "vitest": frozenset({"list", "init"}),
    "swift": frozenset({"list", "-l"}),
    "bats": frozenset({"-c"}),
}
"""Words with which these programs list, or build, what they would else run."""
_MAKE_FLAGS = re.compile(
    r"-[a-zA-Z]*[inqtvf][a-zA-Z]*|--(?:ignore-errors|just-print|recon|question|touch|file|makefile"
    r"|eval)\b.*|(?:SHELL|MAKEFLAGS|[.]SHELLFLAGS)=.*"
)
_CHECKERS = re.compile(
    r"(?:(?:uv run|poetry run|pipenv run|pdm run|hatch run|bundle exec|npx|pnpm exec|yarn|bunx"
    r"|time|timeout \d+[a-z]?|xvfb-run)\s+(?:-\S+\s+)*)*"
    r"(?:python[\d.]*\s+(?:-\w\s+)*-m\s+(?:pytest|unittest|nose2|tox|nox|mypy|ruff|flake8|doctest)"
    r"|pytest|py\.test|tox|nox|mypy|pyright|ruff|flake8|pylint|eslint|tsc|jest|vitest|mocha|ava"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:-\S+\s+)*(?:test|t|lint|check|typecheck|build)\b\S*"
    r"|(?:cargo|go|dotnet|mvn|(?:\./)?mvnw|deno|bun|swift|mix|sbt|zig build)"
    r"\s+(?:[-+]\S+\s+|clean\s+)*(?:test|check|vet|build|clippy|verify)"
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
    quiet = _QUIET_FLAGS - _OTHER_FLAGS_OF.get(words[0] if words else "", frozenset())
    return shlex.join(word for word in words if word not in quiet)


def proves(command: str, checks: Sequence[str] = ()) -> bool:
    """Return whether exit code 0 of *command* says that tests, or checks like them, passed.

    It does of one of *checks*, and of a test runner whose exit code nothing hides.
    """
    if normalized(command) in map(normalized, checks):
        return True
    parts = _parts(command)
    return any(_CHECKERS.match(part) and not _is_harmless(part) for part in parts)


def runs_tests(command: str) -> bool:
    """Return whether a part of *command* is a test runner, whatever its exit code says."""
    parts = (part.strip() for part in re.split(r"&&|[;|\n]", command))
    return any(_CHECKERS.match(_without_variables(part)) for part in parts)


def does_anything(command: str) -> bool:
    """Return whether exit code 0 of *command* says anything of what was made."""
    return any(part.split(maxsplit=1)[0] not in _TRIVIAL for part in _parts(command) if part)


def _parts(command: str) -> list[str]:
    """Return the commands that all must succeed for *command* to; none where that cannot be told.

    They are without the variables that stand before them, and what is quoted is one word.
    """
    plain = _QUOTED.sub(_as_one_word, _REDIRECTIONS.sub("", command.strip()))
    if _MASKS.search(plain) or "'" in plain or '"' in plain:
        return []
    parts = [part.strip() for part in plain.split("&&")]
    if any(map(_changes_shell, parts)):
        return []
    return [_without_variables(part) for part in parts]


def _as_one_word(match: re.Match[str]) -> str:
    return re.sub(r"[^\w./=:-]", "_", match[0][1:-1]) or "_"


def _changes_shell(part: str) -> bool:
    """Return whether a program after *part*, or of it, may be another than its name says."""
    words = part.removeprefix("env ").split()
    name = next((word for word in words if not _ASSIGNMENT.fullmatch(word)), "")
    is_other = any(_OTHER_PROGRAM.match(word) for word in words)
    return is_other or (name in _SHELL_CHANGES and not _ACTIVATION.fullmatch(part))


def _without_variables(part: str) -> str:
    words = part.removeprefix("env ").split(" ")
    while words and _ASSIGNMENT.fullmatch(words[0]):
        words = words[1:]
    return " ".join(words)


def _is_harmless(part: str) -> bool:
    words = part.split()
    if not _HARMLESS_FLAGS.isdisjoint(words) or _SKIPPED.search(part):
        return True
    if any(word.startswith(_SKIPPING) for word in words):
        return True
    for place, word in enumerate(words):
        lists = _LISTS.get(word.rpartition("/")[2], frozenset())
        if not lists.isdisjoint(one.partition("=")[0] for one in words[place + 1 :]):
            return True
    match words[0]:
        case "make":
            return any(map(_MAKE_FLAGS.fullmatch, words[1:]))
        case "npm" | "pnpm" | "yarn" | "node":
            return "-v" in words
    return False
