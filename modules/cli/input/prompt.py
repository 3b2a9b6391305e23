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
from prompt_toolkit.completion import CompleteEvent, Completer, get_common_complete_suffix
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig
from prompt_toolkit.document import Document
from prompt_toolkit.filters import (
    Condition,
    Filter,
    emacs_mode,
    has_completions,
    has_focus,
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

from modules.cli.input.entered_text import pasted_text
from modules.cli.input.folded_pastes import FoldedPastes, PasteLabels, UnfoldedHistory
from modules.cli.input.keyboard import TypedAhead, as_paste
from modules.cli.input.status_line import fitting
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import visible

MENU_ROWS = 8
MIN_PASTE = 64
"""So many characters at once were not typed."""
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
    called once, when the person can begin to type. Shift-Tab calls *next_mode*. *cost_of* says what
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
        has_vim_keys: bool = False,
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
            vi_mode=has_vim_keys,
            cursor=ModalCursorShapeConfig() if has_vim_keys else None,
            input=create_terminal_input(),
            output=create_terminal_output(),
        )
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

    def _keep_unread(self) -> None:
        """Keep what came behind the key that ended the line as what is typed ahead."""
        keys = get_typeahead(self._session.input)
        self._typed_ahead.add(b"".join(map(bytes_of_key, keys)))
        if any(press.key == Keys.ControlC for press in keys):
            self._typed_ahead.keep_interrupt()

    def _key_bindings(self) -> KeyBindings:
        keys = line_key_bindings(
            self._interrupt, lambda: self._typed_ahead.show_all(), self._pastes
        )

        @keys.add("s-tab", filter=has_focus("DEFAULT_BUFFER") & ~has_completions)
        def _go_round(_event: KeyPressEvent) -> None:
            self._next_mode()
            self.refresh()

        return keys

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


def line_key_bindings(
    interrupt: Callable[[KeyPressEvent], None],
    show_all: Callable[[], object],
    pastes: FoldedPastes | None = None,
) -> KeyBindings:
    """Return the keys that differ from those of every line editor; Ctrl-O is for *show_all*.

    Long *pastes* are folded, where they are kept; in a line with one Ctrl-O shows that whole.
    """
    in_line = has_focus("DEFAULT_BUFFER")
    keys = _arrows(in_line)
    _add_text_keys(keys, in_line, show_all, pastes)

    @keys.add("enter", filter=in_line)
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        state = buffer.complete_state
        if state and state.current_completion and not buffer.text.startswith("/"):
            buffer.complete_state = None  # the path is chosen; the message may go on
        elif buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=in_line & emacs_mode)
    @keys.add("c-j", filter=in_line)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("tab", filter=in_line)
    def _complete(event: KeyPressEvent) -> None:
        complete(event.current_buffer)

    @keys.add("c-c", filter=in_line)
    @keys.add("<sigint>", filter=in_line)
    def _interrupt(event: KeyPressEvent) -> None:
        interrupt(event)

    return keys


def _add_text_keys(
    keys: KeyBindings,
    in_line: Filter,
    show_all: Callable[[], object],
    pastes: FoldedPastes | None,
) -> None:
    """Add the keys that bring a whole text into the line, or show it, to *keys*."""

    @keys.add(Keys.BracketedPaste, filter=in_line)
    def _paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        text = pasted_text(event.current_buffer.document.text_before_cursor, text)
        event.current_buffer.insert_text(pastes.fold(text) if pastes else text)

    @keys.add("c-x", "c-e", filter=in_line)
    def _edit(event: KeyPressEvent) -> None:
        if pastes:
            pastes.unfold_in(event.current_buffer)
        open_in_editor(event.current_buffer)

    @keys.add("c-o", filter=in_line)
    def _show_all(event: KeyPressEvent) -> None:
        if pastes and pastes.is_in(event.current_buffer.text):
            pastes.unfold_in(event.current_buffer)
        else:
            run_in_terminal(show_all)


def open_in_editor(buffer: Buffer) -> None:
    """Let the person change the line in their editor; Enter sends what comes back.

    What begins like a command of theirs there, and did not before, is a message, as when pasted.
    """
    before = buffer.text

    def keep_message(_: object) -> None:
        if buffer.text[:1] != before[:1]:
            text = pasted_text("", buffer.text)
            buffer.document = Document(text, len(text))

    buffer.open_in_editor().add_done_callback(keep_message)


def _arrows(in_line: Filter) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("up", filter=in_line)
    def _up(event: KeyPressEvent) -> None:
        _leave_empty_menu(event.current_buffer)
        event.current_buffer.auto_up(count=event.arg)

    @keys.add("down", filter=in_line)
    def _down(event: KeyPressEvent) -> None:
        _leave_empty_menu(event.current_buffer)
        event.current_buffer.auto_down(count=event.arg)

    return keys


def _leave_empty_menu(buffer: Buffer) -> None:
    """Close a menu whose entries are still looked for: the arrows would move in it, unseen."""
    if buffer.complete_state and not buffer.complete_state.completions:
        buffer.complete_state = None


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


def complete(buffer: Buffer) -> None:
    """Write out what is certain, else go through what is possible.

    prompt_toolkit's own Tab does nothing while the menu of the letters before is still on its way.
    """
    state = buffer.complete_state
    if state and len(state.completions) > 1:
        buffer.complete_next()
        return
    event = CompleteEvent(completion_requested=True)
    completions = list(buffer.completer.get_completions(buffer.document, event))
    if len(completions) == 1:
        buffer.apply_completion(completions[0])
    elif common := get_common_complete_suffix(buffer.document, completions):
        buffer.insert_text(common)
    elif completions:
        buffer.start_completion(select_first=True)


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
