"""Commands with ids: however often one is sent, it is done once and answered the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Lock
from typing import Annotated, Any

from modules.web.http.errors import bad
from modules.web.http.params import Within

Answer = dict[str, Any]
_REMEMBERED = 500
LONGEST = 100
"""Characters of an id."""
Command = Annotated[str, "An id of yours: the same twice is done once.", Within(0, LONGEST)]


class IdempotencyCache:
    """Remembers the newest commands. May be used from any thread."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Future[Answer]] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, command: str) -> bool:
        return command in self._answers

    def learn(self, commands: Iterable[str], answer: Answer) -> None:
        """Take *commands* as done before, with *answer*; those that are known stay as they are."""
        with self._lock:
            for command in commands:
                if command not in self._answers:
                    self._answers[command] = Future()
                    self._answers[command].set_result(answer)

    def do(self, command: str, work: Callable[[], Answer]) -> Answer:
        """Do *work* if *command* was never seen before; return its answer, the same every time."""
        if not command or len(command) > LONGEST:
            raise bad(f"a command must bear an id of at most {LONGEST} characters")
        with self._lock:
            answer = self._answers.get(command)
            if is_new := answer is None:
                answer = self._answers[command] = Future()
                while len(self._answers) > _REMEMBERED:
                    self._answers.popitem(last=False)
        if is_new:
            try:
                answer.set_result(work())
            except BaseException as error:  # whoever waits for the same command is told as well
                answer.set_exception(error)
                raise
        return answer.result()
