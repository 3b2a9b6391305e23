"""A confined process and our handles on it: its output, its gate, and the means to kill it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from modules.sandbox.backends.bubblewrap import CLEAN_ENVIRONMENT, Descriptors
from modules.sandbox.limits.cgroup_probe import CgroupFactory
from modules.sandbox.run.pidfd import HAS_PIDFD, open_pidfd, signal_pidfd
from modules.sandbox.types import TERMINAL_COLUMNS, TERMINAL_LINES
from utils.i18n import Phrase, UserError, phrase


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """Specification of a launch. *wrapper* returns the arguments before those of *command*.

    *code* is what the program reads from the first descriptor whose number *command* is given:
    neither the list of processes nor a file ever shows it. If the program *waits*, the text is
    sent to it later, and the second descriptor tells it when.
    """

    wrapper: Callable[[Descriptors], list[str]]
    command: Callable[[int, int | None], Sequence[str]]
    code: str
    seccomp: bytes
    folders: tuple[Path, ...]
    """Folders on the disk where it may write."""
    scratch: Path | None = None
    """The one of them that is removed after the call."""
    tmpfs_folders: tuple[Path, ...] = ()
    """Folders in memory where it may write as well."""
    notes: tuple[Phrase, ...] = ()
    end_signal: signal.Signals = signal.SIGKILL
    """Signal that ends the outermost process and all that it has started."""
    is_prewarmed: bool = False
    has_user_namespace: bool = False
    """Whether it counts processes apart from the user's others (a user namespace)."""
    sync_fd: int | None = None
    """A descriptor that the sandbox holds until its last process has ended."""
    reads_input: bool = False
    """Whether its standard input is ours to write to."""
    has_terminal: bool = False
    """Whether its input and its output are a pseudo-terminal, whose other end is ours."""
    separate_errors: bool = False
    """Whether its standard error has a descriptor of its own, `Process.error_fd`."""
    cgroups: CgroupFactory | None = None
    """Factory of the control group of all its processes; None where the kernel allows none."""
    environment: Mapping[str, str] = field(default_factory=lambda: CLEAN_ENVIRONMENT, repr=False)
    """Environment of the outermost process."""
    checked_mounts: tuple[Path, ...] = ()
    """What must be mounted under its own name, or the program is not run (see `mount_check`)."""
    has_limits: bool = True
    """Whether more than its time and its output is limited."""


_END_OF_INPUT = b"\x04"  # Ctrl+D, as a terminal is set up


class Process:
    """A process that waits at its gate until `unblock`. *stack* closes all that it holds.

    `output_fd`, `status_fd`, `exit_fd` are descriptors to wait for: there is output, or news, or it
    has ended. One that waits has `control` too: readable once it is ready for `send_code`, again
    when it goes on. Start it in a thread that outlives it: its end kills the process.
    """

    def __init__(self, spec: LaunchSpec, stack: ExitStack) -> None:
        self._stack = stack
        self._end_signal = spec.end_signal
        self._inner_pid: int | None = None  # the first process inside
        self._inner_pidfd: int | None = None  # a handle on it
        self._status_data = b""
        with ExitStack() as theirs:
            self._input_fd: int | None = None
            self._has_terminal = spec.has_terminal
            if spec.has_terminal:
                self.output_fd, output_write_fd = _terminal(stack, theirs)
            else:
                self.output_fd, output_write_fd = _pipe(stack, theirs)
            self.error_fd: int | None = None
            error_write_fd = output_write_fd
            if spec.separate_errors:
                self.error_fd, error_write_fd = _pipe(stack, theirs)
            self.status_fd, status_write_fd = _pipe(stack, theirs)
            block_fd, self._block_fd = _pipe(theirs, stack)
            # Empty until the sandbox is set up: the death of its owner unblocks bubblewrap as well.
            self._code_fd = code_fd = _memory_file(b"", stack)
            self.control: socket.socket | None = None
            control_fd: int | None = None
            if spec.is_prewarmed:
                self.control, control_fd = _socket_pair(stack, theirs)
            passed = (code_fd,) if control_fd is None else (code_fd, control_fd)
            input_fd = subprocess.DEVNULL
            if spec.has_terminal:
                input_fd, self._input_fd = output_write_fd, self.output_fd
            elif spec.reads_input:
                input_fd, self._input_fd = os.pipe()
                theirs.callback(os.close, input_fd)
                stack.callback(self.close_input)
                os.set_blocking(self._input_fd, False)
            descriptors = Descriptors(
                _memory_file(spec.seccomp, theirs), status_write_fd, block_fd, spec.sync_fd
            )
            passed = (*passed, *descriptors.all())
            self._process = subprocess.Popen(  # noqa: S603 - this is what it is for
                [*spec.wrapper(descriptors), *spec.command(code_fd, control_fd)],
                env=spec.environment,
                cwd="/",
                stdin=input_fd,
                stdout=output_write_fd,
                stderr=error_write_fd,
                pass_fds=passed,
                start_new_session=True,
            )
        os.set_blocking(self.output_fd, False)
        os.set_blocking(self.status_fd, False)
        if self.error_fd is not None:
            os.set_blocking(self.error_fd, False)
        self.pid = self._process.pid
        self.exit_fd = self._open_pidfd(self.pid) if HAS_PIDFD else self._open_exit_pipe()

    def _open_exit_pipe(self) -> int:
        """Return a descriptor that is readable once the process has ended, as a handle is."""
        end, write_end = os.pipe()
        self._stack.callback(os.close, end)

        def wait() -> None:
            self._process.wait()
            os.close(write_end)

        threading.Thread(target=wait, name="sandbox-wait", daemon=True).start()
        return end

    def _open_pidfd(self, process: int) -> int:
        pidfd = open_pidfd(process)
        self._stack.callback(os.close, pidfd)
        return pidfd

    def read_status(self) -> tuple[int | None, bool]:
        """Read the status that bubblewrap reports.

        Return the first process inside when that is new, and whether more may be said.
        """
        data = read_available(self.status_fd)
        self._status_data += data or b""
        process = self.status_value("child-pid")
        if process is None or self._inner_pid is not None:
            return None, data != b""
        try:
            self._inner_pidfd = self._open_pidfd(process) if HAS_PIDFD else None
        except ProcessLookupError:  # it failed early
            return None, False
        self._inner_pid = process
        return process, True

    def status_value(self, key: str) -> int | None:
        """Return a number that bubblewrap has reported: "child-pid", "exit-code"."""
        for line in self._status_data.splitlines(keepends=True):
            if line.endswith(b"\n") and key in (message := json.loads(line)):
                return int(message[key])
        return None

    def unblock(self, code: str) -> None:
        """Unblock the program, which then reads *code*."""
        self._write_code(code)
        with suppress(BrokenPipeError):
            os.write(self._block_fd, b"1")

    def send_code(self, code: str) -> None:
        """Send a program that waits its code, and let it go on."""
        self._write_code(code)
        if self.control:
            self.control.shutdown(socket.SHUT_WR)

    def _write_code(self, code: str) -> None:
        data = code.encode(errors="replace")
        written = 0
        while written < len(data):
            written += os.pwrite(self._code_fd, data[written:], written)

    def write_input(self, data: bytes) -> int:
        """Write what the pipe takes at once of *data*; return how many bytes that were.

        Raises `BrokenPipeError` where nobody reads any more.
        """
        if self._input_fd is None:
            raise BrokenPipeError
        try:
            return os.write(self._input_fd, data)
        except BlockingIOError:
            return 0

    def resize(self, lines: int, columns: int) -> None:
        """Give its terminal another size; the kernel tells the program."""
        _set_size(self.output_fd, lines, columns)

    def close_input(self) -> None:
        """Let the program find the end of its input: of a terminal, by the key that says so."""
        if self._has_terminal:
            self.write_input(_END_OF_INPUT)
        elif self._input_fd is not None:
            os.close(self._input_fd)
            self._input_fd = None

    @property
    def inner_pid(self) -> int | None:
        """The first process inside as we see it, None before it is there."""
        return self._inner_pid

    @property
    def has_inner_ended(self) -> bool:
        """Whether the first process inside has ended, or there is no handle on it."""
        if self._inner_pidfd is None:
            return True
        return bool(select.select([self._inner_pidfd], [], [], 0)[0])

    def kill(self) -> None:
        """Kill the process and all that lives in its namespace.

        The process itself first: a launcher that saw only its program end would have come to the
        end of a run, which on a machine of the agent's own may leave others behind.
        """
        if not HAS_PIDFD:
            self._process.send_signal(self._end_signal)
            return
        if self._inner_pid is None and self._end_signal is signal.SIGKILL:
            self._kill_group()
        for pidfd, number in (
            (self.exit_fd, self._end_signal),
            (self._inner_pidfd, signal.SIGKILL),
        ):
            if pidfd is not None:
                with suppress(ProcessLookupError):
                    signal_pidfd(pidfd, number)

    def _kill_group(self) -> None:
        """Kill also the first process inside that nobody has told us of yet.

        It may wait for its rights (the uid map) from the one that we have, which would never come.
        """
        if self._process.returncode is None:  # else the number may be somebody else's
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def wait(self, seconds: float) -> bool:
        """Wait until the last process inside is gone; return whether it is.

        The first process in a namespace of processes ends only after all others have ended.
        """
        for pidfd in (self.exit_fd, self._inner_pidfd):
            if pidfd is not None and not select.select([pidfd], [], [], seconds)[0]:
                return False
        self._process.wait()
        return True


def read_available(descriptor: int) -> bytes | None:
    """Return what is there to read at once, b"" at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno == errno.EIO:  # a terminal that nobody has any more
            return b""
        raise


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Return a new pipe's two ends, each to be closed by its stack."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def _terminal(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    """Return the two ends of a new pseudo-terminal: where we read and write, and the program's.

    Raises `UserError` where there is none to be had.
    """
    try:
        near, far = os.openpty()
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(
            phrase("No terminal can be made on this machine: {why}.", why=why)
        ) from error
    ours.callback(os.close, near)
    theirs.callback(os.close, far)
    _set_size(far, TERMINAL_LINES, TERMINAL_COLUMNS)
    return near, far


def _set_size(terminal: int, lines: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def _socket_pair(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, int]:
    """Return the two ends of a new line between us and the program."""
    near, far = socket.socketpair()
    ours.callback(near.close)
    theirs.callback(far.close)
    return near, far.fileno()


def _memory_file(data: bytes, stack: ExitStack) -> int:
    """Return a descriptor from which *data* can be read, of a file that has no name."""
    if hasattr(os, "memfd_create"):
        descriptor: int = os.memfd_create("input")
    else:
        with tempfile.TemporaryFile(buffering=0) as file:
            descriptor = os.dup(file.fileno())
    stack.callback(os.close, descriptor)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
