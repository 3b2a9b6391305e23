"""Full stops of what others wrote, where a sentence of ours goes on after it."""

from __future__ import annotations

from utils.i18n import Phrase, phrase

_MARKS = (*".!?…", *"。！？")
_CLOSING = "\"')]”’」』）"


def ended(text: str) -> str:
    """Return *text* with a full stop, unless it ends with a mark of its own."""
    return text if not text or _has_mark(text) else f"{text}."


def ended_phrase(what: Phrase) -> Phrase:
    """Return the sentence *what* with a full stop, unless it ends with a mark of its own."""
    return what if _has_mark(str(what)) else phrase("{what}.", what=what)


def unended(text: str) -> str:
    """Return *text* without full stops at its end, for a sentence that has its own there."""
    return text.rstrip("。. ")


def _has_mark(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_MARKS)
