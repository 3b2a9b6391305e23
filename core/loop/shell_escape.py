"""The shell escape: `!COMMAND` is run as the person's own, `!!COMMAND` unknown to the model.

Only a line that somebody typed is one. What comes from a file, a pipe or the clipboard is text,
also where it begins like one: `messages.as_message` makes it so before it gets here.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.cards import OUTSIDE_PLACE
from core.conversation.history import History
from core.conversation.messages import (
    SHELL_ESCAPE,
    Record,
    ResultState,
    ShellResult,
    User,
    shell_escape_name,
)
from core.events import Event, Reply, ToolFinished, ToolStarted, TurnFinished, TurnStarted
from core.feature_set import FeatureSet
from core.loop.tool_calls import error_code, stream_output
from core.loop.turn_context import Turn
from core.redaction import map_strings
from core.tools import Outcome, ToolError, failure_outcome
from utils.i18n import UserError, phrase
from utils.waiting import Stop


class ShellContext(Protocol):
    """Everything that a shell escape needs of its terminal."""

    stop: Stop

    @property
    def features(self) -> FeatureSet: ...
    @property
    def history(self) -> History: ...
    def record(self, record: Record) -> None: ...
    def save_state(self) -> None: ...
    def on_turn_finished(self, end: TurnFinished) -> None: ...


@dataclass(frozen=True, slots=True)
class ShellEscape:
    """A *command* to run for the person; the model hears nothing of one that *is_private*."""

    command: str
    is_private: bool

    @classmethod
    def parse(cls, line: str) -> ShellEscape:
        """Return what *line*, which is one, says. Raises `UserError` where that is nothing."""
        is_private = line.startswith(SHELL_ESCAPE * 2)
        command = line[2 if is_private else 1 :].strip()
        if not command:
            raise UserError(phrase("Usage: !COMMAND, or !!COMMAND to keep it from the model."))
        return cls(command, is_private)


def run_shell_escape(
    context: ShellContext, escape: ShellEscape, line: str, queued: Sequence[str]
) -> Turn:
    """Run *escape*, which was typed as *line*, in a turn of its own without the model.

    No checkpoint is its: what it changes counts as the person's.
    """
    started_at = time.monotonic()
    line, command = map_strings((line, escape.command), context.features.redact)
    context.record(User(line, queued=tuple(queued), is_private=escape.is_private))
    turn = context.history.turn
    yield TurnStarted(line, turn)
    call_id = f"shell-{turn}"
    name = shell_escape_name(is_private=escape.is_private)
    yield ToolStarted(call_id, name, {"command": command}, tier=OUTSIDE_PLACE)
    outcome = map_strings((yield from _run(context, escape, call_id)), context.features.redact)
    seconds = time.monotonic() - started_at
    is_stopped = context.stop.is_set() and not outcome.ok
    state: ResultState = "stopped" if is_stopped else "done" if outcome.ok else "failed"
    code = error_code(state, outcome)
    result = ShellResult(
        call_id, command, outcome.text, state, outcome.card, seconds, escape.is_private, code
    )
    context.record(result)
    yield ToolFinished(call_id, name, state, outcome.card, seconds, outcome.changes, code)
    context.features.on_files_changed(outcome.changes)
    context.save_state()
    detail = phrase("Stopped.") if is_stopped else None
    finished = TurnFinished("stopped" if is_stopped else "done", detail, seconds=seconds)
    context.on_turn_finished(finished)
    yield finished


def _run(
    context: ShellContext, escape: ShellEscape, call_id: str
) -> Generator[Event, Reply | None, Outcome]:
    running = context.features.run_for_person(escape.command, is_private=escape.is_private)
    try:
        return (yield from stream_output(context.features, call_id, running))
    except (ToolError, UserError) as error:
        return failure_outcome(error)
