"""The keys of the line where a person types: the usual ones, and those that the settings change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, get_common_complete_suffix
from prompt_toolkit.document import Document
from prompt_toolkit.filters import (
    Condition,
    Filter,
    emacs_mode,
    has_completions,
    has_focus,
    is_searching,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.key_binding.bindings.search import (
    reverse_incremental_search,
    start_reverse_incremental_search,
)
from prompt_toolkit.keys import Keys

from modules.cli.input.entered_text import pasted_text
from modules.cli.input.folded_pastes import FoldedPastes
from utils.frozen import frozen
from utils.shortcuts import COMMAND_KEYS, terminal_keys

Act = Callable[[KeyPressEvent], object]
_IN_LINE = has_focus("DEFAULT_BUFFER")


@frozen
class _Action:
    """What a shortcut does, and where."""

    act: Act
    filter: Filter = _IN_LINE


def line_key_bindings(
    interrupt: Act,
    show_all: Callable[[], object],
    pastes: FoldedPastes | None = None,
    *,
    next_mode: Act | None = None,
    shortcuts: Mapping[str, str],
) -> KeyBindings:
    """Return the keys that differ from those of every line editor, with the *shortcuts* changed.

    Long *pastes* are folded, where they are kept; in a line with one the key for *show_all* shows
    that whole.
    """
    keys = _arrows()
    actions = _actions(show_all, pastes)
    if next_mode:
        actions["next_mode"] = _Action(next_mode, _IN_LINE & ~has_completions)
    _add_changed(keys, actions, shortcuts)

    @keys.add("enter", filter=_IN_LINE)
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

    @keys.add("c-c", filter=_IN_LINE)
    @keys.add("<sigint>", filter=_IN_LINE)
    def _interrupt(event: KeyPressEvent) -> None:
        interrupt(event)

    @keys.add(Keys.BracketedPaste, filter=_IN_LINE)
    def _paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        text = pasted_text(event.current_buffer.document.text_before_cursor, text)
        event.current_buffer.insert_text(pastes.fold(text) if pastes else text)

    return keys


def _actions(show_all: Callable[[], object], pastes: FoldedPastes | None) -> dict[str, _Action]:
    """Return the actions by the names of their shortcuts, but for what stops a turn."""

    def edit(event: KeyPressEvent) -> None:
        if pastes:
            pastes.unfold_in(event.current_buffer)
        open_in_editor(event.current_buffer)

    def show(event: KeyPressEvent) -> None:
        if pastes and pastes.is_in(event.current_buffer.text):
            pastes.unfold_in(event.current_buffer)
        else:
            run_in_terminal(show_all)

    def sends(name: str) -> Act:
        def send(event: KeyPressEvent) -> None:
            event.current_buffer.text = f"/{name}"
            event.current_buffer.validate_and_handle()

        return send

    commands = {name: _Action(sends(name), _IN_LINE & _is_empty()) for name in COMMAND_KEYS}
    return commands | {
        "newline": _Action(lambda event: event.current_buffer.newline(copy_margin=False)),
        "complete": _Action(lambda event: complete(event.current_buffer)),
        "open_editor": _Action(edit),
        "show_output": _Action(show),
        "search_history": _Action(start_reverse_incremental_search.handler),
        "clear_screen": _Action(get_by_name("clear-screen").handler),
        "quit": _Action(lambda event: event.app.exit(exception=EOFError), _IN_LINE & _is_empty()),
    }


def _add_changed(
    keys: KeyBindings, actions: Mapping[str, _Action], shortcuts: Mapping[str, str]
) -> None:
    """Add *actions* to *keys*; the usual key of one that has another now does nothing."""
    used: set[tuple[str, ...]] = set()
    for name, action in actions.items():
        for sequence in _sequences(name, shortcuts):
            used.add(sequence)
            is_with_alt = sequence[0] == "escape"
            filter_ = action.filter & emacs_mode if is_with_alt else action.filter
            keys.add(*sequence, filter=filter_)(action.act)
    if f"terminal.{_SEARCH}" in shortcuts:
        for sequence in _sequences(_SEARCH, shortcuts):  # again: the next match
            keys.add(*sequence, filter=is_searching)(reverse_incremental_search)
    for name, action in actions.items():
        for sequence in _sequences(name, {}):
            if sequence not in used:
                keys.add(*sequence, filter=action.filter)(lambda _: None)


_SEARCH = "search_history"


def _sequences(action: str, shortcuts: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of *action* as the line editor names them."""
    for key in terminal_keys(action, shortcuts):
        yield tuple(name for stroke in key.split() for name in _names(stroke))


def _names(stroke: str) -> tuple[str, ...]:
    modifier, _, key = stroke.lower().rpartition("-")
    if modifier == "alt":
        return ("escape", key)
    return (f"{modifier[:1]}-{key}" if modifier else key,)


def _is_empty() -> Filter:
    from prompt_toolkit.application import get_app

    return Condition(lambda: not get_app().current_buffer.text)


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


def _arrows() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("up", filter=_IN_LINE)
    def _up(event: KeyPressEvent) -> None:
        _leave_empty_menu(event.current_buffer)
        event.current_buffer.auto_up(count=event.arg)

    @keys.add("down", filter=_IN_LINE)
    def _down(event: KeyPressEvent) -> None:
        _leave_empty_menu(event.current_buffer)
        event.current_buffer.auto_down(count=event.arg)

    return keys


def _leave_empty_menu(buffer: Buffer) -> None:
    """Close a menu whose entries are still looked for: the arrows would move in it, unseen."""
    if buffer.complete_state and not buffer.complete_state.completions:
        buffer.complete_state = None


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
