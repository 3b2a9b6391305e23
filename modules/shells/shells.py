"""The shells of a server: opened, found by their numbers, and all ended with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from typing import Any, Protocol

from modules.sandbox.run.execution import Background
from modules.sandbox.types import Result
from modules.shells.launch import Size, own_shell, sandboxed_shell
from modules.shells.shell import Deliver, Place, Shell
from utils.i18n import UserError, phrase
from utils.waiting import Stop

MAX_SHELLS = 8
"""Shells of a server that there may be at once, those that ended and are still shown included."""
ALONE_SECONDS = 1_800.0
"""Seconds that a shell goes on when no page shows it."""


class RunsShells(Protocol):
    """Runs commands with a terminal until they end."""

    def run_shell(
        self,
        command: str,
        stop: Stop,
        background: Background,
        environment: Mapping[str, str] | None,
    ) -> Generator[str, None, Result]:
        """Run *command* in the sandbox, or with *environment* outside of it."""


class Shells:
    """Shells that *runner* runs; those outside of the sandbox have *environment*.

    *deliver* sends a page what it shows of one; *on_change* is called when the list is another.
    """

    def __init__(
        self,
        runner: RunsShells,
        environment: Mapping[str, str],
        deliver: Deliver,
        on_change: Callable[[], None],
        *,
        alone_seconds: float = ALONE_SECONDS,
    ) -> None:
        self._runner = runner
        self._environment = environment
        self._deliver = deliver
        self._on_change = on_change
        self._alone_seconds = alone_seconds
        self._lock = threading.Lock()
        self._shells: dict[int, Shell] = {}
        self._timers: dict[int, threading.Timer] = {}
        self._last_number = 0
        self._is_closed = False

    def open(self, place: Place, size: Size) -> int:
        """Start a shell and return its number. Raises `UserError` when there are too many."""
        with self._lock:
            if self._is_closed or len(self._shells) >= MAX_SHELLS:
                raise UserError(
                    phrase("{n:,} terminals are open. Close one first.", n=len(self._shells))
                )
            self._last_number = number = self._last_number + 1
            environment = None if place == "sandbox" else self._environment
            command = sandboxed_shell(size) if environment is None else own_shell(size, environment)

            def run(stop: Stop, background: Background) -> Generator[str, None, Result]:
                return self._runner.run_shell(command, stop, background, environment)

            shell = Shell(number, place, run, self._deliver, lambda: self._changed(shell))
            self._shells[number] = shell
            shell.start(size)
        self._changed(shell)
        return number

    def find(self, number: int) -> Shell:
        """Raises `UserError` where there is none."""
        if (shell := self._shells.get(number)) is None:
            raise UserError(phrase("This terminal is closed. Open another one."))
        return shell

    def rows(self) -> list[dict[str, Any]]:
        return [shell.row() for shell in list(self._shells.values())]

    def leave(self, page: str) -> None:
        """Send *page*, which is gone, nothing any more."""
        for shell in list(self._shells.values()):
            shell.hide(page)

    def end(self, number: int) -> None:
        """End a shell with all that it has started, and forget it."""
        with self._lock:
            shell = self._shells.pop(number, None)
            self._stop_waiting(number)
        if shell:
            shell.end()
            self._on_change()

    def close(self) -> None:
        """End all shells, all at the same time; no other is opened from now on."""
        with self._lock:
            self._is_closed = True
            shells, self._shells = list(self._shells.values()), {}
            for number in list(self._timers):
                self._stop_waiting(number)
        for shell in shells:
            shell.stop()
        for shell in shells:
            shell.end()

    def _changed(self, shell: Shell) -> None:
        """Have *shell* end in time if no page shows it, and forget one that has ended unseen."""
        with self._lock:
            number = shell.number
            self._stop_waiting(number)
            if self._shells.get(number) is not shell:
                return
            if not shell.is_watched:
                timer = threading.Timer(self._alone_seconds, self.end, [number])
                timer.daemon = True
                self._timers[number] = timer
                timer.start()
        self._on_change()

    def _stop_waiting(self, number: int) -> None:
        if timer := self._timers.pop(number, None):
            timer.cancel()
