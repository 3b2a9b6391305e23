"""The session that a terminal is in: begun, resumed, gone back in, left."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

from core.conversation.history import History, TurnRecord
from core.conversation.messages import Record, StateRecord
from core.conversation.store import Store
from core.feature_set import FeatureSet
from core.loop.approval import Approval, stricter
from core.loop.thinking import Mode
from core.loop.turn_context import Model
from core.redaction import mapped
from utils.i18n import Phrase, UserError, phrase
from utils.llm.server_profile import ServerProfile
from utils.pictures import ReadPicture


class NamedModel(Model, Protocol):
    """A model that can be told apart, and changed by name between two calls."""

    model: str

    @property
    def profile(self) -> ServerProfile:
        """What is known of the server for the model of now."""

    def forget_profile(self) -> None:
        """Forget what was learnt of it."""

    @property
    def usual_profile(self) -> ServerProfile:
        """What holds for the model of now where nothing was learnt or said."""

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person says of it; None puts a field back to the usual."""

    def take_pictures_from(self, read_picture: ReadPicture) -> None:
        """Have *read_picture* give the pictures that messages refer to."""

    def models(self, name: str = "") -> Sequence[str]:
        """Return the names that the server of the model *name* has, none where it does not say.

        Without a *name* those of all servers are returned.
        """


class SessionOwner(Protocol):
    """The terminal that is in the session, with those of its settings that belong to it."""

    mode: Mode

    @property
    def store(self) -> Store: ...
    @property
    def features(self) -> FeatureSet: ...
    @property
    def model(self) -> NamedModel: ...
    @property
    def approval(self) -> Approval: ...
    @property
    def reads_along(self) -> bool: ...

    def on_history_replaced(self) -> None:
        """Be told that the history is another one, or was read anew."""


class SessionManager:
    """Holds the session that *owner* is in: `id` is "" before anything was kept of it."""

    def __init__(self, owner: SessionOwner) -> None:
        """Begin in no session; the settings of now are those of every new one."""
        self._owner = owner
        self.id = ""
        self.history = History(self._keep)
        self.held: Phrase | None = None
        self._is_closed = False
        self._creating = threading.RLock()
        self._defaults = self._settings()

    def new(self) -> None:
        """Begin an empty session in the mode of this one; the first thing said makes it."""
        settings = self._settings()
        self._leave()
        self._restore(settings)
        self._owner.on_history_replaced()

    def resume(self, start: str = "") -> str:
        """Go on with the one session whose id begins with *start* ("": the newest); return its id.

        Raises `UserError` when there is none, or when somebody else is running it.
        """
        session = self._owner.store.find(start)
        if session == self.id:
            return session
        held = self._claim(session)
        with ExitStack() as failing:
            if not held:
                failing.callback(self._owner.store.release, session)
            records = self._owner.store.load(session)
            failing.pop_all()
        self._leave()
        self.held = held
        self._enter(session)
        self._read(records)
        self._owner.on_history_replaced()
        return session

    def _claim(self, session: str) -> Phrase | None:
        """Take *session* for us; return who has it where it may only be read."""
        self._owner.store.info(session)
        try:
            self._owner.store.claim(session)
        except UserError as problem:
            if not self._owner.reads_along:
                raise
            return problem.what
        return None

    def take_over(self) -> None:
        """Make the session ours, if it was only read so far. Raises `UserError` while held."""
        if self.held:
            session = self.id
            self._owner.store.claim(session)
            self._leave()
            self.resume(session)
        if self.held:  # somebody was faster
            raise UserError(self.held)

    def look_again(self) -> None:
        """Read anew a session that is only read; it is ours from then on if nobody runs it now."""
        if not self.held:
            return
        self.held = self._claim(self.id)
        records = self._owner.store.load(self.id)
        self.history = History(self._keep)
        self._read(records)
        self._owner.on_history_replaced()

    def _read(self, records: Iterable[TurnRecord]) -> None:
        self.history.replay(
            (turn, mapped(record, self._owner.features.blind)) for turn, record in records
        )
        self._restore(self.history.state)

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it: the talk, and the features' state with it.

        Done again after a kill, it does only the rest.
        """
        if not self.history.was_rewound(key):
            self.history.rewind(turn, key)
        self._go_back()

    def give_back(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one. As `rewind` after a kill."""
        if not self.history.was_rewound(key):
            return False
        self.history.give_back(key)
        self._go_back()
        return True

    def _go_back(self) -> None:
        self._owner.features.on_rewind(self.history.state)

    def fork(self, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""
        copy = self._owner.store.fork(self.id, turn)
        self._owner.features.on_fork(self.id, copy, turn)
        return copy

    def _leave(self) -> None:
        if self.id:
            self._owner.store.release(self.id)
            self._enter("")
        self.held = None
        self.history = History(self._keep)

    def close(self) -> None:
        """Give the session free for others and let go of everything; all is on disk.

        What is still said later, or still runs, raises `UserError`.
        """
        self._is_closed = True
        self._leave()
        self._owner.features.close()

    def _enter(self, session: str) -> None:
        self.id = session
        self._owner.features.on_session_changed(session)

    def _settings(self) -> dict[str, Any]:
        return {
            "mode": self._owner.mode,
            "model": self._owner.model.model,
            "approval": self._owner.approval.mode,
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take up what *state* says; it is allowed no more than was allowed so far."""
        self._owner.mode = state.get("mode", self._defaults["mode"])
        self._owner.model.model = state.get("model", self._defaults["model"])
        self._owner.approval.mode = stricter(self._owner.approval.mode, state.get("approval"))
        self._owner.approval.patterns.clear()
        self._owner.features.restore(state)

    def save_state(self) -> None:
        """Keep what changed of the session's own state, once there is a session."""
        if not self.id:
            return
        state = self._settings() | self._owner.features.state()
        usual = dict(self._defaults)
        # What was said for now is kept: the session goes on as it was begun.
        if usual["mode"] != "fast":
            del usual["mode"]
        if usual["approval"] in ("ask", "read-only"):  # who allowed more did it for this start
            del usual["approval"]
        for name, value in state.items():
            if self.history.state.get(name, usual.get(name)) != value:
                self.record(StateRecord(name, value))

    def begin_turn(self) -> None:
        """See to it that there is a session, and that it knows how things stood before the turn."""
        self._create()
        self._owner.features.on_turn_start()
        self.save_state()

    def _create(self) -> None:
        if self._is_closed:  # it would go on in a session of its own, which nobody has asked for
            raise UserError(phrase("The session was closed at this moment. Try again."))
        with self._creating:  # a line that waits may be kept while the first turn begins
            if not self.id:
                session = self._owner.store.create(model=self._owner.model.model)
                self._owner.store.claim(session)
                self._enter(session)

    def _keep(self, turn: int, record: Record) -> None:
        if self.held:
            return  # what is only looked at is not written to
        self._create()
        self._owner.store.append(self.id, turn, record)

    def record(self, record: Record) -> None:
        """Keep *record* without what nobody may see; it is durable on return."""
        self.history.append(mapped(record, self._owner.features.blind))
