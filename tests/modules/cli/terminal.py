"""A real terminal (tmux) that runs the scripted program, or Onefold, driven by keystrokes."""

import os
import re
import shlex
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CHECKOUT = shlex.quote(str(ROOT))
"""The path as a shell reads it."""
PYTHON = shlex.quote(sys.executable)
IGNORE_INTERRUPT = "trap : INT; "
"""Trap that keeps a shell alive on Ctrl-C, so that it prints the program's exit code."""
TIMEOUT_SECONDS = 120.0
PROMPT = "›"


@dataclass
class Terminal:
    """A tmux window of its own in which the playhouse runs."""

    socket: str
    line: str = ""

    def tmux(self, *arguments: str) -> str:
        result = subprocess.run(
            ["tmux", "-f", os.devnull, "-L", self.socket, *arguments],
            env={**os.environ, "SHELL": "/bin/sh"},  # the person's own may speak another language
            capture_output=True,
            timeout=300,
        )
        assert result.returncode == 0, f"tmux {arguments[0]}: {result.stderr.decode().strip()}"
        return result.stdout.decode()

    def start(self, folder: Path, *, width: int = 90, height: int = 30, **settings: str) -> None:
        self.open(folder, width=width, height=height, **settings)
        self.wait_for_text(PROMPT)

    def open(
        self, folder: Path, *, width: int = 90, height: int = 30, first: str = ":", **settings: str
    ) -> None:
        """Let the playhouse start once the shell command *first* is done."""
        words = [f"{name}={value}" for name, value in settings.items()]
        program = f"{PYTHON} -m tests.modules.cli.scripted_program {folder} en 50000"
        program = f"cd {CHECKOUT} && env {' '.join(words)} {program}"
        self.line = f"{IGNORE_INTERRUPT}{first}; {program}; echo EXIT $?; cat"
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), self.line)

    def start_in_shell(self, folder: Path, shell: str = "sh -i") -> None:
        """Let the playhouse start in a shell that knows jobs."""
        shell_line = f"HISTFILE= {shell}"  # what is entered here is not remembered for the person
        self.tmux("new-session", "-d", "-x", "90", "-y", "40", shell_line)
        program = f"{PYTHON} -m tests.modules.cli.scripted_program {folder} en 1"
        self.press(f"cd {CHECKOUT}; clear; {program}", "Enter")
        self.wait_for_text("guarded · context")

    def start_again(self) -> None:
        self.tmux("respawn-pane", "-k", self.line)
        self.wait_for(lambda screen: PROMPT in screen and "EXIT" not in screen)

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        """Paste as a terminal does, with brackets around the text."""
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p", "-r")

    def screen(self, *, history: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-S", "-2000"] if history else []))

    def wait_for(self, is_there: Callable[[str], object], *, history: bool = False) -> str:
        """Return the screen as soon as *is_there* says so."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            screen = self.screen(history=history)
            if is_there(screen):
                return screen
            assert time.monotonic() < deadline, screen
            time.sleep(0.05)

    def wait_for_text(self, text: str) -> str:
        return self.wait_for(lambda screen: text in screen)

    def see_prompt_after(self, text: str) -> str:
        """Wait until the prompt stands open below *text*."""
        return self.wait_for(
            lambda screen: re.search(rf"{re.escape(text)}.*\n{PROMPT}", screen, re.S)
        )


def create_files(folder: Path, *names: str) -> None:
    """Create the files that the running script waits for."""
    for name in names:
        (folder / name).touch()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(f"onefold-{uuid.uuid4().hex[:8]}")
    try:
        yield terminal
    finally:
        subprocess.run(["tmux", "-L", terminal.socket, "kill-server"], capture_output=True)


@pytest.fixture
def started(terminal: Terminal, tmp_path: Path) -> Terminal:
    terminal.start(tmp_path)
    return terminal
