"""The keys of the terminal, as its help shows them."""

from __future__ import annotations

from core.cards import TableCard
from utils.i18n import phrase

KEYS_CARD = TableCard(
    phrase("Keyboard shortcuts"),
    (
        ("Enter", phrase("Send; end a line with \\ to continue it")),
        ("Alt-Enter, Ctrl-J", phrase("New line")),
        ("Tab", phrase("Complete a /command, its arguments, or an @path")),
        ("@NAME", phrase("Add a file, folder, web page or function to the message")),
        ("Shift-Tab", phrase("Go to the next approval mode: /approve")),
        ("↑ ↓", phrase("Earlier messages")),
        ("Ctrl-R", phrase("Search the earlier messages")),
        ("/settings keys vim", phrase("Vim keys in the input line (after a restart)")),
        ("Esc", phrase("Stop the task")),
        ("Ctrl-C", phrase("Stop the task; clear the line; twice: quit")),
        ("Ctrl-D", phrase("Quit")),
        ("Ctrl-L", phrase("Clear the screen")),
        ("Ctrl-O", phrase("Show truncated output; again: earlier output")),
        (phrase("Long paste"), phrase("Folded to one letter of the line; Ctrl-O unfolds it")),
        ("Ctrl-X Ctrl-E", phrase("Edit in your editor ($VISUAL or $EDITOR)")),
        ("Ctrl-Z", phrase("Suspend to the shell; fg returns")),
        ("!COMMAND", phrase("Run the command yourself, outside the sandbox.")),
        ("#TEXT", phrase("Remember TEXT.")),
    ),
)
