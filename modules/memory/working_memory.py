"""What a session is about: goals, decisions and open questions, made of its records by rule."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, Record, ToolResult, User
from core.conversation.result_texts import DENIED_PREFIX
from modules.ask_person import ANSWER_PREFIX, AskPerson
from modules.memory.own_decisions import find_decisions
from utils.i18n import Phrase, phrase

MAX_LINES = 40
_MOST_GOALS, _MOST_DECISIONS, _MOST_QUESTIONS = 10, 12, 5
_MAX_LENGTH = 200  # characters of a line
_SENTENCE_END = re.compile(r"(?<=[.!?。\uff01\uff1f\n])")
_END_OF_A_STOP = re.compile(r"The person (?!gives no answer)")
"""What answers a stop of a deep task where that was no plain answer: "The person rolled back …"."""
_QUESTION_MARKS = ("?", "\uff1f")
_SMALL_TALK = re.compile(
    r"(?:ok(?:ay)?|thanks?(?: you| a lot)?|great|good|fine|yes|no|go on|continue"
    r"|好的?|谢谢|多谢|收到|明白|继续|是的?|不)\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """What a session is about, each a line, oldest first."""

    goals: Sequence[str] = ()
    decisions: Sequence[str] = ()
    questions: Sequence[str] = ()

    @classmethod
    def of(cls, records: Sequence[TurnRecord]) -> WorkingMemory:
        """Return what *records* say: tasks, answers to questions, refusals with a reason, and what
        the model says that it decided, and what the last reply asks."""
        own = [record for _, record in records]
        goals = [
            line
            for record in own
            if isinstance(record, User) and not record.is_private
            if (line := _first_line(record.text)) and not _SMALL_TALK.fullmatch(line)
        ]
        return cls(
            goals[-_MOST_GOALS:],
            _newest_decisions(list(_decisions(own))),
            _open_questions(own)[-_MOST_QUESTIONS:],
        )

    def sections(self) -> list[tuple[Phrase, Sequence[str]]]:
        return [
            (phrase("Goals"), self.goals),
            (phrase("Decisions"), self.decisions),
            (phrase("Open questions"), self.questions),
        ]

    def to_markdown(self, session: str) -> str:
        """Return it as a file of at most `MAX_LINES` lines, "" where there is nothing."""
        parts = [
            "\n".join([f"## {title}", *(f"- {line}" for line in lines)])
            for title, lines in self.sections()
            if lines
        ]
        return "\n\n".join([f"# Working memory of session {session}", *parts]) + "\n"


def decided_by_person(records: Sequence[TurnRecord]) -> list[str]:
    """Return what the person decided in *records*, in words of their own, oldest first."""
    decisions = _decisions([record for _, record in records])
    return [one.line for one in decisions if one.by == "words"]


def lasting_decisions(records: Sequence[TurnRecord]) -> list[str]:
    """Return what was decided in *records* that may hold for later sessions, oldest first.

    How a stop of a task ended (rolled back, revised, retried) is over with that task.
    """
    decisions = list(_decisions([record for _, record in records]))
    return _newest_decisions([one for one in decisions if one.by != "deed"])


class _Decision(NamedTuple):
    """A decision: of the person, in *words* of their own or by a *deed*, or of the *model*."""

    line: str
    by: Literal["words", "deed", "model"]


def _newest_decisions(decisions: Sequence[_Decision]) -> list[str]:
    """Return the newest lines, oldest first: what the person decided before what the model did.

    What was decided again stands where it was decided last.
    """
    kept: dict[str, int] = {}
    newest_first = list(enumerate(decisions))[::-1]
    for of_model in (False, True):
        for place, one in newest_first:
            if (one.by == "model") == of_model and len(kept) < _MOST_DECISIONS:
                kept.setdefault(one.line, place)
    return sorted(kept, key=kept.__getitem__)


def _decisions(records: Sequence[Record]) -> Iterator[_Decision]:
    """Yield answers to questions and reasons against a call, how stops of a deep task ended
    otherwise, and what the model says that it decided.
    """
    asking = AskPerson.ask_person.__name__
    questions: dict[str, str] = {}  # some servers give the same id again
    for record in records:
        match record:
            case Assistant(text=reply, calls=calls):
                yield from (_Decision(_first_line(s), "model") for s in find_decisions(reply))
                questions |= {c.id: _question(c.arguments) for c in calls if c.name == asking}
            case ToolResult(call_id=id_, name=name, text=text):
                if name == asking and text.startswith(ANSWER_PREFIX):
                    answer = text.removeprefix(ANSWER_PREFIX)
                    yield _Decision(_first_line(f"{questions.get(id_, '')} → {answer}"), "words")
                elif name == asking and _END_OF_A_STOP.match(text):
                    did = _SENTENCE_END.split(text)[0].split(";")[0]
                    yield _Decision(_first_line(f"{questions.get(id_, '')} → {did}"), "deed")
                elif text.startswith(f"{DENIED_PREFIX}: "):
                    reason = text.removeprefix(f"{DENIED_PREFIX}: ")
                    yield _Decision(_first_line(f"{name} was refused: {reason}"), "words")


def _question(arguments: str) -> str:
    try:
        asked = json.loads(arguments).get("question", "")
    except (ValueError, AttributeError):  # a call that was mended has no words left
        return ""
    return " ".join(str(asked).split())


def _open_questions(records: Sequence[Record]) -> list[str]:
    """Return what the last reply asks, where nothing was said since."""
    spoken = [record for record in records if isinstance(record, User | Assistant)]
    if not spoken or not isinstance(spoken[-1], Assistant):
        return []
    end = spoken[-1].text.rstrip().rpartition("\n\n")[2]
    sentences = (sentence.strip() for sentence in _SENTENCE_END.split(end))
    return [_first_line(s) for s in sentences if s.endswith(_QUESTION_MARKS) and len(s) > 1]


def _first_line(text: str) -> str:
    line = next((" ".join(one.split()) for one in text.splitlines() if one.strip()), "")
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
