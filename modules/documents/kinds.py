"""The kinds of documents: told by the name of a file and by how it begins."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["docx", "pptx", "xlsx", "pdf", "odt", "odp", "ods", "epub", "ipynb"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MAX_DOCUMENT_BYTES = 100_000_000
"""Bytes of a file that is taken as a document."""

_VARIANTS: dict[str, Kind] = {
    **{f".{kind}": kind for kind in KINDS},
    **{".docm": "docx", ".dotx": "docx", ".dotm": "docx"},
    **{".pptm": "pptx", ".potx": "pptx", ".ppsx": "pptx", ".potm": "pptx"},
    **{".xlsm": "xlsx", ".xltx": "xlsx", ".xltm": "xlsx"},
    **{".ott": "odt", ".otp": "odp", ".ots": "ods"},
}
SUFFIXES = tuple(_VARIANTS)
_OPEN_DOCUMENT: dict[bytes, Kind] = {
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/epub+zip": "epub",
}
_MAIN_PARTS: dict[str, Kind] = {
    "word/document.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "xlsx",
}
_ZIP, _PDF = b"PK\x03\x04", b"%PDF-"
_PDF_HEAD = 1024
"""Bytes in which a PDF says that it is one (ISO 32000-1, implementation note 13)."""


def kind_by_name(name: str) -> Kind | None:
    """Return the kind that the file *name* should be of, None for no document."""
    dot = name.rfind(".")
    return _VARIANTS.get(name[dot:].lower()) if dot >= 0 else None


def kind_of(name: str, data: bytes) -> Kind | None:
    """Return the kind of the document *data*, by its content; None for what is none.

    A broken file is of the kind that *name* says.
    """
    if _PDF in data[:_PDF_HEAD]:
        return "pdf"
    if data.startswith(_ZIP):
        return _kind_of_archive(data) or kind_by_name(name)
    return kind_by_name(name)


def _kind_of_archive(data: bytes) -> Kind | None:
    """Return the kind by the names in the archive *data*; nothing is unpacked but a short word."""
    import zipfile  # costs start-up time
    from io import BytesIO

    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
            word = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                word = archive.read("mimetype").strip()
    # The directory of a damaged archive makes `zipfile` stumble over this and that.
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError):
        return None
    for beginning, kind in _OPEN_DOCUMENT.items():
        if word.startswith(beginning):
            return kind
    return next((kind for part, kind in _MAIN_PARTS.items() if part in names), None)
