"""Reading pairs of results: the model says which of two is better, and why."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.cards import DiffCard
from core.conversation.history import usage_record
from core.conversation.messages import Wire
from core.events import Event, Informed, Reply
from core.loop.direct_calls import DirectContext
from modules.prompts import prompt
from modules.race.kept_races import Racer
from modules.spending.amounts import amount
from utils.i18n import Phrase, phrase
from utils.llm.completion import Completion, ModelError
from utils.text.clean import clean
from utils.text.lines import cut_middle

_MAX_DIFFS = 24_000  # characters of each result's changes that the model reads
_MAX_ANSWER = 2_000
_MAX_REASON = 300
_MAX_REPLY_TOKENS = 400
_LETTER = re.compile(r"\W*([AB])\b")


class Verdict(NamedTuple):
    """The better one of two racers, and why."""

    number: int
    reason: Phrase


class PairReader:
    """Has the model of *context* read pairs; what that costs is kept there."""

    def __init__(self, context: DirectContext) -> None:
        self._context = context

    def read(
        self, task: str, one: Racer, other: Racer, diffs: Mapping[int, Sequence[DiffCard]]
    ) -> Generator[Event, Reply | None, Verdict | None]:
        """Return which is better, None where the model does not tell. Raises `Stopped`."""
        if refusal := self._context.over_budget_reason():
            yield Informed(refusal)
            return None
        try:
            completion = self._ask(_messages(task, one, other, diffs))
        except ModelError as error:
            if error.usage.requests:
                self._context.record(usage_record(error.usage))
            yield Informed(phrase("The model could not compare: {why}", why=error.message))
            return None
        letter, _, reason = completion.text.strip().partition("\n") if completion else ("", "", "")
        found = _LETTER.match(letter)
        if completion is None or not found:
            yield Informed(phrase("The model's comparison named neither of the two."))
            return None
        chosen = one if found[1] == "A" else other
        why = _reason(chosen, other if chosen is one else one, reason)
        cost = amount(completion.usage.cost_usd)
        return Verdict(chosen.number, phrase("{verdict} (${cost})", verdict=why, cost=cost))

    def _ask(self, messages: Sequence[Wire]) -> Completion | None:
        """Return the model's reply. Raises `ModelError`, `Stopped`."""
        context = self._context
        context.announce_request(messages)
        for item in context.model.stream(
            messages, [], think=False, stop=context.stop, reply_tokens=_MAX_REPLY_TOKENS
        ):
            if isinstance(item, Completion):
                if item.usage:
                    context.record(usage_record(item.usage))
                return item
        return None


def _reason(chosen: Racer, other: Racer, reason: str) -> Phrase:
    text = cut_middle(" ".join(clean(reason).split()), _MAX_REASON)
    better, worse = str(chosen.number), str(other.number)
    if not text:
        return phrase("The model prefers {one} to {other}.", one=better, other=worse)
    return phrase("The model prefers {one} to {other}: {why}", one=better, other=worse, why=text)


def _messages(
    task: str, one: Racer, other: Racer, diffs: Mapping[int, Sequence[DiffCard]]
) -> list[Wire]:
    parts = [f"The task:\n{task}"]
    same = [card for card in diffs[one.number] if card.diff and card in diffs[other.number]]
    if same:  # once, and before the rest: the next pair often begins with the same
        parts.append(f"The changes that are the same in A and B:\n{_changes(same)}")
    for letter, racer in (("A", one), ("B", other)):
        own = [card for card in diffs[racer.number] if card not in same]
        parts.append("\n".join(_told(letter, racer, own, has_more=bool(same))))
    return [
        {"role": "system", "content": prompt("race_pair")},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def _told(letter: str, racer: Racer, diffs: Sequence[DiffCard], *, has_more: bool) -> Iterator[str]:
    """Yield what the model reads of *racer*, of whose changes *diffs* are all unless it
    *has_more*."""
    yield f"Result {letter}. Checks of the project: {_CHECKS[racer.checks]}."
    yield f"What its author says:\n{cut_middle(racer.answer, _MAX_ANSWER) or '(nothing)'}"
    whose = "Its other changes" if has_more else "Its changes"
    yield f"{whose}:\n{_changes(diffs) or '(none)'}"


def _changes(diffs: Sequence[DiffCard]) -> str:
    changes = "\n".join(f"--- {card.path}\n{card.diff or f'({card.note})'}" for card in diffs)
    return cut_middle(changes, _MAX_DIFFS)


_CHECKS = {"green": "passed", "red": "failed", "none": "none were run"}
