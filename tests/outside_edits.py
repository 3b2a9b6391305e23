"""Files that others rename, edit and delete, and what must be true of them whoever did it.

A `TrackedFile` is the model of one file: its lines with who wrote them, its note, the notes on two
of its lines, and whether it is in focus. It knows nothing of how Onefold finds any of that out.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Mark = tuple[str, int]
"""Who wrote a line, as `/why` names it, and in which turn where that was a call."""
BEFORE, OTHERS = ("before", 0), ("others", 0)
_LINES = 40


class Line(NamedTuple):
    """A line that stands nowhere else, and all who may be said to have written it."""

    text: str
    marks: frozenset[Mark]


class Content(NamedTuple):
    """Where a file is and what it holds."""

    path: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return "".join(f"{line.text}\n" for line in self.lines)


@dataclass
class TrackedFile:
    """One file below *root*; *in_focus* is whether it is to be in focus while it is there."""

    root: Path
    name: str
    in_focus: bool
    is_there: bool = True
    _count: int = 0
    _is_settled: bool = True
    """Whether somebody looked since it was moved or brought back: nothing tells of two at once."""

    def __post_init__(self) -> None:
        lines = [self._new_line(BEFORE) for _ in range(_LINES)]
        self.content = Content(self.name, tuple(lines))
        self.noted = {f"{self.name} first": lines[9].text, f"{self.name} second": lines[24].text}
        self.write()

    def _new_line(self, mark: Mark) -> Line:
        self._count += 1
        return Line(f"{self.name} says {self._count}", frozenset([mark]))

    def edited(self, rng: random.Random, mark: Mark) -> Content:
        """Return it with one line put in, changed or taken out by *mark*."""
        lines = [*self.content.lines]
        at = rng.randrange(len(lines))
        kind = rng.choice(["insert", "insert", "remove", "edit"])
        if kind == "insert" or len(lines) < _LINES - 5:
            lines.insert(at, self._new_line(mark))
        elif kind == "edit":
            lines[at] = self._new_line(mark)
        elif lines[at].text not in self.noted.values():
            del lines[at]
        return self.content._replace(lines=tuple(lines))

    def renamed(self, rng: random.Random) -> Content:
        """Return it at another place."""
        self._count += 1
        path = f"folder {rng.randrange(3)}/{self.name}.{self._count}"
        return self.content._replace(path=path)

    # --- from outside ----------------------------------------------------------------------------

    def change_outside(self, rng: random.Random) -> None:
        """Do one thing to it, as another program does."""
        if not self.is_there:
            return self._bring_back()
        kind = rng.choice(["edit", "edit", "edit", "rename", "delete"])
        if kind == "edit" or not self._is_settled:
            self.content = self.edited(rng, OTHERS)
            return self.write()
        self._is_settled = False
        if kind == "delete":
            (self.root / self.content.path).unlink()
            self.is_there = False
            return None
        content = self.renamed(rng)
        (self.root / content.path).parent.mkdir(exist_ok=True)
        (self.root / self.content.path).rename(self.root / content.path)
        self.content = content
        return None

    def _bring_back(self) -> None:
        """Write it anew: whether its lines are then of who wrote them first, nobody can say."""
        lines = (Line(text, marks | {OTHERS}) for text, marks in self.content.lines)
        self.content = self.content._replace(lines=tuple(lines))
        self.is_there, self._is_settled = True, False
        self.write()

    def write(self) -> None:
        """Write it in place, so that an inode tells who was renamed while nobody looked.

        It is never empty meanwhile: that has nothing in common with what it was.
        """
        data = self.content.text.encode()
        path = self.root / self.content.path
        path.parent.mkdir(exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(file, data, 0)
            os.ftruncate(file, len(data))
        finally:
            os.close(file)

    # --- what must be so -------------------------------------------------------------------------

    def is_as(self, content: Content) -> bool:
        """Return whether it is on disk as *content*, to the byte."""
        path = self.root / content.path
        return path.is_file() and path.read_text() == content.text

    def looked_at(self) -> None:
        """Take note that somebody has looked."""
        self._is_settled = True

    def check_notes(self, shown: dict[str, Any]) -> None:
        """Hold what the API says of the file, which is there, against what must be so."""
        assert shown["text"] == self.content.text
        assert shown["note"] == self.name
        found = {one["text"]: one for one in shown["line_notes"]}
        assert found.keys() == self.noted.keys(), self.content.path
        texts = [line.text for line in self.content.lines]
        for text, line in self.noted.items():
            assert found[text]["is_stale"] is (line not in texts), (self.content.path, text)
            if line in texts:
                number = texts.index(line) + 1
                assert (found[text]["start"], found[text]["end"]) == (number, number), text

    def check_why(self, card: dict[str, Any]) -> None:
        """Hold the answer of `/why` of the whole file against who wrote its lines."""
        said: dict[int, Mark] = {}
        for origin in card["origins"]:
            for start, end in origin["ranges"]:
                said |= dict.fromkeys(range(start, end + 1), (origin["writer"], origin["turn"]))
        wrong = [
            (number, line, said.get(number))
            for number, line in enumerate(self.content.lines, 1)
            if said.get(number) not in line.marks
        ]
        assert not wrong, (self.content.path, wrong)
        assert len(said) == len(self.content.lines)
