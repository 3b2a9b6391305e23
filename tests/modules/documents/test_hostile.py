"""Hostile documents do nothing, and end in a sentence."""

from __future__ import annotations

import socket
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.documents.check import check_document
from modules.documents.contained_run import ContainedRuns
from modules.documents.previews import DocumentPreviews
from modules.documents.problems import DocumentError
from modules.documents.reader import DocumentReader
from tests.modules.documents.document_files import (
    WORD,
    archive,
    open_document,
    parts_of,
    slides_file,
    word_file,
)

BOMB = "<x>" + " " * 60_000_000 + "</x>"


@pytest.fixture
def reader(tmp_path: Path) -> DocumentReader:
    return DocumentReader(ContainedRuns(tmp_path))


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server on loopback that a document may try to reach: its port, and what reached it."""
    reached: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    reached.append(connection.recv(100))

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], reached
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.docx", archive({"word/document.xml": BOMB}), "not unpacked"),
        ("a.docx", archive({f"{n}": "" for n in range(20_001)}), "not unpacked"),
        ("a.docx", word_file()[:-2000], "damaged or cut off"),
        ("a.xlsx", b"PK\x03\x04" + b"x" * 500, "damaged or cut off"),
        ("a.pdf", b"%PDF-1.7\nnothing", "damaged or cut off"),
        ("a.ipynb", b"[" * 100_000, "damaged or cut off"),
        ("a.odt", open_document("text", "<office:text>"), "damaged or cut off"),
        ("a.pptx", b"", "is empty"),
    ],
)
def test_a_hostile_file_ends_in_a_sentence(
    reader: DocumentReader, name: str, data: bytes, reason: str
) -> None:
    with pytest.raises(DocumentError, match=reason):
        reader.read_text(name, data)
    with pytest.raises(DocumentError, match=reason):
        check_document(name, data)


def test_entities_are_neither_read_nor_multiplied(
    reader: DocumentReader, tmp_path: Path, listener: tuple[int, list[bytes]]
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret", "utf-8")
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 50 if n else "ha"}">' for n in range(12))
    declared = (
        f'<!DOCTYPE d [<!ENTITY f SYSTEM "{secret.as_uri()}">'
        f'<!ENTITY n SYSTEM "http://127.0.0.1:{listener[0]}/">{laughs}]>'
    )
    body = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>here &f;&n;&e11;</w:t></w:r></w:p>'
    parts = parts_of(word_file())
    parts["word/document.xml"] = f"{declared}{body}</w:body></w:document>".encode()
    try:
        text = reader.read_text("a.docx", archive(parts)) or ""
    except DocumentError as error:
        text = str(error)
    assert "a secret" not in text
    assert "haha" not in text
    assert listener[1] == []


def test_a_path_out_of_the_archive_leads_nowhere(reader: DocumentReader, tmp_path: Path) -> None:
    parts = {**parts_of(word_file()), "../../escaped.txt": b"x", "/tmp/escaped": b"x"}
    text = reader.read_text("a.docx", archive(parts))
    assert text is not None
    assert "Quarterly report" in text
    assert not list(tmp_path.parent.rglob("escaped*"))


def test_an_encrypted_part_is_said_to_have_a_password(reader: DocumentReader) -> None:
    data = bytearray(archive({"word/document.xml": "x"}, zipfile.ZIP_STORED))
    for beginning in (b"PK\x03\x04", b"PK\x01\x02"):
        place = data.index(beginning) + (6 if beginning[2] == 3 else 8)
        data[place] |= 1
    with pytest.raises(DocumentError, match="has a password"):
        reader.read_text("a.docx", bytes(data))


def test_a_preview_reaches_no_address_and_no_file(
    tmp_path: Path, listener: tuple[int, list[bytes]]
) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\n")
    parts = parts_of(slides_file())
    name = "ppt/slides/_rels/slide1.xml.rels"
    address = f"http://127.0.0.1:{listener[0]}/x.png"
    picture = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    relations = "".join(
        f'<Relationship Id="rX{n}" Type="{picture}" TargetMode="External" Target="{target}"/>'
        for n, target in enumerate((address, secret.as_uri()))
    )
    parts[name] = parts[name].replace(b"</Relationships>", f"{relations}</Relationships>".encode())
    shape = "".join(
        f'<p:pic><p:nvPicPr><p:cNvPr id="9{n}" name="x"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        f'<p:blipFill><a:blip r:link="rX{n}"/><a:stretch/></p:blipFill><p:spPr><a:xfrm>'
        '<a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/>'
        "</p:spPr></p:pic>"
        for n in range(2)
    )
    slide = parts["ppt/slides/slide1.xml"]
    parts["ppt/slides/slide1.xml"] = slide.replace(b"</p:spTree>", f"{shape}</p:spTree>".encode())
    previews = DocumentPreviews(tmp_path / "previews", ContainedRuns(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    preview = previews.preview("a.pptx", archive(parts))
    assert preview is not None
    assert preview.note is None
    assert [page.alt.startswith("幻灯片 1") for page in preview.pages] == [True]
    assert listener[1] == []
