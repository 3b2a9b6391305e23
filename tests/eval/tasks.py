"""What a task is, and a folder that an agent worked in, read safely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from core.tools import ToolError
from modules.files.project import Project
from tests.eval.judge import Judge

MAX_FILE_BYTES = 1_000_000
State = Literal["passed", "failed", "unjudged"]
Submission = Mapping[str, str]
"""What an agent hands in: texts by their names."""


class TaskError(Exception):
    """A source of tasks is not as it should be; the message says what to do."""


class SubmissionError(Exception):
    """What an agent left behind cannot be handed in; the message says why."""


@dataclass(frozen=True)
class Verdict:
    """*output* is the end of what the tests said, or why nothing could be judged."""

    state: State
    output: str = ""


class Task(Protocol):
    """Something to solve in a folder of its own.

    *id* is unique among all tasks, *group* a language or a repository.
    """

    @property
    def id(self) -> str: ...

    @property
    def group(self) -> str: ...

    def prompt(self, failure: str) -> str:
        """Return what the agent is told; *failure* is what the tests said before, "" at first."""

    def lay(self, folder: Path, earlier: Submission) -> None:
        """Fill the empty *folder* with what the agent begins with, *earlier* work included."""

    def collect(self, folder: Path) -> Submission:
        """Return what of the agent's *folder* counts. Whatever lies there, nothing is run.

        Raises `SubmissionError` for a folder that cannot be read.
        """

    def judge(self, submission: Submission, judge: Judge) -> Verdict: ...

    def solution(self) -> Submission:
        """Return the task's own solution: its files. Raises `TaskError` where it has none."""


@dataclass(frozen=True)
class Attempt:
    """One attempt of an agent at a task; *number* counts from 1.

    *hit*, *miss* and *output* are tokens, *cost* US dollars, None where nobody told them. *note*
    is what the tests said, or why there is no verdict; *ending* how the agent ended.
    """

    agent: str
    task: str
    group: str
    number: int
    state: State
    seconds: float
    ending: str
    note: str = ""
    requests: int = 0
    hit: int | None = None
    miss: int | None = None
    output: int | None = None
    cost: float | None = None
    submission: Submission = field(default_factory=dict)

    @property
    def tokens(self) -> int | None:
        """All tokens, read and written."""
        if self.hit is None or self.miss is None or self.output is None:
            return None
        return self.hit + self.miss + self.output


def read_text(folder: Path, name: str) -> str | None:
    """Return the text of the file *name* in *folder*; None if that is none of at most 1 MB in it.

    An agent may have put a link, a pipe or a device there: none of them is opened.
    """
    project = Project(folder)
    try:
        return project.read_bytes(name, MAX_FILE_BYTES).decode("utf-8", "replace")
    except ToolError:
        return None
    finally:
        project.close()


def write_text(folder: Path, name: str, text: str) -> None:
    """Write *text* to the file *name* in *folder*, which nobody else changes meanwhile."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
