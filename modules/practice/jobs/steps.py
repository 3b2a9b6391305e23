"""What a job of the practice model is made of: calls, their answers, and how it can fail."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from core.tools import FAILED
from modules.practice.practice_reply import PracticeCall
from modules.practice.voice import Voice, code

STOPPED = ("The person stopped", "Stopped by the person", "Not run:", "No answer:")
_CHANGED = "The person changed this call before it ran"
_CAME_OF_IT = "\nWhat came of it:\n"
_MARKS = (FAILED, "Error:")
"""How a failure begins; the second in sessions of before."""
_FAILURES = (*_MARKS, "Refused", "The person said no", *STOPPED)


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What a tool answered; *is_changed* when the person had changed the call before it ran."""

    text: str
    is_changed: bool = False

    @classmethod
    def of(cls, text: str) -> StepAnswer:
        """Take apart what came of a call and what the person made of it before."""
        if not text.startswith(_CHANGED):
            return cls(text)
        return cls(text.partition(_CAME_OF_IT)[2], is_changed=True)

    @property
    def ok(self) -> bool:
        return not self.text.startswith(_FAILURES)

    @property
    def sentence(self) -> str:
        """The text without the word that marks a failure."""
        return self.text.removeprefix(FAILED).removeprefix("Error:").strip()

    @property
    def rest(self) -> str:
        """The text after its first line."""
        return self.text.partition("\n")[2]


Result = TypeVar("Result")
Work = Generator[tuple[PracticeCall, ...], tuple[StepAnswer, ...], Result]
"""A part of a job: it yields the calls of each step and is sent their answers."""

Steps = Work[str]
"""A whole job; it returns what to say."""


class NotDone(Exception):
    """A job came to nothing; the text says why."""


class NotOffered(Exception):
    """The tool *name* that a job needs is not on offer."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def ask(name: str, **arguments: Any) -> Work[StepAnswer]:
    """Make one call and return its answer, whatever it says."""
    (answer,) = yield (PracticeCall(name, arguments),)
    return answer


def do(say: Voice, name: str, **arguments: Any) -> Work[StepAnswer]:
    """Make one call and return its answer. Raises `NotDone` if it failed."""
    answer = yield from ask(name, **arguments)
    if not answer.ok:
        raise NotDone(trouble(say, name, answer))
    return answer


def trouble(say: Voice, name: str, answer: StepAnswer) -> str:
    """Return what to say of the call of *name* that failed: that it did, and the tool's words."""
    said = say.own("{tool} did not work:", "{tool} 没有成功：", tool=code(name))
    return f"{said}\n\n{say.quote(answer.sentence)}"
