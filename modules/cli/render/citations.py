"""Citations in a reply: numbers that lead to what the task has read, and those that do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from markdown_it.token import Token
from rich.segment import Segment
from rich.style import Style

from core.conversation.citation_marks import marked
from core.events import TurnFinished
from utils.i18n import Text, phrase
from utils.text.clean import visible

_MARK = "\u2060"
"""Stands around a citation until it is drawn; of no width, and no text of a model's has it."""
_CITED = re.compile(rf"{_MARK}(\[(\d+)\]\??){_MARK}")


def mark_citations(tokens: Iterable[Token], sources: Mapping[int, str]) -> None:
    """Mark what cites in the words of *tokens*: none that is code, or part of a link."""
    for token in tokens:
        depth = 0
        for child in token.children or ():
            depth += child.nesting if child.type.startswith("link_") else 0
            if child.type == "text" and not depth:
                child.content = marked(child.content, _marking(sources))


def _marking(sources: Mapping[int, str]) -> Callable[[int], str]:
    return lambda n: f"{_MARK}[{n}]{'' if n in sources else '?'}{_MARK}"


def linked(line: Sequence[Segment], sources: Mapping[int, str]) -> Iterator[Segment]:
    """Yield *line* with a link in the place of each mark, as far as the terminal has links."""
    for segment in line:
        if _MARK not in segment.text:
            yield segment
            continue
        end = 0
        for found in _CITED.finditer(segment.text):
            yield Segment(segment.text[end : found.start()].replace(_MARK, ""), segment.style)
            url = sources.get(int(found[2]))
            is_shown = url is not None and url.isprintable()  # no escape of a terminal's
            is_web = is_shown and str(url).lower().startswith(("http://", "https://"))
            style = Style(color="blue", link=url if is_web else None)
            style = Style(color="yellow") if url is None else style
            yield Segment(found[1], (segment.style or Style()) + style)
            end = found.end()
        yield Segment(segment.text[end:].replace(_MARK, ""), segment.style)


def source_lines(event: TurnFinished) -> Iterator[Text]:
    """Yield a line for each source that the answer names, and for each number that is none."""
    for one in event.citations:
        title = f"{visible(one.title)}  " if one.title != one.url else ""
        yield f"[{one.n}] {title}{visible(one.url)}"
    for n in event.unknown_citations:
        yield phrase("[{n}]: source not read", n=n)
