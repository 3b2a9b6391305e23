"""Ctrl-C while the program starts: it leaves without a word, whatever it was at."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
POINTS = 30
INTERRUPTED = """
import atexit, os, runpy, signal, sys, threading

point, sys.argv = int(sys.argv[1]), sys.argv[2:]
main, count = threading.main_thread(), 0

class Finder:
    def find_spec(name, path=None, target=None):
        global count
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is main and handler.__module__ not in BEFORE_AND_BEHIND:
            count += 1
            is_last = name == "modules.cli.input.prompt"
            if is_last and not point:
                say()
            if count == point or is_last:
                os.kill(os.getpid(), signal.SIGINT)

def say():
    sys.stderr.write(f"{count}\\n")
    sys.stderr.flush()

# Python's own handler, and that of a task, which is stopped in order.
BEFORE_AND_BEHIND = ("_signal", "signal", "utils.system.interrupts")
sys.meta_path.insert(0, Finder)
if not point:
    atexit.register(say)
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The program, interrupted at the import with the number in its first argument; 0: the last one.

That is, in a dialogue, the one of the prompt. Without a number it says how many there were.
"""


class Ended(NamedTuple):
    """How a start ended: its exit code, what it said, and whether the terminal still echoes."""

    code: int
    said: str
    echoes: bool


def start(folder: Path, argv: list[str], *, point: int) -> Ended:
    """Start the program on a terminal; it interrupts itself at its import number *point*."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(point), str(ROOT / "main.py"), *argv],
        cwd=folder,
        env={**os.environ, "ONEFOLD_DATA_DIR": str(folder.parent / "data"), "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _, said = process.communicate(timeout=300)
    echoes = bool(termios.tcgetattr(theirs)[3] & termios.ECHO)
    os.close(ours)
    os.close(theirs)
    return Ended(process.returncode, said, echoes)


@pytest.mark.parametrize("argv", [["-p", "/status"], ["--cli", "--offline"]], ids=" ".join)
def test_ctrl_c_leaves_without_a_word(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "project").mkdir()
    code, said, echoes = start(tmp_path / "project", argv, point=0)
    assert (code, echoes) == (130 if "--cli" in argv else 0, True)
    count = int(said)
    assert count > POINTS
    for number in range(POINTS):
        point = 1 + number * (count - 1) // POINTS
        ended = start(tmp_path / "project", argv, point=point)
        assert ended == (130, "", True), point
