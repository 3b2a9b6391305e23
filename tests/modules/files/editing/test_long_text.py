"""A long text read line by line has the lines that it would have if it were read whole."""

from __future__ import annotations

import codecs
from io import BytesIO

import pytest

from modules.files.editing import long_text
from modules.files.editing.long_text import LongText, NotLineByLine
from modules.files.editing.text_file import NotText, TextFile
from utils.text.lines import lines_of

SAMPLES = {
    "plain": b"one\n\ntwo\n",
    "no end": b"one\ntwo",
    "one line": b"one",
    "CRLF": b"one\r\ntwo\r\n\r\n",
    "mixed ends": b"one\r\ntwo\nthree\rfour\r\r\n",
    "BOM": codecs.BOM_UTF8 + "Größe\n中文\n".encode(),
    "UTF-8": "一\n二 😀\n".encode(),
    "GBK": "这是中文的配置文件\nmain = 主要\n".encode("gbk"),
    "GBK late": b"log\n" * 50 + "这是中文的配置文件\nmain = 主要\n".encode("gbk"),
    "Latin": "log\nla Größe von main\n".encode("latin-1"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_lines_are_those_of_the_whole_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "_SAMPLE", 20)
    data = SAMPLES[name]
    whole, long = TextFile.decode(data), LongText.scan(BytesIO(data))
    lines = lines_of(whole.text)
    assert (list(long.read_lines(1)), long.count) == (lines, len(lines))
    assert list(long.read_lines(2, 2)) == lines[1:2]
    assert (long.text_format.format_name, long.is_ended) == (
        whole.format_name,
        whole.text.endswith("\n"),
    )


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ("中文\n".encode("utf-16"), NotLineByLine),
        ("plain main\nsecond line\n".encode("utf-16-be"), NotLineByLine),
        (b"old\rmac\r", NotLineByLine),
        (b"log\n" * 20 + b"\0\n", NotText),
        (b"\x89PNG\r\n\x1a\n", NotText),
    ],
)
def test_what_has_no_lines_is_refused(
    data: bytes, refusal: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_text, "_SAMPLE", 20)
    with pytest.raises(refusal):
        LongText.scan(BytesIO(data))
