"""The model's own questions to the person."""

from __future__ import annotations

from typing import Annotated, Protocol

from core.cards import TextCard
from core.conversation.result_texts import REFUSED_PREFIX
from core.events import PersonQuestion
from core.feature import Feature
from core.tool_spec import OtherNames
from core.tools import Outcome, Risk, RunningTool, ToolError, tool
from utils.i18n import phrase
from utils.text.clean import clean

MAX_CHOICES = 4
ANSWER_PREFIX = "The person answers: "
_MAX_QUESTION, _MAX_CHOICE = 4_000, 200  # characters, of which a screen holds


class Stops(Protocol):
    """The stops of a deep task."""

    def stop_at(self, question: PersonQuestion) -> PersonQuestion | None:
        """Return the stop that the model's *question* marks, None for any other question."""

    def decided(self, question: PersonQuestion, choice: str | None) -> Outcome:
        """Return what comes of the answer *choice*, None being nobody's."""


class AskPerson(Feature):
    """Asks as an approval does: on every screen, again after a restart, and nobody with `-p`.

    A question that is one of the *stops* of a deep task has its own choices and outcomes.
    """

    def __init__(self, stops: Stops | None = None) -> None:
        self._stops = stops

    @tool(
        Risk.READ,
        phrase("Ask you a question."),
        verb=phrase("Ask"),
        icon="chat",
        subject="{question}",
        asks_person=True,
        other_names=(OtherNames("ask user, ask human, ask followup question, ask question"),),
    )
    def ask_person(
        self, question: str, choices: Annotated[list[str] | None, "up to four"] = None
    ) -> RunningTool:
        """Ask the person what only they can decide, and wait for the answer."""
        asked = _checked(question, choices or [])
        if self._stops and (stop := self._stops.stop_at(asked)):
            decision = yield stop
            if decision is None or (decision.yes and decision.text.strip()):
                return self._stops.decided(stop, decision.text.strip() if decision else None)
            return _no_answer(asked)
        reply = yield asked
        if reply is None:
            why = phrase("No one is here to answer: {question}", question=asked.text)
            text = (
                f"{REFUSED_PREFIX} nobody is here to answer. Decide by yourself and say what you "
                "assumed, or end the task with the question."
            )
            card = TextCard(phrase("Refused"), why)
            return Outcome(text, card, ok=False, error_code="refused")
        if not (reply.yes and reply.text.strip()):
            return _no_answer(asked)
        return Outcome(f"{ANSWER_PREFIX}{reply.text}", TextCard(asked.text, reply.text))


def _no_answer(asked: PersonQuestion) -> Outcome:
    text = "The person gives no answer. Go on without, or end the task."
    return Outcome(text, TextCard(asked.text, phrase("Skip")))


def _checked(question: str, choices: list[str]) -> PersonQuestion:
    """Return the question as the person reads it; nothing hides in it."""
    asked = clean(question).strip()
    offered = tuple(clean(choice).strip() for choice in choices)
    if not asked:
        raise ToolError("The question is empty; say what you want to know.")
    if len(asked) > _MAX_QUESTION:
        raise ToolError(f"A question has at most {_MAX_QUESTION:,} characters.")
    if any("\n" in choice or len(choice) > _MAX_CHOICE for choice in offered):
        raise ToolError(f"A choice is one line of at most {_MAX_CHOICE} characters.")
    if len(offered) > MAX_CHOICES:
        raise ToolError(f"{len(offered)} choices are too many: {MAX_CHOICES} at most.")
    if "" in offered or len(set(offered)) < len(offered):
        raise ToolError("Every choice needs words of its own.")
    return PersonQuestion(asked, offered)
