"""Kinds of files that are no text, recognised by how they begin."""

from __future__ import annotations

import struct

_SIGNATURES = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "zip archive"),
    (b"PK\x05\x06", "empty zip archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"\0\0\1\0", "icon"),
    (b"\xca\xfe\xba\xbe", "Java class or macOS program"),
    (b"\xcf\xfa\xed\xfe", "macOS program"),
    (b"\0asm", "WebAssembly"),
    (b"OggS", "Ogg audio"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office document of before 2007"),
    (b"\x93NUMPY", "NumPy array"),
    (b"PAR1", "Parquet table"),
)
_OFFICE_PARTS = (
    (b"word/document.xml", "Word document"),
    (b"xl/workbook.xml", "Excel workbook"),
    (b"ppt/presentation.xml", "PowerPoint presentation"),
)
_ZIP_MEDIA = (  # what the first file of the archive, called mimetype, begins with
    (b"application/vnd.oasis.opendocument.text", "OpenDocument text"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "OpenDocument spreadsheet"),
    (b"application/vnd.oasis.opendocument.presentation", "OpenDocument presentation"),
    (b"application/epub+zip", "EPUB book"),
)
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_ZIP_HEADER = struct.Struct("<26xHH")  # lengths of the first file's name and of what is behind it
_ZIP_END = struct.Struct("<16xI")  # where the list of the archive's files begins
_TEXT_BYTES = bytes({*range(0x20, 0x7F), 7, 8, 9, 10, 11, 12, 13, 27})


def detect_kind(data: bytes) -> str:
    """Return the kind of *data*, in English; "" if it begins like nothing known."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return f"PNG image{_dimensions('>II', data, 16)}"
    if data[:6] in (b"GIF87a", b"GIF89a") and _is_binary(data):
        return f"GIF image{_dimensions('<HH', data, 6)}"
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}[data[8:12]]
    if data[4:8] == b"ftyp":
        return "MP4 video or HEIF image"
    if data[257:262] == b"ustar":
        return "tar archive"
    for beginning, name in _SIGNATURES:
        if data.startswith(beginning) and (beginning == b"%PDF-" or _is_binary(data)):
            return _office_kind(data) or name
    return ""


def _office_kind(data: bytes) -> str:
    """Return which office document *data* is; "" for none that says so."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return "Office document with a password" if _ENCRYPTED_PACKAGE in data else ""
    if not data.startswith(b"PK\x03\x04") or len(data) < _ZIP_HEADER.size:
        return ""
    name_length, more = _ZIP_HEADER.unpack_from(data)
    name_end = _ZIP_HEADER.size + name_length
    name, content = data[_ZIP_HEADER.size : name_end], data[name_end + more :][:64]
    if name == b"mimetype":
        return next((kind for word, kind in _ZIP_MEDIA if content.startswith(word)), "")
    directory = _zip_directory(data)
    is_office = b"[Content_Types].xml" in directory
    return next((kind for part, kind in _OFFICE_PARTS if is_office and part in directory), "")


def _zip_directory(data: bytes) -> bytes:
    """Return the list of what is in the archive *data*; "" where that is cut off."""
    end = data.rfind(b"PK\x05\x06")
    if end < 0 or len(data) < end + _ZIP_END.size:
        return b""
    (start,) = _ZIP_END.unpack_from(data, end)
    return data[start:end]


def _is_binary(data: bytes) -> bool:
    """Return whether the first bytes hold one that no ASCII text has."""
    return bool(data[:512].translate(None, _TEXT_BYTES))


def _dimensions(layout: str, data: bytes, offset: int) -> str:
    if len(data) < offset + struct.calcsize(layout):
        return ""
    width, height = struct.unpack_from(layout, data, offset)
    return f", {width}x{height}"
