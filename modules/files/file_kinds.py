"""Kinds of files that are no text, recognised by how they begin."""

from __future__ import annotations

import struct

_SIGNATURES = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "zip archive (or an office document, jar, wheel …)"),
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
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office document"),
    (b"\x93NUMPY", "NumPy array"),
    (b"PAR1", "Parquet table"),
)
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
            return name
    return ""


def _is_binary(data: bytes) -> bool:
    """Return whether the first bytes hold one that no ASCII text has."""
    return bool(data[:512].translate(None, _TEXT_BYTES))


def _dimensions(layout: str, data: bytes, offset: int) -> str:
    if len(data) < offset + struct.calcsize(layout):
        return ""
    width, height = struct.unpack_from(layout, data, offset)
    return f", {width}x{height}"
