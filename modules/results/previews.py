"""What a result looks like: pages as pictures, else the beginning of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.tools import ToolError
from modules.files.project import Project
from modules.results.opening import MAX_BYTES, PICTURES, ending_of
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import clean, visible

_LINES, _CHARACTERS, _MAX_ALT = 60, 6_000, 500


class Page(Protocol):
    """A page of a document: the file with its *picture*, a PNG, and its text."""

    @property
    def picture(self) -> Path: ...
    @property
    def alt(self) -> str: ...


class Pages(Protocol):
    """A document as *pages*, or as an *outline* where there are none; *note* says why."""

    @property
    def pages(self) -> Sequence[Page]: ...
    @property
    def outline(self) -> str: ...
    @property
    def note(self) -> Phrase | None: ...


class Draws(Protocol):
    """Draws documents. Raises `UserError`."""

    def preview(self, name: str, data: bytes) -> Pages | None:
        """Return the pages of the document *data*, None where it is none."""


@dataclass(frozen=True, slots=True)
class Preview:
    """*pages* that can be had as pictures, 0 for none, with the texts on them in *alts*.

    *text* is the beginning of what has none; *why* says what cannot be shown, "" where all can.
    """

    pages: int
    text: str = ""
    why: Text = ""
    alts: tuple[str, ...] = ()


def preview(project: Project, draws: Draws, path: str, title: str) -> Preview:
    """Return what is to be seen of the file *path*. Raises `UserError`, `ToolError`."""
    if ending_of(path) in PICTURES:
        return Preview(1, alts=(title,))
    data = project.read_bytes(path, MAX_BYTES)
    if (document := _pages(draws, path, data)) is not None:
        alts = tuple(page.alt[:_MAX_ALT] for page in document.pages)
        return Preview(len(alts), _beginning(document.outline), document.note or "", alts)
    try:
        return Preview(0, _beginning(project.decode_text(path, data).text))
    except ToolError:
        return Preview(0, why=phrase("There is no preview of files like this. Download it."))


def preview_picture(project: Project, draws: Draws, path: str, page: int) -> tuple[str, bytes]:
    """Return the media type and the bytes of *page* of the file *path*, from 1, as a picture.

    Raises `UserError`, `ToolError`.
    """
    data = project.read_bytes(path, MAX_BYTES)
    if ending_of(path) in PICTURES and page == 1:
        from modules.pictures.normalization import normalize  # for pictures only

        picture = normalize(data, visible(path))
        return picture.media_type, picture.data
    document = _pages(draws, path, data)
    if document is None or not 0 < page <= len(document.pages):
        raise UserError(phrase("{path} has no such page.", path=visible(path)))
    return "image/png", document.pages[page - 1].picture.read_bytes()


def _pages(draws: Draws, path: str, data: bytes) -> Pages | None:
    if ending_of(path) == "ipynb":  # a text that its readers know
        return None
    return draws.preview(visible(path), data)


def _beginning(text: str) -> str:
    return "\n".join(clean(text).splitlines()[:_LINES])[:_CHARACTERS]
