"""Long-term memory: what every session of a project should know, in a file people may edit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.cards import Card, TableCard, TextCard
from core.feature import Feature, Section, command
from core.hooks import KeepsState, ProvidesContext, ProvidesStatus
from core.tools import Outcome, Risk, ToolError, tool
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.tokens import estimate_tokens

_MAX_TOKENS = 2_000
_HEADING = """# Memory

<!-- What Onefold should know about this project in every session. One list item for each thing;
edit as you like. Comments like this one are not shown to the model. -->

"""
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_ITEM = re.compile(r"(?:[-*+]|[0-9]+[.)])[ \t]+(?=\S)")


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A list item; *start* and *end* are the lines it fills, counted from 0, *end* excluded."""

    id: str
    text: str
    start: int
    end: int


class Memory(Feature, ProvidesContext, ProvidesStatus, KeepsState):
    """The memory of one project in the Markdown file *path*."""

    def __init__(self, path: Path) -> None:
        self._file = SharedFile(path)
        self._cached_text: tuple[Stamp | None, str] = (None, "")
        self._cached_items: tuple[Stamp | None, list[str]] = (None, [])

    @tool(
        Risk.WRITE,
        phrase("Keep a sentence beyond the session."),
        verb=phrase("Remember"),
        icon="brain",
        subject="{text}",
        state="memory",
        # Nothing enters the memory without the person's yes, whatever else needs none.
        always_ask=phrase(
            "What is remembered is told to the model in every later session of this project."
        ),
    )
    def remember(self, text: str, category: str = "fact") -> Outcome:
        """Keep one fact, preference or decision for all later sessions of this project. Only
        what lasts and is not in the files."""
        item = self._add_item(text, category)
        card = TextCard(phrase("Remembered"), phrase("as {id}", id=item.id))
        return Outcome("Remembered for later sessions.", card)

    @command(
        "/memory",
        "Show what is remembered about this project.",
        is_concurrent=True,
    )
    def show(self, _rest: str) -> Card:
        items = items_of(self._text())
        if not items:
            return TextCard(
                phrase("Memory"),
                phrase(
                    "Nothing yet. /remember TEXT adds something. It is kept in {path}.",
                    path=str(self._file.path),
                ),
            )
        rows = tuple((item.id, item.text) for item in items)
        return TableCard(phrase("Memory: {path}", path=str(self._file.path)), rows)

    @command(
        "/remember TEXT",
        "Remember TEXT for every later session of this project.",
        is_concurrent=True,
    )
    def remember_command(self, argument: str) -> Card:
        item = self._add_item(argument, "fact")
        return TextCard(phrase("Remembered"), f"{item.id}  {item.text}")

    @command(
        "/forget ID",
        "Forget what /memory shows under ID.",
        is_concurrent=True,
    )
    def forget(self, argument: str) -> Card:
        if not argument:
            raise ToolError(phrase("Which one? /forget takes an ID that /memory shows."))
        forgotten: list[MemoryItem] = []

        def without(before: bytes) -> bytes:
            forgotten[:] = [_find_item(before, argument)]
            lines = _decode_lines(before)
            return _encode("".join(lines[: forgotten[0].start] + lines[forgotten[0].end :]))

        self._file.change(without)
        return TextCard(phrase("Forgotten"), forgotten[0].text)

    def context(self) -> Iterable[Section]:
        stamp = self._file.stamp()
        if stamp != self._cached_text[0]:
            self._cached_text = (stamp, self._model_text())
        return [Section("memory", self._cached_text[1])]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        try:
            count = len(items_of(self._text()))
        except UserError as error:
            return [(phrase("Memory"), error.message)]
        path = str(self._file.path)
        return [(phrase("Memory"), phrase("{count} kept in {path}", count=count, path=path))]

    def state(self) -> dict[str, Any]:
        """Return the items: a session keeps how they stood, without owning them."""
        stamp = self._file.stamp()
        if stamp != self._cached_items[0]:
            with suppress(UserError):  # /memory and /status tell of it
                self._cached_items = (stamp, [item.text for item in items_of(self._text())])
        return {"memory": self._cached_items[1]}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: ARG002
        """Leave the memory as it is: it is the project's, whichever session goes on."""

    def undo_change(self, before: Any, after: Any) -> list[Phrase]:
        """Forget the items that *after* has more than *before*, and remember those it has less."""
        undone: list[Phrase] = []
        remembered = {item.text for item in items_of(self._text())}
        for text in after or []:
            if text not in (before or []) and text in remembered:
                self._file.change(partial(_without_item, item_text=text))
                undone.append(phrase("forgotten: {text}", text=text))
        for text in before or []:
            if text not in (after or []) and text not in remembered:
                self._file.change(partial(_with_item, line=text))
                undone.append(phrase("remembered again: {text}", text=text))
        return undone

    def _add_item(self, text: str, category: str) -> MemoryItem:
        line = " ".join(text.split())
        if not line:
            raise ToolError(phrase("There is nothing to remember: the text is empty."))
        if (label := " ".join(category.split())) not in ("", "fact"):
            line = f"{label}: {line}"
        if same_items := [item for item in items_of(self._text()) if item.text == line]:
            raise ToolError(phrase("That is remembered already, as {id}.", id=same_items[0].id))
        self._file.change(lambda before: _with_item(before, line))
        return next(item for item in items_of(self._text()) if item.text == line)

    def _text(self) -> str:
        return "".join(_decode_lines(self._file.read()))

    def _model_text(self) -> str:
        try:
            text = _COMMENT.sub("", self._text()).encode("utf-8", "replace").decode()
        except UserError:  # told by /memory and /status; the model can do nothing about it
            return ""
        text = text.strip().removeprefix("# Memory").strip()
        if not text:
            return ""
        return "Memory of earlier sessions, agreed with the person:\n" + _truncated(text)


def items_of(text: str) -> list[MemoryItem]:
    """Return the list items of the Markdown *text*, nested and continued lines with their item.

    An id is made from the item's words, so that it stays when other items come and go.
    """
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if _ITEM.match(line)]
    items: list[MemoryItem] = []
    for start in starts:
        end = start + 1
        while end < len(lines) and _continues(lines[end]):
            end += 1
        text_of_item = " ".join(_ITEM.sub("", "".join(lines[start:end]), count=1).split())
        items.append(
            MemoryItem(
                _free_id(text_of_item, {item.id for item in items}), text_of_item, start, end
            )
        )
    return items


def _continues(line: str) -> bool:
    """Return whether *line* belongs to the item above: text that is no item, heading or gap."""
    return bool(line.strip()) and not _ITEM.match(line) and not line.startswith(("#", "<!--"))


def _free_id(text: str, taken: set[str]) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    length = 4
    while digest[:length] in taken and length < len(digest):
        length += 1
    return digest[:length]


def _find_item(data: bytes, id_prefix: str) -> MemoryItem:
    items = items_of("".join(_decode_lines(data)))
    matches = [item for item in items if item.id == id_prefix] or [
        item for item in items if item.id.startswith(id_prefix.lower())
    ]
    if len(matches) != 1:
        raise ToolError(phrase("/memory shows nothing under {id!r}.", id=id_prefix))
    return matches[0]


def _without_item(data: bytes, item_text: str) -> bytes:
    """Return *data* without the item of these *item_text*."""
    lines = _decode_lines(data)
    for item in items_of("".join(lines)):
        if item.text == item_text:
            return _encode("".join(lines[: item.start] + lines[item.end :]))
    return data


def _with_item(data: bytes, line: str) -> bytes:
    """Return *data* with *line* as its last list item, in the file's own kind of line ends."""
    text = "".join(_decode_lines(data)) or _HEADING
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith("\n") else newline
    return _encode(f"{text}{gap}- {line}{newline}")


def _decode_lines(data: bytes) -> list[str]:
    return data.decode("utf-8-sig", "surrogateescape").splitlines(keepends=True)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _truncated(text: str) -> str:
    """Return as many whole lines of *text* as the model is given, saying when some are not."""
    shown: list[str] = []
    tokens_left = _MAX_TOKENS
    lines = text.splitlines()
    for line in lines:
        tokens_left -= estimate_tokens(line) + 1
        if tokens_left < 0:
            left_out = len(lines) - len(shown)
            shown.append(f"(The memory is longer: {left_out} more lines are not shown.)")
            break
        shown.append(line)
    return "\n".join(shown)
