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
from modules.cli.input.typed_keys import ESCAPE, TypedKeys

ESCAPE_ALONE_SECONDS = 0.5
"""An Escape that nothing follows for so long is a key of its own, and no beginning of another."""

CHORD_SECONDS = 1.0
"""Seconds for which keys that begin with Ctrl-X wait for the prompt, or for their second one."""
_CTRL_X = "\x18"


class TypedLine:
    """Makes lines of the bytes that a terminal sends, and a draft of what is not entered yet.

    *typed_keys* returns the keys that count now, beside those that edit.
    """

    def __init__(self, typed_keys: Callable[[], TypedKeys] = TypedKeys) -> None:
        self._typed_keys = typed_keys
        self._keys: list[KeyPress] = []
        self._parser = Vt100Parser(self._keys.append)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._buffer = Buffer()
        self._fed_at = float("-inf")
        self._wants_all = self._wants_stop = False
        self._chord = ""

    @property
    def draft(self) -> str:
        return self._buffer.text

    def feed(self, typed: bytes, *, came_at_once: bool) -> list[str]:
        """Take in *typed* and return the lines that it entered.

        Of what *came_at_once* an Enter within is a line break: somebody pasted it in a terminal
        that does not say so.
        """
        seconds = time.monotonic() - self._fed_at
        if seconds >= ESCAPE_ALONE_SECONDS:
            self._parser.flush()
        if seconds >= CHORD_SECONDS:
            self._chord = ""
        self._fed_at = time.monotonic()
        self._parser.feed(self._decode(typed))
        presses, self._keys[:] = _with_runs_joined(self._keys), ()
        entered: list[str] = []
        for position, press in enumerate(presses):
            is_last = position == len(presses) - 1
            if press.key != Keys.ControlM:
                self._press(
                    self._without_chord(press), presses[position - 1].key if position else None
                )
                continue
            self._chord = ""
            if position and presses[position - 1].key == Keys.Escape:
                self._buffer.insert_text("\n")
            elif line := self._enter(is_within=came_at_once and not is_last):
                entered.append(line)
        return entered

    def take_show_all(self) -> bool:
        """Return whether the key for that was pressed since this was asked last."""
        wants_all, self._wants_all = self._wants_all, False
        return wants_all

    def take_stop(self) -> bool:
        """Return whether the key that stops was pressed since this was asked last.

        Where that is Escape it must be alone: nothing follows it.
        """
        if self._typed_keys().stop != ESCAPE:
            wants_stop, self._wants_stop = self._wants_stop, False
            return wants_stop
        if time.monotonic() - self._fed_at < ESCAPE_ALONE_SECONDS:
            return False
        self._parser.flush()
        presses, self._keys[:] = list(self._keys), ()
        return [press.key for press in presses] == [Keys.Escape]

    def forget_escape(self) -> None:
        """Take a key to stop that came last for one that nobody waits for any more."""
        self._wants_stop = False
        self._parser.flush()
        self._keys.clear()

    def take_draft(self) -> str:
        """Forget the draft, and return it."""
        text = self._buffer.text
        self._buffer.reset()
        return text

    def take_chord(self) -> str:
        """Forget Ctrl-X and its second key, and return what was just pressed of them."""
        chord, self._chord = self._chord, ""
        return chord if time.monotonic() - self._fed_at < CHORD_SECONDS else ""

    def _without_chord(self, press: KeyPress) -> KeyPress:
        """Return what is left of *press* without the key behind Ctrl-X, which is no text."""
        if self._chord != _CTRL_X or press.key == Keys.BracketedPaste:
            self._chord = _CTRL_X if press.key == Keys.ControlX else ""
            return press
        length = len(press.data) if isinstance(press.key, Keys) else 1
        rest = press.data[length:]
        self._chord = "" if rest else f"{self._chord}{press.data}"
        return KeyPress(press.key if rest else Keys.Ignore, rest)

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
        keys = self._typed_keys()
        if press.key == Keys.BracketedPaste:
            self._buffer.insert_text(self._pasted(press.data))
        elif press.data == keys.show_output:
            self._wants_all = True
        elif press.data == keys.stop != ESCAPE:
            self._wants_stop = True
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
