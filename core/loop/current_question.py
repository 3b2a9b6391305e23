"""The question that a session asks now, which may be answered elsewhere than on its own screen."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.events import ApprovalAsked, Informed, Reply, ToolStarted
from core.loop.approval_flow import resolve_approval
from utils.i18n import UserError, phrase
from utils.waiting import Stop

if TYPE_CHECKING:
    from core.loop.turn_context import Turn
    from core.tools import Toolbox

Deliver = Callable[[str, Reply], bool]
"""Gives the question with the key its reply; returns False when nobody waits for it any longer."""
OnAsked = Callable[[ApprovalAsked | None], None]


@dataclass(frozen=True)
class AskedNow:
    """What is asked: its *key*, which no other question has, and the *arguments* of the call.

    The key of one that is asked anew, for another reason or by another call, is another.
    The *event* has it as well.
    """

    key: str
    event: ApprovalAsked
    arguments: Mapping[str, Any] = field(default_factory=dict)


class CurrentQuestion:
    """Follows the turns of one session; any thread may look and answer.

    The first answer counts; but a no of its own screen does against a yes that it met, which came
    before it was led away.
    """

    def __init__(
        self,
        tools: Callable[[], Toolbox],
        on_reply: Callable[[ApprovalAsked, Reply | None], None] = lambda _question, _reply: None,
        on_asked: OnAsked = lambda _: None,
    ) -> None:
        """*on_reply* is told what reply counts, wherever it was given; *on_asked* of each question
        before it is put, and None once it was answered."""
        self._tools = tools
        self._on_reply = on_reply
        self._on_asked = on_asked
        self._lock = threading.Lock()
        self._asked: AskedNow | None = None
        self._reply: Reply | None = None
        self._has_reply = False
        self._answered = Stop()
        self._deliver: Deliver | None = None

    # --- its own screen --------------------------------------------------------------------------

    def take_answers(self) -> Stop:
        """Let what is asked be answered elsewhere; return what is set when it was.

        The screen promises to wait no longer then, and to reply None: it was led away. Any other
        reply is the word of who sits there.
        """
        self._deliver = self._keep
        return self._answered

    def take_answers_by(self, deliver: Deliver) -> None:
        """Let what is asked be answered elsewhere, by *deliver*; the screen replies with that."""
        self._deliver = deliver

    def follow(self, turn: Turn) -> Turn:
        """Yield what *turn* yields and send it the replies, also those from elsewhere."""
        reply: Reply | None = None
        started: ToolStarted | None = None
        try:
            while True:
                event = turn.send(reply)
                if isinstance(event, ToolStarted):
                    started = event
                if not isinstance(event, ApprovalAsked):
                    reply = yield event
                    continue
                event = replace(event, key=secrets.token_hex(8))
                self._on_asked(event)
                self._open(event, started)
                try:
                    own = yield event
                finally:
                    elsewhere, was_elsewhere = self._close()
                meets_yes = elsewhere is not None and elsewhere.yes
                is_refused_here = meets_yes and own is not None and not own.yes
                reply = own if is_refused_here else elsewhere or own
                self._on_asked(None)
                self._on_reply(event, reply)
                if was_elsewhere and not is_refused_here:
                    yield Informed(phrase("Answered on another screen."))
        except StopIteration:
            return
        finally:
            turn.close()

    def _open(self, event: ApprovalAsked, started: ToolStarted | None) -> None:
        arguments = event.arguments
        if arguments is None and started and started.call_id == event.call_id:
            arguments = dict(started.arguments)
        with self._lock:
            self._answered.clear()
            self._reply, self._has_reply = None, False
            self._asked = AskedNow(event.key, event, arguments or {})

    def _close(self) -> tuple[Reply | None, bool]:
        """End the question; return what was kept for it, and whether it was answered elsewhere."""
        with self._lock:
            self._asked = None
            return self._reply, self._has_reply

    def _keep(self, _key: str, reply: Reply) -> bool:
        self._reply = reply
        return True

    # --- elsewhere -------------------------------------------------------------------------------

    def now(self) -> AskedNow | None:
        """Return what is asked and can be answered from elsewhere, None for nothing."""
        with self._lock:
            return None if self._has_reply or self._deliver is None else self._asked

    def answer(self, key: str, reply: Reply) -> bool:
        """Answer the question *key*; return False when it is over or was answered before.

        Raises `UserError` or `ToolError` for a reply that its own screen would not take; the
        question then stays.
        """
        with self._lock:
            asked = self._asked
            if asked is None or asked.key != key or self._has_reply or self._deliver is None:
                return False
            self._check(asked, reply)
            # Within the lock: it ends no sooner, so that this can hit no later question.
            if not self._deliver(key, reply):
                return False
            self._has_reply = True
            self._answered.set()  # within the lock as well: it would end the wait for a later one
        return True

    def _check(self, asked: AskedNow, reply: Reply) -> None:
        event = asked.event
        is_beyond = (
            (reply.arguments is not None and not event.may_revise)
            or (reply.lasts and not (event.may_last and reply.pattern in ("", event.pattern)))
            or (reply.always and not event.pattern)
            or (reply.text and event.risk != "question")
        )
        if is_beyond or (not reply.yes and (reply.always or reply.lasts)):
            raise UserError(phrase("This question has no such answer."))
        tools = self._tools()
        if reply.yes and event.name in tools.specs and event.risk != "question":
            resolve_approval(reply, tools.find_installed(event.name), asked.arguments)
