"""Think-once: which step thinks, and how what it concluded reaches the steps that do not.

The API drops the reasoning of earlier replies from the prompt of a call that does not think
(rendered history has only the reply's text), so the conclusion is carried on as text of its own.
"""

from __future__ import annotations

from typing import Literal

Mode = Literal["fast", "think"]
KEPT = 4_000
"""Characters of reasoning carried on; the end of a long one is where it concludes."""


def thinks(mode: Mode, step: int) -> bool:
    """Return whether model call number *step* (from 1) of a task thinks."""
    return mode == "think" and step == 1


def conclusion(thinking: str) -> str:
    """Return *thinking*, or the whole paragraphs at its end that fit in `KEPT` characters."""
    thinking = thinking.strip()
    if len(thinking) <= KEPT:
        return thinking
    end = thinking[-KEPT:]
    cut = end.find("\n\n")
    if cut < 0:
        cut = end.find("\n")
    return f"… {end[cut + 1 :].strip()}"


def carried(conclusion: str) -> str:
    """Return what the model reads of its own *conclusion*."""
    return f"{_CARRIED}{conclusion}"


def conclusion_in(told: str) -> str:
    """Return the conclusion that *told*, made by `carried`, holds; "" if it is something else."""
    return told.removeprefix(_CARRIED) if told.startswith(_CARRIED) else ""


_CARRIED = "What you concluded when you thought about this task:\n"
