"""The questions of a session that runs elsewhere, asked at this terminal too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.events import ApprovalAsked, Reply
from modules.cli.attach.http import Packet
from modules.cli.input.approval_input import KeyboardApprover
from modules.cli.input.keyboard import TypedAhead
from modules.translator import Translator
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.cli.render.screen import CliScreen


class RemoteQuestions:
    """Asks until somebody answers, here or on another screen."""

    def __init__(self) -> None:
        self.answered = Stop()
        """Set when what is asked here was answered, or nobody asks it any more."""
        self._state: Packet = {"running": False, "asked": []}
        self._open_key = ""
        self._known_keys: set[str] = set()

    def update(self, state: Packet) -> None:
        """Take note of what is true of the session now; from any thread."""
        self._state = state
        self._known_keys.update(_asked_in(state))
        if self._is_closed(self._open_key):
            self.answered.set()

    def on_server_restart(self) -> None:
        """Take note that there is another server, which asks again what is still open."""
        self._known_keys.clear()
        self.answered.set()

    def ask(
        self, event: ApprovalAsked, screen: CliScreen, send: Callable[[ApprovalAsked, Reply], bool]
    ) -> None:
        """Ask on *screen*; *send* hands in a reply and returns whether the question is over."""
        self.answered.clear()
        self._open_key = event.key or event.call_id
        if self._is_closed(self._open_key):
            self.answered.set()
        while (reply := screen.show(event)) is not None:
            if send(event, reply):
                break
        self._open_key = ""

    def _is_closed(self, key: str) -> bool:
        """Return whether the question was answered; it is announced before it counts as asked."""
        is_over = key in self._known_keys or not self._state["running"]
        return bool(key) and is_over and key not in _asked_in(self._state)


def _asked_in(state: Packet) -> Sequence[str]:
    """Return the keys of what is asked; an older server tells the calls only."""
    asked: Sequence[str] = state["asked_keys" if "asked_keys" in state else "asked"]
    return asked


class RemoteApprover(KeyboardApprover):
    """The person at this terminal; *request_stop* stops the turn on the server."""

    def __init__(
        self,
        answered: Stop,
        translator: Translator,
        typed_ahead: TypedAhead,
        request_stop: Callable[[], None],
    ) -> None:
        super().__init__(sys.stdin.fileno(), answered, translator, typed_ahead)
        self._request_stop = request_stop

    def stop(self) -> None:
        self._request_stop()
