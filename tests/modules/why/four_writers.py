"""Four writers at one file, at random, and what is true of each of its lines."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.events import CommandAnswered
from modules.checkpoints.line_origins.origins import Origin
from modules.why.feature import Why
from tests.assembly import AssembledTerminal
from tests.modules.why.shortest_edits import ShortestEdits
from tests.scripted_model import Item, call_reply, run_turn, text_reply

Mark = tuple[str, int]
"""Who wrote a line, and in which turn where that was a call."""

_COMMON = ("", "    return None", "}", "    pass", "else:")


class Line(NamedTuple):
    """A line, who wrote it, and all whom the texts alone may mean by it."""

    text: str
    mark: Mark
    possible: frozenset[Mark]


class Wrong(NamedTuple):
    """Lines that are said to come from elsewhere than they do, of those that can be told.

    *impossible* are those of all lines that are said to come from where no short edit has them;
    *naive* are all that are said to come from elsewhere than they do, whoever could tell.
    """

    wrong: int
    impossible: int
    naive: int
    told: int
    total: int


@dataclass
class FourWriters:
    """The tool, the shell, the person and another program, all at the file *name*.

    *lines* are its lines with who wrote them. The tool edits parts in *edits* of its turns (0 to
    1), else it writes all of the file. Of what is written, *repeated* (0 to 1) are lines
    that stand elsewhere in it as well. Lines end with *newline*, the last one not always.
    """

    env: AssembledTerminal
    rng: random.Random
    repeated: float = 0.0
    edits: float = 0.5
    newline: str = "\n"
    name: str = "app.txt"
    lines: list[Line] = field(default_factory=list)
    _count: int = 0
    _ends: bool = True
    _before: list[tuple[list[Line], bool]] = field(default_factory=list)
    _undone: list[tuple[list[Line], bool]] = field(default_factory=list)

    @property
    def why(self) -> Why:
        found = self.env.terminal.features.find(Why)
        assert found is not None
        return found

    def begin(self) -> None:
        first = ("before", 0)
        count = self.rng.randint(5, 60)
        self.lines = [Line(self._new_line(), first, frozenset([first])) for _ in range(count)]
        self._write()
        self._turn(call_reply("run_command", id="first", command="touch first"))

    @property
    def text(self) -> str:
        text = "".join(f"{line.text}{self.newline}" for line in self.lines)
        return text if self._ends else text.removesuffix(self.newline)

    def step(self) -> None:
        """Let one of the four write, or the file get another name, or a change be taken back."""
        writers: list[Callable[[], None]] = [self.tool, self.shell, self.person, self.other]
        rare: list[Callable[[], None]] = [self.move, self.take_back, self.rewind]
        self.rng.choice(writers if self.rng.random() < 0.8 else rare)()

    def tool(self) -> None:
        """Let a tool edit parts of the file, or write all of it."""
        if self.rng.random() < self.edits:
            self._edit_by_calls()
        else:
            self._write_whole()

    def _write_whole(self) -> None:
        turn = self._next_turn
        self._edit(("call", turn), hunks=self.rng.choice([1, 1, 3]))
        arguments: dict[str, Any] = {"path": self.name, "content": self.text, "overwrite": True}
        self._turn(
            call_reply("read_file", id=f"r{turn}", path=self.name),
            call_reply("create_file", id=f"t{turn}", **arguments),
        )

    def _edit_by_calls(self) -> None:
        """Let calls say which lines they put in, replace and take out: of these all is known."""
        turn = self._next_turn
        self._before.append((self.lines, self._ends))
        calls = []
        for number in range(self.rng.choice([1, 1, 3])):
            arguments = self._exact_edit(("call", turn))
            calls.append(call_reply("modify_file", id=f"e{turn}_{number}", **arguments))
        self._turn(call_reply("read_file", id=f"r{turn}", path=self.name), *calls)

    def _exact_edit(self, mark: Mark) -> dict[str, Any]:
        """Edit one place; return the arguments of the call that does so."""
        while True:
            at = self.rng.randint(0, len(self.lines))
            size = self.rng.randint(0, min(4, len(self.lines) - at))
            texts = [self._new_line() for _ in range(self.rng.randint(0 if size else 1, 5))]
            added = [Line(text, mark, frozenset([mark])) for text in texts]
            new = [*self.lines[:at], *added, *self.lines[at + size :]]
            taken = {line.text for line in self.lines[at : at + size]}
            if new and new[-1].text and taken.isdisjoint(texts):
                break
        is_at_end = at + size == len(self.lines)
        self._ends = self._ends or (is_at_end and not (size and texts))
        self.lines = new
        text = "".join(f"{one}\n" for one in texts)
        if size:
            place = {"start_line": at + 1, "end_line": at + size}
            return {"path": self.name, "operation": "replace_lines", "new": text, **place}
        if is_at_end and self.rng.random() < 0.5:
            return {"path": self.name, "operation": "append", "new": text}
        return {"path": self.name, "operation": "insert", "new": text, "start_line": at + 1}

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
            self._write()
            self.env.terminal.features.person_wrote(self.name, before, path.read_bytes())
        else:
            self._say(f"!printf %s {shlex.quote(self.text)} > {self.name}")
        self._before.clear()

    def other(self) -> None:
        self._edit(("others", 0), hunks=self.rng.randint(1, 3))
        self._write()
        self._before.clear()

    def move(self) -> None:
        """Let the file get another name, by a tool, a command, the person or another program."""
        old, self.name = self.name, f"name_{self._next_count()}.txt"
        match self.rng.choice(["tool", "shell", "person", "other"]):
            case "tool":
                self._turn(call_reply("rename_file", id="m", path=old, new_path=self.name))
            case "shell":
                self._turn(call_reply("run_command", id="m", command=f"mv {old} {self.name}"))
            case "person":
                self._say(f"!mv {old} {self.name}")
            case _:
                (self.env.root / old).rename(self.env.root / self.name)
        self._before.clear()

    def take_back(self) -> None:
        """Let the person undo the last turn, and redo it as often as not."""
        if not self._before:
            return
        now = self.lines, self._ends
        self._say("/undo")
        self.lines, self._ends = self._before[-1]
        if self.rng.random() < 0.5:
            self.check_text()
            self._say("/redo")
            self.lines, self._ends = now
        else:
            self._before.clear()

    def rewind(self) -> None:
        """Let the person go back one, two or three turns, where only calls were in them."""
        if not self._before:
            return
        back = self.rng.randint(1, min(3, len(self._before)))
        self._say(f"/rewind {self._next_turn - back}")
        self.lines, self._ends = self._before[-back]
        self._before.clear()

    def check_text(self) -> None:
        assert (self.env.root / self.name).read_bytes() == self.text.encode()

    def wrong(self) -> Wrong:
        self.check_text()
        found = self.why.trace(self.name)
        assert found.lines == tuple(line.text for line in self.lines)
        pairs = [*zip(map(mark_of, found.origins), self.lines, strict=True)]
        return Wrong(
            sum(said != one.mark for said, one in pairs if len(one.possible) == 1),
            sum(said not in one.possible for said, one in pairs),
            sum(said != one.mark for said, one in pairs),
            sum(len(one.possible) == 1 for _, one in pairs),
            len(pairs),
        )

    @property
    def _next_turn(self) -> int:
        return self.env.terminal.history.turn + 1

    def _turn(self, *replies: list[Item]) -> None:
        self.env.model.replies += [*replies, text_reply("done")]
        run_turn(self.env.terminal, "change it")

    def _say(self, line: str) -> None:
        (*_, event) = run_turn(self.env.terminal, line)
        assert not isinstance(event, CommandAnswered) or event.ok, event.card

    def _write(self) -> None:
        (self.env.root / self.name).write_bytes(self.text.encode())

    def _next_count(self) -> int:
        self._count += 1
        return self._count

    def _new_line(self) -> str:
        if self.rng.random() < self.repeated:
            return self.rng.choice(_COMMON)
        return f"    value_{self._next_count()} = {self.rng.randint(0, 9)}"

    def _edit(self, mark: Mark, hunks: int) -> None:
        """Put in, replace and take out lines at some places.

        Nothing else is played than what is among the shortest ways to the new text: who takes a
        line away and puts it back has changed nothing that could be seen.
        """
        self._before.append((self.lines, self._ends))
        while True:
            new = [*self.lines]
            for _ in range(hunks):
                self._edit_once(new, mark)
            edits = ShortestEdits(*([one.text for one in some] for some in (self.lines, new)))
            stayed = sum(edits.worth(one.text) for one in new if one.possible)
            if stayed == edits.kept and new and new[-1].text:
                break
        self.lines = [self._told(edits, n, one, mark) for n, one in enumerate(new)]
        self._ends = self.rng.random() < 0.8

    def _edit_once(self, lines: list[Line], mark: Mark) -> None:
        at = self.rng.randint(0, len(lines))
        size = self.rng.randint(0, min(4, len(lines) - at))
        count = self.rng.randint(0 if size else 1, 5)
        lines[at : at + size] = [Line(self._new_line(), mark, frozenset()) for _ in range(count)]

    def _told(self, edits: ShortestEdits, place: int, line: Line, mark: Mark) -> Line:
        same, may_be_new = edits.sources(place)
        possible = frozenset().union(*(self.lines[one].possible for one in same))
        return line._replace(possible=possible | {mark} if may_be_new else possible)


def mark_of(origin: Origin) -> Mark:
    return origin.writer, origin.turn
