"""A list below which one types to narrow it: arrows move, Enter selects, Esc closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.styles import Style

from modules.cli.colors import Colors
from modules.cli.input.prompt import create_terminal_input, create_terminal_output
from modules.cli.input.theme_colors import ThemeColors
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

MAX_ROWS = 8
MAX_PREVIEW = 4
"""Rows of what is told of the choice at hand."""
_STYLE = Style.from_dict(
    {
        "picker.title": "bold",
        "picker.at": "ansicyan bold",
        "picker.aside": "ansibrightblack",
    }
)


class Choice(NamedTuple):
    """One row: *value* is what choosing it gives, *text* the row itself."""

    value: str
    text: str
    is_current: bool = False


class Picker:
    """Lets the person choose among *choices*; *preview* returns rows on the value at hand.

    *sample* stands below them, in its own styles; *when_at* is told of the value at hand.
    """

    def __init__(
        self,
        title: Phrase,
        choices: Sequence[Choice],
        translator: Translator,
        colors: Colors,
        preview: Callable[[str], Sequence[str]] = lambda _: (),
        sample: StyleAndTextTuples | None = None,
        when_at: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._title = translator.render(title)
        self._translator = translator
        self._choices = choices
        self._preview = preview
        self._sample = sample or []
        self._when_at = when_at
        self._at = next((n for n, one in enumerate(choices) if one.is_current), 0)
        self._search = Buffer(multiline=False, on_text_changed=self._narrow)
        self._app: Application[str | None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=_STYLE,
            style_transformation=ThemeColors(colors),
            erase_when_done=True,
            input=create_terminal_input(),
            output=create_terminal_output(),
        )
        self._app.ttimeoutlen = 0.1

    def pick(self) -> str | None:
        """Return the value that is chosen, None when the person leaves."""
        try:
            return self._app.run()
        except EOFError:
            return None

    def _layout(self) -> Layout:
        search = Window(BufferControl(self._search), height=1)
        title = Window(
            FormattedTextControl([("class:picker.title", f"{self._title} › ")]),
            height=1,
            dont_extend_width=True,
        )
        rows = Window(FormattedTextControl(self._rows), dont_extend_height=True)
        aside = Window(FormattedTextControl(self._aside), dont_extend_height=True)
        return Layout(HSplit([VSplit([title, search]), rows, aside]), focused_element=search)

    def _found(self) -> list[Choice]:
        """Return the choices that hold every word that is typed."""
        words = self._search.text.casefold().split()
        return [one for one in self._choices if all(word in one.text.casefold() for word in words)]

    def _narrow(self, _: Buffer) -> None:
        self._go_to(0)

    def _rows(self) -> StyleAndTextTuples:
        found = self._found()
        if not found:
            none = self._translator.render(phrase("No matches."))
            return [("class:picker.aside", f"  {none}")]
        first = max(0, min(self._at - MAX_ROWS // 2, len(found) - MAX_ROWS))
        rows: StyleAndTextTuples = []
        for number, one in enumerate(found[first : first + MAX_ROWS], first):
            is_at = number == self._at
            mark = " *" if one.is_current else ""
            start = "\n" if rows else ""
            text = f"{start}{'›' if is_at else ' '} {visible(one.text)}{mark}"
            rows.append(("class:picker.at" if is_at else "", text))
        return rows

    def _aside(self) -> StyleAndTextTuples:
        found = self._found()
        told = [visible(line) for line in self._preview(found[self._at].value)] if found else []
        keys = phrase("Enter selects · Esc closes · ↑ ↓ move · type to search")
        lines = [*told[:MAX_PREVIEW], self._translator.render(keys)]
        return [*self._sample, ("class:picker.aside", "\n".join(f"  {line}" for line in lines))]

    def _move(self, by: int) -> None:
        self._go_to(max(0, min(self._at + by, len(self._found()) - 1)))

    def _go_to(self, at: int) -> None:
        self._at = at
        if found := self._found():
            self._when_at(found[at].value)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        moves = {"up": -1, "c-p": -1, "down": 1, "c-n": 1, "pageup": -MAX_ROWS}
        for key, by in {**moves, "pagedown": MAX_ROWS}.items():
            keys.add(key)(lambda _event, by=by: self._move(by))

        @keys.add("enter")
        def _take(event: KeyPressEvent) -> None:
            if found := self._found():
                event.app.exit(result=found[self._at].value)

        @keys.add("escape", eager=True)
        @keys.add("c-c")
        @keys.add("c-d")
        @keys.add("<sigint>")
        def _leave(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        return keys
