"""Making room in a long conversation: older turns give way to a digest that the model writes.

The log is never rewritten, and each digest is made anew from the whole log, so that what was lost
in one is not lost for good. Turns are left out whole; the person's words stay word for word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, Record, ToolCall, ToolResult, User, Wire
from utils.text.tokens import estimate

FULL = 0.85
"""Part of the window that may be used before older turns are summed up."""
KEPT = 0.3
"""Part of the window that the turns then kept whole may fill."""
SHARE = 0.4
"""Part of the window that the request for a digest may fill."""
ARGUMENTS, ANSWER, REPLY, WORDS = 300, 500, 2_000, 4_000
"""Characters kept of each when it is told again."""
LONGEST = 16_000
"""Characters of a digest."""
_SMALLEST = 400
"""Characters of a conversation that a digest could be longer than."""


def request(prompt: str, records: Sequence[TurnRecord], limit: int) -> list[Wire]:
    """Return the messages that ask for a digest of *records*, in at most `SHARE` of *limit*."""
    turns = list(_retold(records))
    room = int(limit * SHARE)
    while turns and sum(map(estimate, turns)) > room:
        longest = max(range(len(turns)), key=lambda place: len(turns[place]))
        turns[longest] = _halved(turns[longest])
    text = "\n\n".join(turns)
    return [{"role": "system", "content": prompt}, {"role": "user", "content": text}]


def checked(digest: str, records: Sequence[TurnRecord]) -> str:
    """Return *digest* ready for use, "" where it says nothing or saves nothing."""
    digest = digest.strip()
    if not digest or len(digest) > LONGEST:
        return ""
    size = sum(len(text) for text in _retold(records))
    return digest if len(digest) < max(size, _SMALLEST) else ""


def told(digest: str, records: Sequence[TurnRecord], recaps: Iterable[str]) -> str:
    """Return what the model reads instead of *records*; *recaps* is what must not be forgotten."""
    last = records[-1][0]
    said = [_words(turn, record.text) for turn, record in records if isinstance(record, User)]
    parts = [
        f"The turns up to number {last} of this session are summed up here; reading "
        f'"@history/{last}" shows one in full, "@history" lists them.',
        digest,
        "\n".join(["What the person said in them, word for word:", *said]),
        *filter(None, recaps),
    ]
    return "\n\n".join(parts)


def _words(turn: int, text: str) -> str:
    if len(text) > WORDS:
        text = f'{text[:WORDS]}… (the rest: read "@history/{turn}")'
    return f"[turn {turn}] {text}"


def _retold(records: Iterable[TurnRecord]) -> Iterator[str]:
    """Yield each turn as text, bounded."""
    number, lines = 0, list[str]()
    for turn, record in records:
        if turn != number and lines:
            yield "\n".join(lines)
            lines = []
        if turn != number:
            number = turn
            lines.append(f"## Turn {turn}")
        lines += _lines(record)
    if lines:
        yield "\n".join(lines)


def _lines(record: Record) -> list[str]:
    match record:
        case User(text):
            return [f"Person: {_cut(text, WORDS)}", *_shown(record)]
        case Assistant(text, calls=calls):
            said = [f"Onefold: {_cut(text, REPLY)}"] if text else []
            return said + [f"Call {call.name}: {_cut(call.arguments, ARGUMENTS)}" for call in calls]
        case ToolResult(text=text):
            return [f"Answer ({record.state}): {_cut(text, ANSWER)}"]
        case _:
            return []


def in_full(records: Iterable[TurnRecord]) -> str:
    """Return the turn that *records* are of, with everything that was said and done."""
    lines: list[str] = []
    for _, record in records:
        match record:
            case User(text):
                lines += [f"Person: {text}", *_shown(record)]
            case Assistant(text, calls=calls):
                lines += [f"Onefold: {text}"] if text else []
                lines += [f"Call {call.name}: {_arguments(call)}" for call in calls]
            case ToolResult(text=text):
                lines.append(f"Answer of {record.name} ({record.state}):\n{text}")
    return "\n".join(lines) + "\n"


def _shown(said: User) -> list[str]:
    """Name the pictures that the person gave; what a call showed its answer names."""
    return [f"[picture {picture.description}]" for picture in said.pictures]


def _arguments(call: ToolCall) -> str:
    values = json.loads(call.arguments)
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _cut(text: str, length: int) -> str:
    text = text.strip()
    return text if len(text) <= length else f"{text[: length * 2 // 3]} … {text[-length // 3 :]}"


def _halved(text: str) -> str:
    keep = len(text) // 2
    return f"{text[: keep // 2]}\n…\n{text[-(keep - keep // 2) :]}" if keep > 20 else ""
