"""The timeline of a project: the states of its folder in their order, and who made each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from modules.checkpoints.line_origins.origins import Origin
from modules.checkpoints.store.writings import FORGOTTEN, PERSON, Writing, writing_of
from modules.checkpoints.store.writings import OTHERS as BY_OTHERS
from modules.storage.sqlite_recovery import with_recovery

if TYPE_CHECKING:
    from modules.checkpoints.store.object_store import ObjectStore

_CALLS = "SELECT id, session, turn, call_id, before, after FROM call NOT INDEXED ORDER BY id"
_WRITINGS = (
    "SELECT id, call, is_during, kind, session, created, path, before, after, source"
    " FROM writing NOT INDEXED ORDER BY id"
)
_SNAPSHOTS = "SELECT id, created FROM snapshot"
OTHERS = Origin("others")


@dataclass(frozen=True, slots=True)
class State:
    """State of the folder, the snapshot of that number, which *origin* made of the one before.

    With a *path* it is of that file alone, which then had the content of *digest*, "" for none.
    What *brings_back* brought nothing new: that stood in the snapshot *source*, if one is known.
    """

    snapshot: int
    origin: Origin
    path: str = ""
    digest: str = ""
    brings_back: bool = False
    source: int = 0


@dataclass(frozen=True, slots=True)
class _Call:
    id: int
    session: str
    turn: int
    call_id: str
    before: int
    after: int | None

    @property
    def origin(self) -> Origin:
        return Origin("call", self.session, self.turn, self.call_id)


class Timeline:
    """States of the folder as the store of *objects* has them, oldest first.

    What came before a state that is lost is left out: nobody could tell who made that one.
    *last_writer* is who works on the folder since the last of them.
    """

    def __init__(self, objects: ObjectStore) -> None:
        self._database = objects.database
        calls, rows, created = self._read()
        writings = [one for row in rows if (one := writing_of(row))]
        lost = max((one.call for one in writings if one.kind == FORGOTTEN), default=0)
        calls = [call for call in calls if call.id > lost]
        writings = [one for one in writings if one.call > lost and one.kind != FORGOTTEN]
        builder = _Builder(calls, writings)
        self.states = _since_last_gap(builder.states(), created)
        self.last_writer = builder.writer

    @property
    def last_snapshot(self) -> int:
        """The newest of the states that is a snapshot, 0 for none."""
        return next((one.snapshot for one in reversed(self.states) if one.snapshot), 0)

    @with_recovery
    def _read(self) -> tuple[list[_Call], list[Sequence[Any]], dict[int, float]]:
        """Return the calls, the rows of the writings and when each snapshot was taken."""
        with self._database.reading() as connection:
            calls = _calls(connection.execute(_CALLS))
            writings = connection.execute(_WRITINGS).fetchall()
            return calls, writings, dict(connection.execute(_SNAPSHOTS).fetchall())

    def _recover(self) -> bool:
        return self._database.recover()


def _calls(rows: Iterable[Sequence[Any]]) -> list[_Call]:
    """Return the calls of *rows*, without what a fork has of another session's."""
    calls: list[_Call] = []
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        types = [type(value) for value in row]
        if types[:5] != [int, str, int, str, int] or types[5] not in (int, type(None)):
            continue  # what a broken disk left of it
        call = _Call(*row)
        key = (call.turn, call.call_id, call.before, call.after)
        if call.after is None or key not in seen:
            calls.append(call)
        seen.add(key)
    return calls


class _Builder:
    """Puts calls and writings in one order. Calls of two sessions may run at once."""

    def __init__(self, calls: Sequence[_Call], writings: Sequence[Writing]) -> None:
        self._calls = calls
        self._writings: dict[int, list[Writing]] = {}
        for one in writings:
            self._writings.setdefault(one.call, []).append(one)
        self._open: list[_Call] = []

    @property
    def writer(self) -> Origin:
        """Who works on the folder now: the call that began last of those that have not ended."""
        return self._open[-1].origin if self._open else OTHERS

    def states(self) -> list[State]:
        return list(self._states())

    def _states(self) -> Iterator[State]:
        numbers = {call.id for call in self._calls}
        calls = {call.id: call for call in self._calls}
        for number in sorted(numbers | self._writings.keys()):
            if call := calls.get(number):
                yield from self._close(before=call.before)
                yield State(call.before, self.writer)
                self._open.append(call)
            for one in self._writings.get(number, ()):
                if not one.is_during:
                    yield from self._close()
                yield from self._states_of(one)
        yield from self._close()
        self._open = [call for call in self._open if call is self._calls[-1]]

    def _close(self, before: int | None = None, at: int | None = None) -> Iterator[State]:
        """End the calls that ended by the time of the snapshot *before*, or *at* it, or all."""
        ended = [
            (call.after, call)
            for call in self._open
            if call.after is not None
            and (before is None or call.after <= before)
            and (at is None or call.after == at)
        ]
        for after, call in sorted(ended, key=lambda pair: pair[0]):
            self._open.remove(call)
            yield State(after, call.origin)
        if before is not None:  # what never ended is no more, as far as anybody knows
            self._open = [call for call in self._open if call.after is not None]

    def _states_of(self, one: Writing) -> Iterator[State]:
        person = Origin("person", when=one.created)
        if one.path:
            yield State(0, self.writer, one.path, one.before)
            yield State(0, person, one.path, one.after)
            return
        before, after = one.span
        if one.kind == BY_OTHERS:  # *before* is no state that a later call could begin with
            yield from self._close(at=before)
            yield State(after, replace(OTHERS, when=one.created))
            return
        if one.kind == "refusal":  # its call is forgotten with it
            yield State(one.source, self.writer)
        yield State(before, self.writer)
        yield State(after, person, brings_back=one.kind != PERSON, source=one.source)


def _since_last_gap(states: Sequence[State], created: dict[int, float]) -> list[State]:
    """Return the *states* after the last one that is not kept, each with its time."""
    kept: list[State] = []
    for state in states:
        if state.path:
            kept.append(state)
        elif state.snapshot in created:
            when = state.origin.when or created[state.snapshot]
            kept.append(replace(state, origin=replace(state.origin, when=when)))
        elif state.snapshot:
            kept.clear()
    return kept
