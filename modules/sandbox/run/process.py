"""A confined process and our handles on it: its output, its gate, and the means to kill it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.backends.bubblewrap import CLEAN_ENVIRONMENT, Descriptors
from modules.sandbox.limits.cgroup_probe import CgroupFactory
from utils.i18n import Phrase


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
    """Folders on the disk where it may write: the project, then those removed after the call."""
    kept_folders: tuple[Path, ...] = ()
    """Folders on the disk where it may write too, and that stay after the call."""
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
    cgroups: CgroupFactory | None = None
    """Factory of the control group of all its processes; None where the kernel allows none."""


_HAS_PIDFD = hasattr(os, "pidfd_open")
"""Whether a process can be held on to; else it is ended by the one that we started."""


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
            self.output_fd, output_write_fd = _pipe(stack, theirs)
            self.status_fd, status_write_fd = _pipe(stack, theirs)
            block_fd, self._block_fd = _pipe(theirs, stack)
            # Empty until the sandbox is set up: the death of its owner unblocks bubblewrap as well.
            self._code_fd = code_fd = _memory_file(b"", stack)
            self.control: socket.socket | None = None
            control_fd: int | None = None
            if spec.is_prewarmed:
                self.control, control_fd = _socket_pair(stack, theirs)
            passed = (code_fd,) if control_fd is None else (code_fd, control_fd)
            descriptors = Descriptors(
                _memory_file(spec.seccomp, theirs), status_write_fd, block_fd, spec.sync_fd
            )
            passed = (*passed, *descriptors.all())
            self._process = subprocess.Popen(  # noqa: S603 - this is what it is for
                [*spec.wrapper(descriptors), *spec.command(code_fd, control_fd)],
                env=CLEAN_ENVIRONMENT,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output_write_fd,
                stderr=output_write_fd,
                pass_fds=passed,
                start_new_session=True,
            )
        os.set_blocking(self.output_fd, False)
        os.set_blocking(self.status_fd, False)
        self.pid = self._process.pid
        self.exit_fd = self._open_pidfd(self.pid) if _HAS_PIDFD else self._open_exit_pipe()

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
        pidfd = os.pidfd_open(process)
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
            self._inner_pidfd = self._open_pidfd(process) if _HAS_PIDFD else None
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

    def kill(self) -> None:
        """Kill the process and all that lives in its namespace."""
        if not _HAS_PIDFD:
            self._process.send_signal(self._end_signal)
            return
        for pidfd, number in (
            (self._inner_pidfd, signal.SIGKILL),
            (self.exit_fd, self._end_signal),
        ):
            if pidfd is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, number)

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


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Return a new pipe's two ends, each to be closed by its stack."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def _socket_pair(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, int]:
    """Return the two ends of a new line between us and the program."""
    near, far = socket.socketpair()
    ours.callback(near.close)
    theirs.callback(far.close)
    return near, far.fileno()


def _memory_file(data: bytes, stack: ExitStack) -> int:
    """Return a descriptor from which *data* can be read, of a file that has no name."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("input")
    else:
        with tempfile.TemporaryFile(buffering=0) as file:
            descriptor = os.dup(file.fileno())
    stack.callback(os.close, descriptor)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
