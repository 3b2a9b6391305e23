"""Races and racers as work that a board shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.conversation.history import usage_in
from modules.agents.session_work import doing_in
from modules.agents.work import Work, WorkState
from modules.race.kept_races import KeptRace, Racer, racer_id
from modules.race.race_phrases import STATES, WHICH
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from utils.i18n import Text, UserError
from utils.text.clean import visible


def race_work(
    race: KeptRace, data: DataFolder, command: str, *, is_running: bool
) -> Iterator[Work]:
    """Yield *race*, and its racers behind it while it *is_running*.

    *command* is what a race is typed as.
    """
    is_asking = is_running and race.is_asking
    state: WorkState = "asking" if is_asking else "working" if is_running else "waiting"
    doing = WHICH if is_asking else ""
    racers = [_racer_work(race, racer, data) for racer in race.racers]
    cost = sum(one.cost_usd for one in racers)
    line = f"{command} take" if state == "waiting" else ""
    yield Work(race.id, "race", visible(race.task), state, race.session, doing, cost, line)
    if is_running:
        yield from racers


def _racer_work(race: KeptRace, racer: Racer, data: DataFolder) -> Work:
    state, doing, cost = _told_by_session(race, racer, data)
    name, title = racer_id(race.id, racer.number), f"{racer.number} {visible(racer.model)}"
    return Work(name, "racer", title, state, race.id, doing, cost)


def _told_by_session(
    race: KeptRace, racer: Racer, data: DataFolder
) -> tuple[WorkState, Text, float]:
    """Return what the session of *racer* says of it: its state, what it does, what that cost.

    What was said before *race* stands in it as well, and was paid by the session of that.
    """
    path = DataFolder.sessions_in(DataFolder.path_for(data.root, Path(racer.folder)))
    if racer.is_at_end or not racer.session or not path.exists():
        return "idle", STATES[racer.state], racer.usage.cost_usd
    store = Sessions(path)
    try:
        records = store.load(racer.session)
        spent = (usage_in(record) for turn, record in records if turn >= race.turn)
        doing = doing_in(records)
        return doing.state, doing.now, sum(usage.cost_usd for usage in spent if usage)
    except UserError:  # it is just being removed
        return "idle", "", racer.usage.cost_usd
    finally:
        store.close()
