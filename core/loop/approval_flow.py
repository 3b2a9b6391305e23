"""The question before a call: what it shows, what may be answered, what the model reads of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.cards import Card, RunCard, TextCard
from core.conversation.result_texts import (
    DENIED_PREFIX,
    REFUSED_PREFIX,
    REVISED_PREFIX,
    REVISED_RESULT,
)
from core.events import Reply
from core.loop.approval import Decision, covers
from core.tools import Outcome, Tool
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.line_diff import text_diff

_DIFF_FROM_LENGTH = 400
"""Characters of an argument above which a shorter difference tells of its change."""


def arguments_preview(tool: Tool, arguments: Mapping[str, Any]) -> Card:
    """Return what a call is about to do, to the letter."""
    if program := tool.spec.program:
        code = tool.spec.program_of(arguments)
        return RunCard(program.language, code, "", None, "", 0.0, "")
    return TextCard(tool.name, format_arguments(arguments))


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """Return *arguments* for a person to read, none of them cut."""
    return "\n".join(map(_format_argument, arguments.items()))


def _format_argument(argument: tuple[str, Any]) -> str:
    name, value = argument
    text = str(value)
    return f"{name}: {text}" if "\n" not in text else f"{name}:\n{text}".removesuffix("\n")


def resolve_approval(reply: Reply, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments that a yes is about: *arguments*, or what the person put in their place.

    Raises `ToolError` when *tool* cannot take the person's, `UserError` when the pattern of an
    "always" would not even cover this call.
    """
    if reply.arguments is not None:
        revised = tool.validate(reply.arguments)
        arguments = arguments if revised == arguments else revised
    if reply.always and reply.pattern and not covers(reply.pattern, tool, arguments):
        message = phrase("The pattern {pattern} does not cover this call.", pattern=reply.pattern)
        raise UserError(message)
    return arguments


def check_lasting(reply: Reply, decision: Decision) -> None:
    """Raise `UserError` where *reply* would last for other calls than those it was asked about."""
    is_as_shown = reply.pattern in ("", decision.pattern) and reply.arguments is None
    if not (decision.may_last and is_as_shown):
        raise UserError(phrase("This can be allowed only for this call or this session."))


def with_revision_note(
    outcome: Outcome, requested: Mapping[str, Any], executed: Mapping[str, Any]
) -> Outcome:
    """Return *outcome* with a note for the model on how the person changed what it *requested*."""
    lines = [
        _describe_change(name, requested.get(name), executed.get(name))
        for name in {**requested, **executed}
    ]
    changes = "\n".join(filter(None, lines))
    note = f"{REVISED_PREFIX}; these arguments are other now:\n{changes}"
    return replace(outcome, text=f"{note}{REVISED_RESULT}{outcome.text}")


def _describe_change(name: str, before: Any, after: Any) -> str:
    if before == after:
        return ""
    if after is None:
        return f"{name}: left out"
    if not isinstance(after, str):
        return f"{name}: {json.dumps(after, ensure_ascii=False)}"
    if isinstance(before, str) and len(after) > _DIFF_FROM_LENGTH:
        diff = text_diff(before, after).diff
        if len(diff) < len(after):
            return f"{name}, as a difference to yours:\n{diff}"
    return f"{name}:\n{after}" if "\n" in after else f"{name}: {after}"


def refusal(decision: Decision, reply: Reply | None) -> Outcome:
    """Return the outcome of a call that nobody approved."""
    if decision.verdict == "refuse":
        return not_run_outcome(f"{REFUSED_PREFIX} {decision.why}", phrase("Refused"), decision.why)
    if reply is None:
        text = (
            f"{REFUSED_PREFIX} nobody was there to say yes. It needs a yes because: {decision.why}"
        )
        return not_run_outcome(text, phrase("Refused: no one was there to approve"), decision.why)
    reason = reply.reason.strip()
    text = f"{DENIED_PREFIX}: {reason}" if reason else f"{DENIED_PREFIX}."
    return not_run_outcome(text, phrase("You refused"), reason)


def not_run_outcome(text: str, title: Phrase, why: Text) -> Outcome:
    return Outcome(text, TextCard(title, why), ok=False)
