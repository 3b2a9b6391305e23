"""Idempotency of commands with ids: each is done once and answered the same every time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Lock
from typing import Annotated, Any

from modules.web.http.errors import bad_request
from modules.web.http.params import Bounds

Json = dict[str, Any]
_MAX_COMMANDS = 500
MAX_ID_LENGTH = 100
"""Characters of an id."""
CommandId = Annotated[str, "An id of yours: the same twice is done once.", Bounds(0, MAX_ID_LENGTH)]


class IdempotencyCache:
    """Cache of the answers to the newest commands. May be used from any thread."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Future[Json]] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, command: str) -> bool:
        return command in self._answers

    def mark_done(self, commands: Iterable[str], result: Json) -> None:
        """Take *commands* as done before, with *result*; those that are known stay as they are."""
        with self._lock:
            for command in commands:
                if command not in self._answers:
                    self._answers[command] = Future()
                    self._answers[command].set_result(result)

    def run_once(self, command: str, work: Callable[[], Json]) -> Json:
        """Do *work* if *command* was never seen before; return its answer, the same every time."""
        if not command or len(command) > MAX_ID_LENGTH:
            raise bad_request(f"a command must bear an id of at most {MAX_ID_LENGTH} characters")
        with self._lock:
            future = self._answers.get(command)
            if is_new := future is None:
                future = self._answers[command] = Future()
                while len(self._answers) > _MAX_COMMANDS:
                    self._answers.popitem(last=False)
        if is_new:
            try:
                future.set_result(work())
            except BaseException as error:  # whoever waits for the same command is told as well
                future.set_exception(error)
                raise
        return future.result()
