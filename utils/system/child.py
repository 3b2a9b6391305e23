"""Running a small program of ours or of the system, with a limit of time."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path


class TimedOut(Exception):
    """The program was still running when its time was over, and has been killed."""


@dataclass(frozen=True, slots=True)
class ChildResult:
    """Result of a program: its exit *code*, standard output and standard error."""

    code: int
    output: bytes
    errors: bytes


OnCancel = Callable[[Callable[[], None]], AbstractContextManager[None]]


def run_program(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    stdin: bytes = b"",
    descriptors: Sequence[int] = (),
    on_cancel: OnCancel | None = None,
) -> ChildResult:
    """Run *command* in *folder* with *stdin* on its standard input and return its result.

    It sees nothing of our environment but *environment*, and inherits no descriptors but those
    named. *on_cancel* is `Stop.on_stop`: what it registers kills the program early. The program and
    what it started are gone on return. Raises `TimedOut`; `OSError` when it cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603 - the callers pass fixed programs and no shell
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        start_new_session=True,
    )
    with _killed_at_end(process, seconds, on_cancel) as timed_out:
        output, errors = process.communicate(stdin)
    if timed_out.is_set():
        raise TimedOut
    return ChildResult(process.returncode, output, errors)


@contextmanager
def _killed_at_end(
    process: subprocess.Popen[bytes], seconds: float, on_cancel: OnCancel | None
) -> Iterator[threading.Event]:
    """Kill *process* and its group at the end of this, after *seconds*, or on *on_cancel*.

    The event tells that the time was over.
    """
    timed_out = threading.Event()

    def kill() -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    def on_timeout() -> None:
        timed_out.set()
        kill()

    # A timer of our own: under eventlet the time-out of subprocess raises what nobody catches.
    timer = threading.Timer(seconds, on_timeout)
    timer.daemon = True
    timer.start()
    try:
        with on_cancel(kill) if on_cancel else nullcontext():
            yield timed_out
    finally:
        timer.cancel()
        kill()  # what it left behind as well: the group outlives its first process
        if process.poll() is None:
            process.communicate()
