"""What modify_file does to a text, for each of its operations."""

from __future__ import annotations

from typing import Literal, assert_never

from core.tools import ToolError
from modules.files.edits import NotFound, find_edit
from utils.phrases import Phrase, phrase
from utils.text import lines_of

Operation = Literal["replace", "append", "replace_lines", "clear"]
_NEEDS: dict[Operation, tuple[str, ...]] = {
    "replace": ("old", "new"),
    "append": ("new",),
    "replace_lines": ("start_line", "end_line", "new"),
    "clear": (),
}


def operate(
    text: str,
    operation: Operation,
    *,
    old: str | None,
    new: str | None,
    start_line: int | None,
    end_line: int | None,
) -> tuple[str, Phrase | None]:
    """Return *text* after the operation, and in what *old* was not exact but clear.

    Raises `ToolError` when a parameter is missing or out of place, or no text fits *old*.
    """
    given = {"old": old, "new": new, "start_line": start_line, "end_line": end_line}
    _check_parameters(operation, given)
    match operation:
        case "replace":
            return _replaced(text, old or "", new or "")
        case "append":
            return _appended(text, new or ""), None
        case "replace_lines":
            return _with_lines(text, start_line or 0, end_line or 0, new or ""), None
        case "clear":
            return "", None
        case _:
            assert_never(operation)


def _check_parameters(operation: Operation, given: dict[str, str | int | None]) -> None:
    """Refuse what is missing, and what is given in vain; empty values in vain do no harm."""
    needs = _NEEDS[operation]
    if missing := [name for name in needs if given[name] is None]:
        names = ", ".join(missing)
        raise ToolError(
            phrase("{operation} also needs: {names}.", operation=operation, names=names)
        )
    if extra := [name for name, value in given.items() if value and name not in needs]:
        names = ", ".join(extra)
        raise ToolError(phrase("{operation} takes no {names}.", operation=operation, names=names))


def _replaced(text: str, old: str, new: str) -> tuple[str, Phrase | None]:
    if not old:
        raise ToolError(phrase("old is empty; to add text use append or replace_lines."))
    if old == new:
        raise ToolError(phrase("old and new are the same."))
    try:
        edit = find_edit(text, old, new)
    except NotFound as error:
        raise ToolError(error.what) from None
    return edit.applied(text), edit.tolerated


def _appended(text: str, new: str) -> str:
    between = "\n" if text and not text.endswith("\n") else ""
    return text + between + new.replace("\r\n", "\n")


def _with_lines(text: str, first: int, last: int, new: str) -> str:
    r"""Return *text* with lines *first* to *last* replaced; "" removes them.

    What ends the last of them ends the new ones too, whether *new* ends in "\n" or not.
    """
    lines = text.split("\n")
    count = len(lines_of(text))
    if not count:
        raise ToolError(phrase("The file is empty, so no line can be replaced; use append."))
    if not 1 <= first <= last <= count:
        raise ToolError(
            phrase(
                "The file has lines 1 to {count}; {first} to {last} cannot be replaced.",
                count=count,
                first=first,
                last=last,
            )
        )
    inserted = new.replace("\r\n", "\n").removesuffix("\n").split("\n") if new else []
    if not inserted and last == len(lines) and first > 1:
        inserted = [""]  # the line before keeps its end
    return "\n".join([*lines[: first - 1], *inserted, *lines[last:]])
