"""Notes and files stay one to one while others edit, rename and delete, and we are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from modules.annotations import Annotations
from modules.files.project import Project
from tests.campaign import seeded

ROOT = Path(__file__).parents[1]
KILLS = 10
FOLLOWER = """
import sys
from pathlib import Path
from modules.annotations import Annotations
from modules.files.project import Project
from utils.i18n import UserError
project = Project(Path(sys.argv[1]))
notes = Annotations(project, Path(sys.argv[2]))
notes.sync()
print("follows", flush=True)
for count in range(10**9):
    notes.sync()
    notes.note_command(f"own.txt:{count % 3 + 1} {count}")
"""


class NotedFile:
    """A file with a note on it and notes on two of its lines, as it should be."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self.name = self.path = name
        self.is_there = True
        self.lines = [f"{name} says {number}" for number in range(40)]
        self.noted = {"first": self.lines[9], "second": self.lines[24]}
        self._new_lines = 0
        self._moved_by = ""  # since somebody looked: nobody can know a file by nothing at all
        self._write()

    def note(self, notes: Annotations) -> None:
        notes.note_command(f"{self.path} {self.name}")
        for text, line in self.noted.items():
            notes.note_command(f"{self.path}:{self.lines.index(line) + 1} {text}")

    def change(self, randomly: random.Random) -> None:
        """Do one thing to it from outside."""
        if not self.is_there:
            return self._bring_back()
        kind = randomly.choice(["insert", "insert", "remove", "edit", "rename", "delete"])
        at = randomly.randrange(len(self.lines))
        if kind == "delete" and not self._moved_by and randomly.random() < 0.5:
            (self._root / self.path).unlink()
            self.is_there, self._moved_by = False, "return"
        elif kind == "rename" and self._moved_by != "return":
            self._rename(f"folder {randomly.randrange(3)}/{self.name}.{randomly.randrange(9)}")
        elif kind == "insert" or len(self.lines) < 35:
            self._new_lines += 1
            self.lines.insert(at, f"{self.name} has line {self._new_lines} too")
        elif kind == "remove" and self.lines[at] not in self.noted.values():
            del self.lines[at]
        elif kind == "edit":
            self._new_lines += 1
            self.lines[at] = f"{self.name} changed {self._new_lines}"
        if self.is_there:
            self._write()
        return None

    def followed(self) -> None:
        """Take note that somebody has looked."""
        self._moved_by = ""

    def check(self, notes: Annotations) -> None:
        assert notes.note(self.path) == (self.name if self.is_there else "")
        found = {one.text: one for one in notes.line_notes(self.path)}
        assert found.keys() == (self.noted.keys() if self.is_there else set())
        for text, line in self.noted.items() if self.is_there else ():
            assert found[text].is_stale is (line not in self.lines), (self.name, text)
            if line in self.lines:
                assert found[text].start == found[text].end == self.lines.index(line) + 1

    def _rename(self, path: str) -> None:
        if (self._root / path).exists():
            return
        (self._root / path).parent.mkdir(exist_ok=True)
        (self._root / self.path).rename(self._root / path)
        self.path, self._moved_by = path, "rename"

    def _bring_back(self) -> None:
        self.is_there, self._moved_by = True, "return"
        self._write()

    def _write(self) -> None:
        """Write it in place, so that an inode tells who was renamed while nobody looked.

        It is never empty meanwhile: that has nothing in common with what it was.
        """
        data = "".join(f"{line}\n" for line in self.lines).encode()
        file = os.open(self._root / self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(file, data, 0)
            os.ftruncate(file, len(data))
        finally:
            os.close(file)


@contextmanager
def follower(root: Path, path: Path) -> Iterator[None]:
    """Run Onefold's notes in a process of their own, which is killed at the end."""
    command = [sys.executable, "-c", FOLLOWER, os.fspath(root), os.fspath(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"follows\n"
            yield
        finally:
            process.send_signal(signal.SIGKILL)


@seeded(2)
def test_notes_stay_with_their_lines_through_changes_from_outside_and_kills(
    tmp_path: Path, seed: int
) -> None:
    randomly = random.Random(seed)
    root, path = tmp_path / "project", tmp_path / "data" / "notes.json"
    root.mkdir()
    (root / "own.txt").write_text("one\ntwo\nthree\n")
    files = [NotedFile(root, f"file{number}") for number in range(6)]
    project = Project(root)
    try:
        for file in files:
            file.note(Annotations(project, path))
        for _ in range(KILLS):
            with follower(root, path):
                change_some(files, randomly)
            change_some(files, randomly)
            again = Annotations(project, path)
            again.sync()
            for file in files:
                file.check(again)
                file.followed()
    finally:
        project.close()


def change_some(files: list[NotedFile], randomly: random.Random) -> None:
    for file in randomly.sample(files, 3):
        for _ in range(randomly.randrange(1, 4)):
            file.change(randomly)
