"""Items of `MEMORY.md`: their category, their date, and adding and removing them.

The file is Markdown that people edit. An item is a list item; its category is that of the heading
it stands under, or of its own first word (`- preference: tabs`); its date is `[2026-11-23]` at its
beginning. An item that has neither is a fact without a date.
"""

from __future__ import annotations

import hashlib
import re
from datetime import date

from utils.frozen import frozen

_HEADING = """# Memory

<!-- What Onefold should know about this project in every session. One list item for each thing;
edit as you like. Comments like this one are not shown to the model. -->
"""
_ITEM = r"(?:[-*+]|[0-9]+[.)])[ \t]+(?=\S)"
_TITLES = {"fact": "Facts", "preference": "Preferences", "todo": "Todos", "pattern": "Patterns"}
CATEGORIES = tuple(_TITLES)
_CATEGORY_OF = {
    **{name: name for name in CATEGORIES},
    **{title.lower(): name for name, title in _TITLES.items()},
    **{"事实": "fact", "偏好": "preference", "待办": "todo", "待办事项": "todo", "模式": "pattern"},
}
_DATE = r"\[(\d{4}-\d{2}-\d{2})\]\s*"
_LABEL = r"(\w+)[:\uff1a]\s*(?=\S)"


@frozen
class MemoryItem:
    """A list item: *text* on one line, without its category and its date.

    *start* and *end* are the lines it fills, counted from 0, *end* excluded.
    """

    id: str
    text: str
    category: str
    date: date | None
    start: int
    end: int

    @property
    def line(self) -> str:
        """All of it on one line, as `parse_line` takes it."""
        return item_line(self.category, self.date, self.text)


def category_of(word: str) -> str | None:
    """Return the category that *word* names, singular or plural, English or Chinese."""
    return _CATEGORY_OF.get(word.strip().lower())


def item_line(category: str, day: date | None, text: str) -> str:
    """Return what `parse_line` takes apart."""
    label = "" if category == "fact" else f"{category}: "
    return f"{label}{_dated(text, day)}"


def parse_line(line: str, heading: str = "fact") -> tuple[str, date | None, str]:
    """Return category, date and text of what stands in an item under *heading*."""
    day, text = _split_date(line)
    if (label := re.match(_LABEL, text)) and (category := category_of(label[1])):
        own_day, text = _split_date(text[label.end() :])
        return category, day or own_day, text
    return heading, day, text


def items_of(text: str) -> list[MemoryItem]:
    """Return the list items of the Markdown *text*, nested and continued lines with their item.

    An id is made from the item's words, so that it stays when other items come and go.
    """
    lines = text.splitlines(keepends=True)
    items: list[MemoryItem] = []
    taken: set[str] = set()
    heading = "fact"
    for start, line in enumerate(lines):
        if line.startswith("#"):
            heading = category_of(line.strip("# \t\r\n")) or "fact"
        if not re.match(_ITEM, line):
            continue
        end = start + 1
        while end < len(lines) and _continues(lines[end]):
            end += 1
        words = " ".join(re.sub(_ITEM, "", "".join(lines[start:end]), count=1).split())
        category, day, item_text = parse_line(words, heading)
        id_ = _take_id(item_text, taken)
        items.append(MemoryItem(id_, item_text, category, day, start, end))
    return items


def blocks_of(text: str) -> list[MemoryItem]:
    """Return the items of *text* and, as facts, its paragraphs that are none, in their order."""
    lines = text.splitlines(keepends=True)
    items = items_of(text)
    in_items = {number for item in items for number in range(item.start, item.end)}
    blocks = {item.start: item for item in items}
    taken = {item.id for item in items}
    start: int | None = None
    for number in range(len(lines) + 1):
        is_prose = (
            number < len(lines)
            and number not in in_items
            and bool(lines[number].strip())
            and not lines[number].startswith("#")
        )
        if is_prose and start is None:
            start = number
        elif not is_prose and start is not None:
            words = " ".join("".join(lines[start:number]).split())
            id_ = _take_id(words, taken)
            blocks[start] = MemoryItem(id_, words, "fact", None, start, number)
            start = None
    return [blocks[start] for start in sorted(blocks)]


def with_item(data: bytes, line: str) -> bytes:
    """Return *data* with the item *line* (see `parse_line`) as the last one of its category.

    The heading is added where there is none; line ends stay those of the file.
    """
    category, day, text = parse_line(line)
    lines = decode_lines(data) or _HEADING.splitlines(keepends=True)
    newline = "\r\n" if any(one.endswith("\r\n") for one in lines) else "\n"
    if lines[-1] and not lines[-1].endswith("\n"):
        lines[-1] += newline
    added = f"- {_dated(text, day)}{newline}"
    place = _end_of_section(lines, category)
    if place is None:
        lines += [newline, f"## {_TITLES[category]}{newline}", newline, added]
    else:
        lines.insert(place, added)
    return encode("".join(lines))


def without_item(data: bytes, line: str) -> bytes:
    """Return *data* without the item of this *line*, date or not."""
    lines = decode_lines(data)
    category, _, text = parse_line(line)
    for item in items_of("".join(lines)):
        if (item.category, item.text) == (category, text):
            return encode("".join(lines[: item.start] + lines[item.end :]))
    return data


def decode_lines(data: bytes) -> list[str]:
    """Return the lines of *data* with their ends, bytes that are no UTF-8 kept as they are."""
    return data.decode("utf-8-sig", "surrogateescape").splitlines(keepends=True)


def encode(text: str) -> bytes:
    """Return the bytes of *text*, which `decode_lines` has read."""
    return text.encode("utf-8", "surrogateescape")


def _end_of_section(lines: list[str], category: str) -> int | None:
    """Return the line after the last item under the heading of *category*, None without one."""
    headings = [number for number, line in enumerate(lines) if line.startswith("#")]
    of_category = [n for n in headings if category_of(lines[n].strip("# \t\r\n")) == category]
    if not of_category:
        return None
    end = next((n for n in headings if n > of_category[-1]), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return end if end > of_category[-1] + 1 else min(end + 1, len(lines))


def _dated(text: str, day: date | None) -> str:
    return f"[{day}] {text}" if day else text


def _split_date(text: str) -> tuple[date | None, str]:
    if found := re.match(_DATE, text):
        try:
            return date.fromisoformat(found[1]), text[found.end() :]
        except ValueError:  # as 2026-13-40: a person's words, and no date
            pass
    return None, text


def _continues(line: str) -> bool:
    """Return whether *line* belongs to the item above: text that is no item, heading or gap."""
    return bool(line.strip()) and not re.match(_ITEM, line) and not line.startswith(("#", "<!--"))


def _take_id(text: str, taken: set[str]) -> str:
    """Return the id of *text*, longer where *taken* has the short ones, and put it there."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    length = len(digest) if digest in taken else 4
    while digest[:length] in taken and length < len(digest):
        length += 1
    taken.add(digest[:length])
    return digest[:length]
