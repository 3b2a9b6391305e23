from __future__ import annotations

import os
import select
import sys
import threading
from pathlib import Path

import pytest

from utils.system.child import ChildResult, TimedOut, run_program
from utils.waiting import Stop


def ask(
    code: str, seconds: float = 60, given: bytes = b"", stop: Stop | None = None
) -> ChildResult:
    return run_program(
        [sys.executable, "-c", code],
        folder=Path("/"),
        environment={"ONLY": "this"},
        seconds=seconds,
        stdin=given,
        on_cancel=stop.on_stop if stop else None,
    )


def test_a_program_answers() -> None:
    code = "import sys; print(sys.stdin.read()[::-1], end=''); print('!', file=sys.stderr); exit(3)"
    assert ask(code, given=b"abc") == ChildResult(3, b"cba", b"!\n")


def test_much_goes_both_ways_at_once() -> None:
    data = b"x" * 5_000_000
    assert ask("import sys; sys.stdout.write(sys.stdin.read())", given=data).output == data


def test_it_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "sk-123")
    assert b"sk-123" not in ask("import os; print(os.environ)").output


def test_time_ends_it_and_what_it_started() -> None:
    """The pipe of the grandchild would keep us waiting if only the child were killed."""
    code = "import subprocess, time; subprocess.Popen(['sleep', '600']); time.sleep(600)"
    with pytest.raises(TimedOut):
        ask(code, seconds=0.3)


def test_a_stop_ends_it() -> None:
    stop = Stop()
    read, write = os.pipe()

    def stop_it() -> None:
        os.read(read, 1)  # the program is under way
        stop.set()

    threading.Thread(target=stop_it).start()
    answer = run_program(
        [sys.executable, "-c", f"import os, time; os.write({write}, b'x'); time.sleep(600)"],
        folder=Path("/"),
        environment={},
        seconds=600,
        descriptors=[write],
        on_cancel=stop.on_stop,
    )
    os.close(read)
    os.close(write)
    assert answer.code == -9


def test_what_it_leaves_behind_is_gone_as_well() -> None:
    code = """
import subprocess, sys
null = subprocess.DEVNULL
pipe = int(sys.argv[1])
subprocess.Popen(["sleep", "600"], pass_fds=[pipe], stdin=null, stdout=null, stderr=null)
"""
    read, write = os.pipe()
    command = [sys.executable, "-c", code, str(write)]
    run_program(command, folder=Path("/"), environment={}, seconds=60, descriptors=[write])
    os.close(write)
    ready, _, _ = select.select([read], [], [], 120)
    assert ready  # the last process that held the other end is gone
    os.close(read)
