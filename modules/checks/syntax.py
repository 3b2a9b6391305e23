"""The syntax and the imports of what a task changed."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from utils.i18n import UserError
from utils.text.clean import clean

if TYPE_CHECKING:
    from modules.sandbox.types import Result

SUFFIXES = (".py", ".pyi", ".json", ".toml", ".yaml", ".yml", ".js", ".mjs", ".cjs")
_MAX_FILES = 200
SECONDS = 20.0
"""Time for all files together."""
_FIXTURES = frozenset({"fixtures", "testdata", "test_data", "templates", "snapshots"})
"""Names of folders whose files may well be broken by intent."""


def lookable(paths: Sequence[str]) -> list[str]:
    """Return those of *paths* whose syntax can be looked at."""
    return [path for path in paths if path.endswith(SUFFIXES) and _is_meant(path)][:_MAX_FILES]


def _is_meant(path: str) -> bool:
    return "{{" not in path and _FIXTURES.isdisjoint(path.split("/")[:-1])


def program(paths: Sequence[str]) -> str:
    """Return what bash is to run for *paths*: it exits 1, and says why, where one is broken.

    What there is no parser for here is left out.
    """
    from modules.checks import parse_files  # its text is what runs, in there

    scripts = [path for path in paths if path.endswith((".js", ".mjs", ".cjs"))]
    others = [path for path in paths if path not in scripts]
    lines = ["failed=0"]
    if others:
        code = shlex.quote(inspect.getsource(parse_files))
        names = shlex.quote(json.dumps(others))
        lines.append(f"if command -v python3 >/dev/null; then python3 -I -c {code} {names}; fi")
        lines.append("[ $? = 1 ] && failed=1")
    if scripts:
        lines.append(_NODE.format(names=" ".join(shlex.quote(f"./{path}") for path in scripts)))
    return "\n".join((*lines, "exit $failed"))


def problems_of(path: str, run: Callable[[str, float], tuple[Result, object]]) -> str:
    """Return what a parser has against the one file *path*, "" for nothing or where none runs.

    *run* runs a program of bash in the sandbox for so many seconds, or raises `UserError`.
    """
    if not path.endswith(SUFFIXES):
        return ""
    try:
        result, _ = run(program([path]), SECONDS)
    except UserError:  # where nothing can be run nothing is known
        return ""
    return clean(result.output).strip() if result.exit_code == 1 else ""


_NODE = """if command -v node >/dev/null; then
for file in {names}; do
  grep -q -e '</' -e '/>' -e '@flow' -- "$file" && continue
  node --check "$file" 2>/dev/null && continue
  case "$file" in
    *.cjs) ;;
    *) node --input-type=module --check - <"$file" 2>/dev/null && continue ;;
  esac
  node --check "$file" 2>&1 | head -n 6
  failed=1
done
fi"""
