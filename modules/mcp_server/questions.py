"""Questions as forms of the protocol (elicitation), and the reply that a filled one stands for."""

from __future__ import annotations

from typing import Any

from mcp_types import ElicitRequestFormParams, ElicitResult

from core.events import ApprovalAsked, Reply
from modules.cli.render.cards.plain_cards import asked_text
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.clean import clean, visible

ANSWER, REASON = "answer", "reason"
YES, NO, SESSION, PROJECT = "yes", "no", "always in this session", "always in this project"
_REPLIES = {
    YES: Reply(True),
    SESSION: Reply(True, always=True),
    PROJECT: Reply(True, always=True, lasts=True),
}
_MAX_MESSAGE = 100_000
"""Characters of a question that can be read."""
TOO_LONG = "it is too long to be asked about; do it in smaller parts"


def form_of(
    question: ApprovalAsked, title: str, translator: Translator
) -> ElicitRequestFormParams | None:
    """Return *question* about the call *title* as a form, with all that it would do.

    None where that is too much to be read.
    """
    say = translator.render
    parts = [visible(title), clean(say(question.why)), asked_text(question.preview, translator)]
    if question.pattern:
        covered = phrase("“Always” covers: {pattern}", pattern=visible(question.pattern))
        parts.append(say(covered))
    message = "\n\n".join(dict.fromkeys(filter(None, parts)))
    if len(message) > _MAX_MESSAGE:
        return None
    return ElicitRequestFormParams(message=message, requested_schema=_schema(question, translator))


def _schema(question: ApprovalAsked, translator: Translator) -> dict[str, Any]:
    say = translator.render
    answer: dict[str, Any] = {"type": "string", "title": say(_label(question))}
    if options := _options(question):
        answer["enum"] = options
    properties = {ANSWER: answer}
    if question.risk != "question":
        properties[REASON] = {
            "type": "string",
            "title": say(phrase("Reason for refusing (the model reads it)")),
        }
    return {"type": "object", "properties": properties, "required": [ANSWER]}


def _label(question: ApprovalAsked) -> Phrase:
    match question.risk:
        case "question":
            return phrase("Answer")
        case "loop":
            return phrase("Continue?")
        case "loss" | "protected":
            return phrase("Keep its changes?")
        case _:
            return phrase("Allow it?")


def _options(question: ApprovalAsked) -> list[str]:
    """Return the answers that *question* can have, none where any words are one."""
    if question.risk == "question":
        return [visible(str(choice)) for choice in question.choices]
    always = [SESSION] if question.pattern else []
    return [YES, NO, *always, *([PROJECT] if question.may_last else [])]


def reply_of(result: ElicitResult | None, question: ApprovalAsked) -> Reply | None:
    """Return what *result* says to *question*; None where it is no answer that was offered."""
    if result is None:
        return None
    if result.action != "accept":
        return Reply(False)
    content = result.content or {}
    answer, reason = content.get(ANSWER), content.get(REASON)
    if not isinstance(answer, str):
        return None
    if question.risk == "question":
        return _own_answer(answer, question)
    if answer == NO:
        return Reply(False, reason=reason if isinstance(reason, str) else "")
    return _REPLIES.get(answer) if answer in _options(question) else None


def _own_answer(answer: str, question: ApprovalAsked) -> Reply | None:
    choices = {visible(str(choice)): str(choice) for choice in question.choices}
    text = choices.get(answer, "") if choices else answer
    return Reply(True, text=text) if text.strip() else None
