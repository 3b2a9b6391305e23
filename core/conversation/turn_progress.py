"""How far a turn is, read off its records: whether it is over, whoever runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from core.conversation.history import INCIDENT, INTERRUPTED, TurnRecord
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    ShellResult,
    StateRecord,
    User,
)
from core.conversation.transcript import is_turn_end, turn_end_in
from core.events import EndReason

_CUTS = (INCIDENT, INTERRUPTED)


def newest_turn(records: Sequence[TurnRecord]) -> list[Record]:
    """Return those of *records* that are of the last turn."""
    return next((newest for _, newest in turns_backward(records)), [])


def turns_backward(records: Sequence[TurnRecord]) -> Iterator[tuple[int, list[Record]]]:
    """Yield the turns of *records* with what belongs to each, the last turn first."""
    for turn, group in groupby(reversed(records), key=itemgetter(0)):
        yield turn, [record for _, record in group][::-1]


def is_turn_over(newest: Sequence[Record]) -> bool:
    """Return whether the turn with the records *newest* is: ended, answered, or cut short."""
    has_begun = any(isinstance(one, User) for one in newest)
    is_ended = _is_answered(newest) or _is_cut(newest) or any(map(is_turn_end, newest))
    return not has_begun or is_ended


def turn_end_of(newest: Sequence[Record]) -> EndReason:
    """Return how the turn with the records *newest* ended, "interrupted" where it did not."""
    if ends := [turn_end_in(one) for one in newest if is_turn_end(one)]:
        return ends[-1].why
    has_begun = any(isinstance(one, User) for one in newest)
    return "interrupted" if has_begun and not _is_answered(newest) else "done"


def _is_answered(newest: Sequence[Record]) -> bool:
    reply, behind = _last_reply(newest)
    return reply is not None and not reply.calls and not any(map(_is_told, behind))


def _is_cut(newest: Sequence[Record]) -> bool:
    _, behind = _last_reply(newest)
    return any(isinstance(one, StateRecord) and one.name in _CUTS for one in behind)


def _last_reply(newest: Sequence[Record]) -> tuple[Assistant | None, Sequence[Record]]:
    """Return the last reply, and what stands behind it."""
    replies = [(n, one) for n, one in enumerate(newest) if isinstance(one, Assistant)]
    last, reply = replies[-1] if replies else (-1, None)
    return reply, newest[last + 1 :]


def _is_told(record: Record) -> bool:
    """Return whether the model is told of *record*, and so has another word; not of most checks."""
    if isinstance(record, User | ShellResult):
        return not record.is_private
    return isinstance(record, Context)
