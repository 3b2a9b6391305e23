"""What a session does, read off its records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from core.conversation.helper_records import open_calls
from core.conversation.history import ASKED, History, TurnRecord, check_in, question_in
from core.conversation.messages import StateRecord, ToolCall, User
from core.conversation.turn_progress import is_turn_over
from modules.agents.work import WorkState
from utils.i18n import Text
from utils.text.clean import visible

_MAX_SUBJECT = 60  # characters of what a call is about


class Doing(NamedTuple):
    """How far a session is: its *state*, its last *task*, and *now*: the call that it is at, or
    what it asks beside one."""

    state: WorkState
    task: str
    now: Text


def doing_in(records: Sequence[TurnRecord]) -> Doing:
    """Return what the session with *records* does, if a process has it."""
    history = History(lambda *_: None)
    history.replay(records)
    of_turn = [(turn, record) for turn, record in records if turn == history.turn]
    newest = [record for _, record in of_turn]
    question = question_in(of_turn)
    task = next((one.typed or one.text for one in newest if isinstance(one, User)), "")
    task = visible(task.partition("\n")[0])
    is_asking = bool(question) or _is_asking(records)
    if calls := open_calls(of_turn):
        return Doing("asking" if is_asking else "working", task, call_text(calls[0]))
    if check := visible(check_in(records)):
        return Doing("asking" if is_asking else "checking", task, _cut(check.strip("…")))
    if question:
        return Doing("asking", task, question)
    return Doing("idle" if is_turn_over(newest) else "working", task, "")


def _is_asking(records: Sequence[TurnRecord]) -> bool:
    """Return whether the last that *records* tell of calls asked about is that one is: those of a
    helper keep no other question, nor did older Onefolds."""
    told = (one for _, one in reversed(records) if isinstance(one, StateRecord))
    return bool(next((one.value for one in told if one.name == ASKED), ""))


def call_text(call: ToolCall) -> str:
    """Return *call* in one line."""
    arguments = json.loads(call.arguments)
    values = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    line = visible(f"{call.name} {first}".replace("\n", " ").strip())
    return _cut(line)


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_SUBJECT else f"{line[:_MAX_SUBJECT]}…"
