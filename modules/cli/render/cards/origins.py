"""Where lines come from, drawn: the file, and who wrote which of its lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from core.cards import LineOrigin, OriginsCard
from modules.cli.render.cards.origin_lines import details, ranges_text, title, who
from modules.cli.render.cards.receipts import MARKS as RECEIPT_MARKS
from modules.cli.render.markdown import HangingIndent, WrappedText
from modules.translator import Translator
from utils.i18n import Text as Said
from utils.text.clean import clean, visible

_MARKS = {
    "call": ("●", "cyan"),
    "person": ("●", "green"),
    "others": ("●", "yellow"),
    "before": ("○", "dim"),
    "unknown": ("?", "dim"),
}
_INDENT = "  "


def origins_view(card: OriginsCard, translator: Translator) -> RenderableType:
    """Return *card* in the language of *translator*."""
    return Group(*_rows(card, translator))


def _rows(card: OriginsCard, translator: Translator) -> Iterator[RenderableType]:
    yield WrappedText(visible(title(card)), "bold")
    if card.line:
        yield Text(f"{_INDENT}{visible(card.line.strip())}", no_wrap=True, overflow="ellipsis")
    for origin in card.origins:
        yield from _origin_rows(origin, translator, has_lines=len(card.origins) > 1)
    if card.note:
        yield WrappedText(clean(translator.render(card.note)), "dim")


def _origin_rows(
    origin: LineOrigin, translator: Translator, *, has_lines: bool
) -> Iterator[RenderableType]:
    def said(text: Said) -> str:
        return clean(translator.render(text))

    head = Text.assemble((f"{_MARKS[origin.writer][0]} ", _MARKS[origin.writer][1]))
    ranges = f"{ranges_text(origin)}  " if has_lines and origin.ranges else ""
    style = "dim" if origin.writer in ("before", "unknown") else ""
    yield HangingIndent(head, Text.assemble((ranges, "bold"), (said(who(origin)), style)))
    rest = [*details(origin)]
    receipts = len(origin.receipts)
    for text in rest[: len(rest) - receipts]:
        yield HangingIndent(Text(_INDENT), Text(said(text), "dim"))
    for receipt, text in zip(origin.receipts, rest[len(rest) - receipts :], strict=True):
        mark, style = RECEIPT_MARKS[receipt.state]
        yield HangingIndent(Text.assemble(_INDENT, (f"{mark} ", style)), Text(said(text), "dim"))
