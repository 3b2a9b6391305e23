"""What stands at the end of a turn: why it ended early, what its answer rests on, what it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from core.events import TurnFinished
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.cards.plain_cards import duration, usage_parts
from modules.cli.render.cards.receipts import receipt_lines
from modules.cli.render.citations import source_lines
from modules.cli.render.markdown import WrappedText
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.i18n import Text as Said
from utils.text.clean import clean


def mark_line(mark: str, style: str, text: str) -> Text:
    """Return *text* behind its *mark*, both in *style*."""
    line = WrappedText(f"{mark} ", style)
    line.append(clean(text))
    return line


def turn_end_lines(
    event: TurnFinished,
    turn: int,
    translator: Translator,
    renderer: CardRenderer,
    *,
    yuan: float = 0.0,
    remarks: Sequence[Phrase] = (),
) -> Iterator[tuple[Text, bool]]:
    """Yield the lines that end *turn*, each with whether a blank one stands before it.

    *yuan* is what a dollar is in yuan, 0 for a cost in dollars alone; *remarks* come last.
    """
    if event.why != "done":
        mark, style = ("✗", "red") if event.why == "error" else ("■", "yellow")
        is_broken_off = event.why == "interrupted"
        usual = phrase("Interrupted.") if is_broken_off else phrase("Stopped.")
        yield mark_line(mark, style, translator.render(event.detail or usual)), True
    for nth, source in enumerate(source_lines(event)):
        yield renderer.dim(source), not nth
    for mark, style, receipt in receipt_lines(event):
        yield mark_line(mark, style, translator.render(receipt)), True
    if event.still_open:
        yield renderer.dim(event.still_open), True
    number = phrase("turn {n}", n=turn)  # as /rewind, /fork and /undo want it
    parts: list[Said] = [number, *usage_parts(event.usage, yuan), duration(event.seconds), *remarks]
    yield renderer.dim(" · ".join(map(translator.render, parts))), True
