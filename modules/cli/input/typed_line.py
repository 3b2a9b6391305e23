"""The line that a person types while no prompt is open, edited as the prompt would edit it."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable
from itertools import groupby

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from modules.cli.input.entered_text import entered_text, pasted_text

ESCAPE_ALONE_SECONDS = 0.5
"""An Escape that nothing follows for so long is a key of its own, and no beginning of another."""


class TypedLine:
    """Makes lines of the bytes that a terminal sends, and a draft of what is not entered yet."""

    def __init__(self) -> None:
        self._keys: list[KeyPress] = []
        self._parser = Vt100Parser(self._keys.append)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._buffer = Buffer()
        self._fed_at = float("-inf")
        self._wants_all = False

    @property
    def draft(self) -> str:
        return self._buffer.text

    def feed(self, typed: bytes, *, came_at_once: bool) -> list[str]:
        """Take in *typed* and return the lines that it entered.

        Of what *came_at_once* an Enter within is a line break: somebody pasted it in a terminal
        that does not say so.
        """
        if time.monotonic() - self._fed_at >= ESCAPE_ALONE_SECONDS:
            self._parser.flush()
        self._fed_at = time.monotonic()
        self._parser.feed(self._decode(typed))
        presses, self._keys[:] = _with_runs_joined(self._keys), ()
        entered: list[str] = []
        for position, press in enumerate(presses):
            is_last = position == len(presses) - 1
            if press.key != Keys.ControlM:
                self._press(press, presses[position - 1].key if position else None)
            elif position and presses[position - 1].key == Keys.Escape:
                self._buffer.insert_text("\n")
            elif line := self._enter(is_within=came_at_once and not is_last):
                entered.append(line)
        return entered

    def take_show_all(self) -> bool:
        """Return whether Ctrl-O was pressed since this was asked last."""
        wants_all, self._wants_all = self._wants_all, False
        return wants_all

    def take_escape(self) -> bool:
        """Return whether Escape was pressed alone since this was asked last: nothing follows it."""
        if time.monotonic() - self._fed_at < ESCAPE_ALONE_SECONDS:
            return False
        self._parser.flush()
        presses, self._keys[:] = list(self._keys), ()
        return [press.key for press in presses] == [Keys.Escape]

    def forget_escape(self) -> None:
        """Take an Escape that came last for a key that nobody waits for any more."""
        self._parser.flush()
        self._keys.clear()

    def take_draft(self) -> str:
        """Forget the draft, and return it."""
        text = self._buffer.text
        self._buffer.reset()
        return text

    def _enter(self, *, is_within: bool) -> str:
        """Do what Enter does; return the line that was entered, "" for none."""
        buffer = self._buffer
        if is_within:
            buffer.insert_text("\n")
        elif buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            return entered_text(self.take_draft())
        return ""

    def _pasted(self, data: str) -> str:
        return pasted_text(self._buffer.document.text_before_cursor, _printable(data))

    def _press(self, press: KeyPress, before: Keys | str | None) -> None:
        if press.key == Keys.BracketedPaste:
            self._buffer.insert_text(self._pasted(press.data))
        elif press.key == Keys.ControlO:
            self._wants_all = True
        elif not isinstance(press.key, Keys):
            is_with_alt = before == Keys.Escape  # that letter is a command, and no text
            self._buffer.insert_text(_printable(press.data[is_with_alt:]))
        elif edit := _EDITS.get(press.key):
            edit(self._buffer)


def _with_runs_joined(keys: list[KeyPress]) -> list[KeyPress]:
    """Return *keys* with each run of letters as one: a long text is not put in letter by letter."""
    result: list[KeyPress] = []
    for is_key, run in groupby(keys, lambda press: isinstance(press.key, Keys)):
        pressed = list(run)
        text = "".join(press.data for press in pressed)
        result += pressed if is_key else [KeyPress(pressed[0].key, text)]
    return result


def _printable(text: str) -> str:
    """Return *text* as it may stand in a line: no control character but tab and line break."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


def _to_start(buffer: Buffer) -> None:
    buffer.cursor_position += buffer.document.get_start_of_line_position()


def _to_end(buffer: Buffer) -> None:
    buffer.cursor_position += buffer.document.get_end_of_line_position()


def _erase_word(buffer: Buffer) -> None:
    start = buffer.document.find_start_of_previous_word(WORD=True)
    buffer.delete_before_cursor(-start if start else buffer.cursor_position)


def _erase_to_start(buffer: Buffer) -> None:
    buffer.delete_before_cursor(len(buffer.document.current_line_before_cursor))


def _erase_to_end(buffer: Buffer) -> None:
    buffer.delete(buffer.document.get_end_of_line_position())


_EDITS: dict[Keys, Callable[[Buffer], object]] = {
    Keys.ControlJ: lambda buffer: buffer.insert_text("\n"),
    Keys.ControlH: lambda buffer: buffer.delete_before_cursor(),
    Keys.Delete: lambda buffer: buffer.delete(),
    Keys.ControlD: lambda buffer: buffer.delete(),
    Keys.Left: lambda buffer: buffer.cursor_left(),
    Keys.ControlB: lambda buffer: buffer.cursor_left(),
    Keys.Right: lambda buffer: buffer.cursor_right(),
    Keys.ControlF: lambda buffer: buffer.cursor_right(),
    Keys.Up: lambda buffer: buffer.cursor_up(),
    Keys.Down: lambda buffer: buffer.cursor_down(),
    Keys.Home: _to_start,
    Keys.ControlA: _to_start,
    Keys.End: _to_end,
    Keys.ControlE: _to_end,
    Keys.ControlW: _erase_word,
    Keys.ControlU: _erase_to_start,
    Keys.ControlK: _erase_to_end,
}
"""The keys of the prompt that edit; any other does nothing while no prompt is there to show it."""
