"""One racer at work, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

from core.events import ApprovalAsked, Event, Reply
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from utils.i18n import Phrase, UserError, phrase

LogFailure = Callable[[Exception], Phrase]
"""Keeps an error of ours and returns the sentence about it."""


class Over(NamedTuple):
    """A racer's thread is at its end; *problem* is why nothing came of it, None where it worked."""

    problem: Phrase | None = None


class StopAsked(NamedTuple):
    """Somebody wants the race to stop."""


Said = Event | Over | StopAsked
Inbox = SimpleQueue[tuple[int, Said]]
"""What racers say, each with its number; 0 is for what no racer says."""


class RacerThread:
    """Has *terminal* do *task*; everything that happens goes to *inbox* as the racer *number*'s.

    A question waits for `answer`. The terminal is the thread's while that runs.
    """

    def __init__(
        self,
        number: int,
        terminal: MainTerminal,
        task: str,
        inbox: Inbox,
        log_failure: LogFailure,
    ) -> None:
        self._number = number
        self._terminal = terminal
        self._inbox = inbox
        self._log_failure = log_failure
        self._replies: SimpleQueue[Reply | None] = SimpleQueue()
        # Made here, for it forgets a stop from before: one that comes from now on counts.
        self._turn = terminal.run_line(task, typed="")
        self._thread = threading.Thread(target=self._run, name=f"racer-{number}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def answer(self, reply: Reply | None) -> None:
        """Answer the question that was asked last; None is nobody's."""
        self._replies.put(reply)

    def stop(self) -> None:
        """Have it end as soon as it can; its last word in *inbox* is `Over` all the same."""
        self._terminal.stop.set()

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        problem: Phrase | None = None
        try:
            drive(self._turn, self._show)
        except UserError as error:
            problem = error.message
        except Exception as error:  # noqa: BLE001 - ours; the race goes on without this racer
            problem = self._log_failure(error)
        finally:
            self._inbox.put((self._number, Over(problem)))

    def _show(self, event: Event) -> Reply | None:
        self._inbox.put((self._number, event))
        if not isinstance(event, ApprovalAsked):
            return None
        with self._terminal.stop.on_stop(lambda: self._replies.put(None)):
            return self._replies.get()


UNSAID = phrase("The task is not one for the model.")
"""What is said where a task came to no end of its own: it was answered at once."""
