"""Think-once: which step thinks, and how what it concluded reaches the steps that do not.

The API drops the reasoning of earlier replies from the prompt of a call that does not think
(rendered history has only the reply's text), so the conclusion is carried on as text of its own.
"""

from __future__ import annotations

from typing import Literal

Mode = Literal["fast", "think"]
MAX_CARRIED = 4_000
"""Characters of reasoning carried on; the end of a long one is where it concludes."""


def thinks(mode: Mode, step: int) -> bool:
    """Return whether model call number *step* (from 1) of a task thinks."""
    return mode == "think" and step == 1


def conclusion(thinking: str) -> str:
    """Return *thinking*, or the last whole paragraphs that fit in `MAX_CARRIED` characters."""
    thinking = thinking.strip()
    if len(thinking) <= MAX_CARRIED:
        return thinking
    end = thinking[-MAX_CARRIED:]
    break_at = end.find("\n\n")
    if break_at < 0:
        break_at = end.find("\n")
    return f"… {end[break_at + 1 :].strip()}"


def conclusion_note(conclusion: str) -> str:
    """Return what the model reads of its own *conclusion*."""
    return f"{_CONCLUSION_PREFIX}{conclusion}"


def conclusion_in(text: str) -> str:
    """Return the conclusion in *text*, if `conclusion_note` made that; "" for any other text."""
    return text.removeprefix(_CONCLUSION_PREFIX) if text.startswith(_CONCLUSION_PREFIX) else ""


_CONCLUSION_PREFIX = "What you concluded when you thought about this task:\n"
