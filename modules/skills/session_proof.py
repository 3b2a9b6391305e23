"""What a session proved to work: its commands that ended well, decisions and files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.cards import Change, RunCard
from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, Record, ShellResult, ToolResult, User
from utils.text.clean import clean, visible

_MAX_RUNS, _MAX_WORDS, _MAX_FILES = 40, 20, 60  # that are named; of more the newest
_MAX_LENGTH = 1_500
"""Characters of one of them."""


class Proof(NamedTuple):
    """What is known of a session without a model.

    *commands* are of bash, the last run of each being green; *failed* are those that were red at
    last, each with its exit code.
    """

    asked: Sequence[str]
    decided: Sequence[str]
    commands: Sequence[str]
    programs: Sequence[str]
    failed: Sequence[str]
    changed: Sequence[str]

    def text(self) -> str:
        """Return it as the model reads it."""
        parts = [
            ("What the person asked for:", self.asked),
            ("What was decided:", self.decided),
            ("Commands that ended well, in their order:", self.commands),
            ("Python that ended well:", self.programs),
            ("What was run and did not end well:", self.failed),
            ("Files that were changed:", self.changed),
        ]
        return "\n\n".join(
            "\n".join([title, *(f"- {line}" for line in lines)]) for title, lines in parts if lines
        )


def proof_of(records: Iterable[TurnRecord], changes: Sequence[Change]) -> Proof:
    """Return what the session of *records* proved, which did *changes* to the files."""
    asked: list[str] = []
    decided: list[str] = []
    runs: dict[tuple[str, str], int | None] = {}
    questions: dict[str, str] = {}
    for _, record in records:
        questions |= _questions_in(record)
        match record:
            case User(text=text, typed=typed, is_private=False) if not text.startswith("/"):
                asked.append(_short(typed or text))
            case ToolResult(call_id=call, state="done", text=text) if call in questions:
                decided.append(_short(f"{questions[call]} {text}"))
        for run in _runs_in(record):
            key = run.language, run.code.strip()
            runs.pop(key, None)  # the last run counts, and where it stands
            runs[key] = run.exit_code
    green = [key for key, code in runs.items() if code == 0]
    return Proof(
        asked[-_MAX_WORDS:],
        decided[-_MAX_WORDS:],
        [code for language, code in green if language == "bash"][-_MAX_RUNS:],
        [_short(code) for language, code in green if language == "python"][-_MAX_RUNS:],
        [_short(f"{code} (exit code {runs[language, code]})")
         for language, code in runs if runs[language, code]][-_MAX_RUNS:],
        [_change_line(change) for change in changes][-_MAX_FILES:],
    )  # fmt: skip


def _questions_in(record: Record) -> dict[str, str]:
    """Return the questions to the person in *record*, by the ids of their calls."""
    if not isinstance(record, Assistant):
        return {}
    found = {call.id: json.loads(call.arguments) for call in record.calls}
    asked = {call: given.get("question") for call, given in found.items()}
    return {call: text for call, text in asked.items() if isinstance(text, str)}


def _runs_in(record: Record) -> Iterable[RunCard]:
    match record:
        case ToolResult(card=RunCard() as card) | ShellResult(card=RunCard() as card):
            is_private = isinstance(record, ShellResult) and record.is_private
            if not card.job and not is_private and not card.code.startswith("# "):
                yield card


def _change_line(change: Change) -> str:
    to = f" to {visible(change.new_path)}" if change.new_path else ""
    return f"{change.kind} {visible(change.path)}{to}"


def _short(text: str) -> str:
    text = clean(text).strip()
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"
