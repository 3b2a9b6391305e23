"""The task of `-p`: what was typed, what was piped in, and how it is done."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.loop.turn import drive
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from modules.cli.print_mode import PlainScreen
from utils.i18n import BadUsage, Phrase, UserError, phrase
from utils.logger import FailureLog
from utils.system.interrupts import stopping_on_signals

if TYPE_CHECKING:
    from modules.answer_schema import AnswerSchema

PIPE_WAIT_SECONDS = 3.0
"""Seconds to wait for the first byte of a pipe that nobody may ever write to."""


def read_task(typed: str, warn: Callable[[Phrase], None]) -> str:
    """Return the task: *typed*, with what standard input has piped in behind it.

    "-" means standard input alone. Raises `UserError` when there is no task.
    """
    is_all = typed == "-"
    piped = "" if typed.startswith("/") else _piped_input(is_wanted=is_all, warn=warn)
    task = piped.strip() if is_all else "\n\n".join(filter(None, [typed.strip(), piped.rstrip()]))
    if not task:
        raise BadUsage(phrase("No task: add it after -p, or pipe it in."))
    return task


def run_task(
    terminal: MainTerminal,
    task: str,
    screen: PlainScreen,
    failures: FailureLog,
    typed: str = "",
    schema: AnswerSchema | None = None,
) -> int:
    """Do *task* and print what *screen* is to print; return the exit code.

    *typed* is what of it the person typed, which may name pictures and files; the answer is to be
    valid by *schema*. Raises `UserError` when nothing could be begun, as with any bad setting.
    """
    screen.learn(terminal.tools, terminal.commands, lambda: bool(terminal.store.sessions(1)))
    turns = [terminal.run_line(task, terminal.load_pictures(typed), typed=typed)]
    if _is_helper_waiting(terminal):
        turns.insert(0, terminal.resume_turn())
    with stopping_on_signals(terminal.stop.set):
        try:
            _run_turns(turns, terminal, screen)
            if schema and screen.has_answer:
                _take_valid_answer(terminal, screen, schema)
        except UserError as problem:
            if not screen.has_begun:
                raise
            screen.fail(problem.message, problem.code)
        except Exception as error:  # noqa: BLE001 - ours; the one place of this screen to log it
            screen.fail(failures.log(error), "internal")
    return screen.finish(terminal.session)


def _run_turns(turns: Sequence[Turn], terminal: MainTerminal, screen: PlainScreen) -> None:
    """Run *turns* one after the other, until one is stopped; the answer is that of the last."""
    for number, turn in enumerate(turns):
        if number and terminal.stop.is_set():
            return
        if number:
            screen.begin_again()
        drive(turn, screen.show)


def _is_helper_waiting(terminal: MainTerminal) -> bool:
    """Return whether the session was left while a helper worked, and nobody needs to be asked."""
    return terminal.has_open_turn and not terminal.history.asked_call_id


def _take_valid_answer(terminal: MainTerminal, screen: PlainScreen, schema: AnswerSchema) -> None:
    """Have *screen* print the JSON of the answer; where it is not valid the model is told once."""
    from modules.answer_schema import InvalidAnswer, invalid_message, retry_message

    try:
        screen.set_answer(schema.answer_in(screen.answer))
        return
    except InvalidAnswer as error:
        retry = retry_message(error.reason)
    screen.begin_again()
    drive(terminal.run_line(retry, typed=""), screen.show)
    if not screen.has_answer:
        return
    try:
        screen.set_answer(schema.answer_in(screen.answer))
    except InvalidAnswer as error:
        screen.fail(invalid_message(error.reason), "model")


def _piped_input(*, is_wanted: bool, warn: Callable[[Phrase], None]) -> str:
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or none at all
        return ""
    if is_wanted or stat.S_ISREG(kind):
        return _read_stdin()
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return ""
    if not select.select([descriptor], [], [], PIPE_WAIT_SECONDS)[0]:
        warn(phrase("No input on standard input; continuing without it."))
        return ""
    return _read_stdin()


def _read_stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")
