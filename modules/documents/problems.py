"""What is wrong with a document, in sentences for people and models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import format_size


class DocumentError(UserError):
    """A document cannot be read, checked, made or shown; the message names it and says why."""

    code = "bad_arguments"


class OutsidePage(DocumentError):
    """A slide or page has text outside of it."""


def damaged(name: str) -> Phrase:
    return phrase("{name} cannot be read: it is damaged or cut off.", name=name)


def empty(name: str) -> Phrase:
    return phrase("{name} is empty: it shows nothing.", name=name)


def too_large(name: str, size: int, most: int) -> Phrase:
    return phrase(
        "{name} is too large for a document ({size}): at most {most}.",
        name=name,
        size=format_size(size),
        most=format_size(most),
    )


def _outside(name: str, values: Mapping[str, Any]) -> Phrase:
    if values.get("place") == "slide":
        return phrase(
            "{name}: slide {number} has text outside the page.", name=name, number=values["number"]
        )
    return phrase(
        "{name}: page {number} has text outside the page.", name=name, number=values["number"]
    )


def _font_package(character: str) -> str:
    """Return the package of Debian that has a font with *character*."""
    from unicodedata import category, east_asian_width

    if category(character) == "So" and ord(character) >= _EMOJI:
        return "fonts-symbola"
    is_east_asian = east_asian_width(character) in ("W", "F", "H")
    return "fonts-noto-cjk" if is_east_asian else "fonts-noto-core"


_EMOJI = 0x1F000
"""From here on symbols are pictures, which the fonts of scripts do not have."""
_SENTENCES: dict[str, Callable[[str, Mapping[str, Any]], Phrase]] = {
    "damaged": lambda name, _: damaged(name),
    "empty": lambda name, _: empty(name),
    "encrypted": lambda name, _: phrase(
        "{name} has a password. Save it without one first.", name=name
    ),
    "locked book": lambda name, _: phrase(
        "{name} is a protected book (DRM): its text can be read only by the program of its shop.",
        name=name,
    ),
    "old": lambda name, _: phrase(
        "{name} is a document of Office before 2007. Save it in today's format first.", name=name
    ),
    "bomb": lambda name, _: phrase(
        "{name} was not unpacked: it would become far larger than a document.", name=name
    ),
    "memory": lambda name, _: phrase("{name} takes too much memory as a document.", name=name),
    "time": lambda name, _: phrase("{name} takes too long to read.", name=name),
    "template": lambda name, _: phrase(
        "{name} was not made: its template cannot be used. Open it and save it again.", name=name
    ),
    "outside": _outside,
    "font": lambda name, values: phrase(
        "{name} was not made: no font on this computer has {character} (U+{code}). "
        "Install one (Debian: {command}).",
        name=name,
        character=values["character"],
        code=f"{ord(values['character']):04X}",
        command=f"apt install {_font_package(values['character'])}",
    ),
    "no slide": lambda name, values: phrase(
        "{name} has no slide {part}: it has {count}.",
        name=name,
        part=values["part"],
        count=values["count"],
    ),
    "no section": lambda name, values: phrase(
        "{name} has no section {part}: it has {count}, one for each heading.",
        name=name,
        part=values["part"],
        count=values["count"],
    ),
    "no sheet": lambda name, values: phrase(
        "{name} has no sheet {part}: it has {names}.",
        name=name,
        part=values["part"],
        names=values["names"],
    ),
    "no title": lambda name, _: phrase(
        "The slide of {name} has no place for a title; leave the heading out.", name=name
    ),
    "no notes": lambda name, _: phrase(
        "The slide of {name} has no notes of the speaker; leave them out.", name=name
    ),
    "part content": lambda name, _: phrase(
        "One part of {name} takes text, lists and one table: no pictures and no footnotes.",
        name=name,
    ),
    "sheet table": lambda name, values: phrase(
        "The sheet {part} of {name} has a table of Excel's own kind, which would be broken. "
        "Change its cells with Python.",
        name=name,
        part=values["part"],
    ),
    "does not fit": lambda name, _: phrase(
        "The text does not fit on one slide of {name} in letters of 12 points; make it shorter.",
        name=name,
    ),
    "formula": lambda name, values: phrase(
        "{name}: the formula in {cell} gives {value}.",
        name=name,
        cell=values["cell"],
        value=values["value"],
    ),
}


def problem(name: str, values: Mapping[str, Any]) -> DocumentError:
    """Return the error for *values*, the answer of the worker about the document *name*."""
    sentence = _SENTENCES.get(values["error"], _SENTENCES["damaged"])
    kind = OutsidePage if values["error"] == "outside" else DocumentError
    return kind(sentence(name, values))
