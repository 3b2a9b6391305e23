"""The jobs of the worker: each by its name, with what must be imported before it is confined."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

from modules.documents.kinds import Kind
from modules.documents.outline import Outline
from modules.documents.worker.reading.texts import document_lines, import_reader
from modules.documents.worker_messages import Message
from utils.text.codec import from_plain

_ENCODINGS = (
    *("cp437", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "ascii", "cp1252"),
    *("idna", "gb18030", "gbk", "gb2312", "big5", "shift_jis", "euc_jp", "euc_kr"),
    *("cp1250", "cp1251", "koi8_r", "iso8859-2", "iso8859-15"),
)
"""What parts of documents are written in, beside UTF-8; Python imports each at its first use."""


def prepare(job: str, kind: Any, request: Message) -> Callable[[], Message]:
    """Return what does *job*; all that it may need is imported and open already.

    Once confined, the process can open no file. Raises `Problem`.
    """
    for name in _ENCODINGS:
        codecs.lookup(name)
    values, files = request
    match job:
        case "read":
            import_reader(kind)
            return lambda: _read(kind, files[0])
        case "check":
            return _check(kind, files[0], values["part"])
        case "render":
            return _render(values, files[0])
        case "make":
            return _make(kind, values, files)
        case "change":
            return _change(kind, values, files[0])
        case _:
            raise ValueError(job)


def _read(kind: Kind, data: bytes) -> Message:
    lines, scanned = document_lines(kind, data)
    return Message({"scanned": [*scanned]}, ["\n".join(lines).encode("utf-8", "replace")])


def _check(kind: Kind, data: bytes, part: str) -> Callable[[], Message]:
    from modules.documents.worker.checking import check

    import_reader(kind)

    def run() -> Message:
        check(kind, data, part)
        return Message({})

    return run


def _make(kind: str, values: Mapping[str, Any], files: Sequence[bytes]) -> Callable[[], Message]:
    from modules.documents.worker.making.makers import make, prepare_maker

    maker = prepare_maker(kind, values["text"], has_code=values["has_code"])
    return lambda: Message({}, [make(kind, maker, values, files)])


def _change(kind: str, values: Mapping[str, Any], data: bytes) -> Callable[[], Message]:
    from modules.documents.worker.changing.changers import change, prepare_changer

    changer = prepare_changer(kind)

    def run() -> Message:
        outline = from_plain(Outline, values["outline"])
        changed, name = change(changer, data, values["part"], outline)
        return Message({"changed": name}, [changed])

    return run


def _render(values: Mapping[str, Any], data: bytes) -> Callable[[], Message]:
    from modules.documents.worker.rendering import page_pictures

    _prepare_rendering()

    def run() -> Message:
        pictures, texts, count = page_pictures(data, **values)
        return Message({"texts": texts, "count": count}, pictures)

    return run


def _prepare_rendering() -> None:
    """Draw an empty page: what that wants is there then."""
    import pypdfium2
    from PIL import Image

    from modules.documents.worker import rendering
    from modules.documents.worker.font_files import chinese_font
    from modules.documents.worker.reading.box_font import draw_with

    if font := chinese_font():
        draw_with(font)
    Image.preinit()
    document = pypdfium2.PdfDocument.new()
    document.new_page(10, 10)
    file = BytesIO()
    document.save(file)
    rendering.page_pictures(file.getvalue(), 1, 1)
