"""The keys of the terminal, as its help shows them."""

from __future__ import annotations

from collections.abc import Mapping

from core.cards import TableCard
from utils.i18n import Text, phrase
from utils.shortcuts import COMMAND_KEYS, TERMINAL, terminal_keys


def keys_card(shortcuts: Mapping[str, str]) -> TableCard:
    """Return the keys, with the *shortcuts* that were changed."""
    keys = {name: ", ".join(terminal_keys(name, shortcuts)) for name in TERMINAL}
    return TableCard(
        phrase("Keyboard shortcuts"),
        (
            ("Enter", phrase("Send; end a line with \\ to continue it")),
            _row(keys, "newline"),
            _row(keys, "complete"),
            ("@NAME", phrase("Add a file, folder, web page or function to the message")),
            _row(keys, "next_mode"),
            ("↑ ↓", phrase("Earlier messages")),
            _row(keys, "search_history"),
            ("/settings keys vim", phrase("Vim keys in the input line")),
            _row(keys, "stop"),
            ("Ctrl-C", phrase("Stop the task; clear the line; twice: quit")),
            _row(keys, "quit"),
            _row(keys, "clear_screen"),
            _row(keys, "show_output"),
            (
                phrase("Long paste"),
                phrase("Folded to one character; {key} unfolds it", key=keys["show_output"]),
            ),
            _row(keys, "open_editor"),
            *(_row(keys, name) for name in COMMAND_KEYS),
            ("Ctrl-Z", phrase("Suspend to the shell; fg returns")),
            ("!COMMAND", phrase("Run the command yourself, outside the sandbox.")),
            ("#TEXT", phrase("Remember TEXT.")),
            (
                "/settings shortcuts NAME KEY",
                phrase("Change one of these keys; without NAME show all"),
            ),
        ),
    )


def _row(keys: Mapping[str, str], name: str) -> tuple[Text, Text]:
    return keys[name], TERMINAL[name].meaning
