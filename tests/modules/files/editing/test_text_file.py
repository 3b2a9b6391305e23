"""What is not edited comes back byte for byte, in every encoding and with any line ends."""

from __future__ import annotations

import codecs
import io
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as some

from modules.files.editing.text_file import NotEncodable, NotRoundTrip, NotText, TextFile

SAMPLES = {
    "utf-8": (b"", "# Größe 中文\nname = 値\nlast = 1\n"),
    "utf-8 with BOM": (codecs.BOM_UTF8, "# Größe 中文\nname = 値\nlast = 1\n"),
    "utf-16-le": (codecs.BOM_UTF16_LE, "# Größe 中文\nname = 値\nlast = 😀\n"),
    "utf-16-be": (codecs.BOM_UTF16_BE, "# Größe 中文\nname = 値\nlast = 😀\n"),
    "utf-16-le unmarked": (b"", "# plain\nname = value\nlast = 1\n"),
    "gbk": (b"", "# 配置文件的说明\nname = 服务器\nlast = 1\n"),
    "shift_jis": (b"", "# 設定ファイルです\nname = サーバー\nlast = 1\n"),
}


OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def archive(files: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("kind", SAMPLES)
def test_an_edit_changes_its_own_bytes_only(kind: str, newline: str) -> None:
    mark, text = SAMPLES[kind]
    encoding = kind.split(" ")[0]

    def bytes_of(text: str) -> bytes:
        return mark + text.replace("\n", newline).encode(encoding)

    file = TextFile.decode(bytes_of(text))
    assert (file.text, file.encoding, file.newline, file.bom) == (
        text,
        encoding,
        newline,
        bool(mark),
    )
    assert file.encode() == bytes_of(text)
    for edited in (
        text.replace("name", "title"),
        text + "more\nand more",
        text.replace("last = 1\n", ""),
        "first\n" + text,
        text.rstrip("\n"),
        "",
    ):
        assert file.encode(edited) == bytes_of(edited)


def test_mixed_line_ends_stay_outside_the_edit() -> None:
    data = b"one\r\ntwo\nthree\r\nfour\r\n\nsix"
    file = TextFile.decode(data)
    assert (file.text, file.newline) == ("one\ntwo\nthree\nfour\n\nsix", "\r\n")
    assert file.encode(file.text.replace("three", "3\n3")) == data.replace(b"three", b"3\r\n3")
    assert file.encode(file.text + "\n") == data + b"\r\n"
    assert file.encode(file.text.replace("four\n", "")) == data.replace(b"four\r\n", b"")


def test_a_lone_carriage_return_is_an_ordinary_character() -> None:
    data = b"10%\r20%\r\nabc\n\rdone\n"
    file = TextFile.decode(data)
    assert file.text == "10%\r20%\nabc\n\rdone\n"
    assert file.encode(file.text.replace("done", "gone")) == data.replace(b"done", b"gone")


Lines = list[tuple[str, str]]


def lines_of(alphabet: str) -> some.SearchStrategy[Lines]:
    return some.lists(some.tuples(some.text(alphabet), some.sampled_from(["\n", "\r\n"])))


@given(lines_of("ab 中\r"), lines_of("ab 中\r"), lines_of("ab 中"), lines_of("ab 中\r"))
def test_any_edit_of_any_lines_keeps_what_is_around(
    before: Lines, old: Lines, new: Lines, after: Lines
) -> None:
    """A line beside the edit may end in what the edit begins with, so two lines stand between."""
    parts = (before, old, new, after)
    head, middle, other, tail = ("".join(a + b for a, b in part) for part in parts)
    head, tail = f"{head}\n<\r\n", f">\r\n{tail}\n"
    file = TextFile.decode((head + middle + tail).encode())

    def plain(text: str) -> str:
        return text.replace("\r\n", "\n")

    data = file.encode(plain(head + other + tail)).decode()
    assert data.startswith(head)
    assert data.endswith(tail)
    assert plain(data) == plain(head + other + tail)


def test_a_character_the_encoding_lacks_is_named() -> None:
    file = TextFile.decode("配置文件".encode("gbk"))
    with pytest.raises(NotEncodable) as caught:
        file.encode(file.text + "😀")
    assert (caught.value.char, caught.value.encoding) == ("😀", "GBK")


def test_bytes_that_would_not_come_back_are_not_edited() -> None:
    """cp932 has some characters twice; the second place is never written."""
    data = "これは数学の記号です".encode("cp932") + b"\x87\x90\n"
    file = TextFile.decode(data)
    assert (file.encoding, file.encode()) == ("cp932", data)
    with pytest.raises(NotRoundTrip):
        file.encode(file.text + "x")


@pytest.mark.parametrize(
    ("text", "newline", "data"),
    [
        ("a\nb", "\n", b"a\nb"),
        ("a\r\nb\r\n", "\r\n", b"a\r\nb\r\n"),
        ("a\r\nb\n", "\n", b"a\nb\n"),
        ("", "\n", b""),
    ],
)
def test_a_new_file_is_utf8(text: str, newline: str, data: bytes) -> None:
    file = TextFile.new(text)
    assert (file.encoding, file.newline, file.encode()) == ("utf-8", newline, data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\0\x02\x58", "PNG image, 800x600"),
        (b"GIF89a\x20\x03\x58\x02\xf7\0", "GIF image, 800x600"),
        (b"%PDF-1.7\n%text only\n", "PDF document"),
        (b"PK\x03\x04\x14\0", "zip archive"),
        (archive({"[Content_Types].xml": "", "word/document.xml": "x"}), "Word document"),
        (archive({"xl/workbook.xml": "", "[Content_Types].xml": ""}), "Excel workbook"),
        (
            archive({"[Content_Types].xml": "", "ppt/presentation.xml": ""}),
            "PowerPoint presentation",
        ),
        (archive({"mimetype": "application/epub+zip"}), "EPUB book"),
        (archive({"mimetype": "application/vnd.oasis.opendocument.text"}), "OpenDocument text"),
        (
            archive({"a.docx": archive({"[Content_Types].xml": "", "word/document.xml": ""})}),
            "zip archive",
        ),
        (OLD_OFFICE + "WordDocument".encode("utf-16-le"), "Office document of before 2007"),
        (OLD_OFFICE + "EncryptedPackage".encode("utf-16-le"), "Office document with a password"),
        (b"\x7fELF\x02\x01\x01\0", "ELF program or library"),
        (b"SQLite format 3\0" + bytes(80), "SQLite database"),
        (b"abc\0def", "binary data"),
    ],
)
def test_what_is_no_text_is_told_by_its_kind(data: bytes, kind: str) -> None:
    with pytest.raises(NotText) as caught:
        TextFile.decode(data)
    assert caught.value.kind == kind


@pytest.mark.parametrize("data", [b"", b"BZh is a word", b"ID3 too", b"\x1b[31mred\x1b[0m\n"])
def test_text_that_begins_strangely_is_still_text(data: bytes) -> None:
    assert TextFile.decode(data).text == data.decode()
