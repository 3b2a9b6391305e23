"""Ctrl-C while the program starts: it leaves without a word, whatever it was at."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
POINTS = 30


class Ended(NamedTuple):
    """How a start ended: its exit code, what it said, and whether the terminal still echoes."""

    code: int
    said: list[str]
    echoes: bool


def start(folder: Path, argv: list[str], *, until: int | None) -> tuple[Ended, int]:
    """Start the program on a terminal and interrupt it after its import number *until*.

    Returns how it ended and how many imports there were; None lets it end by itself.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", str(ROOT / "main.py"), *argv],
        cwd=folder,
        env={**os.environ, "ONEFOLD_DATA_DIR": str(folder / "data"), "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    said, count, has_begun = [], 0, False
    assert process.stderr
    for line in process.stderr:
        if not line.startswith("import time:"):
            said.append(line)
            continue
        count += has_begun
        has_begun |= line.rstrip().endswith("| signal")  # the last import of main.py itself
        if count == until or ("--cli" in argv and line.rstrip().endswith(" modules.cli.prompt")):
            process.send_signal(signal.SIGINT)
            until = until if count == until else count
    process.stderr.close()
    code = process.wait(300)
    echoes = bool(termios.tcgetattr(theirs)[3] & termios.ECHO)
    if until is not None and code == 0 and b"Checkpoints" in _printed(ours):
        code = 130  # we were slow: it had given its whole answer before it was told to end
    os.close(ours)
    os.close(theirs)
    return Ended(code, said, echoes), count


def _printed(terminal: int) -> bytes:
    os.set_blocking(terminal, False)
    with suppress(BlockingIOError):
        return os.read(terminal, 1 << 16)
    return b""


@pytest.mark.parametrize("argv", [["-p", "/status"], ["--cli", "--offline"]], ids=" ".join)
def test_ctrl_c_leaves_without_a_word(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "project").mkdir()
    _, count = start(tmp_path / "project", argv, until=None)
    assert count > POINTS
    for number in range(POINTS):
        point = 1 + number * (count - 2) // POINTS
        ended, _ = start(tmp_path / "project", argv, until=point)
        assert ended == (130, [], True), point
