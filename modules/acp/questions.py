"""Questions as the protocol asks them: the options of each, and the reply that one stands for."""

from __future__ import annotations

from collections.abc import Iterator

from acp.schema import AllowedOutcome, PermissionOption, RequestPermissionResponse, ToolCallUpdate

from core.cards import RunCard
from core.events import ApprovalAsked, Reply
from core.tool_spec import ToolSpec
from modules.acp.updates.calls import content_of, fenced, kind_of, text_content
from modules.acp.updates.updates import Updates
from modules.cli.render.cards.plain_cards import asked_text
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.clean import clean, visible

ONCE, SESSION, PROJECT, REJECT = "once", "session", "project", "reject"
_CHOICE = "choice-"
"""Begins the id of an answer to a question of the model's own; its number stands behind."""
_YES = {
    ONCE: Reply(True),
    SESSION: Reply(True, always=True),
    PROJECT: Reply(True, always=True, lasts=True),
}


def options_of(question: ApprovalAsked, translator: Translator) -> list[PermissionOption]:
    """Return the answers that *question* can have; the first allows this one call.

    The protocol takes no words: a question of the model's own has its choices, and none of them.
    """
    say = translator.render
    if question.risk == "question":
        none = PermissionOption(option_id=REJECT, name=say(phrase("Skip")), kind="reject_once")
        return [*_choices_of(question, translator), none]
    once, reject = _labels(question)
    options = [PermissionOption(option_id=ONCE, name=say(once), kind="allow_once")]
    if question.pattern:
        for_session = phrase("Always in this session: {pattern}", pattern=visible(question.pattern))
        options.append(
            PermissionOption(option_id=SESSION, name=say(for_session), kind="allow_always")
        )
    if question.may_last:
        for_project = phrase("Always in this project: {pattern}", pattern=visible(question.pattern))
        options.append(
            PermissionOption(option_id=PROJECT, name=say(for_project), kind="allow_always")
        )
    return [*options, PermissionOption(option_id=REJECT, name=say(reject), kind="reject_once")]


def _choices_of(question: ApprovalAsked, translator: Translator) -> Iterator[PermissionOption]:
    for number, choice in enumerate(question.choices):
        name = visible(translator.render(choice))
        yield PermissionOption(option_id=f"{_CHOICE}{number}", name=name, kind="allow_once")


def _labels(question: ApprovalAsked) -> tuple[Phrase, Phrase]:
    """Return what a plain yes and a plain no are called."""
    match question.risk:
        case "loop":
            return phrase("Continue"), phrase("Stop the task")
        case "loss" | "protected":
            return phrase("Keep the changes"), phrase("Undo all changes")
        case _:
            return phrase("Allow once"), phrase("Reject")


def asked_call(
    question: ApprovalAsked, spec: ToolSpec | None, title: str, updates: Updates
) -> ToolCallUpdate:
    """Return the call that *question* is about, with the reason to ask above what it would do."""
    translator = updates.translator
    why = text_content(clean(translator.render(question.why)))
    preview = question.preview
    if isinstance(preview, RunCard):  # nothing has come of it yet, and all of it is to be read
        shown = [text_content(fenced(asked_text(preview, translator)))]
    else:
        shown = [*content_of(preview, updates.root, translator)]
    return ToolCallUpdate(
        tool_call_id=updates.call_id(question.call_id),
        title=title,
        kind=kind_of(spec),
        status="pending",
        content=[why, *shown],
    )


def reply_of(response: RequestPermissionResponse, question: ApprovalAsked) -> Reply | None:
    """Return what *response* to *question* means; None where it is no answer that was offered, as
    when the turn was cancelled."""
    if not isinstance(response.outcome, AllowedOutcome):
        return None
    chosen = response.outcome.option_id
    if chosen == REJECT:
        return Reply(False)
    if question.risk == "question":
        answers = {f"{_CHOICE}{n}": str(choice) for n, choice in enumerate(question.choices)}
        return Reply(True, text=answers[chosen]) if chosen in answers else None
    return _YES.get(chosen)


def is_cancelled(response: RequestPermissionResponse) -> bool:
    return not isinstance(response.outcome, AllowedOutcome)
