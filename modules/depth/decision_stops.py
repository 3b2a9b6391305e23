"""Stops of a deep task: at decisions that the model marks, and after a step that failed.

The person goes on, has it revised, or rolls back what the task did to the files, by the undo that
there is. Where nobody can be asked the task goes on, and says in the end where it would have asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from core.cards import TableCard, TextCard
from core.conversation.messages import Context
from core.conversation.result_texts import ROLLED_BACK_PREFIX
from core.conversation.turn_progress import turn_end_of, turns_backward
from core.events import CommandAnswered, EndReason, Informed, PersonQuestion
from core.feature import Decided, EndDecision, Feature, SessionHandle
from core.hooks import BindsToSession, DecidesFailures, ProposesCommands
from core.tools import Outcome
from utils.i18n import Phrase, Text, UserError, phrase

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

_DONE: tuple[EndReason, ...] = ("done",)


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
        if not self._turns():
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
        if not self._turns(("done", "stopped")):  # what is stopped may well be over
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

    def _turns(self, ends: Collection[EndReason] = _DONE) -> list[int]:
        """Return the turns of the deep task at hand, the last first; none where it is not deep.

        A turn before this one that did not end as one of *ends* was cut short, and goes on.
        """
        history = self._session.history
        turns: list[int] = []
        for turn, records in turns_backward(history.records):
            if turn != history.turn and turn_end_of(records) in ends:
                break
            turns.append(turn)
            if any(isinstance(one, Context) and one.text == self._note for one in records):
                return turns
        return []

    def _go_on_unasked(self, question: PersonQuestion) -> Outcome:
        what = phrase("Would have asked: {question}", question=question.text)
        self._said.append(Informed(what, is_result=True))
        text = "Nobody is here to answer: go on as seems best to you, and say what you decided."
        return Outcome(
            text, TextCard(phrase("No one is here to decide; continuing."), question.text)
        )

    def _roll_back(self) -> Outcome:
        answered: list[CommandAnswered] = []
        problem: Text = ""
        for turn in self._turns():
            try:
                answered.append(self._undo_turn(turn))
            except UserError as error:
                problem = problem or error.message
        if not answered:
            text = f"The person wants this task rolled back. Nothing was: {problem}"
            return Outcome(text, TextCard(ROLL_BACK, problem))
        cards = [one.card for one in answered if isinstance(one.card, TableCard)]
        titles = [one.title for one in cards if isinstance(one.title, Phrase)]
        self._said += map(Informed, titles)  # each tells how to bring it again
        text = (
            f"{ROLLED_BACK_PREFIX} what this task did to the files; what became of each is told "
            "before your next reply. Do not do it again: say in short how things stand."
        )
        rows = tuple(row for card in cards for row in card.rows)
        card: TableCard | TextCard = replace(cards[0], rows=rows) if cards else TextCard(ROLL_BACK)
        return Outcome(text, card, changes=tuple(c for one in answered for c in one.changes))


_TOLD = {
    str(CONTINUE): "The person answers: Continue",
    str(REVISE): (
        "The person wants it revised. Do not do it so: propose another way or ask what to change."
    ),
    str(RETRY): "The person says: try the failed step again, with what you know now.",
    str(SKIP): "The person says: leave out the failed step, and go on with the rest.",
}
