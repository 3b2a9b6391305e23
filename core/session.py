"""The session that a terminal is in: begun, resumed, gone back in, left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

from core.conversation.history import INTERRUPTED, History, TurnRecord, check_in, usage_in
from core.conversation.messages import Record, StateRecord
from core.conversation.store import Store
from core.conversation.transcript import turn_end_record
from core.conversation.turn_progress import is_turn_over, newest_turn
from core.events import TurnFinished
from core.feature_set import FeatureSet
from core.loop.approval import Approval, stricter
from core.loop.thinking import Mode
from core.loop.turn_context import Model
from core.redaction import map_strings
from utils.i18n import Phrase, UserError, phrase
from utils.llm.prices import Tariff
from utils.llm.profiles.server_profile import ServerProfile
from utils.llm.served_model import ModelChoice
from utils.pictures import ReadPicture


class NamedModel(Model, Protocol):
    """A model that has a name, which may be changed between two calls."""

    model: str

    @property
    def choice(self) -> ModelChoice | None:
        """The model of now with its server, as a session keeps it; None: it is not kept."""

    def use(self, choice: ModelChoice | None) -> None:
        """Go on with the model that a session kept, or with the usual one; None: with this."""

    @property
    def profile(self) -> ServerProfile:
        """The profile of the server for the model of now, as far as it is known."""

    @property
    def tariff(self) -> Tariff | None:
        """The price of the model of now, None where it is unknown."""

    def forget_profile(self) -> None:
        """Forget the learned profile."""

    @property
    def usual_profile(self) -> ServerProfile:
        """The profile of the model of now where nothing was learnt or said."""

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person says of it; None puts a field back to the usual."""

    def set_picture_reader(self, read_picture: ReadPicture) -> None:
        """Have *read_picture* give the pictures that messages refer to."""

    def set_request_observer(self, on_request: Callable[[bytes], None]) -> None:
        """Have *on_request* called with the body of each request, before that is sent."""

    def for_other_conversation(self) -> NamedModel:
        """Return a client of the same servers for another conversation: its model is its own."""

    def models(self, name: str = "") -> Sequence[str]:
        """Return the names that the server of the model *name* has, none where it does not say.

        Without a *name* those of all servers are returned.
        """

    def known_of(self, name: str) -> tuple[ServerProfile, Tariff | None]:
        """Return what is known of the model *name*, and its price; asks nobody."""


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
        self.history = History(self._persist)
        self.locked_by: Phrase | None = None
        self._is_closed = False
        self._paused_at: int | None = None
        """The length of the session when it was paused, None while it is not."""
        self._create_lock = threading.RLock()
        self._defaults = self._settings()

    def new(self) -> None:
        """Begin an empty session in the mode of this one; the first thing said makes it."""
        settings = self._settings()
        self._leave_session()
        self._restore(settings)
        self._owner.on_history_replaced()

    def resume(self, id_prefix: str = "") -> str:
        """Resume the one session whose id begins with *id_prefix* ("": the newest); return its id.

        Raises `UserError` when there is none, or when somebody else is running it.
        """
        session = self._owner.store.find(id_prefix)
        if session == self.id:
            return session
        locked_by = self._claim(session)
        with ExitStack() as on_failure:
            if not locked_by:
                on_failure.callback(self._owner.store.release, session)
            records = self._owner.store.load(session)
            on_failure.pop_all()
        self._leave_session()
        self.locked_by = locked_by
        self._switch_session(session)
        self._replay(records)
        self._owner.on_history_replaced()
        return session

    def _claim(self, session: str) -> Phrase | None:
        """Take *session* for us; return who has it where it may only be read."""
        self._owner.store.info(session)
        try:
            self._owner.store.claim(session)
        except UserError as error:
            if not self._owner.reads_along:
                raise
            return error.message
        return None

    def take_over(self) -> None:
        """Make the session ours, if it was only read so far. Raises `UserError` while held."""
        if self.locked_by:
            session = self.id
            self._owner.store.claim(session)
            self._leave_session()
            self.resume(session)
        if self.locked_by:  # somebody was faster
            raise UserError(self.locked_by)

    def pause(self) -> None:
        """Let another process work in the session until `go_on`; until then say nothing in it."""
        if self.id and not self.locked_by and self._paused_at is None:
            self._paused_at = self._owner.store.length(self.id)
            self._owner.store.release(self.id)

    def go_on(self) -> None:
        """Make the session that was paused ours again; read it anew if anybody worked in it.

        Raises `UserError` while another process has it, and when it is gone.
        """
        if self._paused_at is None:
            return
        session = self.id
        self._owner.store.claim(session)
        length, self._paused_at = self._paused_at, None
        if self._owner.store.length(session) != length:
            self._leave_session()
            self.resume(session)
        if self.locked_by:  # somebody was faster
            raise UserError(self.locked_by)

    def refresh_read_only(self, *, takes_over: bool = True) -> None:
        """Reload a session that is only read; where nobody runs it now, it is ours from then on,
        unless it is merely looked at (*takes_over*)."""
        if not self.locked_by:
            return
        if takes_over:
            self.locked_by = self._claim(self.id)
        records = self._owner.store.load(self.id)
        self.history = History(self._persist)
        self._replay(records)
        self._owner.on_history_replaced()

    def _replay(self, records: Sequence[TurnRecord]) -> None:
        was_checking = check_in(records)
        self.history.replay(
            (turn, map_strings(record, self._owner.features.redact)) for turn, record in records
        )
        is_left_open = bool(self.history.unanswered_calls)
        if not (self.locked_by or is_left_open or is_turn_over(newest_turn(self.history.records))):
            self.record(StateRecord(INTERRUPTED, True))
        elif was_checking and not self.locked_by:  # its last word was said, and nothing proven
            self.record(turn_end_record(self.history.turn, TurnFinished("interrupted")))
        self._restore(self.history.state)

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it: the conversation and the features' state with it.

        Done again after a kill, it does only the rest.
        """
        if not self.history.was_rewound(key):
            self.history.rewind(turn, key)
        self._announce_rewind()

    def undo_rewind(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one. As `rewind` after a kill."""
        if not self.history.was_rewound(key):
            return False
        self.history.undo_rewind(key)
        self._announce_rewind()
        return True

    def _announce_rewind(self) -> None:
        self._owner.features.on_rewind(self.history.state)

    def fork(self, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""
        new_session = self._owner.store.fork(self.id, turn)
        self._owner.features.on_fork(self.id, new_session, turn)
        return new_session

    def _leave_session(self) -> None:
        if self.id:
            self._owner.store.release(self.id)
            self._switch_session("")
        self.locked_by = None
        self._paused_at = None
        self.history = History(self._persist)

    def close(self) -> None:
        """Release the session for others and close everything; all is on disk.

        What is still said later, or still runs, raises `UserError`.
        """
        self._is_closed = True
        self._leave_session()
        self._owner.features.close()

    def _switch_session(self, session: str) -> None:
        self.id = session
        self._owner.features.on_session_changed(session)

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "mode": self._owner.mode,
            "approval": self._owner.approval.mode,
        }
        if self._owner.approval.mode == "plan":
            settings["after_plan"] = self._owner.approval.after_plan
        choice = self._owner.model.choice
        return settings | ({"model": choice.to_state()} if choice else {})

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take up what *state* says; it is allowed no more than was allowed so far."""
        self._owner.mode = state.get("mode", self._defaults["mode"])
        model = state.get("model", self._defaults.get("model"))
        self._owner.model.use(ModelChoice.from_state(model) if model else None)
        approval = self._owner.approval
        approval.mode = stricter(approval.mode, state.get("approval"))
        if approval.mode == "plan":
            approval.after_plan = stricter(approval.after_plan, state.get("after_plan"))
        self._owner.approval.patterns.clear()
        self._owner.features.restore(state)

    def save_state(self) -> None:
        """Keep what changed of the session's own state, once there is a session."""
        if not self.id:
            return
        state = self._settings() | self._owner.features.state()
        defaults = dict(self._defaults)
        # What was said for now is kept: the session goes on as it was begun.
        defaults.pop("model", None)
        if defaults["mode"] != "fast":
            del defaults["mode"]
        if defaults["approval"] not in ("guarded", "all"):  # more is allowed for one start only
            del defaults["approval"]
        changes = [
            StateRecord(name, value)
            for name, value in state.items()
            if self.history.state.get(name, defaults.get(name)) != value
        ]
        if changes:
            self.record(*changes)

    def begin_turn(self) -> None:
        """See to it that there is a session, and that it knows how things stood before the turn."""
        self._ensure_session()
        self._owner.features.on_turn_start()
        self.save_state()

    def _ensure_session(self) -> None:
        if self._is_closed:  # it would go on in a session of its own, which nobody has asked for
            raise UserError(phrase("The session was just closed. Try again."))
        with self._create_lock:  # a line that waits may be kept while the first turn begins
            if not self.id:
                session = self._owner.store.create(model=self._owner.model.model)
                self._owner.store.claim(session)
                self._switch_session(session)

    def _persist(self, turn: int, *records: Record) -> None:
        if self.locked_by:
            return  # what is only looked at is not written to
        self._ensure_session()
        self._owner.store.append(self.id, turn, *records)

    def record(self, *records: Record) -> None:
        """Keep *records* without what nobody may see; they are durable on return."""
        for record in records:
            if usage := usage_in(record):
                self._owner.features.costs.on_spent(usage)
        redact = self._owner.features.redact
        self.history.append(*(map_strings(record, redact) for record in records))
