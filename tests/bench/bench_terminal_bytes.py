"""Bytes that the terminal sends over a line: `python -m tests.bench.bench_terminal_bytes`."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.bench.bench_terminal import ROOT, environment, instant_server, row

TYPED = "please look at this thing"
WORDS = 400
BARE_PROMPT = "from prompt_toolkit import prompt\nprompt('> ')"
BARE_LIVE = f"""
import time
from rich.live import Live
from rich.markdown import Markdown
text = ""
with Live(refresh_per_second=10) as live:
    for n in range({WORDS}):
        text += f"word{{n}} "
        live.update(Markdown(text))
        time.sleep(0.005)
"""


@contextmanager
def in_terminal(argv: list[str], env: Mapping[str, str], folder: str) -> Iterator[int]:
    """Run *argv* in *folder* in a terminal of 80 columns; the value is its other end."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(argv[0], argv, env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    try:
        yield terminal
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)


def sent(terminal: int, quiet_seconds: float) -> int:
    """Return the bytes that come until nothing does for so long."""
    count = 0
    while select.select([terminal], [], [], quiet_seconds)[0]:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # what ran there is over
            break
        if b"\x1b[6n" in piece:  # where is the cursor?
            os.write(terminal, b"\x1b[1;1R")
        count += len(piece)
    return count


def per_key(terminal: int) -> float:
    total = 0
    for letter in TYPED:
        os.write(terminal, letter.encode())
        total += sent(terminal, 0.3)
    return total / len(TYPED)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, instant_server() as server:
        project = Path(name, "project")
        project.mkdir()
        env = environment(f"{name}/data", server.url) | {"TERM": "xterm-256color"}
        own = [sys.executable, str(ROOT / "main.py"), "--cli"]
        with in_terminal(own, env, str(project)) as terminal:
            sent(terminal, 4)
            row("bytes per key at the prompt", f"{per_key(terminal):.0f}", "bare prompt_toolkit")
            os.write(terminal, b"\x15")
            sent(terminal, 1)
            os.write(terminal, f"deltas {WORDS}".encode())
            sent(terminal, 1)
            os.write(terminal, b"\r")
            text = sum(len(f"word{n} ") for n in range(WORDS))
            row(f"bytes of a streamed answer of {text}", f"{sent(terminal, 3)}", "rich Live")
        with in_terminal([sys.executable, "-c", BARE_PROMPT], env, name) as terminal:
            sent(terminal, 3)
            row("bytes per key: bare prompt_toolkit", f"{per_key(terminal):.0f}")
        with in_terminal([sys.executable, "-c", BARE_LIVE], env, name) as terminal:
            row("bytes of the same answer: bare rich Live", f"{sent(terminal, 4)}")


if __name__ == "__main__":
    main()
