"""One job: its process, its output since last asked, its ports and its end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.tools import ToolError
from modules.sandbox.network.listening_ports import listening_ports, sockets_of
from modules.sandbox.network.shared_network import Namespaces
from modules.sandbox.run.execution import Background, Execution
from modules.sandbox.run.ring_output import RingOutput
from modules.sandbox.sandbox import Sandbox
from modules.sandbox.types import MEBIBYTE, NO_TIME_LIMIT, Limits, Network, Program, Result
from utils.i18n import Phrase, UserError
from utils.text.clean import clean
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.jobs.job_terminal import JobTerminal

KEPT_OUTPUT = 4 * MEBIBYTE
"""Bytes of the newest output that are kept of each job."""
_LIMITS = Limits(seconds=NO_TIME_LIMIT, total_output=sys.maxsize)
_PORT_INTERVAL = 0.3  # seconds between two looks at the ports
_INPUT_INTERVAL = 0.02  # seconds until a full pipe is tried again
_INPUT_SECONDS = 5.0  # that a program may take to read what is typed
_SEARCH_INTERVAL = 0.05  # seconds between two searches of the output, at least

_SCREEN_INTERVAL = 0.5  # seconds between two screens that are shown while one is waited for
_FIRST_SCREEN_SECONDS = 5.0  # that a program may take to draw anything
_QUIET_SECONDS = 0.6  # without anything new, after which a screen is taken for whole

WaitEnd = Literal["found", "ended", "timed out", "stopped", "quiet"]
JobChange = Literal["output", "port", "end"]


class BackgroundJob:
    """A program in the sandbox that runs until it ends or is stopped. Threads may share it.

    *number* counts from 1 in its session, *call_id* is the call that started it, *tier* names what
    confines it. *on_change* is called, by a thread of the job's, now and then while it writes, when
    a port opens, and at the end.
    """

    def __init__(
        self,
        number: int,
        call_id: str,
        command: str,
        tier: str,
        folder: Path,
        on_change: Callable[[BackgroundJob, JobChange], None],
    ) -> None:
        """Raises `OSError` where *folder* cannot take its output."""
        self.number, self.call_id, self.command, self.tier = number, call_id, command, tier
        self.limits = _LIMITS
        self.ports: tuple[int, ...] = ()
        self.result: Result | None = None
        self.failure: Phrase | None = None
        """Why it could not be run, or not to its end."""
        self._on_change = on_change
        self._condition = threading.Condition()
        self._output = RingOutput(folder, KEPT_OUTPUT, self._notify)
        self._read = 0  # bytes of the output that were read
        self._search_from = 0  # bytes of the output that were there at the last input
        self.has_network = False
        """Whether it may reach the network."""
        self.network_hosts: tuple[str, ...] = ()
        """The hosts there that it may reach; those of packages are not among them."""
        self.started_at = time.localtime()
        """When, on this machine's clock."""
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._stop = Stop()
        self._execution: Execution | None = None

        self.terminal: JobTerminal | None = None
        """Its terminal, if it was started with one."""

    def start(
        self,
        sandbox: Sandbox,
        network: Network | None,
        *,
        has_terminal: bool = False,
        at_end: Callable[[], Sequence[Phrase]] = tuple,
    ) -> None:
        """Run it in *sandbox*; *at_end* is called then, and returns notes on its result."""
        self.has_network = network is not None
        self.network_hosts = tuple(network.hosts) if network else ()
        if has_terminal:
            from modules.jobs.job_terminal import JobTerminal  # and pyte: used by few

            self.terminal = JobTerminal(self._output, self._answer)
        run = threading.Thread(
            target=self._run, args=(sandbox, network, at_end), name=f"job {self.number}"
        )
        run.daemon = True
        run.start()

    # --- its threads -----------------------------------------------------------------------------

    def _run(
        self, sandbox: Sandbox, network: Network | None, at_end: Callable[[], Sequence[Phrase]]
    ) -> None:
        has_terminal = self.terminal is not None
        program = Program("bash", self.command, reads_input=True, has_terminal=has_terminal)
        background = Background(self._output, self._on_start)
        try:
            run = sandbox.run(program, self.limits, self._stop, network, background)
            while True:
                next(run)
        except StopIteration as end:
            result: Result = end.value
            self.result = result  # whatever comes of what is done at its end
            self.result = replace(result, notes=(*result.notes, *at_end()))
        except UserError as error:
            self.failure = error.message
        finally:
            self._execution = None
            self.ports = ()
            self._ended.set()
            self._notify()
            self._on_change(self, "end")

    def _on_start(self, execution: Execution) -> None:
        self._execution = execution
        self._notify()
        watch = threading.Thread(target=self._watch_ports, name=f"ports {self.number}", daemon=True)
        watch.start()

    def _watch_ports(self) -> None:
        """Look for the ports on which it listens; whose a socket is does not change."""
        listening: dict[str, int] = {}
        told = 0
        while not self._ended.wait(_PORT_INTERVAL):
            if self._output.total != told:
                told = self._output.total
                if self.terminal:
                    self.terminal.update()
                self._on_change(self, "output")
            process = self._execution.inner_pid if self._execution else None
            if process is None or (now := listening_ports(process)) == listening:
                continue
            listening, own = now, sockets_of(process)
            ports = tuple(sorted({port for socket, port in now.items() if socket in own}))
            if not self._ended.is_set() and ports != self.ports:
                has_new = bool(set(ports) - set(self.ports))
                self.ports = ports
                self._notify()
                if has_new:
                    self._on_change(self, "port")

    def _notify(self) -> None:
        with self._condition:
            self._condition.notify_all()

    # --- what there is ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return not self._ended.is_set()

    @property
    def was_stopped(self) -> bool:
        """Whether somebody stopped it, who need not be told."""
        return self._stop.is_set()

    @property
    def seconds(self) -> float:
        """Seconds that it has run, or ran."""
        return self.result.seconds if self.result else time.monotonic() - self._began

    def new_output(self) -> str:
        """Return the output since this was last asked; what is dropped is said."""
        data, dropped = self._output.read(self._read)
        data = data if self._ended.is_set() else _without_partial_character(data)
        self._read += dropped + len(data)
        note = f"[… {dropped:,} bytes of output are no longer kept …]\n" if dropped else ""
        return note + _shown(data)

    def tail(self, characters: int) -> str:
        """Return the end of the output, or the screen, without counting it as read."""
        if self.terminal:
            return self.terminal.text()
        data, _ = self._output.read(max(0, self._output.total - 4 * characters))
        return _shown(data)[-characters:]

    def open_network(self, stack: ExitStack) -> Namespaces | None:
        """Return the namespaces of its network, which *stack* closes; None when it has ended.

        Raises `OSError`.
        """
        execution = self._execution
        return execution.open_network(stack) if execution else None

    # --- what can be done ------------------------------------------------------------------------

    def wait_for_start(self, stop: Stop) -> None:
        """Wait until its program runs, or cannot be run, or until *stop*."""
        with stop.on_stop(self._notify), self._condition:
            self._condition.wait_for(
                lambda: self._execution is not None or not self.is_running or stop.is_set()
            )

    def outputs_until(
        self, text: str, seconds: float, stop: Stop, *, until_port: bool = False
    ) -> Generator[str, None, WaitEnd]:
        """Yield the new output as it comes; return how the waiting ended.

        That is with *text*, searched for in all since the last input, or with the job, or after
        *seconds*; with *until_port*, also "found" when a port opens.
        """
        end = time.monotonic() + seconds
        with stop.on_stop(self._notify):
            while True:
                seen, is_running = self._output.total, self.is_running
                if new := self.new_output():
                    yield new
                if (text and self._holds(text)) or (until_port and self.ports):
                    return "found"
                if not is_running:
                    return "ended"
                if stop.is_set():
                    return "stopped"
                if time.monotonic() >= end:
                    return "timed out"
                self._wait_for_news(seen, end, stop, until_port=until_port)

    def wait_for_screen(
        self, text: str, seconds: float, stop: Stop, *, since: int | None = None
    ) -> Generator[str, None, WaitEnd]:
        """Yield the screen now and then while it changes, until it shows *text*, or till the end.

        Return how the waiting ended. With *since*, what `written` was before the program had
        something to do, that is when what it draws then is whole: nothing more comes ("quiet").
        """
        assert self.terminal  # noqa: S101 - only such jobs are waited for here
        now = time.monotonic()
        end, quiet_at, show_at = now + seconds, now + _FIRST_SCREEN_SECONDS, now + _SCREEN_INTERVAL
        last = self.terminal.text()
        with stop.on_stop(self._notify):
            while True:
                seen, is_running, now = self.written, self.is_running, time.monotonic()
                if since is not None and seen != since:
                    since, quiet_at = seen, now + _QUIET_SECONDS
                if now >= show_at and (shown := self.terminal.text()) != last:
                    show_at, last = now + _SCREEN_INTERVAL, shown
                    yield f"\n{shown}\n"
                if text and self.terminal.shows_newly(text):
                    return "found"
                until = end if since is None else min(end, quiet_at)
                if not is_running or stop.is_set() or now >= until:
                    return _end_of_wait(is_running, stop, now >= end)
                self._wait_for_news(seen, until, stop, until_port=False)

    @property
    def written(self) -> int:
        """Bytes that it has written so far."""
        return self._output.total

    def _wait_for_news(self, seen: int, end: float, stop: Stop, *, until_port: bool) -> None:
        with self._condition:
            self._condition.wait_for(
                lambda: (
                    self._output.total != seen
                    or not self.is_running
                    or stop.is_set()
                    or (until_port and self.ports)
                ),
                max(0.0, end - time.monotonic()),
            )
        stop.wait(min(_SEARCH_INTERVAL, max(0.0, end - time.monotonic())))

    def _holds(self, text: str) -> bool:
        return text in _shown(self._output.read(self._search_from)[0])

    def type(self, text: str, stop: Stop) -> None:
        """Write *text* to its input, a line, to a terminal its keys; "" ends the input.

        Raises `ToolError`.
        """
        self._search_from = self._output.total
        execution = self._execution
        if execution is None:
            raise ToolError(f"Job {self.number} has ended: nothing can be typed.")
        if not text:
            execution.close_input()
            return
        if self.terminal:
            left = self.terminal.keys(text)
        else:
            data = text.encode(errors="replace")
            left = data if data.endswith(b"\n") else data + b"\n"
        end = time.monotonic() + _INPUT_SECONDS
        try:
            while left := left[execution.write_input(left) :]:
                if stop.wait(_INPUT_INTERVAL) or time.monotonic() > end:
                    raise ToolError(
                        f"Job {self.number} does not read its input: the last {len(left):,} bytes "
                        "were not taken."
                    )
        except BrokenPipeError:
            raise ToolError(f"Job {self.number} takes no input any more.") from None

    def _answer(self, data: bytes) -> None:
        """Send what its terminal says of itself; lost where it does not read."""
        if execution := self._execution:
            with suppress(BrokenPipeError):
                execution.write_input(data)

    def stop(self) -> None:
        """Kill it and wait until nothing of it is alive."""
        self._stop.set()
        self._ended.wait()

    def close(self) -> None:
        """Stop it and let go of its output."""
        self.stop()
        self._output.close()


def _end_of_wait(is_running: bool, stop: Stop, is_late: bool) -> WaitEnd:
    if not is_running:
        return "ended"
    if stop.is_set():
        return "stopped"
    return "timed out" if is_late else "quiet"


def _shown(data: bytes) -> str:
    return clean(data.decode(errors="replace"))


def _without_partial_character(data: bytes) -> bytes:
    """Return *data* without the first bytes of a UTF-8 character whose rest is to come."""
    for length in range(1, min(4, len(data) + 1)):
        byte = data[-length]
        if byte & 0xC0 != 0x80:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return data[:-length] if needed > length else data
    return data
