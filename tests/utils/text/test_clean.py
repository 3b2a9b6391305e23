import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.text.clean import clean, visible, visible_lines

FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
PIECES = st.sampled_from(
    ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9b", "\x9d", "\x9c", "\x07", "\x1b\\", "31", ";", "m"]
    + ["H", "2J", "8;;http://x", "\r", "\n", "\r\n", "\b", "\t", "字", "\u202e", "\udcff", "a", " "]
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07shown", "shown"),
        ("\x1b]8;;http://evil\x1b\\a link\x1b]8;;\x1b\\", "a link"),
        ("\x1bP1$r0m\x1b\\shown", "shown"),
        ("\x9b2Jshown", "shown"),
        ("\x1bcreset", "reset"),
        ("one\r\ntwo", "one\ntwo"),
        ("10 %\r 50 %\r100 %\ndone", "100 %\ndone"),
        ("10 %\r20 %\r", "20 %"),
        ("N\bNA\bAM\bM", "NAM"),
        ("admin\u202etxt.exe", "admintxt.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("\udcff\ud800", "\ufffd\ufffd"),
        ("中文\u3000字", "中文\u3000字"),
    ],
)
def test_sequences_and_controls_go_and_text_stays(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_an_unfinished_sequence_hides_nothing_of_what_follows() -> None:
    assert clean("\x1b]0;open\nrm -rf") == "0;open\nrm -rf"
    assert clean("\x1bPopen\nrm -rf\x1b\\") == "open\nrm -rf"


@given(st.lists(PIECES | st.text(max_size=3)).map("".join))
def test_nothing_that_drives_a_terminal_comes_out(text: str) -> None:
    cleaned = clean(text)
    assert not FORBIDDEN.search(cleaned)
    cleaned.encode()
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize("piece", ["\r", "a\r", "\x1b", "\x1b[0", "\x1b]", "\x9d", "\b", "a\b"])
def test_the_work_does_not_grow_faster_than_the_text(piece: str) -> None:
    clean(piece * 200_000 + "end")  # minutes, if it were quadratic


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("报告 final.md", "报告 final.md"),
        ("a\nb", r"a\nb"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\udcffb", r"a\udcffb"),
        ("exe\u202etxt", r"exe\u202etxt"),
    ],
)
def test_a_name_is_shown_on_one_line(name: str, shown: str) -> None:
    assert visible(name) == shown


@given(st.text())
def test_a_shown_name_is_printable(name: str) -> None:
    assert visible(name).replace("\u3000", "").isprintable()


def test_source_is_shown_to_the_letter() -> None:
    text = "if x:\r\n\tdo\x1b[8m()\rhidden\u202e"
    assert visible_lines(text) == r"if x:" + "\n    " + r"do\x1b[8m()\rhidden\u202e"
