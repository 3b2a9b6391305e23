"""Documents as other programs write them: faults that were seen in files of others, made small."""

from __future__ import annotations

import datetime
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from modules.documents.contained_run import ContainedRuns
from modules.documents.problems import DocumentError
from modules.documents.reader import DocumentReader
from tests.modules.documents.document_files import (
    archive,
    book,
    open_document,
    parts_of,
    sheet_file,
    slides_file,
    word_file,
)

STRICT = {
    b"http://schemas.openxmlformats.org/officeDocument/2006/": (
        b"http://purl.oclc.org/ooxml/officeDocument/"
    ),
    **{
        f"http://schemas.openxmlformats.org/{one}/2006/".encode(): (
            f"http://purl.oclc.org/ooxml/{one}/".encode()
        )
        for one in ("spreadsheetml", "presentationml", "drawingml")
    },
}
COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
ODF_MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:size="900">{}'
    "</manifest:file-entry></manifest:manifest>"
)
ENCRYPTION = (
    "<encryption xmlns='urn:oasis:names:tc:opendocument:xmlns:container'>"
    "<EncryptedData xmlns='http://www.w3.org/2001/04/xmlenc#'>"
    "<EncryptionMethod Algorithm='{algorithm}'/><CipherData><CipherReference URI='{uri}'/>"
    "</CipherData></EncryptedData></encryption>"
)


@pytest.fixture
def reader(tmp_path: Path) -> DocumentReader:
    return DocumentReader(ContainedRuns(tmp_path))


def pdf(
    content: bytes, *, font: bytes, more: bytes = b"", page: bytes = b"", root: bytes = b""
) -> bytes:
    return b"""%%PDF-1.7
1 0 obj<</Type/Catalog/Pages 2 0 R %s>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 400]>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>> %s>>endobj
4 0 obj<</Length %d>>stream
%s
endstream endobj
5 0 obj<</Type/Font%s>>endobj
6 0 obj<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)
/Ordering(GB1)/Supplement 4>>/DW 1000/FontDescriptor<</Type/FontDescriptor/FontName/STSong-Light
/Flags 6/Ascent 880/Descent -120/ItalicAngle 0/CapHeight 700/StemV 80/FontBBox[-25 -254 1000 880]>>
>>endobj
%s
trailer<</Root 1 0 R>>
%%%%EOF
""" % (root, page, len(content), content, font, more)


CHINESE_FONT = b"/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[6 0 R]"
LATIN_FONT = b"/Subtype/Type1/BaseFont/Helvetica"


def in_hex(text: str) -> bytes:
    return b"<" + text.encode("utf-16-be").hex().encode() + b">"


def test_vertical_text_in_a_font_that_the_pdf_only_names_is_read(reader: DocumentReader) -> None:
    font = CHINESE_FONT.replace(b"UCS2-H", b"UCS2-V")
    data = pdf(b"BT /F 12 Tf 200 380 Td " + in_hex("合同总价如下") + b" Tj ET", font=font)
    assert reader.read_text("a.pdf", data) == "--- page 1 ---\n合同总价如下"


def test_a_column_of_characters_is_a_line(reader: DocumentReader) -> None:
    shown = b" 0 -20 Td ".join(in_hex(one) + b" Tj" for one in "本条例自公布之日起施行")
    data = pdf(b"BT /F 12 Tf 200 380 Td " + shown + b" ET", font=CHINESE_FONT)
    assert reader.read_text("a.pdf", data) == "--- page 1 ---\n本条例自公布之日起施行"


def test_short_words_below_each_other_stay_lines(reader: DocumentReader) -> None:
    words = ["姓名", "年龄", "电话", "地址", "备注", "签字处"]
    shown = b" 0 -20 Td ".join(in_hex(one) + b" Tj" for one in words)
    data = pdf(b"BT /F 12 Tf 20 380 Td " + shown + b" ET", font=CHINESE_FONT)
    assert reader.read_text("a.pdf", data) == "\n".join(["--- page 1 ---", *words])


def test_a_form_of_a_pdf_is_read_as_it_is_filled_in_with_the_comments(
    reader: DocumentReader,
) -> None:
    fields = {
        10: b"/Subtype/Widget/FT/Tx/T(Name)/V(Alice)",
        11: b"/Subtype/Widget/FT/Tx/T(Left empty)",
        12: b"/Subtype/Widget/FT/Btn/T(Agrees)/V/Yes/AS/Yes/AP<</N<</Yes 20 0 R/Off 20 0 R>>>>",
        13: b"/Subtype/Widget/FT/Btn/T(Refuses)/V/Off/AS/Off/AP<</N<</Yes 20 0 R/Off 20 0 R>>>>",
        14: b"/Subtype/Text/Contents<FEFF8BF7683867E5>",
        15: b"/Subtype/Popup/Parent 14 0 R",
    }
    more = b"\n".join(
        b"%d 0 obj<</Type/Annot/Rect[10 %d 90 %d]%s>>endobj" % (number, number, number + 9, content)
        for number, content in fields.items()
    )
    names = b" ".join(b"%d 0 R" % number for number in fields)
    data = pdf(
        b"BT /F 12 Tf 20 300 Td (Form) Tj ET",
        font=LATIN_FONT,
        more=more + b"\n20 0 obj<</Length 0/Type/XObject/Subtype/Form/BBox[0 0 9 9]>>stream\n\n"
        b"endstream endobj",
        page=b"/Annots[" + names + b"]",
        root=b"/AcroForm<</Fields[10 0 R 11 0 R 12 0 R 13 0 R]>>",
    )
    assert reader.read_text("a.pdf", data) == (
        "--- page 1 ---\nForm\n[field Name: Alice]\n[field Agrees: Yes]\n[comment: 请核查]"
    )


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("\ufeff", "utf-8"),
        ('<?xml version="1.0" encoding="GB18030"?>', "gb18030"),
        ('<?xml version="1.0" encoding="no-such"?>', "utf-8"),
        ("\ufeff<?xml version='1.0' encoding='UTF-16'?>", "utf-16-be"),
        ('<html><head><meta charset="shift_jis"/></head>', "shift_jis"),
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-8"),  # as .NET writes
    ],
)
def test_a_chapter_is_read_in_its_encoding(
    reader: DocumentReader, head: str, encoding: str
) -> None:
    parts = parts_of(book())
    chapter = (
        f"{head}<html xmlns='http://www.w3.org/1999/xhtml'><body><p>漢字・here</p></body></html>"
    )
    parts["b/two.xhtml"] = chapter.encode(encoding)
    text = reader.read_text("a.epub", archive(parts))
    assert text is not None
    assert text.endswith("--- section 2 ---\n漢字・here")


@pytest.mark.parametrize(
    ("name", "data"), [("a.xlsx", sheet_file()), ("a.pptx", slides_file(count=2))]
)
def test_strict_documents_are_read_as_others(
    reader: DocumentReader, name: str, data: bytes
) -> None:
    parts = parts_of(data)
    for part, content in parts.items():
        for usual, strict in STRICT.items():
            content = content.replace(usual, strict)
        parts[part] = content
    assert parts != parts_of(data)
    assert reader.read_text(name, archive(parts)) == reader.read_text(name, data)


def test_styles_that_openpyxl_cannot_take_lose_no_number_and_no_date(
    reader: DocumentReader,
) -> None:
    workbook = Workbook()
    workbook.active.append(["Due", 0.5])
    workbook.active["A2"] = datetime.date(2026, 3, 1)
    file = BytesIO()
    workbook.save(file)
    parts = parts_of(file.getvalue())
    styles = parts["xl/styles.xml"].replace(
        b'<cellStyle name="Normal" xfId="0"', b'<cellStyle name="Normal" xfId="7"'
    )
    assert styles != parts["xl/styles.xml"]
    text = reader.read_text("a.xlsx", archive({**parts, "xl/styles.xml": styles}))
    assert text == "--- sheet Sheet ---\n1: Due | 0.5\n2: 2026-03-01"


def test_a_date_that_openpyxl_does_not_know_loses_no_other_cell(reader: DocumentReader) -> None:
    parts = parts_of(sheet_file())
    sheet = parts["xl/worksheets/sheet1.xml"].replace(
        b'<c r="B3" t="n"><v>3</v></c>',
        b'<c r="B3" t="d"><v>2026-02-14T08:27:48Z</v></c><c r="C3" t="d"><v>soon</v></c>',
    )
    assert sheet != parts["xl/worksheets/sheet1.xml"]
    text = reader.read_text("a.xlsx", archive({**parts, "xl/worksheets/sheet1.xml": sheet}))
    assert text is not None
    assert "3: South | 2026-02-14 08:27:48 | soon\n4:" in text


def test_a_stray_cell_far_away_costs_no_line_of_bars(reader: DocumentReader) -> None:
    workbook = Workbook()
    sheet = workbook.active
    for place in ("A1", "C1", "XFD1", "B1048576"):
        sheet[place] = place
    file = BytesIO()
    workbook.save(file)
    assert reader.read_text("a.xlsx", file.getvalue()) == (
        "--- sheet Sheet ---\n1: A1 |  | C1 | … | XFD: XFD1\n1048576:  | B1048576"
    )


def test_comments_on_cells_are_read(reader: DocumentReader) -> None:
    workbook = Workbook()
    workbook.active["B2"] = 7
    workbook.active["B2"].comment = Comment("去年的数字", "Ann")
    file = BytesIO()
    workbook.save(file)
    assert reader.read_text("a.xlsx", file.getvalue()) == (
        "--- sheet Sheet ---\n2:  | 7\n[comment on B2: 去年的数字]"
    )


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        *(
            (name, COMPOUND_FILE + "EncryptedPackage".encode("utf-16-le"), "has a password")
            for name in ("a.docx", "a.pptx", "a.xlsx")
        ),
        ("a.docx", COMPOUND_FILE + "WordDocument".encode("utf-16-le"), "Office before 2007"),
    ],
)
def test_office_files_that_are_no_archive_are_told_by_what_they_are(
    reader: DocumentReader, name: str, data: bytes, reason: str
) -> None:
    with pytest.raises(DocumentError) as refused:
        reader.read_text(name, data)
    assert reason in str(refused.value)


def test_an_open_document_with_a_password_is_said_to_have_one(reader: DocumentReader) -> None:
    parts = parts_of(open_document("text", "<office:text><text:p>a</text:p></office:text>"))
    locked = ODF_MANIFEST.format("<manifest:encryption-data/>").encode()
    plain = ODF_MANIFEST.format("").encode()
    assert reader.read_text("a.odt", archive({**parts, "META-INF/manifest.xml": plain})) == "a"
    parts |= {"META-INF/manifest.xml": locked, "content.xml": bytes(range(256))}
    with pytest.raises(DocumentError) as refused:
        reader.read_text("a.odt", archive(parts))
    assert "has a password" in str(refused.value)


def test_a_protected_book_is_said_to_be_one_and_one_with_protected_fonts_is_read(
    reader: DocumentReader,
) -> None:
    fonts = ENCRYPTION.format(algorithm="http://www.idpf.org/2008/embedding", uri="b/f.otf")
    chapters = ENCRYPTION.format(
        algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc", uri="b/one%20a.xhtml"
    )
    parts = parts_of(book())
    read = reader.read_text("a.epub", archive({**parts, "META-INF/encryption.xml": fonts}))
    assert read == reader.read_text("b.epub", book())
    with pytest.raises(DocumentError) as refused:
        reader.read_text("a.epub", archive({**parts, "META-INF/encryption.xml": chapters}))
    assert "protected book (DRM)" in str(refused.value)


DIAGRAM = (
    '<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>'
    "<dgm:pt><dgm:t><a:p><a:r><a:t>Plan </a:t></a:r><a:r><a:t>first</a:t></a:r></a:p></dgm:t>"
    "</dgm:pt><dgm:pt/><dgm:pt><dgm:t><a:p><a:r><a:t>然后构建</a:t></a:r></a:p></dgm:t></dgm:pt>"
    "</dgm:ptLst></dgm:dataModel>"
)
FRAME = (
    b'<p:graphicFrame xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram">'
    b'<p:nvGraphicFramePr><p:cNvPr id="9" name="Diagram"/><p:cNvGraphicFramePr/><p:nvPr/>'
    b'</p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></p:xfrm><a:graphic>'
    b'<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/diagram">'
    b'<dgm:relIds r:dm="rId9"/></a:graphicData></a:graphic></p:graphicFrame></p:spTree>'
)
RELATION = (
    b'<Relationship Id="rId9" Target="%s" Type="http://schemas.openxmlformats.org/officeDocument'
    b'/2006/relationships/diagramData"%s/></Relationships>'
)


def with_diagram(target: bytes, more: bytes = b"") -> bytes:
    """Return a presentation of a slide with a diagram, whose texts are at *target*."""
    parts = parts_of(slides_file())
    slide, relations = "ppt/slides/slide1.xml", "ppt/slides/_rels/slide1.xml.rels"
    space = b'<p:sld xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    parts[slide] = parts[slide].replace(b"</p:spTree>", FRAME)
    if b"xmlns:r=" not in parts[slide]:
        parts[slide] = parts[slide].replace(b"<p:sld ", space)
    parts[relations] = parts[relations].replace(b"</Relationships>", RELATION % (target, more))
    types = parts["[Content_Types].xml"]
    kind = b'<Default Extension="dgm" ContentType="application/xml"/></Types>'
    parts["[Content_Types].xml"] = types.replace(b"</Types>", kind)
    return archive({**parts, "ppt/diagrams/data1.dgm": DIAGRAM})


def test_the_texts_of_a_diagram_are_read(reader: DocumentReader) -> None:
    text = reader.read_text("a.pptx", with_diagram(b"../diagrams/data1.dgm"))
    assert text is not None
    assert "# 幻灯片 1\n- Plan first\n- 然后构建\nfirst\n" in text
    word = archive({**parts_of(word_file()), "word/diagrams/data1.xml": DIAGRAM})
    text = reader.read_text("a.docx", word)
    assert text is not None
    assert text.endswith("--- diagrams ---\n- Plan first\n- 然后构建")


def test_a_diagram_elsewhere_is_not_fetched(reader: DocumentReader) -> None:
    hostile = with_diagram(b"http://127.0.0.1:9/data", b' TargetMode="External"')
    assert reader.read_text("a.pptx", hostile) == reader.read_text("b.pptx", slides_file())


def test_readings_above_letters_do_not_stand_between_them(reader: DocumentReader) -> None:
    parts = parts_of(word_file(text="RUBY"))
    ruby = (
        "<w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>"
    ).encode()
    body = parts["word/document.xml"].replace(b"<w:t>RUBY</w:t>", ruby)
    text = reader.read_text("a.docx", archive({**parts, "word/document.xml": body}))
    assert text is not None
    assert "\n漢字\n" in text
    content = (
        "<office:text><text:p>a <text:ruby><text:ruby-base>漢字</text:ruby-base>"
        "<text:ruby-text>かんじ</text:ruby-text></text:ruby> b</text:p></office:text>"
    )
    assert reader.read_text("a.odt", open_document("text", content)) == "a 漢字 b"


def test_the_place_for_the_number_of_a_slide_is_no_text_of_it(reader: DocumentReader) -> None:
    notes = (
        "<draw:notes><draw:frame><draw:text-box><text:p>Slow.</text:p></draw:text-box></draw:frame>"
        "<draw:frame><draw:text-box><text:p><text:span><text:page-number>&lt;编号&gt;"
        "</text:page-number></text:span></text:p></draw:text-box></draw:frame></draw:notes>"
    )
    content = (
        "<office:presentation><draw:page><draw:frame><draw:text-box><text:p>On page "
        f"<text:page-number>3</text:page-number></text:p></draw:text-box></draw:frame>{notes}"
        "</draw:page></office:presentation>"
    )
    text = reader.read_text("a.odp", open_document("presentation", content))
    assert text == "--- slide 1 ---\nOn page 3\nNotes:\nSlow."


def test_a_book_whose_package_is_named_as_an_address_is_read(reader: DocumentReader) -> None:
    parts = {name.replace("b/", "b c/"): content for name, content in parts_of(book()).items()}
    container = parts["META-INF/container.xml"].replace(b"b/c.opf", b"b%20c/c.opf")
    data = archive({**parts, "META-INF/container.xml": container})
    assert reader.read_text("a.epub", data) == reader.read_text("b.epub", book())
