"""Making room in a long conversation: older turns give way to a digest that the model writes.

The log is never rewritten, and each digest is made anew from the whole log, so that what was lost
in one is not lost for good. Turns are left out whole; the person's words stay word for word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from core.conversation.history import TurnRecord
from core.conversation.messages import (
    Assistant,
    Record,
    ShellResult,
    ToolCall,
    ToolResult,
    User,
    Wire,
    is_for_model,
)
from utils.text.tokens import estimate_tokens

COMPACT_ABOVE = 0.85
"""Part of the window that may be used before older turns are summed up."""
KEPT_SHARE = 0.3
"""Part of the window that the turns then kept whole may fill."""
REQUEST_SHARE = 0.4
"""Part of the window that the request for a digest may fill."""
PERSON_PREFIX, CALL_PREFIX = "Person: ", "Call "
"""Beginnings of lines of a turn as text."""
TURN_HEADING = "## Turn "
"""Begins each turn in the request for a summary."""
MAX_ARGUMENTS, MAX_RESULT, MAX_REPLY, MAX_USER_TEXT = 300, 500, 2_000, 4_000
"""Characters kept of each in the request for a summary."""
MAX_SUMMARY = 16_000
"""Characters of a digest."""
_MIN_CONVERSATION = 400
"""Characters of a conversation that a digest could be longer than."""


def summary_request(prompt: str, records: Sequence[TurnRecord], limit: int) -> list[Wire]:
    """Return the messages that ask for a summary of *records*, in `REQUEST_SHARE` of *limit*."""
    turns = list(_rendered_turns(records))
    max_tokens = int(limit * REQUEST_SHARE)
    while turns and sum(map(estimate_tokens, turns)) > max_tokens:
        longest_index = max(range(len(turns)), key=lambda index: len(turns[index]))
        turns[longest_index] = _halved(turns[longest_index])
    text = "\n\n".join(turns)
    return [{"role": "system", "content": prompt}, {"role": "user", "content": text}]


def validate_summary(summary: str, records: Sequence[TurnRecord]) -> str:
    """Return *summary* ready for use, "" where it says nothing or saves nothing."""
    summary = summary.strip()
    if not summary or len(summary) > MAX_SUMMARY:
        return ""
    original_length = sum(len(text) for text in _rendered_turns(records))
    return summary if len(summary) < max(original_length, _MIN_CONVERSATION) else ""


def summary_message(summary: str, records: Sequence[TurnRecord], notes: Iterable[str]) -> str:
    """Return what the model reads instead of *records*; *notes* is what must not be forgotten."""
    last = records[-1][0]
    user_words = [
        _user_words(turn, record.text)
        for turn, record in records
        if isinstance(record, User) and not record.is_private
    ]
    known = [note for note in notes if note]
    parts = [
        f"The turns up to number {last} of this session are summed up here; reading "
        f'"@history/{last}" shows one in full, "@history" lists them.',
        *(["What is known of them without a summary:", *known] if known else []),
        f"The summary:\n{summary}",
        "\n".join(["What the person said in them, word for word:", *user_words]),
    ]
    return "\n\n".join(parts)


def _user_words(turn: int, text: str) -> str:
    if len(text) > MAX_USER_TEXT:
        text = f'{text[:MAX_USER_TEXT]}… (the rest: read "@history/{turn}")'
    return f"[turn {turn}] {text}"


def _rendered_turns(records: Iterable[TurnRecord]) -> Iterator[str]:
    """Yield each turn as text, bounded."""
    current_turn, lines = 0, list[str]()
    for turn, record in records:
        if turn != current_turn and lines:
            yield "\n".join(lines)
            lines = []
        if turn != current_turn:
            current_turn = turn
            lines.append(f"{TURN_HEADING}{turn}")
        lines += _record_lines(record)
    if lines:
        yield "\n".join(lines)


def _record_lines(record: Record) -> list[str]:
    if not is_for_model(record):
        return []
    match record:
        case User(text):
            return [f"{PERSON_PREFIX}{_truncated(text, MAX_USER_TEXT)}", *_picture_lines(record)]
        case Assistant(text, calls=calls):
            lines = [f"Onefold: {_truncated(text, MAX_REPLY)}"] if text else []
            return lines + [
                f"{CALL_PREFIX}{call.name}: {_truncated(call.arguments, MAX_ARGUMENTS)}"
                for call in calls
            ]
        case ShellResult(command=command, text=text):
            return [f"{_who(record)} {command}: {_truncated(text, MAX_RESULT)}"]
        case ToolResult(text=text):
            return [f"Answer ({record.state}): {_truncated(text, MAX_RESULT)}"]
        case _:
            return []


def _who(result: ShellResult) -> str:
    if result.read:
        return "Onefold, for an @ of the message, ran"
    return "Onefold, to check the task, ran" if result.check else "The person ran"


def render_turn(records: Iterable[TurnRecord]) -> str:
    """Return the turn that *records* are of, with everything that was said and done."""
    lines: list[str] = []
    for _, record in filter(lambda one: is_for_model(one[1]), records):
        match record:
            case User(text):
                lines += [f"{PERSON_PREFIX}{text}", *_picture_lines(record)]
            case Assistant(text, calls=calls):
                lines += [f"Onefold: {text}"] if text else []
                lines += [f"{CALL_PREFIX}{call.name}: {_argument_lines(call)}" for call in calls]
            case ShellResult(command=command, text=text):
                lines.append(f"{_who(record)} {command}:\n{text}")
            case ToolResult(text=text):
                lines.append(f"Answer of {record.name} ({record.state}):\n{text}")
    return "\n".join(lines) + "\n"


def _picture_lines(message: User) -> list[str]:
    """Name the pictures that the person gave; what a call showed its answer names."""
    return [f"[picture {picture.description}]" for picture in message.pictures]


def _argument_lines(call: ToolCall) -> str:
    values = json.loads(call.arguments)
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _truncated(text: str, length: int) -> str:
    text = text.strip()
    return text if len(text) <= length else f"{text[: length * 2 // 3]} … {text[-length // 3 :]}"


def _halved(text: str) -> str:
    kept_length = len(text) // 2
    return (
        f"{text[: kept_length // 2]}\n…\n{text[-(kept_length - kept_length // 2) :]}"
        if kept_length > 20
        else ""
    )
