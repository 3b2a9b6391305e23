"""The project's checks at the end of a task that changed files: run by the system, not the model.

What passes costs no model call and adds nothing to a request. What fails is told to the model once.
"""

from __future__ import annotations

from collections.abc import Generator

from core.cards import RunCard, TextCard
from core.conversation.history import CHECKING
from core.conversation.messages import ShellResult, StateRecord
from core.events import Event, Informed, Reply, ToolFinished, ToolStarted
from core.feature import BrokenFiles, PlannedCheck
from core.hooks import ProvesWork
from core.loop.tool_calls import ApprovalTimer, run_apart
from core.loop.turn_context import TurnContext
from core.redaction import map_strings
from core.tools import Tool
from utils.i18n import phrase
from utils.text.lines import cut_middle
from utils.waiting import Stopped

_MAX_TOLD = 4_000  # characters that the model is told of a check that failed


def checks_pass(
    context: TurnContext, timer: ApprovalTimer, *, may_go_on: bool
) -> Generator[Event, Reply | None, bool]:
    """Run the checks of the project; return whether the task may end: the model was told of none.

    It is told of the first that fails where it *may_go_on*; else the receipt alone says so. Nothing
    runs where no file changed since they last ran, in a session that is read-only, or without the
    yes that a run of the model's would need. Raises `Stopped`.
    """
    prover = context.features.prover
    tool = next((tool for tool in context.tools.installed if tool.spec.is_shell), None)
    if prover is None or tool is None or context.approval.is_read_only:
        return True
    failed = ""
    if prover.has_unchecked_changes():
        context.record(StateRecord(CHECKING, "…"))
        try:
            failed = yield from _run_all(context, prover, tool, timer, is_told=may_go_on)
        finally:
            context.record(StateRecord(CHECKING, ""))
    if context.stop.is_set():
        raise Stopped
    if not failed or not may_go_on:
        return True
    yield Informed(phrase("Check failed: {name}. The model was told.", name=failed))
    return False


def _run_all(
    context: TurnContext, prover: ProvesWork, tool: Tool, timer: ApprovalTimer, *, is_told: bool
) -> Generator[Event, Reply | None, str]:
    """Run them up to the first that fails, and return that, which the model reads if it *is_told*.

    "" is for none.
    """
    if _needs_no_leave(context, tool) and (broken := prover.find_broken()):
        yield from _show_broken(context, tool, broken, is_told=is_told)
        return broken.command
    while not context.stop.is_set() and (check := prover.next_check()):
        if (yield from _has_failed(context, prover, tool, check, timer, is_told=is_told)):
            return check.command
    return ""


def _needs_no_leave(context: TurnContext, tool: Tool) -> bool:
    """Return whether a harmless run would need nobody's leave: the sandbox works, for one."""
    return context.approval.decide(tool, _arguments(tool, "true", 1)).verdict == "allow"


def _show_broken(
    context: TurnContext, tool: Tool, broken: BrokenFiles, *, is_told: bool
) -> Generator[Event, Reply | None, None]:
    card, text = map_strings((broken.card, broken.text), context.features.redact)
    result = ShellResult(
        *(broken.id, broken.command, cut_middle(text, _MAX_TOLD), "failed", card, 0.0),
        is_private=not is_told,
        check=tool.name,
    )
    context.record(result)
    yield ToolStarted(broken.id, tool.name, {"command": broken.command})
    yield ToolFinished(broken.id, tool.name, "failed", card, 0.0)


def _has_failed(
    context: TurnContext,
    prover: ProvesWork,
    tool: Tool,
    check: PlannedCheck,
    timer: ApprovalTimer,
    *,
    is_told: bool,
) -> Generator[Event, Reply | None, bool]:
    """Run *check* as a call of the model's would be run; return whether it failed."""
    command = context.features.redact(check.command)  # a secret gets its value where it works
    arguments = _arguments(tool, command, check.seconds)
    context.record(StateRecord(CHECKING, command))
    state, outcome = yield from run_apart(context, tool, check.id, arguments, timer)
    has_failed = state == "failed" and prover.has_failed(check, outcome)
    card = outcome.card or TextCard(command)
    result = ShellResult(
        *(check.id, command, cut_middle(outcome.text, _MAX_TOLD), state, card),
        card.seconds if isinstance(card, RunCard) else 0.0,
        is_private=not (has_failed and is_told),
        check=tool.name,
    )
    context.record(result)
    return has_failed


def _arguments(tool: Tool, command: str, seconds: int) -> dict[str, object]:
    parameter = tool.spec.program.parameter if tool.spec.program else ""
    return tool.validate({parameter: command, "timeout": seconds})
