"""Observer of a terminal at work, without a part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.conversation.messages import Wire
from core.conversation.request_prefix import PrefixBreak
from core.events import ApprovalAsked, CommandAnswered, Event, Reply
from core.loop.turn_context import Turn


class Observer(Protocol):
    """Is called with everything before a screen shows it; none of these may raise."""

    def on_event(self, event: Event) -> None:
        """Called with each event of a turn."""

    def on_reply(self, question: ApprovalAsked, reply: Reply | None) -> None:
        """Called with the person's reply to *question*, None being no reply."""

    def on_request(self, messages: Sequence[Wire]) -> None:
        """Called before each request to the model, with its messages."""

    def on_prefix_break(self, prefix_break: PrefixBreak) -> None:
        """Called before a request that does not begin with the one before it."""

    def on_command_answered(self, answer: CommandAnswered) -> None:
        """Called with the answer to a slash command."""


def observe(turn: Turn, observer: Observer) -> Turn:
    """Yield what *turn* yields and send it the replies; *observer* hears of each event.

    It hears of the replies where they count, which may not be what the screen said
    (`core.loop.current_question`).
    """
    reply: Reply | None = None
    try:
        while True:
            event = turn.send(reply)
            if not isinstance(event, CommandAnswered):  # told where commands are run
                observer.on_event(event)
            reply = yield event
    except StopIteration:
        return
    finally:
        turn.close()
