"""Old, large answers of tools left out of requests, once that pays for what is read anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.conversation.history import MASKED
from core.conversation.messages import StateRecord, ToolResult
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, PreparesContext, ProvidesNews
from modules.outputs import Outputs
from modules.spending.amounts import small_money
from modules.spending.past_tasks import PastTask, PastTasks
from utils.i18n import Phrase, UserError, phrase

if TYPE_CHECKING:
    from modules.spending.mask_gain import Mask
    from utils.llm.prices import Tariff

MIN_STEPS = 10
"""Steps that a task has taken at least: one that is shorter is never worth it."""
CHECK_EVERY = 5
"""Steps from one look at it to the next."""
MIN_CONVERSATION = 20_000
"""Tokens of a conversation from which on it is looked at."""


class MaskedAnswers(Feature, BindsToSession, PreparesContext, ProvidesNews):
    """Leaves out of requests what *outputs* keeps to be read, where *past_tasks* say that it pays.

    That is where the tokens saved in each of the steps that such a task still takes cost more than
    what stands behind the first of them, which the server reads anew. Without a price, or before
    long tasks of the model were measured here, nothing is ever left out.
    """

    _session: SessionHandle

    def __init__(self, past_tasks: PastTasks, outputs: Outputs) -> None:
        self._past_tasks = past_tasks
        self._outputs = outputs
        self._news: list[Phrase] = []

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    def news(self) -> Sequence[Phrase]:
        pending, self._news = self._news, []
        return pending

    def before_request(self) -> None:
        history = self._session.history
        steps = history.reply_count
        if steps < MIN_STEPS or steps % CHECK_EVERY:
            return
        tariff = self._session.model.tariff
        if tariff is None or self._session.context_used[0] < MIN_CONVERSATION:
            return
        from modules.spending.mask_gain import best_mask, old_answers, steps_left

        to_come = steps_left(self._tasks(), steps)
        if to_come and (mask := best_mask(old_answers(history.sent), tariff.price, to_come)):
            self._leave_out(mask, tariff)

    def _tasks(self) -> Sequence[PastTask]:
        try:
            return self._past_tasks.of_model(self._session.model.model)
        except OSError:  # what cannot be read is not known
            return ()

    def _leave_out(self, mask: Mask, tariff: Tariff) -> None:
        texts = {
            (turn, record.call_id): record.text
            for turn, record in self._session.history.records
            if isinstance(record, ToolResult)
        }
        masked = []
        for answer in mask.answers:
            try:
                address = self._outputs.store(texts[answer.turn, answer.call_id])
            except UserError:  # what cannot be kept is sent
                return
            masked.append({"turn": answer.turn, "call": answer.call_id, "address": address})
        self._session.record(StateRecord(MASKED, masked))
        self._news.append(
            phrase(
                "No longer sending {n:,} old tool results: {tokens:,} tokens fewer per step, "
                "{again:,} read again once. Saves about {cost} by the end.",
                n=len(masked),
                tokens=mask.saves,
                again=mask.read_again,
                cost=small_money(mask.dollars, tariff.price.yuan),
            )
        )
