"""Making a document out of what the model wrote, and changing one page of one that is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.redaction import map_strings
from core.tools import ToolError
from modules.documents.check import check_document
from modules.documents.json_outline import json_outline
from modules.documents.kinds import kind_of
from modules.documents.markdown_outline import markdown_outline
from modules.documents.outline import Outline, has_code, note_text, plain_text, without_speaker
from modules.documents.page_html import make_page
from modules.documents.problems import DocumentError, empty
from modules.documents.worker_process import run_worker
from modules.pictures.normalization import normalize
from utils.i18n import phrase
from utils.text.codec import to_plain
from utils.text.strict_json import read_json

MadeKind = Literal["docx", "pptx", "xlsx", "pdf", "html"]
MADE_KINDS: tuple[MadeKind, ...] = ("docx", "pptx", "xlsx", "pdf", "html")
CHANGED_KINDS = ("docx", "pptx", "xlsx")
"""Of these one part can be changed, and one can be a template."""
_WITHOUT_TEMPLATE = ("pdf",)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OWN_CHARACTERS = "0123456789.•…[]()~ "
"""What the makers write themselves."""


@dataclass
class OutlineReader:
    """Reads what a model wrote; *read_file* gives the bytes at a path of the project."""

    read_file: Callable[[str], bytes]
    pictures: list[bytes] = field(default_factory=list)
    _indexes: dict[str, int] = field(default_factory=dict)

    def read(self, content: str) -> Outline:
        """Return the outline that *content* is, Markdown or JSON. Raises `ToolError`."""
        if not content.strip():
            raise ToolError(phrase("The content is empty."))
        if content.lstrip().startswith("{"):
            try:
                value = read_json(content)
            except ValueError as error:
                raise ToolError(
                    phrase("The content begins like JSON and is none: {why}", why=str(error))
                ) from None
            outline = json_outline(value, self._picture_index)
        else:
            outline = markdown_outline(content, self._picture_index)
        return map_strings(outline, _printable)

    def _picture_index(self, path: str) -> int:
        """Return the index of the picture at *path*, decoded and encoded anew before it is used."""
        if "://" in path or path.startswith("data:"):
            raise ToolError(
                phrase(
                    "A picture of a document is a file of the project, not {address}.",
                    address=path[:200],
                )
            )
        if path not in self._indexes:
            self._indexes[path] = len(self.pictures)
            self.pictures.append(normalize(self.read_file(path), path).data)
        return self._indexes[path]


def _printable(text: str) -> str:
    """Return *text* without the characters that no XML may hold, in which documents are kept."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def made_kind(path: str, kind: str | None) -> MadeKind:
    """Return the kind to make: *kind*, or what *path* ends with. Raises `ToolError`."""
    wanted = kind or path.rpartition(".")[2].lower()
    found = next((one for one in MADE_KINDS if one == wanted), None)
    if found is None or not path.lower().endswith(f".{found}"):
        raise ToolError(
            phrase(
                "The path of a document ends with its kind: {kinds}.",
                kinds=", ".join(f".{one}" for one in MADE_KINDS),
            )
        )
    return found


def make_document_bytes(
    name: str, kind: MadeKind, outline: Outline, pictures: Sequence[bytes], template: bytes | None
) -> bytes:
    """Return the document *name* of *kind*, opened once to see that it is whole; a page is written
    as it is. What only slides have is left out of all others.

    Raises `ToolError`, `DocumentError`.
    """
    if template is not None and kind in _WITHOUT_TEMPLATE:
        raise ToolError(
            phrase("A PDF takes no template. Make a Word document with it, and print that.")
        )
    if kind != "pptx":
        outline = without_speaker(outline)
    if kind == "html":
        text = None if template is None else template.decode("utf-8", "replace")
        if text is not None and "{{content}}" not in text:
            raise ToolError(
                phrase("A template of a page has {place} where the text goes.", place="{{content}}")
            )
        if not any(block.text.strip() or block.rows for block in outline.blocks) and not pictures:
            raise DocumentError(empty(name))
        return make_page(outline, pictures, text).encode()
    values = {
        "outline": to_plain(outline),
        "has_template": template is not None,
        "text": _text_of(outline) if kind == "pdf" else "",
        "has_code": has_code(outline),
    }
    files = [*([] if template is None else [template]), *pictures]
    data = run_worker("make", kind, name, files, values).files[0]
    check_document(name, data)
    return data


def changed_document_bytes(
    name: str, data: bytes, part: str, outline: Outline
) -> tuple[bytes, str]:
    """Return *data* with its *part* made anew of *outline*, and what that part is called.

    *part* is the number of a slide or section, or the name of a sheet. All others stay as they are:
    other members of the archive byte for byte, other sections of a text, which is one member,
    element for element. Raises `ToolError`, `DocumentError`.
    """
    kind = kind_of(name, data)
    if kind not in CHANGED_KINDS:
        raise ToolError(
            phrase(
                "One part can be changed of {kinds} only. Make {path} again.",
                kinds=", ".join(CHANGED_KINDS),
                path=name,
            )
        )
    if kind != "pptx":
        outline = without_speaker(outline)
    values = {"outline": to_plain(outline), "part": part}
    answer = run_worker("change", kind, name, [data], values)
    changed = answer.files[0]
    check_document(name, changed, part=part)
    return changed, str(answer.values["changed"])


def _text_of(outline: Outline) -> str:
    """Return all characters that a document of *outline* shows, each once."""
    texts = [outline.title, _OWN_CHARACTERS]
    texts += [block.text for block in outline.blocks]
    texts += [plain_text(cell) for block in outline.blocks for row in block.rows for cell in row]
    texts += [note_text(note) for note in outline.notes]
    return "".join(sorted(set("".join(texts))))
