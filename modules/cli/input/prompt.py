"""The line where a person types: history, completion, several lines, and what holds right now."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import groupby

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_session, run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig, to_cursor_shape_config
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import (
    Condition,
    to_filter,
)
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.styles import Style

from modules.cli.input.folded_pastes import FoldedPastes, PasteLabels, UnfoldedHistory
from modules.cli.input.keyboard import TypedAhead, as_paste
from modules.cli.input.line_keys import line_key_bindings
from modules.cli.input.status_line import fitting
from modules.cli.input.theme_colors import ThemeColors
from modules.cli.screen_settings import ScreenSettings
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import visible

MENU_ROWS = 8
MIN_PASTE = 64
"""So many characters at once were not typed."""
LONE_ESCAPE_SECONDS = 0.1
"""Seconds after which an Escape is that key, and not what a terminal sends first for others."""
STYLE = Style.from_dict(
    {
        "prompt": "ansicyan bold",
        "pasted": "ansibrightblack",
        "bottom-toolbar": "noreverse",
        "bottom-toolbar.text": "ansibrightblack",
        "bottom-toolbar.warning": "ansiyellow",
        "bottom-toolbar.mode": "ansicyan",
        "completion-menu": "noreverse bg:default",
        "completion-menu.completion": "bg:default fg:default",
        "completion-menu.completion.current": "bg:default fg:ansicyan bold noreverse",
        "completion-menu.meta.completion": "bg:default fg:ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default fg:ansicyan",
    }
)


class Prompt:
    """Reads what the person types; below it stands what *status_line* returns.

    What was typed *typed_ahead* comes first; *history* is what was typed before. *when_shown* is
    called once, when the person can begin to type. A key calls *next_mode*. *cost_of* says what
    a text adds to the request by its mentions, "" for nothing.
    """

    def __init__(
        self,
        translator: Translator,
        completer: Completer,
        status_line: Callable[[], StyleAndTextTuples],
        history: History,
        *,
        typed_ahead: TypedAhead,
        next_mode: Callable[[], object],
        settings: ScreenSettings,
        when_shown: Callable[[], None] = lambda: None,
        cost_of: Callable[[str], Text] = lambda _: "",
    ) -> None:
        self._cost_of = lru_cache(1)(cost_of)
        self._translator = translator
        self._typed_ahead = typed_ahead
        self._is_leaving = False
        self._status_line = status_line
        self._next_mode = next_mode
        self._shown_status: StyleAndTextTuples = []
        self._pastes = FoldedPastes(translator)
        self._shortcuts = settings.shortcuts
        self._session: PromptSession[str] = PromptSession(
            [("class:prompt", "› ")],
            multiline=True,
            prompt_continuation="  ",
            completer=completer,
            complete_while_typing=Condition(self._may_complete),
            complete_in_thread=True,
            enable_suspend=True,
            tempfile_suffix=".md",
            history=UnfoldedHistory(history, self._pastes),
            key_bindings=self._key_bindings(),
            bottom_toolbar=self._toolbar,
            input_processors=[PasteLabels(self._pastes), TabsProcessor(char1=" ", char2=" ")],
            style=STYLE,
            include_default_pygments_style=False,
            style_transformation=ThemeColors(settings.colors),
            input=ending_lone_escapes(create_terminal_input()),
            output=create_terminal_output(),
        )
        self._session.app.ttimeoutlen = LONE_ESCAPE_SECONDS
        self._settings = settings
        self._when_shown: Callable[[], None] | None = when_shown
        self._session.app.before_render += self._reserve_menu_rows
        self._session.app.after_render += self._on_first_render
        for window in self._session.layout.find_all_windows():
            window.dont_extend_height = to_filter(True)  # the toolbar stands right below the line
        self._session.default_buffer.on_text_changed += self._stay_here

    def read(self, when_run: Callable[[], None] = lambda: None) -> str | None:
        """Return the text typed, or None when the person leaves.

        *when_run* is called as soon as something can be shown above the line.
        """
        return self._read("", when_run)

    def refresh(self) -> None:
        """Show what holds now; from any thread."""
        self._shown_status = self._status_line()
        with suppress(RuntimeError):  # the line is just done
            self._session.app.invalidate()

    def show_above(self, text: str) -> bool:
        """Print *text* above the line that is being typed; return whether there is one."""
        app = self._session.app
        loop = app.loop
        if loop is None or not app.is_running:
            return False

        def show() -> None:
            with set_app(app):
                run_in_terminal(lambda: app.output.write(f"{text}\n"))

        try:
            loop.call_soon_threadsafe(show)
        except RuntimeError:  # the line is just done
            return False
        return True

    def _read(self, draft: str, when_run: Callable[[], None]) -> str | None:
        self._is_leaving = False
        self._shown_status = self._status_line()
        self._take_keys()
        preload(self._session.input, self._typed_ahead.take_for_prompt())

        def begin() -> None:
            if self._typed_ahead.take_interrupt():
                self._session.app.key_processor.feed(KeyPress(Keys.ControlC))
            when_run()

        try:
            return self._pastes.unfold(self._session.prompt(default=draft, pre_run=begin))
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            self._keep_unread()

    def _take_keys(self) -> None:
        """Have the keys that the settings say now."""
        if self._shortcuts != self._settings.shortcuts:
            self._shortcuts = self._settings.shortcuts
            self._session.key_bindings = self._key_bindings()
        is_vim = self._settings.has_vim_keys
        self._session.editing_mode = EditingMode.VI if is_vim else EditingMode.EMACS
        self._session.cursor = to_cursor_shape_config(ModalCursorShapeConfig() if is_vim else None)

    def _keep_unread(self) -> None:
        """Keep what came behind the key that ended the line as what is typed ahead."""
        keys = get_typeahead(self._session.input)
        self._typed_ahead.add(b"".join(map(bytes_of_key, keys)))
        if any(press.key == Keys.ControlC for press in keys):
            self._typed_ahead.keep_interrupt()

    def _key_bindings(self) -> KeyBindings:
        def go_round(_event: KeyPressEvent) -> None:
            self._next_mode()
            self.refresh()

        return line_key_bindings(
            *(self._interrupt, lambda: self._typed_ahead.show_all(), self._pastes),
            next_mode=go_round,
            shortcuts=self._shortcuts,
        )

    def _interrupt(self, event: KeyPressEvent) -> None:
        """Clear the line; leave when there is nothing to clear for the second time."""
        buffer = event.current_buffer
        if buffer.text:
            buffer.reset()
        elif self._is_leaving:
            event.app.exit(exception=EOFError)
        else:
            self._is_leaving = True

    def _on_first_render(self, _app: object) -> None:
        when_shown, self._when_shown = self._when_shown, None
        if when_shown:
            when_shown()

    def _stay_here(self, _buffer: Buffer) -> None:
        self._is_leaving = False

    def _may_complete(self) -> bool:
        """Return whether the line has anything to complete: else each letter is drawn twice."""
        text = self._session.default_buffer.document.text_before_cursor
        return text.startswith("/") or "@" in text

    def _reserve_menu_rows(self, _app: object) -> None:
        """Keep rows below the line only while there is a menu to stand in them.

        Entries that are still looked for are none: at most letters nothing is found, and to make
        room for each would have all below the line drawn again.
        """
        state = self._session.default_buffer.complete_state
        self._session.reserve_space_for_menu = MENU_ROWS if state and state.completions else 0

    def _toolbar(self) -> StyleAndTextTuples:
        if self._is_leaving:
            again = self._translator.render(phrase("Press Ctrl-C again to quit"))
            return [("class:bottom-toolbar.warning", f"  {again}")]
        status = self._shown_status
        text = self._session.default_buffer.text
        if "@" in text and (cost := self._translator.render(self._cost_of(text))):
            status = [("class:bottom-toolbar.mode", f"  {visible(cost)}\n"), *status]
        return fitting(status, self._session.app.output.get_size().columns)


def preload(source: Input, typed: bytes) -> None:
    """Let the next prompt that reads *source* begin with *typed*, keys and all."""
    keys: list[KeyPress] = []
    parser = Vt100Parser(keys.append)
    parser.feed(typed.decode(errors="surrogateescape"))
    parser.flush()
    store_typeahead(source, with_pastes(keys))


def bytes_of_key(press: KeyPress) -> bytes:
    """Return what the terminal has sent for *press*."""
    data = press.data.encode(errors="surrogateescape")
    return as_paste(data) if press.key == Keys.BracketedPaste else data


@contextmanager
def preloaded(typed: bytes) -> Iterator[None]:
    """Let a prompt in between begin with *typed*, and with nothing that is for the next one."""
    source = get_app_session().input
    keys = get_typeahead(source)
    preload(source, typed)
    try:
        yield
    finally:
        store_typeahead(source, keys)


def create_terminal_input() -> Input:
    """Return the keyboard; what comes faster than anybody types is taken in one piece.

    prompt_toolkit would put in each character, and draw, by itself: a long line that a terminal
    without brackets pastes would take minutes.
    """
    source = create_input()
    read = source.read_keys

    def read_keys() -> list[KeyPress]:
        keys = read()
        while len(keys) >= MIN_PASTE and select.select([source.fileno()], [], [], 0.01)[0]:
            more = read()
            if not more:  # the terminal went away
                break
            keys += more
        return with_pastes(keys)

    source.read_keys = read_keys  # type: ignore[method-assign]
    return source


def ending_lone_escapes(source: Input) -> Input:
    """Return *source*, where the Esc key begins no key with Alt.

    prompt_toolkit would wait a second longer for a letter and take it for that of Alt.
    """
    flush = source.flush_keys

    def flush_keys() -> list[KeyPress]:
        keys = flush()
        is_lone = bool(keys) and keys[-1].key == Keys.Escape
        return [*keys, KeyPress(Keys.Ignore, "")] if is_lone else keys

    source.flush_keys = flush_keys  # type: ignore[method-assign]
    return source


def with_pastes(keys: list[KeyPress]) -> list[KeyPress]:
    """Return *keys* with each long run of characters as a paste."""
    result: list[KeyPress] = []
    for is_text, run in groupby(keys, lambda press: not isinstance(press.key, Keys)):
        pressed = list(run)
        if is_text and len(pressed) >= MIN_PASTE:
            text = "".join(press.data for press in pressed)
            pressed = [KeyPress(Keys.BracketedPaste, text)]
        result += pressed
    return result


def create_terminal_output() -> Output:
    """Return the terminal to draw on.

    prompt_toolkit asks the terminal for the place of its cursor, draws no toolbar before it has
    the answer, and complains where there is none. It needs to know only that a row is left. Nor
    does it end that the terminal says what is pasted: between two prompts that counts as well.
    """
    terminal = create_output()
    terminal.get_rows_below_cursor_position = lambda: 1  # type: ignore[method-assign]
    terminal.disable_bracketed_paste = lambda: None  # type: ignore[method-assign]
    return terminal
