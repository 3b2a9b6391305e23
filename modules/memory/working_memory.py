"""What a session is about: goals, decisions and open questions, made of its records by rule."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
            list(dict.fromkeys(_decisions(own)))[-_MOST_DECISIONS:],
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
    return list(_decisions([record for _, record in records], is_all=False))


def _decisions(records: Sequence[Record], *, is_all: bool = True) -> Iterator[str]:
    """Yield answers to questions and reasons against a call; where it *is_all* also how stops of a
    deep task ended otherwise, and what the model says that it decided.
    """
    asking = AskPerson.ask_person.__name__
    questions: dict[str, str] = {}  # some servers give the same id again
    for record in records:
        match record:
            case Assistant(text=reply, calls=calls):
                yield from map(_first_line, find_decisions(reply) if is_all else ())
                questions |= {c.id: _question(c.arguments) for c in calls if c.name == asking}
            case ToolResult(call_id=id_, name=name, text=text):
                if name == asking and text.startswith(ANSWER_PREFIX):
                    answer = text.removeprefix(ANSWER_PREFIX)
                    yield _first_line(f"{questions.get(id_, '')} → {answer}")
                elif is_all and name == asking and _END_OF_A_STOP.match(text):
                    did = _SENTENCE_END.split(text)[0]
                    yield _first_line(f"{questions.get(id_, '')} → {did}")
                elif text.startswith(f"{DENIED_PREFIX}: "):
                    reason = text.removeprefix(f"{DENIED_PREFIX}: ")
                    yield _first_line(f"{name} was refused: {reason}")


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
