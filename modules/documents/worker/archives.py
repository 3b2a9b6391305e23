"""Archives that documents are: refused where unpacking them could do harm."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import Any

from modules.documents.worker.problems import Problem

_MAX_UNPACKED = 400_000_000
"""Bytes of all parts together, unpacked."""
_MAX_PARTS = 20_000
_MAX_RATIO = 200
"""Times that a large part may be larger unpacked: text in XML is at most 30 times."""
_SMALL = 20_000_000
"""Bytes of a part, unpacked, that harm nobody."""
_ENCRYPTED = 0x1
_TYPES = "[Content_Types].xml"
_FAMILY = "application/vnd.openxmlformats-officedocument"
_MAIN_TYPES = {
    "docx": f"{_FAMILY}.wordprocessingml.document.main+xml",
    "pptx": f"{_FAMILY}.presentationml.presentation.main+xml",
    "xlsx": f"{_FAMILY}.spreadsheetml.sheet.main+xml",
}
_ANY_MAIN_TYPE = re.compile(rb"application/vnd\.[\w.-]+\.main\+xml")
_RELATIONS = "_rels/.rels"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
"""The names of ISO/IEC 29500 Strict, which libraries do not know."""
_USUAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How files of Office begin that are no archives (MS-CFB 2.2): of before 2007, and encrypted."""
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
"""The stream of a document with a password (MS-OFFCRYPTO 2.3.4.4)."""
_MANIFEST = "META-INF/manifest.xml"
_MAX_MANIFEST = 5_000_000
Members = dict[str, bytes | None]
"""Contents of members of an archive by their names, None for one that is to go."""


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Return the archive *data*, safe to unpack. Raises `Problem`."""
    if data.startswith(_COMPOUND_FILE):
        raise Problem("encrypted" if _ENCRYPTED_OFFICE in data else "old")
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except zipfile.BadZipFile:
        raise Problem("damaged") from None
    parts = archive.infolist()
    if len(parts) > _MAX_PARTS or sum(part.file_size for part in parts) > _MAX_UNPACKED:
        raise Problem("bomb")
    if any(_is_bomb(part) for part in parts):
        raise Problem("bomb")
    if any(part.flag_bits & _ENCRYPTED for part in parts) or _has_encrypted_parts(archive):
        raise Problem("encrypted")
    return archive


def check_archive(data: bytes) -> None:
    """Raise `Problem` unless every part of the archive *data* is whole."""
    with open_archive(data) as archive:
        if archive.testzip() is not None:
            raise Problem("damaged")


def with_members(data: bytes, members: Members) -> bytes:
    """Return the archive *data* with *members* in the place of those of their names.

    All others are kept: their order, their dates, and every byte of their content.
    """
    file = BytesIO()
    with open_archive(data) as old, zipfile.ZipFile(file, "w") as new:
        for entry in old.infolist():
            content = members.get(entry.filename, b"")
            if content is not None:
                new.writestr(entry, content or old.read(entry))
    return file.getvalue()


def as_plain(kind: str, data: bytes) -> bytes:
    """Return the archive *data*, a template or a document with macros, as a document of *kind*.

    Libraries open nothing else. Raises `Problem`.
    """
    with open_archive(data) as archive:
        if _TYPES not in archive.namelist():
            raise Problem("damaged")
        types = archive.read(_TYPES)
    plain = _ANY_MAIN_TYPE.sub(_MAIN_TYPES[kind].encode(), types)
    return data if plain == types else with_members(data, {_TYPES: plain})


def as_usual(data: bytes) -> bytes:
    """Return the archive *data*, a Strict Open XML Document, with the names that others have."""
    with open_archive(data) as archive:
        names = archive.namelist()
        if _RELATIONS not in names or not _STRICT.search(archive.read(_RELATIONS)):
            return data
        parts = {name: archive.read(name) for name in names if name.endswith((".xml", ".rels"))}
    return with_members(data, {name: _STRICT.sub(_USUAL, part) for name, part in parts.items()})


def drop_macros(part: Any) -> None:
    """Take the macros out of the document whose main part is *part*."""
    for identity, relation in list(part.rels.items()):
        if relation.reltype.endswith("/vbaProject"):
            part.rels.pop(identity)


def _has_encrypted_parts(archive: zipfile.ZipFile) -> bool:
    """Whether the list of the parts of *archive*, an OpenDocument, has one that needs a password
    (ODF 1.3, part 2, 4.4).
    """
    if _MANIFEST not in archive.namelist() or archive.getinfo(_MANIFEST).file_size > _MAX_MANIFEST:
        return False
    return b"encryption-data" in archive.read(_MANIFEST)


def _is_bomb(part: zipfile.ZipInfo) -> bool:
    return part.file_size > _SMALL and part.file_size > _MAX_RATIO * max(part.compress_size, 1)
