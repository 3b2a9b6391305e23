"""Context beside the conversation: sent once, and again only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.conversation.messages import Context
from core.feature import Section


def context_diff(sent: Mapping[str, str], now: Iterable[Section]) -> Context | None:
    """Return what *now* holds that the model was not *sent*, or None when there is no news.

    The first telling of a section is its whole text; a later one may be shorter
    (`Section.describe_change`). A section that is gone or empty is told as gone.
    """
    current = {section.name: section for section in now if section.text}
    changed = [s for name, s in current.items() if sent.get(name) != s.text]
    removed = [name for name in sent if name not in current]
    if not changed and not removed:
        return None
    parts = [_section_text(section, sent.get(section.name)) for section in changed]
    parts += [f"No longer valid: {name}." for name in removed]
    sections: dict[str, str | None] = {section.name: section.text for section in changed}
    return Context("\n\n".join(parts), {**sections, **dict.fromkeys(removed)})


def _section_text(section: Section, previous: str | None) -> str:
    if previous is None or section.describe_change is None:
        return section.text
    return section.describe_change(previous)
