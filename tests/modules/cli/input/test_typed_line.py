"""Keys that make lines while no prompt is open."""

from __future__ import annotations

import pytest

from modules.cli.input.keyboard import as_paste
from modules.cli.input.typed_line import TypedLine


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("/status", "/status"),
        ("/stax\x7ftus", "/status"),
        ("nothing\x15/fast", "/fast"),
        ("ac\x1b[Db", "abc"),
        ("ac\x1bOD\x1bOCd", "acd"),
        ("bc\x1b[Ha\x1b[Fd", "abcd"),
        ("bc\x01a\x05d", "abcd"),
        ("a bad\x17good", "a good"),
        ("abc\x1b[D\x1b[D\x1b[3~", "ac"),
        ("abc\x1b[D\x0b", "ab"),
        ("one\x1b\rtwo\nthree", "one\ntwo\nthree"),
        ("one\\\rtwo", "one\ntwo"),
        ("a\x1b[1;5Ab\x1b[15~c\x1bxd\x07", "abcd"),
        ("\x1b[200~two\r\nlines\rand\x1b[31m three\x1b[201~", "two\nlines\nand[31m three"),
        ("\x1b[200~a\tb\x1b[201~", "a\tb"),
        ("报告\x7f", "报"),
        ("\x7f\x7fa", "a"),
    ],
)
def test_keys_make_a_line_as_at_the_prompt(typed: str, text: str) -> None:
    line = TypedLine()
    assert line.feed(typed.encode(), came_at_once=False) == []
    assert line.draft == text


def test_enter_ends_a_line_and_an_empty_one_is_none() -> None:
    line = TypedLine()
    assert line.feed(b"one\r\rtwo\r  \rthr", came_at_once=False) == ["one", "two"]
    assert line.draft == "thr"
    assert line.take_draft() == "thr"
    assert line.draft == ""


def test_enter_within_what_came_at_once_is_a_line_break() -> None:
    line = TypedLine()
    assert line.feed(b"one\rtwo\r", came_at_once=True) == ["one\ntwo"]
    assert line.feed(b"one\r\rtwo", came_at_once=True) == []
    assert line.draft == "one\n\ntwo"
    assert line.feed(b"\r", came_at_once=True) == ["one\n\ntwo"]


def test_a_paste_that_comes_in_pieces_is_one() -> None:
    line = TypedLine()
    typed = as_paste("eins\rzwei 二\r".encode()) + b"\r"
    entered = [line.feed(bytes([byte]), came_at_once=True) for byte in typed]
    assert [text for texts in entered for text in texts] == ["eins\nzwei 二"]


def test_a_long_text_without_brackets_is_taken_in_at_once() -> None:
    line = TypedLine()
    text = "line of text\r" * 20_000
    assert line.feed(text.encode(), came_at_once=True) == [text.replace("\r", "\n").strip()]
