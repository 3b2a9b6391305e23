from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from modules.cli.render.live import LiveDisplay
from modules.cli.render.markdown import HangingIndent, MarkdownText, WrappedText, breaks
from modules.cli.render.theme import make_console


def drawn(text: str, width: int = 40) -> str:
    out = StringIO()
    LiveDisplay(make_console(out, width=width), lambda: None).say(MarkdownText(text))
    return out.getvalue()


def broken(text: str, width: int) -> list[str]:
    edges = [0, *breaks(text, width), len(text)]
    return [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 8, ["one two ", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("使用 rich 渲染很长的中文", 12, ["使用 rich 渲", "染很长的中文"]),
        ("这里有标点，后面还有", 10, ["这里有标", "点，后面还", "有"]),
        ("他说（括号）完", 6, ["他说", "（括", "号）完"]),
    ],
)
def test_lines_break_as_each_script_wants(text: str, width: int, lines: list[str]) -> None:
    assert broken(text, width) == lines


@given(st.text("ab 中文，。（）“”e\u0301", max_size=60), st.integers(4, 30))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    lines = broken(text, width)
    assert "".join(lines) == text
    assert all(cell_len(line.rstrip()) <= width for line in lines)


def test_a_block_has_no_blank_lines_around_it_and_no_padding() -> None:
    assert drawn("- one\n- two\n  1. three") == "• one\n• two\n  1. three\n"
    assert drawn("| a | b |\n|---|--:|\n| x | 12 |").startswith(" a   b\n")


def test_html_is_shown_as_it_is_written() -> None:
    assert drawn("Use <div> and\n<b>this</b>.") == "Use <div> and <b>this</b>.\n"


def test_where_a_link_leads_is_seen() -> None:
    assert drawn("[here](https://evil.test)", 60) == "here (https://evil.test)\n"


def test_escape_sequences_do_not_come_through_and_hide_nothing() -> None:
    text = drawn("safe\x1b[2J \x1b]0;t\x07shown\rmore\n\n```\n\x1b[31mcode\x9b2J\n```")
    assert text == "safe shown more\n\n  code\n"


def test_a_wrapped_text_is_not_padded() -> None:
    out = StringIO()
    LiveDisplay(make_console(out, width=10), lambda: None).say(WrappedText("one two three four"))
    assert out.getvalue() == "one two\nthree four\n"


def test_what_does_not_fit_behind_its_head_goes_on_below_itself() -> None:
    out = StringIO()
    Console(file=out, width=9).print(
        HangingIndent(Text("1 + "), Text("中文中文x", overflow="fold")), end=""
    )
    assert out.getvalue() == "1 + 中文\n    中文x\n"


def test_no_cell_of_a_table_is_cut() -> None:
    text = drawn("| a | b |\n|---|---|\n| 一个很长的字符串 | 2 |\n", width=14)
    assert "".join(text.split()).replace("─", "") == "ab一个很长2的字符串"
