"""The end of a turn as Markdown: the sources that its answer names, and what was run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.events import TurnFinished
from modules.cli.render.cards.receipts import receipt_lines
from modules.translator import Translator
from utils.i18n import phrase
from utils.text.clean import clean, visible

_SYNTAX = re.compile(r"([\\`*_\[\]<>~|$&])")


def end_text(event: TurnFinished, translator: Translator) -> str:
    """Return what belongs below the answer that *event* ends, "" for nothing.

    An answer is sent as it comes, when nobody knows yet what it will cite: so its sources follow.
    """
    say = translator.render
    lines = [*_source_lines(event)]
    lines += [_plain(say(phrase("[{n}]: source not read", n=n))) for n in event.unknown_citations]
    lines += [f"{mark} {_plain(say(line))}" for mark, _, line in receipt_lines(event)]
    return "\n\n" + "\n".join(f"- {line}" for line in lines) + "\n" if lines else ""


def _source_lines(event: TurnFinished) -> Iterator[str]:
    if not event.citations:
        return
    from core.conversation.citation_marks import link_to  # where something was read

    for source in event.citations:
        title = _plain(" ".join(source.title.split()) or source.url)
        yield f"\\[{source.n}\\] {link_to(title, source.url)}"


def _plain(text: str) -> str:
    """Return *text* so that Markdown has it stand as it is."""
    return _SYNTAX.sub(r"\\\1", clean(visible(text)))
