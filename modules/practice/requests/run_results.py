"""Parser of the answers of `run_python` and `run_command`."""

from __future__ import annotations

from dataclasses import dataclass

from modules.practice.requests.steps import JobFailed, StepAnswer
from modules.practice.voice import Voice
from modules.runs.run_texts import (
    CHANGES_UNKNOWN,
    FILES_PREFIXES,
    NO_OUTPUT,
    RUN_LATER_PREFIX,
    SUCCESS_PREFIX,
)

_EFFECT_PREFIXES = (*FILES_PREFIXES.values(), RUN_LATER_PREFIX, CHANGES_UNKNOWN)


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a run: how it ended, its output ("" for none), and its changes of files, in lines.

    *is_changed* when the person had changed what ran.
    """

    ending: str
    output: str
    effects: tuple[str, ...]
    is_changed: bool

    @classmethod
    def of(cls, answer: StepAnswer) -> RunResult:
        ending, *lines = answer.text.split("\n")
        end = len(lines)
        while end and lines[end - 1].startswith(_EFFECT_PREFIXES):
            end -= 1
        output = "\n".join(lines[:end])
        return cls(
            ending, "" if output == NO_OUTPUT else output, tuple(lines[end:]), answer.is_changed
        )

    @property
    def ok(self) -> bool:
        return self.ending.startswith(SUCCESS_PREFIX)

    def report(self, subject: str, say: Voice) -> str:
        """Return a report on the run of *what*. Raises `JobFailed` if it did not end well."""
        if self.is_changed:
            subject = say("What you made of it", "你改过的版本")
        if not self.ok:
            raise JobFailed(self._failure_report(subject, say))
        if self.output:
            head = say("{what} ran and printed:", "已运行：{what}，输出：", what=subject)
        else:
            head = say(
                "{what} ran and printed nothing.", "已运行：{what}，没有输出。", what=subject
            )
        return self._with_output(head, say)

    def _failure_report(self, subject: str, say: Voice) -> str:
        failed = say(
            "{what} did not end well: {ending}",
            "{what} 没有正常结束：{ending}",
            what=subject,
            ending=self.ending,
        )
        return self._with_output(failed, say)

    def _with_output(self, head: str, say: Voice) -> str:
        blocks = (self.output, "\n".join(self.effects))
        return "\n\n".join([head, *(say.quote(block) for block in blocks if block)])
