"""Previews of documents: a picture of each page with its text, kept by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from modules.documents.contained_run import ContainedRuns
from modules.documents.kinds import MAX_DOCUMENT_BYTES, Kind, kind_of
from modules.documents.office import office_pdf, office_program
from modules.documents.problems import DocumentError, too_large
from modules.documents.worker_process import run_worker
from utils.i18n import Phrase, UserError, phrase
from utils.system.atomic_write import write_atomically

MAX_PAGES = 60
"""Pages that are drawn of one document."""
_AT_ONCE = 10
"""Pages that one process draws."""
_OUTLINE_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """A page: the PNG file with its picture, and *alt*, its text."""

    picture: Path
    alt: str


@dataclass(frozen=True, slots=True)
class DocumentPreview:
    """A document as *pages*, or where these cannot be drawn as an *outline*, its text.

    *note* says what is not shown, and why; None where all is. *page_count* is that of the document.
    """

    pages: tuple[PreviewPage, ...] = ()
    outline: str = ""
    note: Phrase | None = None
    page_count: int = 0


class DocumentPreviews:
    """Draws documents; the pictures are kept in *folder* by the content they show."""

    def __init__(self, folder: Path, runs: ContainedRuns) -> None:
        self._folder = folder
        self._runs = runs

    def preview(self, name: str, data: bytes) -> DocumentPreview | None:
        """Return the preview of *data*, the content of the file *name*; None for no document.

        The first time it takes LibreOffice some seconds. Raises `UserError` for a broken document.
        """
        kind = kind_of(name, data)
        if kind is None:
            return None
        if len(data) > MAX_DOCUMENT_BYTES:
            raise DocumentError(too_large(name, len(data), MAX_DOCUMENT_BYTES))
        folder = self._folder / hashlib.sha256(data).hexdigest()
        if (kept := _kept_preview(folder)) is not None:
            return kept
        if kind == "ipynb" or kind == "epub":
            return self._outline(name, kind, data, None)
        if kind != "pdf" and office_program() is None:
            return self._outline(name, kind, data, _NO_OFFICE)
        try:
            pdf = data if kind == "pdf" else office_pdf(self._runs, name, kind, data)
            return self._drawn(folder, name, pdf)
        except UserError as error:
            return self._outline(name, kind, data, error.message)

    def _drawn(self, folder: Path, name: str, pdf: bytes) -> DocumentPreview:
        pictures: list[bytes] = []
        texts: list[str] = []
        count = MAX_PAGES
        while len(pictures) < min(count, MAX_PAGES):
            first = len(pictures) + 1
            values = {"first": first, "last": min(first + _AT_ONCE - 1, MAX_PAGES)}
            answer = run_worker("render", "pdf", name, [pdf], values)
            count = answer.values["count"]
            pictures += answer.files
            texts += answer.values["texts"]
        _keep(folder, pictures, texts, count)
        return _preview_of(folder, texts, count)

    def _outline(self, name: str, kind: Kind, data: bytes, note: Phrase | None) -> DocumentPreview:
        """Return the text of a document; raises `UserError` where there is not even that."""
        text = run_worker("read", kind, name, [data]).files[0].decode()
        return DocumentPreview(outline=text[:_OUTLINE_CHARACTERS], note=note)


_NO_OFFICE = phrase(
    "This is the text of the document. Its pages are shown where LibreOffice is installed: "
    "{command}",
    command="apt install libreoffice-writer-nogui libreoffice-impress-nogui libreoffice-calc-nogui",
)


def _kept_preview(folder: Path) -> DocumentPreview | None:
    try:
        kept = json.loads((folder / "pages.json").read_bytes())
        preview = _preview_of(folder, kept["texts"], kept["count"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return preview if all(page.picture.is_file() for page in preview.pages) else None


def _keep(folder: Path, pictures: Sequence[bytes], texts: Sequence[str], count: int) -> None:
    """Keep *pictures* in *folder*; the list that makes them count is written last."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number, picture in enumerate(pictures, 1):
            write_atomically(folder / _picture_name(number), picture)
        listed = json.dumps({"texts": texts, "count": count}, ensure_ascii=False)
        write_atomically(folder / "pages.json", listed.encode("utf-8", "replace"))
    except OSError as error:
        raise DocumentError(
            phrase(
                "Cannot save the pages in {path}: {why}.",
                path=str(folder),
                why=error.strerror or str(error),
            )
        ) from None


def _preview_of(folder: Path, texts: Sequence[str], count: int) -> DocumentPreview:
    pages = tuple(
        PreviewPage(folder / _picture_name(number), text) for number, text in enumerate(texts, 1)
    )
    note = None
    if count > len(pages):
        note = phrase("The first {n:,} of {count:,} pages.", n=len(pages), count=count)
    return DocumentPreview(pages, note=note, page_count=count)


def _picture_name(number: int) -> str:
    return f"page-{number:03d}.png"
