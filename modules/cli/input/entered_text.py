"""Text of the line where a person types, told apart from text that was pasted into it.

Only who types the "!" runs a command with it: pasted, it stands behind a blank and is a message.
"""

from __future__ import annotations

from core.conversation.messages import as_message


def entered_text(line: str) -> str:
    """Return *line* without the white space around it; a "!" behind some stays behind it."""
    text = line.strip()
    return as_message(text) if line[:1].isspace() else text


def pasted_text(before: str, text: str) -> str:
    """Return the pasted *text* as it is to stand in a line, behind what is there *before* it."""
    return text if before.strip() else as_message(text)
