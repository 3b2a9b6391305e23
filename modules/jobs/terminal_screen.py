"""The screen of a program with a terminal: what it drew, as text, whatever it writes.

pyte keeps the screen. What a program writes is taken apart here, strictly: only what draws or moves
the cursor gets there, with as many parameters as it takes; titles, clipboards, pictures and all
that a terminal would pass on to its person are dropped. So is what is longer than it ever has to
be: nothing grows with what is written. Loaded by the first program with a terminal.

Sources of the sequences: ECMA-48, console_codes(4), xterm's ctlseqs.
"""

from __future__ import annotations

import codecs
import copy
import re
import unicodedata
from collections import deque
from collections.abc import Callable
from typing import Any

from pyte.screens import Char, Screen, wcwidth

from utils.text.clean import clean

MAX_SCROLLED = 1_000
"""Lines that are kept of those that went out at the top."""
_MAX_SEQUENCE = 100  # characters of a sequence
_MAX_STRING = 1 << 20  # characters until a string without an end counts as over
_MAX_MARKS = 4  # characters in one place of the screen
_MAX_REPEATED = 500
_MAX_HIGHLIGHTED = 6
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<prefix>[?<=>!]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?:R|P[0-9a-fA-F]{7})"  # colours of the Linux console, which have no end
    r"|\x1b(?P<string>\](?=[^RP])|[PX^_k])"
    r"|\x1b(?P<side>[()])(?P<charset>[0-~])"
    r"|\x1b(?P<between_escape>[ -/]*)(?P<escape>[0-OQ-WYZ\\`-jl-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[?<=>!]?[0-9;:]*[ -/]*|\](?:P[0-9a-fA-F]{0,6})?|[ -/]+)?\Z")
_STRING_END = re.compile(r"[\x07\x18\x1a\x9c]|\x1b\\?")
_CONTROLS = {
    "\b": "backspace", "\t": "tab", "\n": "linefeed", "\v": "linefeed", "\f": "linefeed",
    "\r": "carriage_return", "\x0e": "shift_out", "\x0f": "shift_in",
}  # fmt: skip
_ESCAPES = {
    "D": "index", "E": "next_line", "M": "reverse_index", "H": "set_tab_stop",
    "7": "save_cursor", "8": "restore_cursor", "c": "reset",
}  # fmt: skip
_SEQUENCES = {
    "@": ("insert_characters", 1), "A": ("cursor_up", 1), "B": ("cursor_down", 1),
    "C": ("cursor_forward", 1), "D": ("cursor_back", 1), "E": ("cursor_down1", 1),
    "F": ("cursor_up1", 1), "G": ("cursor_to_column", 1), "H": ("cursor_position", 2),
    "J": ("erase_in_display", 1), "K": ("erase_in_line", 1), "L": ("insert_lines", 1),
    "M": ("delete_lines", 1), "P": ("delete_characters", 1), "X": ("erase_characters", 1),
    "`": ("cursor_to_column", 1), "a": ("cursor_forward", 1), "b": ("repeat", 1),
    "c": ("report_device_attributes", 1), "d": ("cursor_to_line", 1), "e": ("cursor_down", 1),
    "f": ("cursor_position", 2), "g": ("clear_tab_stop", 1), "h": ("begin_inserting", 1),
    "l": ("end_inserting", 1), "m": ("select_graphic_rendition", 32),
    "n": ("report_device_status", 1), "r": ("set_margins", 2), "s": ("save_cursor", 0),
    "u": ("restore_cursor", 0),
}  # fmt: skip
"""What each sequence does, and how many of its numbers count."""
_ALTERNATE_MODES = {47, 1047, 1049}
_ERASE_ALL = 3
_APPLICATION_KEYS, _WRAP, _SHOWN_CURSOR, _INSERT = 1, 7, 25, 4


class _BoundedScreen(Screen):
    """The screen of pyte, with what it lacks, and nothing in it that grows."""

    def __init__(self, columns: int, lines: int, answer: Callable[[bytes], None]) -> None:
        self.scrolled: deque[str] = deque(maxlen=MAX_SCROLLED)
        self._answer = answer
        self._other: tuple[object, object] | None = None  # the main screen, while there is another
        self._last = " "
        super().__init__(columns, lines)

    def draw(self, data: str) -> None:
        if data.isascii():
            super().draw(data)
        else:
            for char in data:
                if wcwidth(char) > 0 or (unicodedata.combining(char) and self._takes_mark()):
                    super().draw(char)
        self._last = data[-1]

    def _takes_mark(self) -> bool:
        """Return whether the place before the cursor has room for another mark."""
        x, y = self.cursor.x, self.cursor.y
        place = (y, x - 1) if x else (max(y - 1, 0), self.columns - 1)
        return len(self.buffer[place[0]][place[1]].data) < _MAX_MARKS

    def repeat(self, count: int) -> None:
        """Draw the last character *count* times more."""
        self.draw(self._last * min(count or 1, _MAX_REPEATED))

    def begin_inserting(self, mode: int) -> None:
        if mode == _INSERT:
            self.set_mode(mode)

    def end_inserting(self, mode: int) -> None:
        if mode == _INSERT:
            self.reset_mode(mode)

    def erase_in_display(self, how: int = 0, *_: Any, **__: Any) -> None:
        if how <= _ERASE_ALL:
            super().erase_in_display(how)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        if how < _ERASE_ALL:
            super().erase_in_line(how, private)

    def next_line(self) -> None:
        self.carriage_return()
        self.linefeed()

    def index(self) -> None:
        if self.margins is None and self._other is None and self.cursor.y == self.lines - 1:
            self.scrolled.append(self.row(0))
        super().index()

    def save_cursor(self) -> None:
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        super().restore_cursor()
        self.save_cursor()

    def show_other(self, *, is_other: bool) -> None:
        """Show the screen of a full-screen program, or again what was there before that."""
        if is_other and self._other is None:
            self._other = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.erase_in_display(2)
        elif not is_other and self._other is not None:
            self.buffer, self.cursor = self._other  # type: ignore[assignment]
            self._other = None

    def write_process_input(self, data: str) -> None:
        self._answer(data.encode())

    def row(self, number: int) -> str:
        line = self.buffer[number]
        return clean("".join(line[x].data for x in range(self.columns))).rstrip()


class TerminalScreen:
    """The screen of one program, *columns* wide and *lines* high.

    *answer* gets what a terminal says when it is asked for the cursor's place or what it is.
    """

    def __init__(self, columns: int, lines: int, answer: Callable[[bytes], None]) -> None:
        self._screen = _BoundedScreen(columns, lines, answer)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""  # the beginning of a sequence
        self._string_left = 0  # characters that may still be one string; 0 outside of any
        self.has_application_keys = False

    def feed(self, data: bytes) -> None:
        """Draw what *data* says."""
        text = self._pending + self._decode(data)
        self._pending = ""
        place = 0
        while place < len(text):
            if self._string_left:
                place = self._skip_string(text, place)
            elif match := _TOKEN.match(text, place):
                place = match.end()
                if len(match[0]) <= _MAX_SEQUENCE or match["text"]:
                    self._do(match)
            elif _UNFINISHED.match(text, place) and len(text) - place < _MAX_SEQUENCE:
                self._pending = text[place:]
                return
            else:
                place += 1  # an escape that begins nothing

    def skip(self) -> None:
        """Forget the sequence that was begun: what follows it was left out."""
        self._pending, self._string_left = "", 0

    def _skip_string(self, text: str, place: int) -> int:
        """Return where the string ends that goes on at *place*."""
        end = _STRING_END.search(text, place)
        if end is None:
            self._string_left = max(0, self._string_left - (len(text) - place))
            return len(text)
        if end[0] == "\x1b" and end.end() == len(text):  # which end it is comes with the rest
            self._pending = "\x1b"
            return len(text)
        self._string_left = 0
        return end.start() if end[0] == "\x1b" else end.end()

    def _do(self, match: re.Match[str]) -> None:
        screen = self._screen
        if text := match["text"]:
            screen.draw(text)
        elif method := _CONTROLS.get(match["control"]) or _ESCAPES.get(match["escape"]):
            if not match["between_escape"]:
                getattr(screen, method)()
        elif match["string"]:
            self._string_left = _MAX_STRING
        elif match["charset"] in ("0", "B"):
            screen.define_charset(match["charset"], match["side"])
        elif match["final"] and not match["between"] and ":" not in match["numbers"]:
            self._do_sequence(match["prefix"], match["numbers"], match["final"])

    def _do_sequence(self, prefix: str, numbers: str, final: str) -> None:
        values = [min(int(number[:5] or 0), 9_999) for number in numbers.split(";")]
        if prefix == "?" and final in "hl":
            self._set_private_modes(values, is_set=final == "h")
        elif not prefix and final in _SEQUENCES:
            method, count = _SEQUENCES[final]
            getattr(self._screen, method)(*values[:count])

    def _set_private_modes(self, modes: list[int], *, is_set: bool) -> None:
        for mode in modes:
            if mode == _APPLICATION_KEYS:
                self.has_application_keys = is_set
            elif mode in _ALTERNATE_MODES:
                self._screen.show_other(is_other=is_set)
            elif mode in (_WRAP, _SHOWN_CURSOR):
                change = self._screen.set_mode if is_set else self._screen.reset_mode
                change(mode, private=True)

    # --- what there is ---------------------------------------------------------------------------

    def text(self) -> str:
        """Return the screen, without the empty lines at its end."""
        rows = [self._screen.row(number) for number in range(self._screen.lines)]
        return "\n".join(rows).rstrip("\n")

    def take_scrolled(self) -> list[str]:
        """Return the lines that went out at the top since this was last asked, the newest kept."""
        lines = list(self._screen.scrolled)
        self._screen.scrolled.clear()
        return lines

    @property
    def cursor(self) -> tuple[int, int]:
        """The line and the column of the cursor, from 1."""
        cursor = self._screen.cursor
        return cursor.y + 1, min(cursor.x, self._screen.columns - 1) + 1

    def highlighted(self) -> list[str]:
        """Return what is drawn in reverse, as menus show what is chosen; a few of these."""
        found = []
        for number in range(self._screen.lines):
            line = self._screen.buffer[number]
            cells = [line[x] for x in range(self._screen.columns)]
            found += _reversed_parts(cells)
        return found[:_MAX_HIGHLIGHTED]


def _reversed_parts(cells: list[Char]) -> list[str]:
    parts, part = list[str](), ""
    for cell in [*cells, Char(" ")]:
        if cell.reverse:
            part += cell.data
        elif part:
            parts.append(clean(part).strip())
            part = ""
    return [text for text in parts if text]
