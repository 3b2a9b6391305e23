"""Context beside the conversation: sent once, and again only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.conversation.messages import Context
from core.feature import Section


def context_diff(sent: Mapping[str, str], now: Iterable[Section]) -> Context | None:
    """Return what *now* holds that the model was not *sent*, or None when there is no news.

    The first telling of a section is its whole text; a later one may be shorter
    (`Section.describe_change`). A section that is gone or empty is told as gone. What the model
    knows by its own calls is not told, only kept as sent: where that is all, the text is "".
    One that is to be told again is, as it is.
    """
    current = {section.name: section for section in now}
    known = _known(sent, current)
    told = [s for name, s in current.items() if _is_told(s, known.get(name, ""))]
    sections = {
        name: s.text or None
        for name, s in current.items()
        if s.telling == "again" or s.text != sent.get(name, "")
    }
    gone = [name for name in known if name not in current]
    parts = [*(_news(s, known.get(s.name)) for s in told), *map(_end, gone)]
    sections |= dict.fromkeys(name for name in sent if name not in current)
    text = "\n\n".join(filter(None, parts))
    return Context(text, sections) if text or sections else None


def _known(sent: Mapping[str, str], current: Mapping[str, Section]) -> dict[str, str]:
    """Return what the model knows by what it was *sent* and did, under the names of now."""
    known = dict(sent)
    for name, section in current.items():
        former = section.former_name
        if former in known and former not in current and name not in known:
            known[name] = known.pop(former)
        if name in known and section.derive is not None:
            known[name] = section.derive(known[name])
    return known


def _is_told(section: Section, known: str) -> bool:
    return section.telling == "again" or (section.telling == "changed" and section.text != known)


def _news(section: Section, known: str | None) -> str:
    if known is not None and section.describe_change is not None:
        return section.describe_change(known)
    return section.text or (_end(section.name) if known else "")


def _end(name: str) -> str:
    return f"No longer valid: {name}."
