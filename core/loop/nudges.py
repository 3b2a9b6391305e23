"""Asking a model once more whose reply did nothing, though it seems to mean to do something."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from core.conversation.messages import Context
from core.conversation.result_texts import FAILED_PREFIX
from core.events import Event, Informed, Warned
from core.hooks import AsksAtEnd
from core.loop.response import ReplyRead
from core.loop.turn_context import TurnContext
from utils.i18n import phrase
from utils.llm.completion import EmptyReply, ModelError

CALL_AS_TEXT_NOTE = (
    "That call was not made, because your reply was not a call alone. Do the task now: reply with "
    "one tool call and nothing else. If it was only shown to the person, say so in one sentence."
)
DAMAGED_BLOCK_NOTE = (
    "Your reply holds what looks like a tool call, but no block that stands whole and for itself: "
    "nothing of it was done. If you mean it, write the whole block again, and nothing else around "
    "it. If not, say in one sentence how the task stands."
)
REPEATED_FAILURE_NOTE = (
    "Your reply only repeats how the last call failed; nothing was done since. Do what that answer "
    "says, or say in your own words what is in the way."
)
NOT_BEGUN = (
    "You said what you are going to do, and did nothing yet. Do it now: call the tool. If there is "
    "nothing to do, say so in one sentence."
)
_CLOSING_MARKS = " \t\r\n*_`~\"')]\u2019\u201d\u300d\u300f\uff09"
ENDLESS = (
    "Your reply repeated the same words without end, so it was stopped. Do not go on with it: take "
    "the next step, or say in one sentence what is in the way."
)

SILENT = (
    "Your reply was empty. Take the next step by calling a tool, or say in one sentence how the "
    "task stands."
)
IMITATED_ANSWER = (
    "Your reply is written like the answer of a tool. Only tools answer so, and nothing was done. "
    "Call the tool, or say in one sentence how the task stands."
)
_ANSWER_HEADS = ("<tool_response>", "<|tool_response|>", "<function_response>", "[Answer of ")
"""With these begin the answers of tools in the templates of models, and in ours."""


@dataclass
class Nudges:
    """Second requests of one turn for what a model left out, each made once."""

    was_asked_to_call: bool = False
    """Once until it calls again."""
    was_asked_to_mend: bool = False
    was_endless: bool = False
    was_silent: bool = False

    def ask_again(
        self, host: TurnContext, read: ReplyRead, *, step: int, failed: str
    ) -> Generator[Event, Any, bool]:
        """Ask once more after a reply without calls that is no last word; return whether it was.

        *failed* is the tool of the call before, where that failed.
        """
        text = read.message.text
        if read.may_hold_call and not self.was_asked_to_call:
            self.was_asked_to_call = True
            is_native = host.model.profile.protocol == "native"
            host.record(Context(CALL_AS_TEXT_NOTE if is_native else DAMAGED_BLOCK_NOTE))
            yield Informed(phrase("The model wrote a call as text. Asking again."))
        elif failed and not self.was_asked_to_mend and FAILED_PREFIX in text:
            # Small models give an answer back as their own word, and often mend it when asked to.
            self.was_asked_to_mend = True
            host.record(Context(REPEATED_FAILURE_NOTE))
            yield Informed(phrase("The model only repeated why its call failed. Asking again."))
        elif not self.was_asked_to_mend and text.lstrip().startswith(_ANSWER_HEADS):
            self.was_asked_to_mend = True
            host.record(Context(IMITATED_ANSWER))
            yield Informed(phrase("The model made up a tool result. Asking again."))
        elif (
            step == 1
            and not read.may_hold_call
            and not host.model.is_well_known
            and _promises(text)
        ):
            host.record(Context(NOT_BEGUN))
            yield Informed(
                phrase("The model announced its next step and stopped. Asking it to continue.")
            )
        else:
            return False
        return True

    def ask_for_words(self, host: TurnContext, error: ModelError) -> Generator[Event, Any, bool]:
        """Ask a small model once more that said nothing; return whether it was.

        The same request again would bring the same.
        """
        is_silent = isinstance(error, EmptyReply) and not host.model.is_well_known
        if not is_silent or self.was_silent:
            return False
        self.was_silent = True
        host.record(Context(SILENT))
        yield Informed(phrase("The model gave no answer. Asking again."))
        return True

    def end_repetition(self, host: TurnContext) -> Iterator[Event]:
        """Tell the model that its reply was stopped for saying the same on and on."""
        self.was_endless = True
        host.record(Context(ENDLESS))
        yield Warned(phrase("The model kept repeating itself. The reply was stopped."))


def ask_whether_done(
    context: TurnContext, last_words: str, *, is_last: bool
) -> Generator[Event, Any, bool]:
    """Ask, once in a task, about what a feature sees left to do; return whether that was asked.

    Not asked is who asks the person something, has no reply left, or no money for one.
    """
    if is_last or context.is_practice or _asks_person(last_words):
        return False
    asking = (one.question_at_end() for one in context.features if isinstance(one, AsksAtEnd))
    question = next(filter(None, asking), "")
    if not question or context.stop.is_set() or context.over_budget_reason():
        return False
    context.record(Context(question))
    yield Informed(
        phrase("The model stopped with open todos. Asking whether it is done."),
        ends_answer=True,
    )
    return True


def _asks_person(text: str) -> bool:
    """Return whether *text* ends with a question, in whatever marks that is wrapped."""
    return text.rstrip(_CLOSING_MARKS).endswith(("?", "\uff1f"))


def _promises(text: str) -> bool:
    """Return whether *text* says what the model is going to do; small models stop there."""
    if not text.strip():
        return False
    from utils.llm.calls.call_context import promises  # 10 ms for its patterns

    return promises(text)
