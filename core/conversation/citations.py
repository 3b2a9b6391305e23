"""Citations: the sources that a task has read, by number, and those that its answer names.

A number belongs to an address as long as the task goes on; it is kept in the card of the result,
so that it is the same after a kill, on every screen and in an export.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.cards import Link, LinksCard
from core.conversation.messages import Assistant, Record, ShellResult, ToolResult
from utils.frozen import frozen


@frozen
class Citation:
    """The source number *n* of a task."""

    n: int
    url: str
    title: str


@frozen
class Citations:
    """Sources that an answer names, and the numbers in it that were never given."""

    sources: tuple[Citation, ...] = ()
    unknown: tuple[int, ...] = ()


def sources_of(records: Iterable[Record]) -> dict[int, Link]:
    """Return the numbered sources in *records*, those of one task."""
    cards = (one.card for one in records if isinstance(one, ToolResult | ShellResult))
    links = (link for card in cards if isinstance(card, LinksCard) for link in card.links)
    sources: dict[int, Link] = {}
    for link in links:
        if link.n:
            sources.setdefault(link.n, link)
    return sources


def citations_of(records: Iterable[Record]) -> Citations:
    """Return what the answer at the end of *records*, those of one task, cites.

    Where the task has read no source, a number in brackets means nothing.
    """
    records = list(records)
    sources = sources_of(records)
    if not sources:
        return Citations()
    from core.conversation.citation_marks import cited_numbers  # where something was read

    answer: list[str] = []
    for record in records:
        if isinstance(record, ToolResult):
            answer.clear()
        elif isinstance(record, Assistant):
            answer.append(record.text)
    numbers = sorted(cited_numbers("".join(answer)))
    known = (Citation(n, sources[n].url, sources[n].title) for n in numbers if n in sources)
    return Citations(tuple(known), tuple(n for n in numbers if n not in sources))
