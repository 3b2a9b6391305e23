"""Requirements of a turn on its surroundings: a model to ask, and a terminal to live in."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from core.conversation.citations import Citations
from core.conversation.messages import Record, ToolCall, Wire
from core.conversation.proof import Proof
from core.events import Event, Reply, TurnFinished
from core.feature_set import FeatureSet
from core.loop.approval import Approval
from core.loop.thinking import Mode
from core.tools import Outcome, Tool, Toolbox
from utils.i18n import Phrase
from utils.llm.completion import StreamItem, Usage
from utils.llm.profiles.server_profile import ServerProfile
from utils.waiting import Stop

Turn = Generator[Event, Reply | None, None]


class Model(Protocol):
    @property
    def is_well_known(self) -> bool:
        """Whether it is one of those that are known for calling their tools."""

    @property
    def profile(self) -> ServerProfile:
        """The profile of the server for the model of now, as far as it is known."""

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> Iterator[StreamItem]:
        """Stream one reply, its `Completion` last; it has *reply_tokens* at most, 0: as usual.

        One that is to *think* does so with *effort*, "" for the usual one.

        Raises `ModelError` when there is none to be had, `Stopped` on *stop*.
        """


class Window(Protocol):
    """The model's window, as far as a turn fills it."""

    def compact_if_needed(self) -> Iterator[Event]:
        """See to it that the next request fits; tell the person of what is done for that."""

    def compact_after_refusal(self) -> Generator[Event, None, bool]:
        """Make room after a request was refused as too long; return whether there is more now."""


class TurnContext(Protocol):
    """Everything that a turn needs of its terminal."""

    tools: Toolbox
    approval: Approval
    stop: Stop
    mode: Mode
    step_limit: int
    """Model calls of one task, those of its helpers counted; 0 for as many as it takes."""

    is_practice: bool
    """Whether the model is the built-in one, which is no AI."""

    @property
    def helper_steps(self) -> int:
        """The model calls that helpers have made in this task."""

    @property
    def helper_usage(self) -> Usage:
        """What helpers have used in this task."""

    @property
    def model(self) -> Model: ...
    @property
    def features(self) -> FeatureSet: ...
    @property
    def window(self) -> Window: ...

    def before_request(self) -> None:
        """Keep what the model is to be told before it is asked, and see to it that it fits."""

    def build_request(self) -> list[Wire]:
        """Return the messages of the next model call."""

    def announce_request(self, messages: Sequence[Wire]) -> None:
        """Be told that the model is about to be asked."""

    def record(self, record: Record) -> None:
        """Keep *record*; it is durable on return."""

    def on_abandoned(self, calls: Iterable[ToolCall]) -> None:
        """Called when the turn is left while *calls* have no answer."""

    def was_asked(self, call_id: str) -> bool:
        """Return whether the person was asked about this call before the session was left."""

    def before_call(self, tool: Tool, call_id: str) -> None:
        """Called before *tool* runs. Raises `UserError` when it must not."""

    def after_call(self, tool: Tool, call_id: str) -> None:
        """Called when *tool* is over, before its answer is recorded."""

    def recorded(self, call_id: str) -> AbstractContextManager[None]:
        """Record what the block does to the folder as a call. Raises `UserError`."""

    def on_files_changed(self, outcome: Outcome) -> None:
        """Called with the outcome of a call in the end."""

    def warnings(self) -> Sequence[Phrase]:
        """Return the warnings that the person has not seen yet."""

    def on_turn_finished(self, end: TurnFinished) -> None:
        """Called when the turn ends, before anybody sees it."""

    def citations(self) -> Citations:
        """Return what the answer of the turn cites."""

    def proof(self) -> Proof:
        """Return what was run in the turn, and what its answer claims; it is kept."""

    def leave_plan_mode(self) -> None:
        """Go on in the mode in which a plan is done, where this is plan mode."""

    def native_failure(self) -> Phrase | None:
        """Count a reply that failed to call natively; return what to offer the person for it."""

    def over_budget_reason(self) -> Phrase | None:
        """Return why nothing more may be spent, or None."""
