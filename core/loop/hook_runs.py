"""Hooks of the person's and the project's: run around calls and at the end of a task."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from core.conversation.messages import Context
from core.events import Event, Informed, Reply, Warned
from core.feature import HookEvent, HookVerdict
from core.loop.approval_flow import not_run_outcome
from core.loop.turn_context import TurnContext
from core.redaction import map_strings
from core.tools import Outcome, Tool
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.waiting import Stopped

_NOTHING_SAID = HookVerdict()
_MAX_NAMED = 5  # paths in a line for the person


def run_call_hooks(
    context: TurnContext,
    event: HookEvent,
    tool: Tool,
    arguments: Mapping[str, Any],
    result: str = "",
) -> Generator[Event, Reply | None, HookVerdict]:
    """Run the hooks before or after a call of *tool*; tell the person what went wrong with one.

    They get what the model may see: nothing of *arguments* and *result* that nobody may.
    """
    if context.stop.is_set() or not context.features.has_hooks(event, tool.name):
        return _NOTHING_SAID
    redact = context.features.redact
    seen = map_strings(dict(arguments), redact), redact(result)
    return (yield from _run(context, event, tool.name, *seen))


def _run(
    context: TurnContext, event: HookEvent, tool: str, arguments: Mapping[str, Any], result: str
) -> Generator[Event, Reply | None, HookVerdict]:
    is_read_only = context.approval.is_read_only
    verdict = context.features.run_hooks(event, tool, arguments, result, is_read_only=is_read_only)
    verdict = map_strings(verdict, context.features.redact)
    for problem in verdict.problems:
        yield Informed(problem)
    return verdict


def with_hooks_said(outcome: Outcome, before: HookVerdict, after: HookVerdict) -> Outcome:
    """Return the *outcome* of a call with what the hooks around it said and did."""
    if before is _NOTHING_SAID and after is _NOTHING_SAID:
        return outcome
    lines = (outcome.text, *before.notes, after.denial, *after.notes)
    changes = (*before.changes, *outcome.changes, *after.changes)
    return replace(outcome, text="\n".join(filter(None, lines)), changes=changes)


def denied_outcome(denial: HookVerdict) -> Outcome:
    """Return the outcome of a call that a hook refused."""
    outcome = not_run_outcome(denial.denial, phrase("Refused by a hook"), denial.why)
    text = "\n".join((outcome.text, *denial.notes))
    return replace(outcome, text=text, changes=denial.changes)


def may_end(context: TurnContext, *, was_held: bool) -> Generator[Event, Reply | None, bool]:
    """Run the hooks at the end of a task; return whether it may end.

    One that says no tells the model why, unless the task *was_held* by that before. What they do
    to the files is recorded as that of a call. Raises `Stopped`.
    """
    if context.stop.is_set() or not context.features.has_hooks("Stop"):
        return True
    try:
        with context.recorded("hooks-at-end-again" if was_held else "hooks-at-end"):
            verdict = yield from _run(context, "Stop", "", {}, "")
        context.features.on_files_changed(verdict.changes)
        if verdict.changes:
            yield Informed(_changed(verdict), verdict.changes)
    except UserError as problem:  # what they do could not be undone, or was not recorded
        yield Warned(problem.message)
        return True
    if context.stop.is_set():
        raise Stopped
    if verdict.denial and was_held:
        yield Informed(phrase("A hook still rejects the end of the task: {why}", why=verdict.why))
        return True
    said = "\n".join(filter(None, (verdict.denial, *verdict.notes)))
    if not verdict.denial or not said:
        return True
    context.record(Context(said))
    yield Informed(phrase("A hook continues the task: {why}", why=verdict.why))
    return False


def _changed(verdict: HookVerdict) -> Phrase:
    paths = [visible(change.new_path or change.path) for change in verdict.changes]
    more = "" if len(paths) <= _MAX_NAMED else " …"
    return phrase("Hooks changed files: {paths}", paths=", ".join(paths[:_MAX_NAMED]) + more)
