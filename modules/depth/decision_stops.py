"""Stops of a deep task: at decisions that the model marks, and after a step that failed.

The person goes on, has it revised, or rolls back what the task did to the files, by the undo that
there is. Where nobody can be asked the task goes on, and says in the end where it would have asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.cards import Card, TableCard, TextCard
from core.conversation.messages import Context
from core.events import CommandAnswered, Informed, PersonQuestion
from core.feature import Decided, EndDecision, Feature, SessionHandle
from core.hooks import BindsToSession, DecidesFailures, ProposesCommands
from core.tools import Outcome
from utils.i18n import Phrase, UserError, phrase

CONTINUE, REVISE, ROLL_BACK = phrase("Continue"), phrase("Revise"), phrase("Roll back")
RETRY, SKIP = phrase("Retry"), phrase("Skip")
DECISION = (CONTINUE, REVISE, ROLL_BACK)
FAILURE = (RETRY, SKIP, ROLL_BACK)
_ALSO = {
    **{"继续": "continue", "修改": "revise", "修改方案": "revise", "修订": "revise"},
    **{"回滚": "roll back", "rollback": "roll back", "重试": "retry", "跳过": "skip"},
}
"""Words of models that translate the choices all the same."""
_NOTE = (
    "This task goes deep. Before each decision that shapes what follows or is hard to take back, "
    'call {ask} with the decision and the choices "Continue", "Revise", "Roll back" (in English: '
    "they are translated). After a step that failed, and that you cannot mend, the choices are "
    '"Retry", "Skip", "Roll back".'
)


def deep_note(ask: str) -> str:
    """Return what the model is told of a deep task; *ask* is the tool that asks the person."""
    return _NOTE.format(ask=ask)


class DecisionStops(Feature, BindsToSession, ProposesCommands, DecidesFailures):
    """The stops of a session, there while the task at hand has the *note* of a deep one.

    *undo_turn* takes back what a turn did, by its number; it raises `UserError` where there is
    nothing.
    """

    _session: SessionHandle

    def __init__(self, note: str, undo_turn: Callable[[int], CommandAnswered]) -> None:
        self._note = note
        self._undo_turn = undo_turn
        self._said: list[Informed] = []

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    def stop_at(self, question: PersonQuestion) -> PersonQuestion | None:
        """Return the stop that the model's *question* marks, None for any other question."""
        if not self._is_deep():
            return None
        words = (str(choice).casefold() for choice in question.choices)
        offered = {_ALSO.get(word, word) for word in words}
        for choices in (DECISION, FAILURE):
            if offered == {str(choice).casefold() for choice in choices}:
                return PersonQuestion(question.text, choices)
        return None

    def decided(self, question: PersonQuestion, choice: str | None) -> Outcome:
        """Return what comes of the answer *choice* to the stop *question*, None being nobody's.

        Words of the person's own are passed on as they are.
        """
        if choice is None:
            return self._go_on_unasked(question)
        if choice == str(ROLL_BACK):
            return self._roll_back()
        told = _TOLD.get(choice, f"The person answers: {choice}")
        shown = next((one for one in (*DECISION, *FAILURE) if str(one) == choice), choice)
        return Outcome(told, TextCard(question.text, shown))

    def failed_step(self, tool: str) -> EndDecision | None:
        if not self._is_deep():
            return None
        question = PersonQuestion(phrase("The last step failed ({tool}).", tool=tool), FAILURE)

        def decide(choice: str | None) -> Decided:
            outcome = self.decided(question, choice)
            ends = choice in (None, "", str(ROLL_BACK))
            return Decided(outcome, goes_on=not ends)

        return EndDecision(question, decide)

    def proposals(self) -> Sequence[Informed]:
        said, self._said = self._said, []
        return said

    def _is_deep(self) -> bool:
        """Return whether the task at hand is told of stops; that stays so when it is resumed."""
        history = self._session.history
        for turn, record in reversed(history.records):
            if turn != history.turn:
                return False
            if isinstance(record, Context) and record.text == self._note:
                return True
        return False

    def _go_on_unasked(self, question: PersonQuestion) -> Outcome:
        what = phrase("Would have asked: {question}", question=question.text)
        self._said.append(Informed(what, is_result=True))
        text = "Nobody is here to answer: go on as seems best to you, and say what you decided."
        return Outcome(
            text, TextCard(phrase("No one is here to decide; continuing."), question.text)
        )

    def _roll_back(self) -> Outcome:
        try:
            answered = self._undo_turn(self._session.history.turn)
        except UserError as problem:
            text = f"The person wants this task rolled back. Nothing was: {problem.message}"
            return Outcome(text, TextCard(ROLL_BACK, problem.message))
        card: Card = answered.card or TextCard(ROLL_BACK)
        if isinstance(card, TableCard) and isinstance(card.title, Phrase):
            self._said.append(Informed(card.title))  # it tells how to bring all of it again
        text = (
            "The person rolled back what this task did to the files; what became of each is told "
            "before your next reply. Do not do it again: say in short how things stand."
        )
        return Outcome(text, card, changes=answered.changes)


_TOLD = {
    str(CONTINUE): "The person answers: Continue",
    str(REVISE): (
        "The person wants it revised. Do not do it so: propose another way or ask what to change."
    ),
    str(RETRY): "The person says: try the failed step again, with what you know now.",
    str(SKIP): "The person says: leave out the failed step, and go on with the rest.",
}
