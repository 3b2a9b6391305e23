"""A long text on the whole screen: scrolled, searched, and gone without a trace when left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import (
    ANSI,
    StyleAndTextTuples,
    fragment_list_to_text,
    to_formatted_text,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.styles import Style
from rich.console import RenderableType

from modules.cli.colors import Colors
from modules.cli.input.prompt import create_terminal_input, create_terminal_output
from modules.cli.input.theme_colors import ThemeColors
from modules.translator import Translator
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible

CACHED_LINES = 2_000
_STYLE = Style.from_dict(
    {"viewer.title": "bold", "viewer.aside": "ansibrightblack", "viewer.found": "reverse"}
)


class ViewLine(NamedTuple):
    """A line of the text: *text* is searched, *draw* draws it; a *kind* can be jumped to.

    By its *place* it is found again in the other form of the text, the whole or the shorter one.
    """

    text: str
    kind: Literal["", "file", "hunk"]
    draw: Callable[[], RenderableType]
    place: tuple[str, str, int] | None = None


class Place(NamedTuple):
    """The row at the top of the screen: of a line, and within it where that is wrapped."""

    line: int
    row: int


class Viewer:
    """Shows *lines* until the person leaves; *rows_of* draws for the width that holds now.

    *whole* returns the lines with those that are left out of them; it may raise `UserError`.
    """

    def __init__(
        self,
        title: Phrase,
        lines: Sequence[ViewLine],
        rows_of: Callable[[RenderableType], list[str]],
        translator: Translator,
        colors: Colors,
        whole: Callable[[], Sequence[ViewLine]],
    ) -> None:
        self._whole = whole
        self._others: Sequence[ViewLine] = ()
        self._title = translator.render(title)
        self._translator = translator
        self._lines = lines
        self._rows_of = rows_of
        self._top = Place(0, 0)
        self._needle = ""
        self._notice: Phrase | None = None
        self._found_line: int | None = None
        self._search = Buffer(multiline=False)
        self._drawn = lru_cache(CACHED_LINES)(self._draw_line)
        layout, self._body, self._search_window = self._layout()
        self._app: Application[None] = Application(
            layout=layout,
            key_bindings=self._keys(),
            style=_STYLE,
            style_transformation=ThemeColors(colors),
            full_screen=True,
            input=create_terminal_input(),
            output=create_terminal_output(),
        )
        self._app.ttimeoutlen = 0.1

    def show(self) -> None:
        """Show it; on return the screen is as it was."""
        try:
            self._app.run()
        except EOFError:  # the terminal went away
            return

    # --- what is drawn ---------------------------------------------------------------------------

    def _layout(self) -> tuple[Layout, Window, Window]:
        text = FormattedTextControl(self._rows, focusable=True, show_cursor=False)
        body = Window(text, wrap_lines=False)
        search = Window(BufferControl(self._search), height=1)
        slash = Window(FormattedTextControl("/"), width=1, height=1)
        foot = Window(FormattedTextControl(self._foot), height=1)
        is_typing = has_focus(self._search)
        rows = HSplit(
            [
                body,
                ConditionalContainer(VSplit([slash, search]), is_typing),
                ConditionalContainer(foot, ~is_typing),
            ]
        )
        return Layout(rows, focused_element=body), body, search

    @property
    def _size(self) -> tuple[int, int]:
        """The rows and columns that the text has."""
        size = self._app.output.get_size()
        return max(size.rows - 1, 1), size.columns

    def _rows(self) -> StyleAndTextTuples:
        height, width = self._size
        self._top = min(self._top, self._last_top())
        shown: StyleAndTextTuples = []
        line, skip = self._top
        count = 0
        while line < len(self._lines) and count < height:
            for row in self._drawn(line, width, self._needle)[skip:][: height - count]:
                shown += [("", "\n")] if count else []
                shown += row
                count += 1
            line, skip = line + 1, 0
        return shown

    def _draw_line(self, line: int, _width: int, needle: str) -> list[StyleAndTextTuples]:
        rows = self._rows_of(self._lines[line].draw()) or [""]
        return [_marked(to_formatted_text(ANSI(row)), needle) for row in rows]

    def _height_of(self, line: int) -> int:
        return len(self._drawn(line, self._size[1], self._needle))

    def _foot(self) -> StyleAndTextTuples:
        height, _ = self._size
        last = max(self._moved(self._top, height - 1).line + 1, 1)
        where = phrase(
            "{title} · {n:,} of {total:,} lines",
            title=self._title,
            n=min(last, len(self._lines)),
            total=len(self._lines),
        )
        keys = phrase("q leaves · / search, n N · Tab hunk · f file · Ctrl-O all lines")
        texts = [self._translator.render(where), self._translator.render(self._notice or keys)]
        return [("class:viewer.title", visible(texts[0])), ("class:viewer.aside", f"  {texts[1]}")]

    # --- moves -----------------------------------------------------------------------------------

    def _moved(self, place: Place, by: int) -> Place:
        """Return the place *by* rows further down, within the text."""
        line, row = place.line, place.row + by
        while row < 0 and line > 0:
            line -= 1
            row += self._height_of(line)
        while line < len(self._lines) - 1 and row >= self._height_of(line):
            row -= self._height_of(line)
            line += 1
        return Place(line, max(min(row, self._height_of(line) - 1), 0))

    def _last_top(self) -> Place:
        """Return the place with which the last row stands at the foot of the screen."""
        end = len(self._lines) - 1
        return self._moved(Place(end, self._height_of(end) - 1), 1 - self._size[0])

    def _scroll(self, by: int) -> None:
        self._notice, self._found_line = None, None
        self._top = min(self._moved(self._top, by), self._last_top())

    def _page(self, pages: int) -> None:
        self._scroll(pages * max(self._size[0] - 1, 1))

    def _go_to(self, line: int) -> None:
        self._notice = None
        self._top = Place(line, 0)

    def _jump(self, kinds: Sequence[str], step: int) -> None:
        """Go to the next line of one of *kinds*, or the one before."""
        start = self._top.line if self._found_line is None else self._found_line
        lines = range(start + 1, len(self._lines)) if step > 0 else range(start - 1, -1, -1)
        found = next((at for at in lines if self._lines[at].kind in kinds), None)
        if found is None:
            self._notice = phrase("No more in this direction.")
            return
        self._go_to(found)
        self._found_line = found

    def _toggle_whole(self) -> None:
        """Show all lines of the files, or the hunks alone again; what is at the top stays there."""
        try:
            others = self._others or self._whole()
        except UserError as problem:
            self._notice = problem.message
            return
        at = {line.place: number for number, line in enumerate(others)} | {None: None}
        below = (at.get(line.place) for line in self._lines[self._top.line :])
        above = (at.get(line.place) for line in reversed(self._lines[: self._top.line]))
        top = next((number for number in (*below, *above) if number is not None), 0)
        self._lines, self._others = others, self._lines
        self._drawn.cache_clear()
        self._found_line = None
        self._go_to(top)

    def _find(self, step: int, *, is_new: bool = False) -> None:
        """Go to the next line with what is searched, round the ends."""
        if not self._needle:
            return
        count, start = len(self._lines), self._found_line
        if start is None:
            start = self._top.line - (is_new or step > 0)
        order = ((start + step * nth) % count for nth in range(1, count + 1))
        found = next((at for at in order if _holds(self._lines[at].text, self._needle)), None)
        if found is None:
            self._notice = phrase("No matches.")
            return
        self._go_to(found)
        self._found_line = found

    # --- keys ------------------------------------------------------------------------------------

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        reading = ~has_focus(self._search)
        moves: dict[str, Callable[[], None]] = {
            **dict.fromkeys(("up", "k"), lambda: self._scroll(-1)),
            **dict.fromkeys(("down", "j", "enter"), lambda: self._scroll(1)),
            **dict.fromkeys(("pageup", "b"), lambda: self._page(-1)),
            **dict.fromkeys(("pagedown", " "), lambda: self._page(1)),
            **dict.fromkeys(("tab", "]"), lambda: self._jump(("hunk",), 1)),
            **dict.fromkeys(("s-tab", "["), lambda: self._jump(("hunk",), -1)),
            **dict.fromkeys(("f", "}"), lambda: self._jump(("file",), 1)),
            **dict.fromkeys(("F", "{"), lambda: self._jump(("file",), -1)),
            "n": lambda: self._find(1),
            "N": lambda: self._find(-1),
            **dict.fromkeys(("home", "g"), lambda: self._go_to(0)),
            **dict.fromkeys(("end", "G"), lambda: self._go_to(len(self._lines) - 1)),
            "c-o": self._toggle_whole,
        }
        for key, move in moves.items():
            keys.add(key, filter=reading)(lambda _event, move=move: move())
        self._add_search_keys(keys)

        @keys.add("q", filter=reading)
        @keys.add("escape", filter=reading, eager=True)
        @keys.add("c-c", filter=reading)
        @keys.add("c-d", filter=reading)
        @keys.add("<sigint>", filter=reading)
        def _leave(event: KeyPressEvent) -> None:
            event.app.exit()

        return keys

    def _add_search_keys(self, keys: KeyBindings) -> None:
        typing = has_focus(self._search)

        @keys.add("/", filter=~typing)
        def _begin(event: KeyPressEvent) -> None:
            self._search.reset()
            event.app.layout.focus(self._search_window)

        @keys.add("enter", filter=typing)
        def _search(event: KeyPressEvent) -> None:
            self._needle, self._found_line = self._search.text, None
            event.app.layout.focus(self._body)
            self._find(1, is_new=True)

        @keys.add("escape", filter=typing, eager=True)
        @keys.add("c-c", filter=typing)
        @keys.add("<sigint>", filter=typing)
        def _cancel(event: KeyPressEvent) -> None:
            event.app.layout.focus(self._body)


def _holds(text: str, needle: str) -> bool:
    """Return whether *text* has *needle*; one in small letters fits capitals as well."""
    return needle in (text if needle != needle.lower() else text.lower())


def _marked(row: StyleAndTextTuples, needle: str) -> StyleAndTextTuples:
    """Return *row* with what is searched marked."""
    text = fragment_list_to_text(row)
    folded = text if needle != needle.lower() else text.lower()
    if not needle or len(folded) != len(text):  # capitals that are longer than their small letters
        return row
    marked = [False] * len(text)
    at = folded.find(needle)
    while at >= 0:
        marked[at : at + len(needle)] = [True] * len(needle)
        at = folded.find(needle, at + len(needle))
    result: StyleAndTextTuples = []
    at = 0
    for style, letters, *_ in row:
        for letter in letters:
            result.append((f"{style} class:viewer.found" if marked[at] else style, letter))
            at += 1
    return result
