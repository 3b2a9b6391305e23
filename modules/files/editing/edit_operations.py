"""Operations of modify_file on a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal, assert_never

from core.tools import ToolError
from utils.frozen import frozen
from utils.i18n import Phrase, phrase
from utils.text.lines import lines_of

EditOperation = Literal["replace", "append", "insert", "replace_lines", "clear"]
_REQUIRED: dict[EditOperation, tuple[str, ...]] = {
    "replace": ("old", "new"),
    "append": ("new",),
    "insert": ("start_line", "new"),
    "replace_lines": ("start_line", "end_line", "new"),
    "clear": (),
}
_PROSE_SUFFIXES = frozenset(
    {"", ".md", ".markdown", ".mdx", ".mdc", ".rst", ".txt", ".adoc", ".qmd", ".rmd", ".ipynb"}
)


@frozen
class EditRequest:
    """Arguments of a call of modify_file; None for what it left out."""

    operation: EditOperation
    old: str | None = None
    new: str | None = None
    all: bool = False
    start_line: int | None = None
    end_line: int | None = None


@frozen
class Replacement:
    """The characters *start* to *end* of the old text became *length* others."""

    start: int
    end: int
    length: int


@frozen
class EditResult:
    """The new *text*, what was *tolerated* in *old*, and what was replaced, from top to bottom."""

    text: str
    tolerated: Phrase | None = None
    replacements: tuple[Replacement, ...] = ()


def apply_edit(text: str, request: EditRequest, name: str) -> EditResult:
    """Return what *text*, of the file *name*, is after the *request*.

    Raises `ToolError` when a parameter is missing or out of place, no text fits *old*, or *new*
    leaves something out.
    """
    from modules.files.editing.edit_variants import strip_line_numbers  # for edits only

    _check_parameters(request)
    new, note = strip_line_numbers((request.new or "").replace("\r\n", "\n"), text)
    _refuse_incomplete(text, request, new, name)
    first, last = request.start_line or 0, request.end_line or 0
    match request.operation:
        case "replace":
            return _replaced(text, request, new, note)
        case "append":
            return _one_replacement(text, len(text), 0, _to_append(text, new), note)
        case "insert":
            return _inserted(text, first, new, note)
        case "replace_lines":
            return _replaced_lines(text, first, last, new, note)
        case "clear":
            return _one_replacement(text, 0, 0, "", note)
        case _:
            assert_never(request.operation)


def refuse_placeholders(new: str, text: str, *, is_shorter: bool) -> None:
    """Raise `ToolError` if a line of *new* only stands for what *text* has there."""
    from modules.files.editing.placeholders import (
        find_placeholder,  # 6 ms for its patterns: for edits only
    )

    if (line := find_placeholder(new, text, is_shorter=is_shorter)) is not None:
        raise ToolError(
            phrase(
                "{line} stands in new for text that would be lost; nothing was done. Write out "
                "all that is to stand there, or change less.",
                line=repr(line),
            )
        )


def _refuse_incomplete(text: str, request: EditRequest, new: str, name: str) -> None:
    from modules.files.editing.edit_variants import is_fenced  # for edits only

    old = request.old or ""
    replaced_lines = len(lines_of(old))
    if request.operation == "replace_lines":
        replaced_lines = (request.end_line or 0) - (request.start_line or 0) + 1
    refuse_placeholders(new, f"{text}\n{old}", is_shorter=len(lines_of(new)) < replaced_lines)
    is_prose = PurePosixPath(name).suffix.lower() in _PROSE_SUFFIXES
    if is_fenced(new) and not is_prose and not is_fenced(old):
        raise ToolError(
            phrase("new is wrapped in a Markdown fence (```); give only what is inside.")
        )


def _check_parameters(request: EditRequest) -> None:
    """Refuse missing and superfluous parameters; superfluous empty values do no harm."""
    operation, required = request.operation, _REQUIRED[request.operation]
    given = {name: getattr(request, name) for name in ("old", "new", "start_line", "end_line")}
    if missing := [name for name in required if given[name] is None]:
        names = ", ".join(missing)
        raise ToolError(
            phrase("{operation} also needs: {names}.", operation=operation, names=names)
        )
    given["all"] = request.all and operation != "replace"
    if extra := [name for name, value in given.items() if value and name not in required]:
        names = ", ".join(extra)
        raise ToolError(phrase("{operation} takes no {names}.", operation=operation, names=names))


def _one_replacement(text: str, start: int, tail: int, new: str, note: Phrase | None) -> EditResult:
    """Return what *new* makes of *text* but for its first *start* and last *tail* characters."""
    end = len(text) - tail
    replacement = Replacement(start, end, len(new))
    return EditResult(text[:start] + new + text[end:], note, (replacement,))


def _replaced(text: str, request: EditRequest, new: str, note: Phrase | None) -> EditResult:
    from modules.files.editing.edits import EditNotFound, find_edit  # for edits only

    old = (request.old or "").replace("\r\n", "\n")
    if not old and not text:
        return _one_replacement(text, 0, 0, new, note)
    if not old:
        raise ToolError(phrase("old is empty; to add text use append or insert."))
    if old == new:
        raise ToolError(phrase("old and new are the same."))
    if request.all and text.count(old) > 1:
        return EditResult(text.replace(old, new), note, (*_each_replaced(text, old, new),))
    try:
        edit = find_edit(text, request.old or "", new)
    except EditNotFound as error:
        raise ToolError(error.message, "not_found") from None
    replacement = Replacement(edit.start, edit.end, len(edit.new))
    return EditResult(edit.applied(text), edit.tolerated or note, (replacement,))


def _each_replaced(text: str, old: str, new: str) -> Iterator[Replacement]:
    start = text.find(old)
    while start >= 0:
        yield Replacement(start, start + len(old), len(new))
        start = text.find(old, start + len(old))


def _to_append(text: str, new: str) -> str:
    return f"\n{new}" if text and not text.endswith("\n") else new


def _inserted(text: str, line: int, new: str, note: Phrase | None) -> EditResult:
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
        return _one_replacement(text, len(text), 0, _to_append(text, new), note)
    with_newline = new if new.endswith("\n") or not new else f"{new}\n"
    tail = len("\n".join(text.split("\n")[line - 1 :]))
    return _one_replacement(text, len(text) - tail, tail, with_newline, note)


def _replaced_lines(text: str, first: int, last: int, new: str, note: Phrase | None) -> EditResult:
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
    start, tail = sum(len(line) + 1 for line in lines[: first - 1]), len("\n".join(lines[last:]))
    between = new.removesuffix("\n") + "\n" if new and last < len(lines) else new.removesuffix("\n")
    return _one_replacement(text, start, tail, between, note)
