"""The end of a task in plan mode: its answer is kept as the plan, and the person says yes to it."""

from __future__ import annotations

from collections.abc import Generator

from core.cards import TextCard
from core.events import PLAN_CALL, Event, Informed, PersonQuestion, Reply, Warned
from core.feature import Decided, EndDecision
from core.hooks import KeepsPlans
from core.loop.failed_step import ask_at_end
from core.loop.tool_calls import ApprovalTimer
from core.loop.turn_context import TurnContext
from core.tools import Outcome
from utils.i18n import UserError, phrase
from utils.text.clean import visible

DO, NOT_YET = phrase("Do it"), phrase("Not yet")
_REMARK = (
    "The person has this to say of the plan: {words}\nYou are in plan mode still: when that is "
    "clear, answer with the whole plan anew."
)


def is_plan_approved(
    context: TurnContext, answer: str, step: int, timer: ApprovalTimer, *, is_last: bool
) -> Generator[Event, Reply | None, bool]:
    """Keep the plan that *answer* holds; return whether the task goes on, by the person's word.

    It does what the plan says, or plans on with what they remark. Nobody is asked where this
    *is_last* of its steps, or no money is left for one. Raises `Stopped`.
    """
    plans = context.features.plans
    if context.approval.mode != "plan" or plans is None:
        return False
    try:
        path = plans.keep_plan(answer)
    except UserError as error:
        yield Warned(error.message)
        return False
    if not path:
        return False
    yield Informed(phrase("The plan is kept in {path}.", path=visible(path)), is_result=True)
    if is_last or context.over_budget_reason():
        return False
    asked = _question(context, plans)
    return (yield from ask_at_end(context, f"{PLAN_CALL}{step}", asked, timer)) == "goes on"


def _question(context: TurnContext, plans: KeepsPlans) -> EndDecision:
    question = PersonQuestion(phrase("Do this plan now?"), (DO, NOT_YET))

    def decide(answer: str | None) -> Decided:
        if answer in (None, "", str(NOT_YET)):
            return Decided(
                Outcome("", TextCard(phrase("Not done. /do-plan does it later."))), goes_on=False
            )
        if answer != str(DO):
            told = _REMARK.format(words=answer)
            return Decided(Outcome(told, TextCard(phrase("Still planning."))), goes_on=True)
        try:
            told = plans.approved_plan()
        except UserError as error:
            return Decided(Outcome("", TextCard(error.message)), goes_on=False)
        context.leave_plan_mode()
        return Decided(Outcome(told, TextCard(phrase("Carrying out the plan."))), goes_on=True)

    return EndDecision(question, decide)
