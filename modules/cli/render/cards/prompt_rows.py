"""What the model read, row by row: where each part came from, and what of it the cache had.

Imports no screen library: both drawings of the card need it.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.cards import PromptCard, PromptPart, PromptSource
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import clean, visible_lines

Row = tuple[str, str]
"""A text, which may have several lines, and its style by the names of rich."""
_FIRST_WORDS = 60
"""Characters that are shown of a folded part."""
_LAST_LINES = 3
"""Lines that are shown, of what came from the cache, above what did not."""
_STYLES: dict[PromptSource, str] = {
    "system": "bold magenta",
    "tools": "bold blue",
    "context": "bold cyan",
    "person": "bold green",
    "model": "bold bright_cyan",
    "answers": "bold",
}
_CACHED, _ANEW, _GONE = "dim green", "yellow", "red"


def prompt_rows(card: PromptCard, translator: Translator) -> Iterator[Row]:
    """Yield the rows of *card*: its facts, then each part below a line that says what it is."""
    yield clean(translator.render(card.title)), "bold"
    for label, text in card.facts:
        yield clean(translator.render(phrase("{label}: {text}", label=label, text=text))), ""
    for number, part in enumerate(card.parts, 1):
        heading = " · ".join(translator.render(text) for text in _heading(part))
        yield clean(f"── {number} {heading}"), _STYLES[part.source]
        yield from _text_rows(part, translator, is_folded=card.is_folded)


def _heading(part: PromptPart) -> Iterator[Text]:
    yield part.label
    yield phrase("{n:,} tokens", n=part.tokens)
    if part.change == "gone":
        yield phrase("no longer sent")
        return
    if part.cached >= len(part.text):
        yield phrase("cached")
    else:
        share = 100 * part.cached // len(part.text)
        yield phrase("{n} % cached", n=share) if share else phrase("not cached")
    if part.change == "new":
        yield phrase("new in this step")


def _text_rows(part: PromptPart, translator: Translator, *, is_folded: bool) -> Iterator[Row]:
    if is_folded and part.change != "gone" and part.cached >= len(part.text):
        words = " ".join(part.text[: 4 * _FIRST_WORDS].split())
        is_cut = max(len(words), len(part.text) // 4) > _FIRST_WORDS
        yield f"{visible_lines(words[:_FIRST_WORDS].rstrip())}{'…' * is_cut}", _CACHED
        return
    if part.change == "gone":
        yield visible_lines(part.text), _GONE
        return
    cached, anew = part.text[: part.cached], part.text[part.cached :]
    if cached:
        lines = visible_lines(cached).split("\n")
        shown = ["…", *lines[-_LAST_LINES:]] if is_folded and len(lines) > _LAST_LINES else lines
        yield "\n".join(shown), _CACHED
    if cached and anew:
        yield f"┄┄ {translator.render(phrase('not cached from here on'))} ┄┄", f"bold {_ANEW}"
    if anew:
        yield visible_lines(anew), _ANEW
