"""Helpers as work that a board shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.conversation.helper_records import HelperRecords, helpers_in, open_calls
from core.conversation.history import TurnRecord
from modules.agents.session_work import doing_in
from modules.agents.work import Work, WorkState
from modules.delegation.report import task_in, usage_of
from utils.text.clean import visible


def helper_work(session: str, records: Sequence[TurnRecord]) -> Iterator[Work]:
    """Yield the helpers that work in *session*, which has *records*."""
    for name, helper in _at_work(session, records):
        doing = doing_in(helper.records)
        # One that has said its last word hands it back just now.
        state: WorkState = "asking" if doing.state == "asking" else "working"
        title, cost = visible(task_in(helper.records)), usage_of(helper.records).cost_usd
        yield Work(name, "helper", title, state, session, doing.now, cost)


def call_of(work: str, session: str, records: Sequence[TurnRecord]) -> str:
    """Return the id of the call that is the helper that a board calls *work*, "" for none."""
    at_work = _at_work(session, records)
    return next((helper.call_id for name, helper in at_work if name == work), "")


def _at_work(session: str, records: Sequence[TurnRecord]) -> Iterator[tuple[str, HelperRecords]]:
    """Yield the helpers whose calls have no answer, each with what a board calls it."""
    turn = records[-1][0] if records else 0
    newest = [one for one in records if one[0] == turn]
    open_ids = {call.id for call in open_calls(newest)}
    for number, helper in enumerate(helpers_in(newest), 1):
        if helper.call_id in open_ids:
            yield f"{session}/{turn}.{number}", helper
