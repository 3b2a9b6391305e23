"""A question of another session as a board shows it, and the reply that a line to it means."""

from __future__ import annotations

from collections.abc import Iterable

from core.cards import Card, DiffCard, RunCard, TableCard, TextCard, TreeCard
from core.events import ApprovalAsked, Reply
from core.loop.current_question import AskedNow
from core.loop.tool_calls import numbered
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible, visible_text

_YES, _ALWAYS, _NO = frozenset({"yes", "y"}), frozenset({"always", "a"}), frozenset({"no", "n"})
_SKIP = "skip"


def question_card(work: str, asked: AskedNow, command: str) -> Card:
    """Return what *work* asks, to the letter; *command* is what a board is typed as."""
    event = asked.event
    choices = numbered(event.choices) if event.choices else Phrase("")
    parts = (*_preview(event), choices, _how(work, event, command))
    return TextCard(event.why, _lines(part for part in parts if str(part)))


def _preview(event: ApprovalAsked) -> list[Text]:
    card = event.preview
    match card:
        case _ if event.risk == "question" and isinstance(card, TextCard):
            return []  # the question says it all, and its choices follow
        case RunCard():
            return [visible(event.name), visible_text(card.code)]
        case DiffCard():
            head = f"{visible(card.path)} (+{card.added} -{card.removed})"
            return [visible(event.name), head, card.note, visible_text(card.diff)]
        case TextCard():
            return [visible(event.name), card.title, card.body]
        case TreeCard():
            rows = (f"{'  ' * one.depth}{visible(one.path)}" for one in card.entries)
            return [visible(event.name), visible(card.path), *rows]
        case TableCard():
            cells = [_lines(row, between="  ") for row in card.rows]
            return [visible(event.name), card.title, *cells]
        case _:
            return [visible(event.name)]


def _how(work: str, event: ApprovalAsked, command: str) -> Phrase:
    """Return how to answer *event*."""
    line = f"{command} answer {work}"
    if event.risk == "question":
        if event.choices:
            return phrase("{line} NUMBER or TEXT answers it, {line} skip skips it.", line=line)
        return phrase("{line} TEXT answers it, {line} skip skips it.", line=line)
    if event.pattern:
        return phrase(
            "{line} yes, always (this session: {pattern}) or no REASON answers it.",
            line=line,
            pattern=visible(event.pattern),
        )
    return phrase("{line} yes or no REASON answers it.", line=line)


def _lines(parts: Iterable[Text], *, between: str = "\n") -> Phrase:
    values = {f"part{n}": part for n, part in enumerate(parts)}
    return Phrase(between.join(f"{{{name}}}" for name in values), values)


def reply_to(event: ApprovalAsked, said: str) -> Reply:
    """Return the reply to *event* that *said* means. Raises `UserError` for none."""
    if event.risk == "question":
        choices = dict(zip("1234", map(str, event.choices), strict=False))
        return Reply(yes=False) if said == _SKIP else Reply(yes=True, text=choices.get(said, said))
    word, _, reason = said.partition(" ")
    match word.lower():
        case word if word in _YES and not reason:
            return Reply(yes=True)
        case word if word in _ALWAYS and event.pattern and not reason:
            return Reply(yes=True, always=True, pattern=event.pattern)
        case word if word in _NO:
            return Reply(yes=False, reason=reason.strip())
    if event.pattern:
        raise UserError(phrase("Answer yes, always, no, or no and a reason."))
    raise UserError(phrase("Answer yes, no, or no and a reason."))
