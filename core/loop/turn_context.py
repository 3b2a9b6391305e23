"""What a turn needs of the house around it: a model to ask, and a terminal to live in."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from core.cards import Card
from core.conversation.messages import Record, ToolCall, Wire
from core.events import Event, Reply, TurnFinished
from core.feature import PostRunConfirmation
from core.loop.approval import Approval
from core.loop.thinking import Mode
from core.tools import Outcome, Tool, Toolbox
from utils.i18n import Phrase
from utils.llm.completion import StreamItem
from utils.waiting import Stop

Turn = Generator[Event, Reply | None, None]


class Model(Protocol):
    @property
    def is_well_known(self) -> bool:
        """Whether it is one of those that are known for calling their tools."""

    def stream(
        self, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool, stop: Stop
    ) -> Iterator[StreamItem]:
        """Stream one reply, its `Completion` last.

        Raises `ModelError` when there is none to be had, `Stopped` on *stop*.
        """


class TurnContext(Protocol):
    """What a turn needs of its terminal."""

    tools: Toolbox
    approval: Approval
    stop: Stop
    mode: Mode
    step_limit: int

    @property
    def model(self) -> Model: ...

    def make_room(self) -> Iterator[Event]:
        """See to it that the next request fits; tell the person of what is done for that."""

    def make_room_again(self) -> Generator[Event, None, bool]:
        """Make room after a request was refused as too long; return whether there is more now."""

    def request(self) -> list[Wire]:
        """Return the messages of the next model call."""

    def record(self, record: Record) -> None:
        """Keep *record*; it is durable on return."""

    def break_off(self, calls: Iterable[ToolCall]) -> None:
        """Be told that the turn is left while *calls* have no answer."""

    def was_asked(self, call_id: str) -> bool:
        """Return whether the person was asked about this call before the session was left."""

    def before(self, tool: Tool, call_id: str) -> None:
        """Be told that *tool* is about to run."""

    def standing(self) -> str:
        """Return a short text that is another when the folder or the todos are."""

    def settle(self, tool: Tool, call_id: str) -> None:
        """Be told that *tool* is over; called before its answer is recorded."""

    def doubt(self, tool: Tool, call_id: str) -> PostRunConfirmation | None:
        """Return what the person must decide about a call that has been settled."""

    def follow(self, outcome: Outcome) -> None:
        """Be told what came of a call in the end."""

    def warnings(self) -> Sequence[Phrase]:
        """Return what the person should see and was not told yet."""

    def blind(self, text: str) -> str:
        """Return *text* without what nobody may see; see `core.redaction.Redactor`."""

    def unsure(self, text: str) -> int:
        """Return how many characters at the end may begin something that nobody may see."""

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card:
        """Return what a call with *arguments* would do, for the person who is asked about it."""

    def reveal(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments that *tool* gets for those that the model gave."""

    def finish(self, end: TurnFinished) -> None:
        """Be told how the turn ends, before anybody sees it."""

    def still_open(self) -> Phrase | None:
        """Return what the person should know is left to do."""

    def spent(self) -> Phrase | None:
        """Return why nothing more may be spent, or None."""
