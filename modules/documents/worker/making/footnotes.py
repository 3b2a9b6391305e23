"""Footnotes of Word documents, which python-docx does not write (ECMA-376, part 1, 17.11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml.ns import qn
from docx.oxml.parser import OxmlElement, parse_xml
from docx.text.paragraph import Paragraph
from lxml import etree

from modules.documents.outline import Span, Spans, is_right_to_left, note_text, plain_text

_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_EMPTY = f"""\
<w:footnotes xmlns:w="{_NAMESPACE}">
<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p>
</w:footnote></w:footnotes>"""


class Footnotes:
    """The footnotes of *document*; *add_spans* writes text into a paragraph."""

    def __init__(self, document: Any, add_spans: Callable[[Any, Spans], None]) -> None:
        self._document = document
        self._add_spans = add_spans
        self._part: Any | None = None
        self._root: Any | None = None
        self._ids: dict[int, int] = {}

    def refer(self, paragraph: Any, spans: Spans, number: int) -> None:
        """Write the mark of the footnote *number*, of the text *spans*, into *paragraph*."""
        if number not in self._ids:
            self._ids[number] = self._new_note(spans)
        run = paragraph.add_run()
        run.font.superscript = True
        reference = OxmlElement("w:footnoteReference")
        reference.set(qn("w:id"), str(self._ids[number]))
        run._r.append(reference)

    def finish(self) -> None:
        """Put the footnotes into their part."""
        if self._part is not None and self._root is not None:
            self._part._blob = etree.tostring(
                self._root, xml_declaration=True, encoding="UTF-8", standalone=True
            )

    def _new_note(self, spans: Spans) -> int:
        root = self._opened()
        identity = 1 + max((int(note.get(qn("w:id"))) for note in root), default=0)
        note = OxmlElement("w:footnote")
        note.set(qn("w:id"), str(max(identity, 1)))
        element = OxmlElement("w:p")
        note.append(element)
        root.append(note)
        paragraph = Paragraph(element, self._document._body)
        mark = paragraph.add_run()
        mark.font.superscript = True
        mark._r.append(OxmlElement("w:footnoteRef"))
        if is_right_to_left(plain_text(spans)):
            paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
        paragraph.add_run(" ")
        # A link would need a relationship of this part: its address stands in the text instead.
        self._add_spans(paragraph, (Span(note_text(spans)),))
        return int(note.get(qn("w:id")))

    def _opened(self) -> Any:
        if self._root is None:
            self._part = self._existing() or self._new_part()
            self._root = parse_xml(self._part.blob)
        return self._root

    def _existing(self) -> Any | None:
        relations = self._document.part.rels.values()
        found = (one for one in relations if one.reltype == RELATIONSHIP_TYPE.FOOTNOTES)
        return next((one.target_part for one in found), None)

    def _new_part(self) -> Any:
        part = Part(
            PackURI("/word/footnotes.xml"),
            CONTENT_TYPE.WML_FOOTNOTES,
            _EMPTY.encode(),
            self._document.part.package,
        )
        self._document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        return part
