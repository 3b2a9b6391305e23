"""Looking at archives and packed files that are handed over as data: whole, and not empty."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO, cast

from modules.results.data_formats import Unusable, entries
from utils.i18n import Text, phrase

_MAX_UNPACKED = 500_000_000
"""Bytes that are unpacked to look whether they are whole; what is larger is believed."""
_CHUNK = 1_000_000
_PARQUET = b"PAR1"
_OPENERS: dict[str, Callable[[BinaryIO], object]] = {
    "gz": lambda stream: gzip.GzipFile(fileobj=stream),
    "tgz": lambda stream: gzip.GzipFile(fileobj=stream),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}


def look_at_archive(stream: BinaryIO, ending: str, size: int) -> Text:
    """Look at what is packed in *stream*, of *size* bytes, by its *ending*."""
    try:
        match ending:
            case "zip":
                return _zip(stream)
            case "tar":
                return _tar(stream)
            case "parquet":
                return _parquet(stream, size)
            case _:
                return _packed(stream, ending)
    except (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError):
        raise Unusable(phrase("it is damaged or cut off")) from None


def _zip(stream: BinaryIO) -> Text:
    with zipfile.ZipFile(stream) as archive:
        members = [one for one in archive.infolist() if not one.is_dir()]
        if not members:
            raise Unusable(phrase("there is nothing in it"))
        is_readable = all(one.flag_bits & 1 == 0 for one in members)  # no password
        if is_readable and sum(one.file_size for one in members) <= _MAX_UNPACKED:
            try:
                broken = archive.testzip()
            except NotImplementedError:  # packed in a way that Python does not know
                broken = None
            if broken is not None:
                raise zipfile.BadZipFile
    return entries(len(members))


def _tar(stream: BinaryIO) -> Text:
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        count = sum(1 for _ in archive)
        end = archive.offset
    if not count:
        raise Unusable(phrase("there is nothing in it"))
    if stream.seek(0, io.SEEK_END) < end:
        raise tarfile.ReadError
    return entries(count)


def _parquet(stream: BinaryIO, size: int) -> Text:
    head = stream.read(len(_PARQUET))
    stream.seek(max(0, size - len(_PARQUET)))
    if head != _PARQUET or stream.read() != _PARQUET or size < 12:
        raise EOFError
    return ""


def _packed(stream: BinaryIO, ending: str) -> Text:
    unpacked = cast("BinaryIO", _OPENERS[ending](stream))
    seen = 0
    while seen <= _MAX_UNPACKED and (chunk := unpacked.read(_CHUNK)):
        seen += len(chunk)
    if not seen:
        raise Unusable(phrase("there is nothing in it"))
    return ""
