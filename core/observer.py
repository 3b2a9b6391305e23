"""Watching a terminal at work, without a part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.conversation.messages import Wire
from core.events import ApprovalAsked, CommandAnswered, Event, Reply
from core.loop.turn_context import Turn


class Observer(Protocol):
    """Hears of everything before a screen does; none of these may raise."""

    def saw(self, event: Event) -> None:
        """Be told of an event of a turn."""

    def replied(self, question: ApprovalAsked, reply: Reply | None) -> None:
        """Be told what the person said to *question*, None being nothing."""

    def requested(self, messages: Sequence[Wire]) -> None:
        """Be told that the model is about to be asked."""

    def answered(self, answer: CommandAnswered) -> None:
        """Be told how a slash command was answered."""


def observed(turn: Turn, observer: Observer) -> Turn:
    """Yield what *turn* yields and send it the replies, *observer* hearing of both."""
    reply: Reply | None = None
    try:
        while True:
            event = turn.send(reply)
            if not isinstance(event, CommandAnswered):  # told where commands are run
                observer.saw(event)
            reply = yield event
            if isinstance(event, ApprovalAsked):
                observer.replied(event, reply)
    except StopIteration:
        return
    finally:
        turn.close()
