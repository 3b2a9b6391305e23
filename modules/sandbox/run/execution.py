"""One confined program, from its start to the death of its last process.

A thread of its own starts, watches and ends it: the kernel ties the death of what it starts to
that very thread, and no limit may depend on how fast somebody takes the output.
"""

from __future__ import annotations

import selectors
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from queue import SimpleQueue

from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.limits.cgroup import Cgroup
from modules.sandbox.limits.rlimits import set_limits
from modules.sandbox.limits.watchdog import Watchdog
from modules.sandbox.run.output import ProgramOutput
from modules.sandbox.run.process import Order, Process, read
from modules.sandbox.types import Limits, Result, Why
from utils.i18n import Phrase, phrase

_FIRST_LOOK = 0.03  # seconds until the watchdog looks
_LOOK_EVERY = 0.1
_NEVER = float("inf")
_DYING = 30.0  # seconds that killed processes may take to be gone


class NotStarted(Exception):
    """The sandbox could not be set up; the text is what it said."""


class Unkillable(Exception):
    """Killed processes have not gone in time; the kernel holds them (a dead disk, for instance)."""


class Execution:
    """A program in progress. `outputs` ends when nothing of it is alive any more.

    One whose order *waits* gets its text, its limits and its time by `begin`. Until then it may
    use what *limits* say, and as long as it likes.
    """

    def __init__(self, order: Order, limits: Limits) -> None:
        self._order = order
        self._limits = limits
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._output = ProgramOutput(limits.output)
        self._lock = threading.Lock()
        self._process: Process | None = None  # while it may be killed
        self._why: Why = "exited"
        self._watchdog: Watchdog | None = None
        self._group: Cgroup | None = None
        self._was_held_back = False
        self._next_look = _NEVER
        self._began: float | None = None  # on the monotonic clock, when its time began
        self._ready = threading.Event()
        self._ending: Result | BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="sandbox-call", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_ready(self, seconds: float) -> bool:
        """Wait until the program waits for its text; return whether it does."""
        return self._ready.wait(seconds) and self._thread.is_alive()

    def begin(self, text: str, limits: Limits) -> bool:
        """Let a program that is ready have its *text*; return whether it could be given."""
        with self._lock:
            if self._process is None or self._why != "exited":
                return False
            self._limits = limits
            self._began = time.monotonic()
            self._process.give(text)
            return True

    def stop(self) -> None:
        """Kill all of it now; may be called from any thread, at any time, again and again."""
        self._kill("stopped")

    def end(self) -> None:
        """Kill it and wait until it is gone."""
        self.stop()
        if self._thread.ident and self._thread is not threading.current_thread():
            self._thread.join()

    def outputs(self) -> Iterator[str]:
        """Yield the output as it comes, up to what `ProgramOutput.add` passes on."""
        while (text := self._queue.get()) is not None:
            if text:
                yield text

    def result(self) -> Result:
        """Wait for the end and return the result. Raises `NotStarted`."""
        self._thread.join()
        if not isinstance(self._ending, Result):
            raise self._ending or NotStarted("")
        return self._ending

    def _run(self) -> None:
        try:
            self._ending = self._watched()
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread
            self._ending = error
        finally:
            self._ready.set()
            self._queue.put(None)

    def _watched(self) -> Result:
        if not self._order.waits:
            self._began = time.monotonic()
        with ExitStack() as stack:
            for folder in self._order.folders[1:]:
                stack.callback(remove_scratch, folder)
            stack.callback(self._output.close)
            self._make_group(stack)
            process = Process(self._order, stack)
            try:
                self._hold(process)
                self._supervise(process)
            finally:
                self._let_go()
                process.read_news()
                process.kill()
                is_gone = process.wait(_DYING)
            if not is_gone:
                raise Unkillable
            self._ask_group()
            self._drain(process)
            seconds = time.monotonic() - self._began if self._began else 0.0
            return self._result(process.said("exit-code"), seconds)

    def _supervise(self, process: Process) -> None:
        """Pass output on and keep the limits until the outermost process has ended.

        Killed, it should be gone at once; asked again later, in case it was not.
        """
        with selectors.DefaultSelector() as selector:
            line = process.line.fileno() if process.line else None
            for descriptor in (process.output, process.status, process.end, line):
                if descriptor is not None:
                    selector.register(descriptor, selectors.EVENT_READ)
            extra = 0.0
            while True:
                deadline = self._began + self._limits.seconds + extra if self._began else _NEVER
                wait = max(0.0, min(deadline, self._next_look) - time.monotonic())
                ready = {key.fd for key, _ in selector.select(None if wait == _NEVER else wait)}
                if process.output in ready and not self._take(process):
                    selector.unregister(process.output)
                if process.end in ready:
                    return
                if process.status in ready and not self._listen(process):
                    selector.unregister(process.status)
                if line in ready and not self._heed(process):
                    selector.unregister(line)
                if time.monotonic() >= deadline:
                    self._kill("timed out")
                    extra += _DYING
                self._look()

    def _listen(self, process: Process) -> bool:
        """Let the program in when its walls stand; return whether more may be said."""
        inside, may_go_on = process.read_news()
        if inside is not None:
            set_limits(inside, self._limits, has_own_users=self._order.has_own_users)
            self._enter_group(inside)
            if not self._order.waits:
                self._watch(process)
            process.open_gate(self._order.text)
        return may_go_on

    def _heed(self, process: Process) -> bool:
        """Take in that a program is ready, or has begun; return whether more may be said."""
        if not process.line or not process.line.recv(1):
            return False
        if self._began:
            self._watch(process)
        self._ready.set()
        return True

    def _watch(self, process: Process) -> None:
        order = self._order
        self._watchdog = Watchdog(
            process.id, order.folders, self._limits, self._group, temporary=order.temporary
        )
        self._next_look = time.monotonic() + _FIRST_LOOK

    def _look(self) -> None:
        if self._watchdog and time.monotonic() >= self._next_look:
            if complaint := self._watchdog.complaint():
                self._kill(complaint)
            self._next_look = time.monotonic() + _LOOK_EVERY

    def _take(self, process: Process) -> bool:
        """Take what output there is; return whether more may come."""
        data = read(process.output)
        if data is not None:
            self._queue.put(self._output.add(data, final=not data))
        if self._output.total > self._limits.output_at_all:
            self._kill("output")
        return data != b""

    def _drain(self, process: Process) -> None:
        """Take what was written before the end; with everybody dead, that is finite."""
        while data := read(process.output):
            self._queue.put(self._output.add(data))
        self._queue.put(self._output.add(b"", final=True))

    def _result(self, exit_code: int | None, seconds: float) -> Result:
        head, tail, left_out = self._output.ends()
        why = self._why
        if why == "exited" and exit_code is None:
            if not self._output.total or head.startswith("bwrap: "):
                raise NotStarted(head.strip())
            why = "killed"
        code = exit_code if why == "exited" else None
        notes, middle = self._order.notes, self._output.middle()
        if self._was_held_back and why != "processes":
            notes = (*notes, _held_back(self._limits))
        return Result(code, why, head, tail, left_out, seconds, notes, middle)

    def _make_group(self, stack: ExitStack) -> None:
        if self._order.groups:
            try:
                self._group = stack.enter_context(self._order.groups.made(self._limits))
            except OSError as error:
                raise NotStarted(str(error)) from error

    def _enter_group(self, process: int) -> None:
        if self._group:
            try:
                self._group.take(process)
            except ProcessLookupError:  # it failed early
                return
            except OSError as error:
                raise NotStarted(str(error)) from error

    def _ask_group(self) -> None:
        """Take in what the kernel did to the program's processes."""
        if self._group:
            self._was_held_back = self._group.refusals() > 0
            if self._group.memory_kills():
                self._kill("memory")

    def _hold(self, process: Process) -> None:
        with self._lock:
            self._process = process
            if self._why != "exited":
                process.kill()

    def _let_go(self) -> None:
        with self._lock:
            self._process = None

    def _kill(self, why: Why) -> None:
        """End the call because of *why*; the first reason is the one that is told."""
        with self._lock:
            if self._why == "exited":
                self._why = why
            if self._process:
                self._process.kill()


def _held_back(limits: Limits) -> Phrase:
    return phrase("It wanted more than {n} processes at once and got no more.", n=limits.processes)
