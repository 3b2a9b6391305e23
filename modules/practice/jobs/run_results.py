"""Reading back what `run_python` and `run_command` answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from modules.practice.jobs.steps import NotDone, StepAnswer
from modules.practice.voice import Voice

_EFFECT = re.compile(
    r"Files (?:created|modified|deleted|renamed): |Of these, |\(the folder is too "
)
_NOTHING = "(no output)"


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended, what it put out ("" for nothing), and what it did to files, in lines.

    *is_changed* when the person had changed what ran.
    """

    ending: str
    output: str
    effects: tuple[str, ...]
    is_changed: bool

    @classmethod
    def of(cls, answer: StepAnswer) -> Run:
        ending, *lines = answer.text.split("\n")
        end = len(lines)
        while end and _EFFECT.match(lines[end - 1]):
            end -= 1
        output = "\n".join(lines[:end])
        return cls(
            ending, "" if output == _NOTHING else output, tuple(lines[end:]), answer.is_changed
        )

    @property
    def ok(self) -> bool:
        return self.ending.startswith("exit code 0 ")

    def told(self, what: str, say: Voice) -> str:
        """Return what the run of *what* came to. Raises `NotDone` if it did not end well."""
        if self.is_changed:
            what = say("What you made of it", "你改过的版本")
        if not self.ok:
            raise NotDone(self._failure(what, say))
        if self.output:
            head = say("{what} ran and printed:", "已运行：{what}，输出：", what=what)
        else:
            head = say("{what} ran and printed nothing.", "已运行：{what}，没有输出。", what=what)
        return self._with_output(head, say)

    def _failure(self, what: str, say: Voice) -> str:
        failed = say(
            "{what} did not end well: {ending}",
            "{what} 没有正常结束：{ending}",
            what=what,
            ending=self.ending,
        )
        return self._with_output(failed, say)

    def _with_output(self, head: str, say: Voice) -> str:
        blocks = (self.output, "\n".join(self.effects))
        return "\n\n".join([head, *(say.quote(block) for block in blocks if block)])
