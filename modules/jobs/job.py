"""One job: its process, its output since last asked, its ports and its end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Literal

from core.tools import ToolError
from modules.sandbox.network.listening_ports import listening_ports, sockets_of
from modules.sandbox.run.execution import Background, Execution
from modules.sandbox.run.ring_output import RingOutput
from modules.sandbox.sandbox import Limits, Network, Program, Result, Sandbox
from modules.sandbox.types import MEBIBYTE, NO_TIME_LIMIT
from utils.i18n import Phrase, UserError
from utils.text.clean import clean
from utils.waiting import Stop

KEPT_OUTPUT = 4 * MEBIBYTE
"""Bytes of the newest output that are kept of each job."""
LIMITS = Limits(seconds=NO_TIME_LIMIT, total_output=sys.maxsize)
_PORT_INTERVAL = 0.3  # seconds between two looks at the ports
_INPUT_INTERVAL = 0.02  # seconds until a full pipe is tried again
_INPUT_SECONDS = 5.0  # that a program may take to read what is typed
_SEARCH_INTERVAL = 0.05  # seconds between two searches of the output, at least

WaitEnd = Literal["found", "ended", "timed out", "stopped"]
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
        self._started_at = time.monotonic()
        self._ended = threading.Event()
        self._stop = Stop()
        self._execution: Execution | None = None

    def start(self, sandbox: Sandbox, network: Network | None) -> None:
        self.has_network = network is not None
        run = threading.Thread(target=self._run, args=(sandbox, network), name=f"job {self.number}")
        run.daemon = True
        run.start()

    # --- its threads -----------------------------------------------------------------------------

    def _run(self, sandbox: Sandbox, network: Network | None) -> None:
        program = Program("bash", self.command, reads_input=True)
        background = Background(self._output, self._on_start)
        try:
            run = sandbox.run(program, LIMITS, self._stop, network, background)
            while True:
                next(run)
        except StopIteration as end:
            self.result = end.value
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
        watch = threading.Thread(target=self._watch_ports, name=f"ports {self.number}", daemon=True)
        watch.start()

    def _watch_ports(self) -> None:
        """Look for the ports on which it listens; whose a socket is does not change."""
        listening: dict[str, int] = {}
        told = 0
        while not self._ended.wait(_PORT_INTERVAL):
            if self._output.total != told:
                told = self._output.total
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
        return self.result.seconds if self.result else time.monotonic() - self._started_at

    def new_output(self) -> str:
        """Return the output since this was last asked; what is dropped is said."""
        data, dropped = self._output.read(self._read)
        data = data if self._ended.is_set() else _without_partial_character(data)
        self._read += dropped + len(data)
        note = f"[… {dropped:,} bytes of output are no longer kept …]\n" if dropped else ""
        return note + _shown(data)

    def tail(self, characters: int) -> str:
        """Return the end of the output, without counting it as read."""
        data, _ = self._output.read(max(0, self._output.total - 4 * characters))
        return _shown(data)[-characters:]

    # --- what can be done ------------------------------------------------------------------------

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
        """Write *text* to its input, a line; "" ends the input. Raises `ToolError`."""
        self._search_from = self._output.total
        execution = self._execution
        if execution is None:
            raise ToolError(f"Job {self.number} has ended: nothing can be typed.")
        if not text:
            execution.close_input()
            return
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

    def stop(self) -> None:
        """Kill it and wait until nothing of it is alive."""
        self._stop.set()
        self._ended.wait()

    def close(self) -> None:
        """Stop it and let go of its output."""
        self.stop()
        self._output.close()


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
