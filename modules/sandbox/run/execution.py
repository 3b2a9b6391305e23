"""One confined program, from its start to the death of its last process.

A thread of its own starts, watches and ends it: the kernel ties the death of what it starts to
that very thread, and no limit may depend on how fast somebody takes the output.
"""

from __future__ import annotations

import selectors
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue

from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.limits.cgroup import Cgroup
from modules.sandbox.limits.rlimits import set_limits
from modules.sandbox.limits.watchdog import Watchdog
from modules.sandbox.network.shared_network import Namespaces, namespaces_of
from modules.sandbox.run.mount_check import wrong_mount
from modules.sandbox.run.output import OutputSink, ProgramOutput
from modules.sandbox.run.process import LaunchSpec, Process, read_available
from modules.sandbox.types import ExitReason, Limits, Result
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

_FIRST_CHECK = 0.03  # seconds until the watchdog looks
_CHECK_INTERVAL = 0.1
_NEVER = float("inf")
_MAX_PIPE = 1 << 20
"""Bytes that may wait to be read from a program's output (Linux: `fs.pipe-max-size`)."""
_LONGEST_WAIT = 86_400.0  # seconds that the system can wait for at a time
_SETUP_FAILED = ("bwrap: ", "nsenter: ")
"""Beginnings of what is said when a sandbox is not set up."""
_KILL_TIMEOUT = 30.0  # seconds that killed processes may take to be gone


class NotStarted(Exception):
    """Failure to set up the sandbox; the text is what it said."""


class Unkillable(Exception):
    """Killed processes have not gone in time; the kernel holds them (a dead disk, for instance)."""


@dataclass(frozen=True, slots=True)
class Background:
    """Ties to a program that runs on: *output* takes what it writes, *on_start* is called with it.

    It is given its execution before the first output is waited for. *errors* takes the standard
    error of a program that wants it apart. Where *has_room* returns False, having waited up to the
    seconds that it is given, nothing more is read for now: the program waits when it writes.
    """

    output: OutputSink
    on_start: Callable[[Execution], None]
    errors: OutputSink | None = None
    has_room: Callable[[float], bool] = lambda _: True


class Execution:
    """Execution of a program. `outputs` ends when nothing of it is alive any more.

    One whose order *waits* gets its text, its limits and its time by `send_code`. Until then it may
    use what *limits* say, and as long as it likes.
    """

    def __init__(
        self,
        spec: LaunchSpec,
        limits: Limits,
        output: OutputSink | None = None,
        errors: OutputSink | None = None,
        has_room: Callable[[float], bool] = lambda _: True,
    ) -> None:
        """*output* takes what it writes, and stays open; without it *limits* say what is kept.
        *errors* takes its standard error where that is apart. *has_room* is as in `Background`."""
        self._spec = spec
        self._limits = limits
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._own_output = ProgramOutput(limits.output)
        self._output = output or self._own_output
        self._errors = errors
        self._has_room = has_room
        self._lock = threading.Lock()
        self._process: Process | None = None  # while it may be killed
        self._exit_reason: ExitReason = "exited"
        self._watchdog: Watchdog | None = None
        self._cgroup: Cgroup | None = None
        self._hit_process_limit = False
        self._next_check = _NEVER
        self._started_at: float | None = None  # on the monotonic clock, when its time began
        self._ready = threading.Event()
        self._ending: Result | BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="sandbox-call", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_ready(self, seconds: float) -> bool:
        """Wait until the program waits for its code; return whether it does."""
        return self._ready.wait(seconds) and self._thread.is_alive()

    def send_code(self, code: str, limits: Limits) -> bool:
        """Send a program that is ready its *code*; return whether it could be sent."""
        with self._lock:
            if self._process is None or self._exit_reason != "exited":
                return False
            self._limits = limits
            self._started_at = time.monotonic()
            self._process.send_code(code)
            return True

    def write_input(self, data: bytes) -> int:
        """Write what a program that reads input takes of *data* now; return how many bytes.

        Raises `BrokenPipeError` where nobody reads any more.
        """
        with self._lock:
            if self._process is None:
                raise BrokenPipeError
            return self._process.write_input(data)

    def resize(self, lines: int, columns: int) -> None:
        """Give the terminal of the program another size, which the program is told of."""
        with self._lock:
            if self._process is not None:
                self._process.resize(lines, columns)

    def close_input(self) -> None:
        """Let the program find the end of its input."""
        with self._lock:
            if self._process is not None:
                self._process.close_input()

    @property
    def inner_pid(self) -> int | None:
        """The first process inside as we see it, None while there is none."""
        with self._lock:
            return self._process.inner_pid if self._process else None

    def open_network(self, stack: ExitStack) -> Namespaces | None:
        """Return the namespaces of its network, which *stack* closes; None when it has ended.

        Raises `OSError`.
        """
        with self._lock:
            if self._process is None or self._process.inner_pid is None:
                return None
            namespaces = namespaces_of(self._process.inner_pid, stack)
            # Only of one that still lives can the number not have been another's by now.
            return None if self._process.has_inner_ended else namespaces

    def stop(self) -> None:
        """Kill all of it now; may be called from any thread, at any time, again and again."""
        self._kill("stopped")

    def stop_and_wait(self) -> None:
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
            self._ending = self._run_watched()
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread
            self._ending = error
        finally:
            self._ready.set()
            self._queue.put(None)

    def _run_watched(self) -> Result:
        if not self._spec.is_prewarmed:
            self._started_at = time.monotonic()
        with ExitStack() as stack:
            if self._spec.scratch:
                stack.callback(remove_scratch, self._spec.scratch)
            stack.callback(self._own_output.close)
            self._make_cgroup(stack)
            process = Process(self._spec, stack)
            try:
                self._set_process(process)
                self._supervise(process)
            finally:
                self._clear_process()
                process.read_status()
                process.kill()
                is_gone = process.wait(_KILL_TIMEOUT)
            if not is_gone:
                raise Unkillable
            self._check_cgroup()
            self._drain(process)
            seconds = time.monotonic() - self._started_at if self._started_at else 0.0
            return self._result(process.status_value("exit-code"), seconds)

    def _supervise(self, process: Process) -> None:
        """Pass output on and keep the limits until the outermost process has ended.

        Killed, it should be gone at once; asked again later, in case it was not.
        """
        with selectors.DefaultSelector() as selector:
            control = process.control.fileno() if process.control else None
            outputs = (process.output_fd, process.error_fd)
            for descriptor in (*outputs, process.status_fd, process.exit_fd, control):
                if descriptor is not None:
                    selector.register(descriptor, selectors.EVENT_READ)
            grace = 0.0
            while True:
                deadline = (
                    self._started_at + self._limits.seconds + grace if self._started_at else _NEVER
                )
                wait = max(0.0, min(deadline, self._next_check) - time.monotonic())
                ready = {key.fd for key, _ in selector.select(min(wait, _LONGEST_WAIT))}
                if process.output_fd in ready and not self._read_output(process):
                    selector.unregister(process.output_fd)
                if process.error_fd in ready and not self._read_errors(process):
                    selector.unregister(process.error_fd)
                if process.exit_fd in ready:
                    return
                if process.status_fd in ready and not self._on_status(process):
                    selector.unregister(process.status_fd)
                if control in ready and not self._on_ready(process):
                    selector.unregister(control)
                if time.monotonic() >= deadline:
                    self._kill("timed out")
                    grace += _KILL_TIMEOUT
                self._check_limits()

    def _on_status(self, process: Process) -> bool:
        """Start the program when its sandbox is set up; return whether more status may come."""
        inner_pid, may_continue = process.read_status()
        if inner_pid is not None:
            if self._spec.has_limits:
                self._limit(process, inner_pid)
            self._check_mounts(inner_pid)
            process.unblock(self._spec.code)
        return may_continue

    def _check_mounts(self, inner_pid: int) -> None:
        if not self._spec.checked_mounts:
            return
        try:
            wrong = wrong_mount(inner_pid, self._spec.checked_mounts)
        except OSError:  # it failed early, and says why
            raise NotStarted("") from None
        if wrong is not None:
            raise NotStarted(f"{visible(wrong)} was replaced while the sandbox was set up")

    def _limit(self, process: Process, inner_pid: int) -> None:
        set_limits(inner_pid, self._limits, has_user_namespace=self._spec.has_user_namespace)
        self._enter_cgroup(inner_pid)
        if not self._spec.is_prewarmed:
            self._watch(process)

    def _on_ready(self, process: Process) -> bool:
        """Note that a program is ready, or has begun; return whether more may come."""
        if not process.control or not process.control.recv(1):
            return False
        if self._started_at:
            self._watch(process)
        self._ready.set()
        return True

    def _watch(self, process: Process) -> None:
        spec = self._spec
        self._watchdog = Watchdog(
            process.pid,
            spec.folders,
            self._limits,
            self._cgroup,
            tmpfs_folders=spec.tmpfs_folders,
        )
        self._next_check = time.monotonic() + _FIRST_CHECK

    def _check_limits(self) -> None:
        if self._watchdog and time.monotonic() >= self._next_check:
            if exceeded := self._watchdog.exceeded_limit():
                self._kill(exceeded)
            self._next_check = time.monotonic() + _CHECK_INTERVAL

    def _read_output(self, process: Process) -> bool:
        """Read the output that there is, if there is room for it; return whether more may come."""
        if not self._has_room(_CHECK_INTERVAL):
            return True
        data = read_available(process.output_fd)
        if data is not None:
            self._queue.put(self._output.add(data, final=not data))
        if self._output.total > self._limits.total_output:
            self._kill("output")
        return data != b""

    def _read_errors(self, process: Process) -> bool:
        """Read the standard error that there is; return whether more may come."""
        data = read_available(process.error_fd) if process.error_fd is not None else b""
        self._take_errors(data or b"")
        return data != b""

    def _take_errors(self, data: bytes) -> None:
        if data and self._errors:
            self._errors.add(data)

    def _drain(self, process: Process) -> None:
        """Read the output written before the end; who was left running may still write more."""
        while process.error_fd is not None and (data := read_available(process.error_fd)):
            self._take_errors(data)
        end = self._output.total + _MAX_PIPE
        while self._output.total < end and (data := read_available(process.output_fd)):
            self._queue.put(self._output.add(data))
        self._queue.put(self._output.add(b"", final=True))

    def _result(self, exit_code: int | None, seconds: float) -> Result:
        head, tail, left_out = self._output.head_and_tail()
        exit_reason = self._exit_reason
        if exit_reason == "exited" and exit_code is None:
            said = head or (self._errors.head_and_tail()[0] if self._errors else "")
            if not self._output.total or said.startswith(_SETUP_FAILED):
                raise NotStarted(said.strip())
            exit_reason = "killed"
        code = exit_code if exit_reason == "exited" else None
        notes, middle = self._spec.notes, self._output.middle()
        if self._hit_process_limit and exit_reason != "processes":
            notes = (*notes, _process_limit_note(self._limits))
        return Result(code, exit_reason, head, tail, left_out, seconds, notes, middle)

    def _make_cgroup(self, stack: ExitStack) -> None:
        if self._spec.cgroups:
            try:
                self._cgroup = stack.enter_context(self._spec.cgroups.create(self._limits))
            except OSError as error:
                raise NotStarted(str(error)) from error

    def _enter_cgroup(self, process: int) -> None:
        if self._cgroup:
            try:
                self._cgroup.add_process(process)
            except ProcessLookupError:  # it failed early
                return
            except OSError as error:
                raise NotStarted(str(error)) from error

    def _check_cgroup(self) -> None:
        """Note the limits that the kernel enforced on the program's processes."""
        if self._cgroup:
            self._hit_process_limit = self._cgroup.pids_limit_hits() > 0
            if self._cgroup.oom_kills():
                self._kill("memory")

    def _set_process(self, process: Process) -> None:
        with self._lock:
            self._process = process
            if self._exit_reason != "exited":
                process.kill()

    def _clear_process(self) -> None:
        with self._lock:
            self._process = None

    def _kill(self, exit_reason: ExitReason) -> None:
        """End the call because of *exit_reason*; the first reason is the one that is told."""
        with self._lock:
            if self._exit_reason == "exited":
                self._exit_reason = exit_reason
            if self._process:
                self._process.kill()


def _process_limit_note(limits: Limits) -> Phrase:
    return phrase("It wanted more than {n} processes at once and got no more.", n=limits.processes)
