"""What the model knows beside the talk: told once, and again only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.conversation.messages import Context
from core.feature import Section


def news(told: Mapping[str, str], now: Iterable[Section]) -> Context | None:
    """Return what *now* holds that the model was not *told*, or None when there is no news.

    The first telling of a section is its whole text; a later one may be shorter
    (`Section.changed`). A section that is gone or empty is told as gone.
    """
    current = {section.name: section for section in now if section.text}
    changed = [s for name, s in current.items() if told.get(name) != s.text]
    gone = [name for name in told if name not in current]
    if not changed and not gone:
        return None
    parts = [_telling(section, told.get(section.name)) for section in changed]
    parts += [f"No longer valid: {name}." for name in gone]
    sections: dict[str, str | None] = {section.name: section.text for section in changed}
    return Context("\n\n".join(parts), {**sections, **dict.fromkeys(gone)})


def _telling(section: Section, before: str | None) -> str:
    if before is None or section.changed is None:
        return section.text
    return section.changed(before)
