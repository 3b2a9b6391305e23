"""Regression cases: runs kept with what came of them, to be run again and compared."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from modules.tool_tester.tester import PendingRun, Place, ToolRun, ToolTester
from utils.i18n import BadUsage, Text, UserError, phrase
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json

_NAME = re.compile(r"\w[\w .-]{0,79}")
_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"), "{date}"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "{time}"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds?)\b"), "{seconds}"),
)
"""What differs from run to run, and the name that takes its place."""


@dataclass(frozen=True, slots=True)
class ToolCase:
    """A *text* to run, and what is *expected* of its calls, in the words of `observed`.

    *project* is the folder that it belongs to, "" for one that runs in a scratch folder.
    """

    name: str
    text: str
    protocol: str
    place: Place
    project: str
    expected: Sequence[Mapping[str, Any]]


def observed(run: ToolRun) -> list[dict[str, Any]]:
    """Return what came of *run*, without what differs from one run to the next."""
    return [
        {
            "name": call.result.name,
            "arguments": _normalized(dict(call.arguments), run.folder),
            "state": call.result.state,
            "answer": _normalized(call.result.text, run.folder),
        }
        for call in run.results
    ]


def _normalized(value: Any, folder: Path) -> Any:
    if isinstance(value, Mapping):
        return {key: _normalized(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [_normalized(item, folder) for item in value]
    if not isinstance(value, str):
        return value
    text = value.replace(str(folder), "{folder}").replace(folder.name, "{folder}")
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


def difference(case: ToolCase, run: ToolRun) -> str:
    """Return how *run* differs from what *case* expects, line by line; "" for not at all."""
    lines = difflib.unified_diff(
        [*_lines(case.expected)], [*_lines(observed(run))], "expected", "now", lineterm="", n=2
    )
    return "\n".join(lines)


def _lines(calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for number, call in enumerate(calls, 1):
        arguments = json.dumps(call.get("arguments"), ensure_ascii=False, sort_keys=True)
        yield f"call {number}: {call.get('name')} {arguments}"
        yield f"state: {call.get('state')}"
        yield from (f"answer: {line}" for line in str(call.get("answer")).splitlines())


def rerun(tester: ToolTester, case: ToolCase, finish: Callable[[PendingRun], ToolRun]) -> Text:
    """Run *case* again by *finish*, which closes it; return how that differs, "" for not at all.

    What it did in the project is taken back.
    """
    try:
        run = finish(tester.start(case.text, case.place, case.protocol))
    except UserError as error:
        return error.message
    if case.place == "project":
        tester.undo(run.turn)
    return difference(case, run)


class ToolCases:
    """The cases in *folder*, a file each, which people may read, copy and throw away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, name: str, run: ToolRun, project: Path) -> ToolCase:
        """Keep *run* as the case *name*, in the place of one that was called so.

        Raises `UserError` for a name that cannot be one.
        """
        if not _NAME.fullmatch(name):
            raise BadUsage(
                phrase("Case names can contain letters, digits, spaces, “.”, “-” and “_”.")
            )
        if not run.results:
            raise BadUsage(phrase("Nothing to save: no run yet."))
        is_of_project = run.place == "project"
        case = ToolCase(
            *(name, run.text, run.protocol, run.place, str(project) if is_of_project else ""),
            observed(run),
        )
        value = {field: getattr(case, field) for field in case.__slots__}
        text = json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "replace")
        SharedFile(self._folder / f"{name}.json").change(lambda _: text)
        return case

    def all(self, project: Path) -> list[ToolCase]:
        """Return the cases that can be run for *project*, by name. Raises `UserError`."""
        cases = [_read(path) for path in sorted(self._folder.glob("*.json"))]
        return [case for case in cases if case.project in ("", str(project))]


def _read(path: Path) -> ToolCase:
    try:
        value = read_json(SharedFile(path).read())
        text, protocol, place = value["text"], value["protocol"], value["place"]
        project, expected = value["project"], value["expected"]
    except (ValueError, KeyError, TypeError):
        raise _broken(path) from None
    if not all(isinstance(one, str) for one in (text, protocol, place, project)):
        raise _broken(path)
    is_list = isinstance(expected, list) and all(isinstance(one, dict) for one in expected)
    if place not in ("scratch", "project") or not is_list:
        raise _broken(path)
    return ToolCase(path.stem, text, protocol, cast("Place", place), project, expected)


def _broken(path: Path) -> UserError:
    return UserError(
        phrase("{path} is not a valid test case. Fix it or move it away.", path=str(path))
    )
