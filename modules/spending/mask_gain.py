"""The gain of leaving old answers of tools out of requests, against what is read anew for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from core.conversation.context_window import record_tokens
from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, ToolResult
from modules.spending.past_tasks import PastTask
from modules.spending.ways import MIN_MEASURED
from utils.llm.prices import Price

KEPT_STEPS = 5
"""Steps whose answers are always sent: they are what the model works with."""
MIN_ANSWER, MIN_BLOCK = 1_000, 20_000
"""Tokens of an answer, and of all that are left out at once: it is done rarely, and then a lot."""
_NOTE_TOKENS = 80
"""Tokens of the note in the place of an answer."""


class Answer(NamedTuple):
    """An answer that may be left out: it *saves* so many tokens, and with it and *behind* it stand
    so many in the request."""

    turn: int
    call_id: str
    saves: int
    behind: int


class Mask(NamedTuple):
    """The *answers* to leave out: that *saves* so many tokens in each step and has so many *read
    again* once; in the steps to come that is so many *dollars* off-peak gained."""

    answers: Sequence[Answer]
    saves: int
    read_again: int
    dollars: float


def steps_left(tasks: Sequence[PastTask], steps: int) -> float:
    """Return how many steps a task still takes, on the average, that has taken *steps*.

    Of past *tasks* those say it that took more; 0 where there are too few of them.
    """
    longer = [task.steps - steps for task in tasks if task.steps > steps]
    return sum(longer) / len(longer) if len(longer) >= MIN_MEASURED else 0.0


def old_answers(sent: Sequence[TurnRecord]) -> list[Answer]:
    """Return the answers among the records that are *sent* which may be left out, in order.

    None of a turn is, in which the server gave an id to several calls: it could be another's.
    """
    ids = Counter((turn, one.call_id) for turn, one in sent if isinstance(one, ToolResult))
    unclear = {turn for (turn, _), count in ids.items() if count > 1}
    answers: list[Answer] = []
    behind = replies = 0
    for turn, record in reversed(sent):
        tokens = record_tokens(record)
        behind += tokens
        replies += isinstance(record, Assistant)
        saves = tokens - _NOTE_TOKENS
        if replies < KEPT_STEPS or saves < MIN_ANSWER or turn in unclear:
            continue
        if isinstance(record, ToolResult) and not record.pictures:
            answers.append(Answer(turn, record.call_id, saves, behind))
    return answers[::-1]


def best_mask(answers: Sequence[Answer], price: Price, steps: float) -> Mask | None:
    """Return what to leave out for *steps* to come, None where nothing pays.

    All behind the first answer that is left out is read anew, so that every later one goes too.
    """
    masks = (_mask(answers[first:], price, steps) for first in range(len(answers)))
    paying = [mask for mask in masks if mask.dollars > 0 and mask.saves >= MIN_BLOCK]
    return max(paying, key=lambda mask: mask.dollars, default=None)


def _mask(answers: Sequence[Answer], price: Price, steps: float) -> Mask:
    saves = sum(answer.saves for answer in answers)
    read_again = answers[0].behind - saves
    # The next request itself reads what stays at the full price, and what goes not at all.
    cost = read_again * (max(price.miss, price.write) - price.hit)
    return Mask(answers, saves, read_again, (steps * saves * price.hit - cost) / 1_000_000)
