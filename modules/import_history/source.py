"""The file of an old conversation, and the list of messages in it."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.conversation.history import standing
from core.conversation.messages import Record, StateRecord, User
from utils.i18n import UserError, phrase
from utils.text.codec import from_plain

LARGEST = 100_000_000
"""Bytes of a file that is read: it takes about ten times as many in memory."""
_PLACES = ("messages", "conversation", "conversation_history", "history")


def read_messages(path: Path) -> Sequence[Any]:
    """Return the messages in the file *path*, as they stand there.

    Raises `UserError` when there is no conversation to be read from it.
    """
    messages = _messages_in(_parsed(path, _decoded(path, _read(path))))
    if messages is None:
        raise no_conversation(path)
    return messages


def no_conversation(path: Path) -> UserError:
    return UserError(
        phrase(
            "There is no conversation in {path}: a list of messages with a “role” is needed.",
            path=str(path),
        )
    )


def _read(path: Path) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UserError(phrase("{path} is no file.", path=str(path)))
        if found.st_size > LARGEST:
            raise UserError(
                phrase(
                    "{path} is too large to be brought in: {size} MB; at most {most} MB can be.",
                    path=str(path),
                    size=found.st_size // 1_000_000,
                    most=LARGEST // 1_000_000,
                )
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(phrase("{path} cannot be read: {why}.", path=str(path), why=why)) from None


def _decoded(path: Path, data: bytes) -> str:
    """Return the text of *data*: UTF-8, marked UTF-16, or what a Chinese Windows writes."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise UserError(phrase("{path} is no text.", path=str(path)))


def _parsed(path: Path, text: str) -> Any:
    """Return the value of the JSON *text*, or the list of those of its lines."""
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        if (lines := _lines(text)) is not None:
            return lines
        raise _no_json(path, error, text) from None
    except (ValueError, RecursionError) as error:  # a number of too many digits; too deep
        why = str(error)
        raise UserError(phrase("{path} is no JSON: {why}.", path=str(path), why=why)) from None


def _lines(text: str) -> list[Any] | None:
    """Return the values of a text of one JSON object a line, None if it is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
        return None
    try:
        return [json.loads(line, strict=False) for line in lines]
    except (ValueError, RecursionError):
        return None


def _no_json(path: Path, error: json.JSONDecodeError, text: str) -> UserError:
    is_at_end = error.msg.startswith("Unterminated") or not text[error.pos :].strip()
    if is_at_end and text.lstrip().startswith(("[", "{")):
        return UserError(
            phrase(
                "{path} breaks off in line {line}: the end of it is missing.",
                path=str(path),
                line=error.lineno,
            )
        )
    return UserError(
        phrase(
            "{path} is no JSON: {why} in line {line}, column {column}.",
            path=str(path),
            why=error.msg,
            line=error.lineno,
            column=error.colno,
        )
    )


def _messages_in(value: Any) -> Sequence[Any] | None:
    """Return the list of messages in *value*, None if it is no conversation."""
    if isinstance(value, dict):
        exported = _exported(value)
        if exported is not None:
            return exported
        value = next((value[n] for n in _PLACES if isinstance(value.get(n), list)), None)
    if not isinstance(value, list):
        return None
    marks = {"role", "tool_calls", "tool_call_id"}
    return value if any(isinstance(one, dict) and one.keys() & marks for one in value) else None


def _exported(value: dict[str, Any]) -> Sequence[Any] | None:
    """Return the messages of a session that `/export` wrote, without what was taken back in it."""
    if not isinstance(value.get("records"), list) or not isinstance(value.get("messages"), list):
        return None
    try:
        records: list[Record] = from_plain(list[Record], value["records"])
        turn, numbered = 0, []
        for record in records:
            turn += isinstance(record, User)
            numbered.append((turn, record))
        kept = [record for _, record in standing(numbered)]
        return [record.to_wire() for record in kept if not isinstance(record, StateRecord)]
    except (ValueError, TypeError, AttributeError):  # of another version, or edited
        return None
