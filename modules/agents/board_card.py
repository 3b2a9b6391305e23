"""The board as a card: a row for all that works, each with what it does, asks and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.cards import Card, TableCard
from modules.agents.work import Work
from modules.spending.amounts import amount
from utils.i18n import Phrase, Text, phrase

_STATES: Mapping[str, Phrase] = {
    "working": phrase("working"),
    "checking": phrase("checking"),
    "asking": phrase("asks"),
    "waiting": phrase("waits for a choice"),
    "idle": phrase("idle"),
}
_KINDS: Mapping[str, Phrase] = {
    "session": phrase("session"),
    "race": phrase("race"),
    "racer": phrase("racer"),
    "helper": phrase("helper"),
}


def board_card(work: Sequence[Work], here: str) -> Card:
    """Return a card of *work*, seen from the session *here*."""
    columns = (phrase("what"), phrase("ID"), phrase("state"), phrase("now"), phrase("cost"))
    rows = tuple(_row(one, here) for one in work)
    alarms = tuple(n for n, one in enumerate(work) if one.state in ("asking", "waiting"))
    return TableCard(phrase("At work in this project"), rows, columns, alarms)


def _row(work: Work, here: str) -> tuple[Text, ...]:
    kind = _KINDS[work.kind]
    what: Text = phrase("{kind} (this one)", kind=kind) if work.id == here else kind
    title = work.title
    if work.title:
        what = phrase("{kind}: {title}", kind=what, title=title)
    return what, work.id, _STATES[work.state], work.doing, f"${amount(work.cost_usd)}"
