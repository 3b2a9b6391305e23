"""Four writers at one file, at random, and what is true of each of its lines."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from modules.checkpoints.line_origins.origins import FileOrigins, Origin
from modules.why.feature import Why
from tests.assembly import AssembledTerminal
from tests.scripted_model import Item, call_reply, run_turn, text_reply

Mark = tuple[str, int]
"""Who wrote a line, and in which turn where that was a call."""
Line = tuple[str, Mark]

_COMMON = ("", "    return None", "}", "    pass", "else:")


@dataclass
class FourWriters:
    """The tool, the shell, the person and another program, all at the file *name*.

    *lines* are its lines with who wrote them. Of what is written, *repeated* (0 to 1) are lines
    that stand elsewhere in it as well.
    """

    env: AssembledTerminal
    rng: random.Random
    repeated: float = 0.0
    name: str = "app.txt"
    lines: list[Line] = field(default_factory=list)
    _count: int = 0

    @property
    def why(self) -> Why:
        found = self.env.terminal.features.find(Why)
        assert found is not None
        return found

    def begin(self) -> None:
        self.lines = [(self._new_line(), ("before", 0)) for _ in range(self.rng.randint(5, 60))]
        (self.env.root / self.name).write_text(self.text)
        self._turn(call_reply("run_command", id="first", command="touch first"))

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line, _ in self.lines)

    def step(self) -> None:
        steps: list[Callable[[], None]] = [self.tool, self.shell, self.person, self.other]
        self.rng.choice(steps)()

    def tool(self) -> None:
        """Let the tool change one part of the file, or all of it."""
        turn = self._next_turn
        self._edit(("call", turn), hunks=self.rng.choice([1, 1, 3]))
        arguments: dict[str, Any] = {"path": self.name, "content": self.text, "overwrite": True}
        self._turn(
            call_reply("read_file", id=f"r{turn}", path=self.name),
            call_reply("create_file", id=f"t{turn}", **arguments),
        )

    def shell(self) -> None:
        turn = self._next_turn
        self._edit(("call", turn), hunks=self.rng.randint(1, 4))
        command = f"printf %s {shlex.quote(self.text)} > {self.name}"
        self._turn(call_reply("run_command", id=f"s{turn}", command=command))

    def person(self) -> None:
        """Let the person write it, at the page as often as with a command."""
        self._edit(("person", 0), hunks=self.rng.randint(1, 3))
        path = self.env.root / self.name
        if self.rng.random() < 0.5:
            before = path.read_bytes()
            path.write_text(self.text)
            self.env.terminal.features.person_wrote(self.name, before, path.read_bytes())
        else:
            run_turn(self.env.terminal, f"!printf %s {shlex.quote(self.text)} > {self.name}")

    def other(self) -> None:
        self._edit(("others", 0), hunks=self.rng.randint(1, 3))
        (self.env.root / self.name).write_text(self.text)

    def wrong(self) -> tuple[int, int]:
        """Return how many lines are said to come from elsewhere than they do, and how many are."""
        found = self.why.trace(self.name)
        assert found.lines == tuple(line for line, _ in self.lines)
        return sum(_differs(found, n, mark) for n, (_, mark) in enumerate(self.lines)), len(
            self.lines
        )

    @property
    def _next_turn(self) -> int:
        return self.env.terminal.history.turn + 1

    def _turn(self, *replies: list[Item]) -> None:
        self.env.model.replies += [*replies, text_reply("done")]
        run_turn(self.env.terminal, "change it")

    def _new_line(self) -> str:
        if self.rng.random() < self.repeated:
            return self.rng.choice(_COMMON)
        self._count += 1
        return f"    value_{self._count} = {self.rng.randint(0, 9)}"

    def _edit(self, mark: Mark, hunks: int) -> None:
        """Put in, replace and take out lines at some places."""
        for _ in range(hunks):
            at = self.rng.randint(0, len(self.lines))
            size = self.rng.randint(0, min(4, len(self.lines) - at))
            new = [(self._new_line(), mark) for _ in range(self.rng.randint(0 if size else 1, 5))]
            self.lines[at : at + size] = new


def _differs(found: FileOrigins, number: int, mark: Mark) -> bool:
    return mark_of(found.origins[number]) != mark


def mark_of(origin: Origin) -> Mark:
    return origin.writer, origin.turn
