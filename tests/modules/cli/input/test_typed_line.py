"""Keys that make lines while no prompt is open."""

from __future__ import annotations

import math

import pytest

from modules.cli.input import typed_line
from modules.cli.input.keyboard import as_paste
from modules.cli.input.typed_keys import TypedKeys
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


@pytest.mark.parametrize(
    ("typed", "is_escape"),
    [
        ([b"\x1b"], True),
        ([b"half a line", b"\x1b"], True),
        ([b"\x1b[D"], False),
        ([b"\x1b["], False),
        ([b"\x1b", b"[D"], False),
        ([b"\x1bx"], False),
        ([b"\x1b[200~a paste that \x1b"], False),
        ([b"letters"], False),
    ],
)
def test_an_escape_is_one_when_nothing_follows_it(
    typed: list[bytes], is_escape: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = TypedLine()
    monkeypatch.setattr(typed_line, "ESCAPE_ALONE_SECONDS", math.inf)
    for piece in typed:
        line.feed(piece, came_at_once=True)
        assert not line.take_stop()  # more may follow
    monkeypatch.setattr(typed_line, "ESCAPE_ALONE_SECONDS", 0.0)
    assert line.take_stop() is is_escape
    assert not line.take_stop()


@pytest.mark.parametrize(
    ("typed", "draft", "chord"),
    [
        (b"ab\x18", "ab", "\x18"),
        (b"ab\x18\x05", "ab", "\x18\x05"),
        (b"ab\x18u", "ab", "\x18u"),  # which was put into the line
        (b"ab\x18ucd", "abcd", ""),
        (b"ab\x18\rcd", "cd", ""),
        (b"ab\x18\x1b[200~cd\x1b[201~", "abcd", ""),
    ],
)
@pytest.mark.parametrize("is_by_key", [False, True])
def test_ctrl_x_and_its_second_key_are_kept_for_the_prompt(
    typed: bytes, draft: str, chord: str, is_by_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_line, "CHORD_SECONDS", math.inf)
    line = TypedLine()
    for piece in (bytes([byte]) for byte in typed) if is_by_key else (typed,):
        line.feed(piece, came_at_once=False)
    assert (line.draft, line.take_chord(), line.take_chord()) == (draft, chord, "")


def test_a_ctrl_x_of_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_line, "CHORD_SECONDS", 0.0)
    line = TypedLine()
    line.feed(b"\x18", came_at_once=False)
    line.feed(b"u", came_at_once=False)
    assert (line.draft, line.take_chord()) == ("u", "")


def test_an_escape_that_was_for_another_turn_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    line = TypedLine()
    line.feed(b"dra\x1b", came_at_once=True)
    line.forget_escape()
    monkeypatch.setattr(typed_line, "ESCAPE_ALONE_SECONDS", 0.0)
    assert not line.take_stop()
    line.feed(b"ft", came_at_once=True)
    assert line.draft == "draft"


def test_the_keys_that_count_at_any_time_are_those_of_the_settings() -> None:
    line = TypedLine(lambda: TypedKeys(show_output="\x07", stop="\x14"))
    line.feed(b"ab\x0f", came_at_once=False)
    assert (line.take_show_all(), line.take_stop(), line.draft) == (False, False, "ab")
    line.feed(b"\x07", came_at_once=False)
    line.feed(b"\x14", came_at_once=False)
    assert (line.take_show_all(), line.take_stop(), line.draft) == (True, True, "ab")
    assert (line.take_show_all(), line.take_stop()) == (False, False)
