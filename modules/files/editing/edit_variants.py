"""Variants of an edit whose old text a model has altered, as by line numbers or a fence.

Each variant undoes one alteration of the old text, and of the new one alike. Where it is not clear
whether the new text has it too, the edit has to be refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from utils.i18n import Phrase, phrase
from utils.text.lines import lines_of

_NUMBER = re.compile(r"\s*(\d+)(?:(│)|( ?\| ?|→|\t))(.*)", re.DOTALL)
_FENCED = re.compile(r"\s*(```+|~~~+)[\w+.#-]*\n(.*?)\n?[ \t]*\1\s*", re.DOTALL)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#34;": '"', "&#39;": "'", "&apos;": "'"}
_ENTITY = re.compile("|".join(map(re.escape, [*_ENTITIES, "&amp;"])))
_ESCAPES = {
    r"\n": "\n",
    r"\t": "\t",
    r"\r\n": "\n",
    r"\"": '"',
    r"\'": "'",
    r"\`": "`",
    r"\\": "\\",
}
_ESCAPE = re.compile(r"\\r\\n|\\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EditVariant:
    """Edit as it may be meant, and a note of what was undone; *new* is None if that is not clear.

    It applies only where the old text stands at *line*, if that is given.
    """

    old: str
    new: str | None
    note: Phrase | None = None
    line: int | None = None


def edit_variants(old: str, new: str) -> Iterator[EditVariant]:
    """Yield what *old* and *new* may mean, as they are first. All line ends are "\\n"."""
    yield EditVariant(old, new)
    for undo_alteration in (
        _without_line_numbers,
        _without_fence,
        _without_blank_lines,
        _without_entities,
        _without_escapes,
    ):
        variant = undo_alteration(old, new)
        if variant is not None and variant.old.strip() and variant.old != old:
            yield variant


def strip_line_numbers(new: str, text: str) -> tuple[str, Phrase | None]:
    """Return *new* without the numbers (12│) on its lines, and what is to be told of that.

    They are left where they are not on every line, do not count on, or *text* has such itself.
    """
    if "│" not in new or any(_NUMBER.match(line) for line in text.split("\n") if "│" in line):
        return new, None
    found = parse_line_numbers(new)
    if found is None or found[1] != "│":
        return new, None
    return found[2], phrase("the line numbers in new were left out")


def has_line_numbers(text: str) -> bool:
    """Return whether every line of *text* begins like 12│."""
    return all(re.match(r" *\d+│", line) for line in lines_of(text))


def parse_line_numbers(text: str) -> tuple[int, str, str] | None:
    """Return the first line's number, what follows it, and *text* without; None if some has none.

    The numbers have to count on by one.
    """
    found = [_NUMBER.fullmatch(line) for line in lines_of(text)]
    lines = [match for match in found if match is not None]
    if not lines or len(lines) < len(found):
        return None
    first = int(lines[0][1])
    separator = lines[0][2] or lines[0][3]
    if not all(
        int(match[1]) == first + n and (match[2] or match[3]).strip(" ") == separator.strip(" ")
        for n, match in enumerate(lines)
    ):
        return None
    stripped = "\n".join(match[4] for match in lines)
    return first, separator, stripped + ("\n" if text.endswith("\n") else "")


def _without_line_numbers(old: str, new: str) -> EditVariant | None:
    """Undo the line numbers of `read_file` (12│), and those of other programs in their place."""
    if (found := parse_line_numbers(old)) is None:
        return None
    first, separator, stripped = found
    new_numbers = parse_line_numbers(new) if new else None
    note = phrase("old has line numbers, which were left out")
    first_line = None if separator == "│" else first
    if new_numbers is not None:
        same = new_numbers[1].strip(" ") == separator.strip(" ")
        return EditVariant(stripped, new_numbers[2] if same else None, note, first_line)
    is_clear = not any(_NUMBER.fullmatch(line) for line in new.split("\n"))
    return EditVariant(stripped, new if is_clear else None, note, first_line)


def _without_fence(old: str, new: str) -> EditVariant | None:
    found = _FENCED.fullmatch(old)
    if found is None:
        return None
    note = phrase("the Markdown fence (```) around old was left out")
    if new_found := _FENCED.fullmatch(new):
        return EditVariant(found[2], new_found[2], note)
    return EditVariant(found[2], new if found[1] not in new else None, note)


def is_fenced(text: str) -> bool:
    """Return whether *text* is one block of code in a Markdown fence."""
    found = _FENCED.fullmatch(text)
    return found is not None and found[1] not in found[2]


def _without_blank_lines(old: str, new: str) -> EditVariant | None:
    """Undo empty lines around *old*, and as many around *new*."""
    lines = old.split("\n")
    written = [number for number, line in enumerate(lines) if line.strip()]
    if not written:
        return None
    above = written[0]
    below = len(lines) - 1 - written[-1]
    ends = "\n" if below else ""
    inner = "\n".join(lines[above : written[-1] + 1]) + ends
    note = phrase("old has empty lines around it that the file does not have")
    return EditVariant(inner, _trim_blank_lines(new, above, max(0, below - 1)), note)


def _trim_blank_lines(new: str, above: int, below: int) -> str:
    """Return *new* without its first *above* and last *below* lines, as far as these are empty."""
    lines = new.split("\n")
    while above and len(lines) > 1 and not lines[0].strip():
        lines, above = lines[1:], above - 1
    while below and len(lines) > 2 and not lines[-1] and not lines[-2].strip():
        lines, below = lines[:-1], below - 1
    return "\n".join(lines)


def _without_entities(old: str, new: str) -> EditVariant | None:
    if not _is_entity_encoded(old):
        return None
    note = phrase("old has HTML entities (&lt;) where the file has the characters")
    if not _ENTITY.search(new):
        return EditVariant(_decode_entities(old), new, note)
    decoded = _decode_entities(new) if _is_entity_encoded(new) else None
    return EditVariant(_decode_entities(old), decoded, note)


def _is_entity_encoded(text: str) -> bool:
    """Return whether *text* was put into entities as a whole."""
    if not _ENTITY.search(text):
        return False
    rest = _ENTITY.sub("", text)
    return not any(sign in rest for sign in "<>&")


def _decode_entities(text: str) -> str:
    return _ENTITY.sub(lambda found: _ENTITIES.get(found[0], "&"), text)


def _without_escapes(old: str, new: str) -> EditVariant | None:
    r"""Undo one level of escapes (\" and \n); in *new* only those that *old* has as well."""
    kinds = set(_ESCAPE.findall(old))
    if not kinds or not kinds <= set(_ESCAPES):
        return None
    note = phrase("old was escaped once more than the file")
    new_kinds = set(_ESCAPE.findall(new))
    stripped = _ESCAPE.sub("", new)
    mixed = any(_ESCAPES[kind] in stripped for kind in new_kinds & kinds)
    decoded = _decode_escapes(new) if new_kinds <= kinds and not mixed else None
    return EditVariant(_decode_escapes(old), decoded, note)


def _decode_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)
