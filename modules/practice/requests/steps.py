"""Parts of a job of the practice model: calls, their answers, and its failures."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from core.conversation.result_texts import (
    DENIED_PREFIX,
    FAILED_PREFIX,
    NO_ANSWER_PREFIX,
    NOT_RUN_PREFIX,
    REFUSED_PREFIX,
    REVISED_PREFIX,
    REVISED_RESULT,
    STOPPED_TEXT,
)
from modules.practice.practice_reply import PracticeCall
from modules.practice.voice import Voice, code
from modules.runs.run_texts import STOPPED_RUN_PREFIX

STOPPED_PREFIXES = (STOPPED_TEXT, STOPPED_RUN_PREFIX, NOT_RUN_PREFIX, NO_ANSWER_PREFIX)
_OLD_FAILED_PREFIX = "Error:"
"""Prefix of a failure in sessions of earlier versions."""
_FAILURES = (
    *(FAILED_PREFIX, _OLD_FAILED_PREFIX, REFUSED_PREFIX, DENIED_PREFIX),
    *STOPPED_PREFIXES,
)


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """Answer of a tool; *is_changed* when the person had changed the call before it ran."""

    text: str
    is_changed: bool = False

    @classmethod
    def of(cls, text: str) -> StepAnswer:
        """Parse the answer of a call, which the person may have changed before it ran."""
        if not text.startswith(REVISED_PREFIX):
            return cls(text)
        return cls(text.partition(REVISED_RESULT)[2], is_changed=True)

    @property
    def ok(self) -> bool:
        return not self.text.startswith(_FAILURES)

    @property
    def message(self) -> str:
        """The text without the word that marks a failure."""
        return self.text.removeprefix(FAILED_PREFIX).removeprefix(_OLD_FAILED_PREFIX).strip()

    @property
    def body(self) -> str:
        """The text after its first line."""
        return self.text.partition("\n")[2]


Result = TypeVar("Result")
SubSteps = Generator[tuple[PracticeCall, ...], tuple[StepAnswer, ...], Result]
"""A part of a job: it yields the calls of each step and is sent their answers."""

JobSteps = SubSteps[str]
"""A whole job; it returns what to say."""


class JobFailed(Exception):
    """A job failed; the text says why."""


class ToolUnavailable(Exception):
    """The tool *name* that a job needs is not on offer."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def call_tool(name: str, **arguments: Any) -> SubSteps[StepAnswer]:
    """Make one call and return its answer, whatever it says."""
    (answer,) = yield (PracticeCall(name, arguments),)
    return answer


def call_or_fail(say: Voice, name: str, **arguments: Any) -> SubSteps[StepAnswer]:
    """Make one call and return its answer. Raises `JobFailed` if it failed."""
    answer = yield from call_tool(name, **arguments)
    if not answer.ok:
        raise JobFailed(failure_text(say, name, answer))
    return answer


def failure_text(say: Voice, name: str, answer: StepAnswer) -> str:
    """Return what to say of the call of *name* that failed: that it did, and the tool's words."""
    head = say.interface_voice("{tool} did not work:", "{tool} 没有成功：", tool=code(name))
    return f"{head}\n\n{say.quote(answer.message)}"
