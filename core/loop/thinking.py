"""Think-once: which step thinks, how hard, and how its conclusion reaches those that do not.

The API drops the reasoning of earlier replies from the prompt of a call that does not think
(rendered history has only the reply's text), so the conclusion is carried on as text of its own.
"""

from __future__ import annotations

from typing import Literal

from core.conversation.messages import Effort

Mode = Literal["fast", "think"]
Way = Literal["", "once", "low"]
"""How a task thinks: not at all, at its first call and no more, or at each with low effort."""
MAX_CARRIED = 4_000
"""Characters of reasoning carried on; the end of a long one is where it concludes."""


def effort_at(way: Way, step: int, *, may_think: bool = True) -> Effort:
    """Return how hard model call number *step* (from 1) thinks, of a task that goes *way*.

    One with low effort throughout thinks even where it need not: what the server has of the
    conversation is of that effort, and it would read all of it anew.
    """
    if way == "low":
        return "low"
    return "usual" if way == "once" and step == 1 and may_think else ""


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
