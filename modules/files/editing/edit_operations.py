"""What modify_file does to a text, for each of its operations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, assert_never

from core.tools import ToolError
from modules.files.editing.edit_variants import is_fenced, without_numbers
from modules.files.editing.edits import NotFound, find_edit
from utils.i18n import Phrase, phrase
from utils.text.lines import lines_of

Operation = Literal["replace", "append", "insert", "replace_lines", "clear"]
_NEEDS: dict[Operation, tuple[str, ...]] = {
    "replace": ("old", "new"),
    "append": ("new",),
    "insert": ("start_line", "new"),
    "replace_lines": ("start_line", "end_line", "new"),
    "clear": (),
}
_PROSE = frozenset(
    {"", ".md", ".markdown", ".mdx", ".mdc", ".rst", ".txt", ".adoc", ".qmd", ".rmd", ".ipynb"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest:
    """What a call of modify_file asks for; what it left out is None."""

    operation: Operation
    old: str | None = None
    new: str | None = None
    all: bool = False
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class EditResult:
    """The new *text*, in what the change was not exact but clear, and how many *places* changed."""

    text: str
    tolerated: Phrase | None = None
    places: int = 1


def operate(text: str, change: EditRequest, name: str) -> EditResult:
    """Return what *text*, of the file *name*, is after the *change*.

    Raises `ToolError` when a parameter is missing or out of place, no text fits *old*, or *new*
    leaves something out.
    """
    _check_parameters(change)
    new, note = without_numbers((change.new or "").replace("\r\n", "\n"), text)
    _check_whole(text, change, new, name)
    first, last = change.start_line or 0, change.end_line or 0
    match change.operation:
        case "replace":
            return _replaced(text, change, new, note)
        case "append":
            return EditResult(_appended(text, new), note)
        case "insert":
            return EditResult(_inserted(text, first, new), note)
        case "replace_lines":
            return EditResult(_with_lines(text, first, last, new), note)
        case "clear":
            return EditResult("")
        case _:
            assert_never(change.operation)


def check_whole(new: str, text: str, *, is_shorter: bool) -> None:
    """Raise `ToolError` if a line of *new* only stands for what *text* has there."""
    from modules.files.editing.placeholders import (
        placeholder,  # 6 ms for its patterns: for edits only
    )

    if (line := placeholder(new, text, is_shorter=is_shorter)) is not None:
        raise ToolError(
            phrase(
                "{line} stands in new for text that would be lost; nothing was done. Write out "
                "all that is to stand there, or change less.",
                line=repr(line),
            )
        )


def _check_whole(text: str, change: EditRequest, new: str, name: str) -> None:
    old = change.old or ""
    replaced = len(lines_of(old))
    if change.operation == "replace_lines":
        replaced = (change.end_line or 0) - (change.start_line or 0) + 1
    check_whole(new, f"{text}\n{old}", is_shorter=len(lines_of(new)) < replaced)
    is_prose = PurePosixPath(name).suffix.lower() in _PROSE
    if is_fenced(new) and not is_prose and not is_fenced(old):
        raise ToolError(
            phrase("new is wrapped in a Markdown fence (```); give only what is inside.")
        )


def _check_parameters(change: EditRequest) -> None:
    """Refuse what is missing, and what is given in vain; empty values in vain do no harm."""
    operation, needs = change.operation, _NEEDS[change.operation]
    given = {name: getattr(change, name) for name in ("old", "new", "start_line", "end_line")}
    if missing := [name for name in needs if given[name] is None]:
        names = ", ".join(missing)
        raise ToolError(
            phrase("{operation} also needs: {names}.", operation=operation, names=names)
        )
    given["all"] = change.all and operation != "replace"
    if extra := [name for name, value in given.items() if value and name not in needs]:
        names = ", ".join(extra)
        raise ToolError(phrase("{operation} takes no {names}.", operation=operation, names=names))


def _replaced(text: str, change: EditRequest, new: str, note: Phrase | None) -> EditResult:
    old = (change.old or "").replace("\r\n", "\n")
    if not old and not text:
        return EditResult(new, note)
    if not old:
        raise ToolError(phrase("old is empty; to add text use append or insert."))
    if old == new:
        raise ToolError(phrase("old and new are the same."))
    if change.all and (count := text.count(old)) > 1:
        return EditResult(text.replace(old, new), note, count)
    try:
        edit = find_edit(text, change.old or "", new)
    except NotFound as error:
        raise ToolError(error.what) from None
    return EditResult(edit.applied(text), edit.tolerated or note)


def _appended(text: str, new: str) -> str:
    between = "\n" if text and not text.endswith("\n") else ""
    return text + between + new


def _inserted(text: str, line: int, new: str) -> str:
    """Return *text* with *new* before *line*; the line after the last one is the end."""
    count = len(lines_of(text))
    if not 1 <= line <= count + 1:
        raise ToolError(
            phrase(
                "The file has {count} lines, so new can stand before line 1 to {last}, not {line}.",
                count=count,
                last=count + 1,
                line=line,
            )
        )
    if line > count:
        return _appended(text, new)
    lines = text.split("\n")
    ended = new if new.endswith("\n") or not new else f"{new}\n"
    return (
        "".join(f"{before}\n" for before in lines[: line - 1])
        + ended
        + "\n".join(lines[line - 1 :])
    )


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
    inserted = new.removesuffix("\n").split("\n") if new else []
    if not inserted and last == len(lines) and first > 1:
        inserted = [""]  # the line before keeps its end
    return "\n".join([*lines[: first - 1], *inserted, *lines[last:]])
