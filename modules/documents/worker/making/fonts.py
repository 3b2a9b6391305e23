"""Fonts of this machine for a PDF: found by their files, chosen so that no character is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fontTools.ttLib import TTCollection, TTFont, TTLibError

from modules.documents.worker.font_files import CHINESE_FONTS, font_files
from modules.documents.worker.problems import Problem

_PREFERRED = (
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf"),
    *CHINESE_FONTS,
    *("NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "FreeSans.ttf"),
)
"""Tried first, in this order."""
_FOR_CODE = (
    *("DejaVuSansMono.ttf", "NotoSansMono-Regular.ttf", "LiberationMono-Regular.ttf"),
    *("Menlo.ttc", "Courier New.ttf"),
)
_MAX_OTHERS = 300
_CHINESE = ("SC", "GB", "Hans")
_STYLES = {"B": ("-Bold",), "I": ("-Oblique", "-Italic"), "BI": ("-BoldOblique", "-BoldItalic")}
_UNSEEN = frozenset(
    map(chr, (*range(32), 0x7F, 0xA0, 0xAD, *range(0x200B, 0x2010), 0x2028, 0xFEFF))
)


@dataclass(frozen=True, slots=True)
class FontFile:
    """A font: its file, and which of those in the file it is."""

    path: Path
    index: int = 0

    def styled(self, style: str) -> tuple[Path, int]:
        """Return the file for *style*, "" or of the letters B and I; this one if there is none."""
        stem = self.path.stem.removesuffix("-Regular")
        for ending in _STYLES.get(style, ()):
            candidate = self.path.with_name(f"{stem}{ending}{self.path.suffix}")
            if candidate.is_file():
                return candidate, self.index
        return self.path, self.index


def choose_code_font() -> FontFile | None:
    """Return a font whose letters are all as wide, None where there is none."""
    files = {path.name: path for path in font_files()}
    return next((FontFile(files[name]) for name in _FOR_CODE if name in files), None)


def choose_fonts(text: str) -> Sequence[FontFile]:
    """Return fonts that together have every character of *text*. Raises `Problem`."""
    missing = set(text) - _UNSEEN
    chosen: list[FontFile] = []
    for font in _candidates():
        characters = _characters(font)
        if (found := missing & characters) or not chosen:
            chosen.append(font)
            missing -= found
        if not missing:
            return chosen
    if not chosen:
        raise Problem("font", character="A")
    raise Problem("font", character=min(missing))


def _candidates() -> Iterator[FontFile]:
    files = {path.name: path for path in font_files()}
    first = [files.pop(name) for name in _PREFERRED if name in files]
    others = sorted(files.values(), key=lambda path: ("Regular" not in path.name, path.name))
    for path in (*first, *others[:_MAX_OTHERS]):
        yield FontFile(path, _chinese_index(path))


def _chinese_index(path: Path) -> int:
    """Return which font of the collection *path* has the letters of the mainland; 0 for others."""
    if path.suffix != ".ttc":
        return 0
    try:
        with TTCollection(str(path), lazy=True) as collection:
            names = [font["name"].getDebugName(4) or "" for font in collection.fonts]
    except (TTLibError, OSError, KeyError):
        return 0
    found = (n for n, name in enumerate(names) if set(name.split()) & set(_CHINESE))
    return next(found, 0)


def _characters(font: FontFile) -> set[str]:
    """Return the characters that *font* has; none where it cannot be read."""
    try:
        with TTFont(str(font.path), fontNumber=font.index, lazy=True) as opened:
            return set(map(chr, opened.getBestCmap() or ()))
    except (TTLibError, OSError, KeyError, AssertionError):
        return set()
