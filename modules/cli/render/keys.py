"""The keys of the terminal, as its help shows them."""

from __future__ import annotations

from core.cards import TableCard
from utils.i18n import phrase

KEYS_CARD = TableCard(
    phrase("Keys"),
    (
        ("Enter", phrase("Send; a line that ends in \\ goes on")),
        ("Alt-Enter, Ctrl-J", phrase("New line")),
        ("Tab", phrase("Complete a /command, its arguments, or an @path")),
        ("Shift-Tab", phrase("Go to the next approval mode: /approve")),
        ("↑ ↓", phrase("Earlier messages")),
        ("Ctrl-R", phrase("Search the earlier messages")),
        ("/settings keys vim", phrase("The keys of vim in the line, from the next start on")),
        ("Esc", phrase("Stop the task")),
        ("Ctrl-C", phrase("Stop the task; clear the line; twice: leave")),
        ("Ctrl-D", phrase("Leave")),
        ("Ctrl-L", phrase("Clear the screen")),
        ("Ctrl-O", phrase("Show what was cut; again: what was cut before that")),
        (phrase("Long paste"), phrase("Folded to one letter of the line; Ctrl-O unfolds it")),
        ("Ctrl-X Ctrl-E", phrase("Write in your editor, $VISUAL or $EDITOR")),
        ("Ctrl-Z", phrase("Go to the shell; fg comes back")),
        ("!COMMAND", phrase("Run it as yours, outside the sandbox.")),
        ("#TEXT", phrase("Remember TEXT.")),
    ),
)
