"""Asking a small program of ours or of the system one question, with a limit on the wait."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path


class TooSlow(Exception):
    """The program was still running when its time was over, and has been killed."""


@dataclass(frozen=True, slots=True)
class ChildResult:
    """What a program printed and how it ended; *errors* is its standard error."""

    code: int
    output: bytes
    errors: bytes


Until = Callable[[Callable[[], None]], AbstractContextManager[None]]


def ask_program(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    given: bytes = b"",
    descriptors: Sequence[int] = (),
    until: Until | None = None,
) -> ChildResult:
    """Run *command* in *folder* with *given* on its standard input and return its answer.

    It sees nothing of our environment but *environment*, and inherits no descriptors but those
    named. *until* is `Stop.calling`: what it registers kills the program early. The program and
    what it started are gone on return. Raises `TooSlow`; `OSError` when it cannot be started.
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
    with _ending(process, seconds, until) as late:
        output, errors = process.communicate(given)
    if late.is_set():
        raise TooSlow
    return ChildResult(process.returncode, output, errors)


@contextmanager
def _ending(
    process: subprocess.Popen[bytes], seconds: float, until: Until | None
) -> Iterator[threading.Event]:
    """Kill *process* and its group at the end of this, after *seconds*, or when *until* says so.

    The event tells that the time was over.
    """
    late = threading.Event()

    def kill() -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    def give_up() -> None:
        late.set()
        kill()

    # A timer of our own: under eventlet the time-out of subprocess raises what nobody catches.
    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        with until(kill) if until else nullcontext():
            yield late
    finally:
        timer.cancel()
        kill()  # what it left behind as well: the group outlives its first process
        if process.poll() is None:
            process.communicate()
