"""Text of an EPUB: its chapters in the order in which they are read."""

from __future__ import annotations

import codecs
import re
import zipfile
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from lxml import html

from modules.documents.worker.archives import open_archive
from modules.documents.worker.problems import Problem
from modules.documents.worker.xml import Element, attribute, name_of, part

_BLOCKS = frozenset(
    {
        *("p", "div", "section", "article", "li", "tr", "blockquote", "pre", "figure", "hr", "br"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "dt", "dd", "header", "footer"),
    }
)
_DROPPED = frozenset({"script", "style", "head", "rt", "rp", ""})
"""With the readings above Chinese and Japanese characters, which are no part of the line."""

_ENCRYPTION = "META-INF/encryption.xml"
_FONT_ALGORITHMS = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    **{codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"},
    **{b"<\0?\0": "utf-16-le", b"\0<\0?": "utf-16-be"},
}
_NAMED_ENCODING = re.compile(
    rb"(?i:<\?xml[^>]{0,80}\bencoding|<meta[^>]{0,120}\bcharset)"
    rb""" {0,2}= {0,2}["']?([\w.-]{2,20})"""
)
_VERBATIM = "\x01"
"""Begins a line of a text that is set as it stands, as a program is."""
_HEAD = 1024
"""Bytes in which a chapter names its encoding (HTML, 4.2.5.4)."""


def lines(data: bytes) -> list[str]:
    """Return the text of the book *data*. Raises `Problem`."""
    found: list[str] = []
    with open_archive(data) as archive:
        chapters = [*_chapters(archive)]
        if not _protected(archive).isdisjoint(chapters):
            raise Problem("locked book")
        for number, chapter in enumerate(chapters, 1):
            found += [f"--- section {number} ---", *_chapter_lines(archive, chapter)]
    if not found:
        raise Problem("empty")
    return found


def _chapters(archive: zipfile.ZipFile) -> Iterator[str]:
    container = part(archive, "META-INF/container.xml")
    package = next((attribute(one, "full-path") for one in container.iter("{*}rootfile")), "")
    names = set(archive.namelist())
    package = package if package in names else unquote(package)  # EPUB 3.3, 4.2.6.3.1
    root = part(archive, package)
    items = {
        attribute(one, "id"): normpath(join(dirname(package), unquote(attribute(one, "href"))))
        for one in root.iter("{*}item")
    }
    for reference in root.iter("{*}itemref"):
        if (name := items.get(attribute(reference, "idref"), "")) in names:
            yield name


def _protected(archive: zipfile.ZipFile) -> set[str]:
    """Return the files in *archive* that are encrypted: not fonts, whose letters anybody may read.

    See EPUB 3.3, 4.2.6.3.3 and 4.3.
    """
    if _ENCRYPTION not in archive.namelist():
        return set()
    return {
        normpath(unquote(attribute(reference, "URI")))
        for one in part(archive, _ENCRYPTION).iter("{*}EncryptedData")
        if not _FONT_ALGORITHMS & {attribute(method, "Algorithm") for method in one}
        for reference in one.iter("{*}CipherReference")
    }


def _chapter_lines(archive: zipfile.ZipFile, name: str) -> Iterator[str]:
    data = archive.read(name)
    if not data.strip():
        return
    chapter = data.decode(_encoding(data), "replace").encode("utf-8", "replace")
    parser = html.HTMLParser(encoding="utf-8")
    root = html.document_fromstring(chapter, parser=parser, ensure_head_body=True)
    text = "".join(_pieces(root.body))
    for line in text.split("\n"):
        if line.startswith(_VERBATIM):
            yield from filter(None, [line.replace(_VERBATIM, "").rstrip()])
        elif line.strip():
            yield " ".join(line.split())


def _encoding(data: bytes) -> str:
    """Return the encoding that *data*, XHTML, has or names; UTF-8 where it names none (XML 1.0).

    What is named in single bytes is not UTF-16, whatever it says (HTML, 13.2.3.2).
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return encoding
    named = _NAMED_ENCODING.search(data, 0, _HEAD)
    try:
        encoding = codecs.lookup(named[1].decode("ascii")).name if named else "utf-8"
    except LookupError:
        return "utf-8"
    return "utf-8" if encoding.startswith("utf-16") else encoding


def _pieces(element: Element, *, is_verbatim: bool = False) -> Iterator[str]:
    name = name_of(element)
    is_block = name in _BLOCKS
    is_verbatim = is_verbatim or name == "pre"
    end = f"\n{_VERBATIM}" if is_verbatim else " "
    if is_block:
        yield end if is_verbatim else "\n"
    if len(name) == 2 and name[0] == "h" and name[1].isdigit():
        yield f"{'#' * int(name[1])} "
    yield "- " if name == "li" else ""
    yield (element.text or "").replace("\n", end)
    for one in element:
        if name_of(one) not in _DROPPED:
            yield from _pieces(one, is_verbatim=is_verbatim)
        if name_of(one) in ("td", "th"):
            yield " | "
        yield (one.tail or "").replace("\n", end)
    if is_block:
        yield end if is_verbatim and name != "pre" else "\n"
