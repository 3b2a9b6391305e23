"""A dialogue in a process and a terminal of its own, and a board in ours, on the same project."""

from __future__ import annotations

import os
import shlex
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config import ROOT
from core.cards import TextCard
from core.events import CommandAnswered
from modules.agents.feature import Agents
from modules.agents.work import Work
from tests.modules.cli.terminal import Terminal
from tests.racing import Racing, program_variables, racing
from tests.simulator.server import wait_for


@dataclass
class Both:
    """The *dialogue* in its terminal, and a board here: the terminal of *at*."""

    dialogue: Terminal
    at: Racing
    pid: int

    @property
    def agents(self) -> Agents:
        agents = self.at.terminal.features.find(Agents)
        assert agents
        return agents

    @property
    def sockets(self) -> Path:
        (folder,) = (self.at.data / "projects").glob("project-*")
        return folder / "sockets"

    def say(self, line: str) -> None:
        self.dialogue.press("-l", line)
        self.dialogue.press("Enter")

    def board(self, line: str = "") -> CommandAnswered:
        return self.at.terminal.run_concurrently(f"/agents {line}".strip())

    def told(self, line: str, *, ok: bool = True) -> str:
        """Return what the board says to *line*."""
        answer = self.board(line)
        assert isinstance(answer.card, TextCard)
        text = f"{answer.card.title}\n{answer.card.body}".strip()
        assert answer.ok is ok, text
        return text

    def wait_for_state(self, state: str, kind: str = "session") -> Work:
        """Return the work of that *kind* once it is in that *state*, as the board sees it."""
        found: list[Work] = []

        def look() -> bool:
            found[:] = [w for w in self.agents.work() if (w.kind, w.state) == (kind, state)]
            return bool(found)

        wait_for(look)
        return found[0]

    def asked(self, kind: str = "session") -> tuple[str, str]:
        """Return the id of what asks, and what the board shows of that, once it can be answered."""
        work = self.wait_for_state("asking", kind).id
        wait_for(lambda: self.board(f"answer {work}").ok)
        return work, self.told(f"answer {work}")


@contextmanager
def both(base: Path, script: Any, *words: str) -> Iterator[Both]:
    """Start a dialogue with *words* behind the usual; *script* answers what it asks of a model."""
    dialogue = Terminal(f"onefold-{uuid.uuid4().hex[:8]}")
    with racing(base, script) as at:
        variables = {"PATH": os.defpath, "LANG": "C.UTF-8", **program_variables(base, at.server)}
        said = [f"{name}={value}" for name, value in variables.items()]
        argv = [sys.executable, str(ROOT / "main.py"), "--cli", *words]
        line = f"cd {shlex.quote(str(at.root))}; {shlex.join(['env', '-i', *said, *argv])}; cat"
        dialogue.tmux("new-session", "-d", "-x", "100", "-y", "40", line)
        try:
            dialogue.wait_for_text("›")
            shell = int(dialogue.tmux("display-message", "-p", "#{pane_pid}"))
            children = Path(f"/proc/{shell}/task/{shell}/children").read_text()
            yield Both(dialogue, at, int(children.split()[0]))
        finally:
            dialogue.tmux("kill-server")
