"""The questions of a session that runs elsewhere, asked at this terminal too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.events import ApprovalAsked, Reply
from modules.cli.attach.http import Packet
from modules.cli.input.approval_input import Keyboard
from modules.cli.input.keyboard import TypedAhead
from modules.translator import Translator
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.cli.render.screen import CliScreen


class Questions:
    """Asks until somebody answers, here or on another screen."""

    def __init__(self) -> None:
        self.answered = Stop()
        """Set when what is asked here was answered, or nobody asks it any more."""
        self._state: Packet = {"running": False, "asked": []}
        self._open = ""
        self._seen: set[str] = set()

    def note(self, state: Packet) -> None:
        """Take note of what is true of the session now; from any thread."""
        self._state = state
        self._seen.update(state["asked"])
        if self._is_closed(self._open):
            self.answered.set()

    def restarted(self) -> None:
        """Take note that there is another server, which asks again what is still open."""
        self._seen.clear()
        self.answered.set()

    def ask(
        self, event: ApprovalAsked, screen: CliScreen, send: Callable[[str, Reply], bool]
    ) -> None:
        """Ask on *screen*; *send* hands in a reply and returns whether the question is over."""
        self.answered.clear()
        self._open = event.call_id
        if self._is_closed(event.call_id):
            self.answered.set()
        while (reply := screen.show(event)) is not None:
            if send(event.call_id, reply):
                break
        self._open = ""

    def _is_closed(self, call_id: str) -> bool:
        """Return whether the question was answered; it is told of before it counts as asked."""
        is_over = call_id in self._seen or not self._state["running"]
        return bool(call_id) and is_over and call_id not in self._state["asked"]


class RemoteApprover(Keyboard):
    """The person at this terminal; *ask_stop* stops the turn on the server."""

    def __init__(
        self, answered: Stop, words: Translator, ahead: TypedAhead, ask_stop: Callable[[], None]
    ) -> None:
        super().__init__(sys.stdin.fileno(), answered, words, ahead)
        self._ask_stop = ask_stop

    def stop(self) -> None:
        self._ask_stop()
