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

from modules.sandbox.backends.bubblewrap import CLEAN, Descriptors
from modules.sandbox.limits.cgroup_probe import CgroupProbe
from utils.i18n import Phrase


@dataclass(frozen=True, slots=True)
class Order:
    """What to start. *confined* returns the arguments that go before those of *command*.

    *text* is what the program reads from the first descriptor whose number *command* is given:
    neither the list of processes nor a file ever shows it. If the program *waits*, the text is
    given to it later, and the second descriptor tells it when.
    """

    confined: Callable[[Descriptors], list[str]]
    command: Callable[[int, int | None], Sequence[str]]
    text: str
    filter: bytes
    folders: tuple[Path, ...]
    """Where it may write on the disk: the project first, then what is removed after the call."""
    temporary: tuple[Path, ...] = ()
    """Where it may write inside besides, into memory."""
    notes: tuple[Phrase, ...] = ()
    end_signal: signal.Signals = signal.SIGKILL
    """What ends the outermost process and all that it has started."""
    waits: bool = False
    has_own_users: bool = False
    """Whether it counts processes apart from the user's others (a user namespace)."""
    life: int | None = None
    """A descriptor that the sandbox holds until its last process has ended."""
    groups: CgroupProbe | None = None
    """Where the kernel limits all processes of the sandbox together; None where it does not."""


_HAS_HANDLES = hasattr(os, "pidfd_open")
"""Whether a process can be held on to; else it is ended by the one that we started."""


class Process:
    """A process that waits at its gate until `open_gate`. *stack* closes all that it holds.

    `output`, `status` and `end` are descriptors to wait for: there is output, there is news, it
    has ended. One that waits has a `line` too: readable when it is ready for `give`, and again
    when it goes on. Start it in a thread that outlives it: its end kills the process.
    """

    def __init__(self, order: Order, stack: ExitStack) -> None:
        self._stack = stack
        self._end_signal = order.end_signal
        self._first: int | None = None  # the first process inside
        self._inside: int | None = None  # a handle on it
        self._news = b""
        with ExitStack() as theirs:
            self.output, output = _pipe(stack, theirs)
            self.status, status = _pipe(stack, theirs)
            gate, self._gate = _pipe(theirs, stack)
            # Empty until the walls stand: bubblewrap takes a gate whose owner was killed for open.
            self._text = text = _memory(b"", stack)
            self.line: socket.socket | None = None
            waiting: int | None = None
            if order.waits:
                self.line, waiting = _line(stack, theirs)
            passed = (text,) if waiting is None else (text, waiting)
            descriptors = Descriptors(_memory(order.filter, theirs), status, gate, order.life)
            passed = (*passed, *descriptors.all())
            self._process = subprocess.Popen(  # noqa: S603 - this is what it is for
                [*order.confined(descriptors), *order.command(text, waiting)],
                env=CLEAN,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=passed,
                start_new_session=True,
            )
        os.set_blocking(self.output, False)
        os.set_blocking(self.status, False)
        self.id = self._process.pid
        self.end = self._handle(self.id) if _HAS_HANDLES else self._waited_for()

    def _waited_for(self) -> int:
        """Return a descriptor that is readable once the process has ended, as a handle is."""
        end, kept = os.pipe()
        self._stack.callback(os.close, end)

        def wait() -> None:
            self._process.wait()
            os.close(kept)

        threading.Thread(target=wait, name="sandbox-wait", daemon=True).start()
        return end

    def _handle(self, process: int) -> int:
        handle = os.pidfd_open(process)
        self._stack.callback(os.close, handle)
        return handle

    def read_news(self) -> tuple[int | None, bool]:
        """Take in what bubblewrap says.

        Return the first process inside when that is new, and whether more may be said.
        """
        data = read(self.status)
        self._news += data or b""
        process = self.said("child-pid")
        if process is None or self._first is not None:
            return None, data != b""
        try:
            self._inside = self._handle(process) if _HAS_HANDLES else None
        except ProcessLookupError:  # it failed early
            return None, False
        self._first = process
        return process, True

    def said(self, key: str) -> int | None:
        """Return a number that bubblewrap has told: "child-pid", "exit-code"."""
        for line in self._news.splitlines(keepends=True):
            if line.endswith(b"\n") and key in (said := json.loads(line)):
                return int(said[key])
        return None

    def open_gate(self, text: str) -> None:
        """Let the program go on, *text* being what it reads."""
        self._write(text)
        with suppress(BrokenPipeError):
            os.write(self._gate, b"1")

    def give(self, text: str) -> None:
        """Give a program that waits its text, and let it go on."""
        self._write(text)
        if self.line:
            self.line.shutdown(socket.SHUT_WR)

    def _write(self, text: str) -> None:
        data = text.encode(errors="replace")
        done = 0
        while done < len(data):
            done += os.pwrite(self._text, data[done:], done)

    def kill(self) -> None:
        """Kill the process and all that lives in its namespace."""
        if not _HAS_HANDLES:
            self._process.send_signal(self._end_signal)
            return
        for handle, number in ((self._inside, signal.SIGKILL), (self.end, self._end_signal)):
            if handle is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, number)

    def wait(self, seconds: float) -> bool:
        """Wait until the last process inside is gone; return whether it is.

        The first process in a namespace of processes ends only after all others have ended.
        """
        for handle in (self.end, self._inside):
            if handle is not None and not select.select([handle], [], [], seconds)[0]:
                return False
        self._process.wait()
        return True


def read(descriptor: int) -> bytes | None:
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


def _line(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, int]:
    """Return the two ends of a new line between us and the program."""
    near, far = socket.socketpair()
    ours.callback(near.close)
    theirs.callback(far.close)
    return near, far.fileno()


def _memory(data: bytes, stack: ExitStack) -> int:
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
