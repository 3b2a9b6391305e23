"""The file of an old conversation, and the list of messages in it."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.conversation.history import effective_records
from core.conversation.messages import Record, StateRecord, User
from utils.i18n import UserError, phrase
from utils.text.codec import from_plain

MAX_FILE_BYTES = 100_000_000
"""Bytes of a file that is read: it takes about ten times as many in memory."""
_LIST_KEYS = ("messages", "conversation", "conversation_history", "history")


def read_messages(path: Path) -> Sequence[Any]:
    """Return the messages in the file *path*, as they stand there.

    Raises `UserError` when there is no conversation to be read from it.
    """
    messages = _messages_in(_parse(path, _decode(path, _read(path))))
    if messages is None:
        raise no_conversation(path)
    return messages


def no_conversation(path: Path) -> UserError:
    return UserError(
        phrase(
            "No conversation found in {path}: it needs a list of messages with a “role”.",
            path=str(path),
        )
    )


def _read(path: Path) -> bytes:
    try:
        stat_result = path.stat()
        if not stat.S_ISREG(stat_result.st_mode):
            raise UserError(phrase("{path} is not a file.", path=str(path)))
        if stat_result.st_size > MAX_FILE_BYTES:
            raise UserError(
                phrase(
                    "{path} is too large to import: {size} MB (limit: {most} MB).",
                    path=str(path),
                    size=stat_result.st_size // 1_000_000,
                    most=MAX_FILE_BYTES // 1_000_000,
                )
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(phrase("Cannot read {path}: {why}.", path=str(path), why=reason)) from None


def _decode(path: Path, data: bytes) -> str:
    """Return the text of *data*: UTF-8, marked UTF-16, or what a Chinese Windows writes."""
    has_bom = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if has_bom else ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise UserError(phrase("{path} is not text.", path=str(path)))


def _parse(path: Path, text: str) -> Any:
    """Return the value of the JSON *text*, or the list of those of its lines."""
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        if (lines := _json_lines(text)) is not None:
            return lines
        raise _no_json(path, error, text) from None
    except (ValueError, RecursionError) as error:  # a number of too many digits; too deep
        reason = str(error)
        raise UserError(
            phrase("{path} is not valid JSON: {why}.", path=str(path), why=reason)
        ) from None


def _json_lines(text: str) -> list[Any] | None:
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
                "{path} is incomplete: it ends in line {line}.",
                path=str(path),
                line=error.lineno,
            )
        )
    return UserError(
        phrase(
            "{path} is not valid JSON: {why} in line {line}, column {column}.",
            path=str(path),
            why=error.msg,
            line=error.lineno,
            column=error.colno,
        )
    )


def _messages_in(value: Any) -> Sequence[Any] | None:
    """Return the list of messages in *value*, None if it is no conversation."""
    if isinstance(value, dict):
        exported = _messages_of_export(value)
        if exported is not None:
            return exported
        value = next((value[n] for n in _LIST_KEYS if isinstance(value.get(n), list)), None)
    if not isinstance(value, list):
        return None
    message_keys = {"role", "tool_calls", "tool_call_id"}
    return (
        value
        if any(isinstance(item, dict) and item.keys() & message_keys for item in value)
        else None
    )


def _messages_of_export(value: dict[str, Any]) -> Sequence[Any] | None:
    """Return the messages of a session that `/export` wrote, without what was taken back in it."""
    if not isinstance(value.get("records"), list) or not isinstance(value.get("messages"), list):
        return None
    try:
        records: list[Record] = from_plain(list[Record], value["records"])
        turn, numbered = 0, []
        for record in records:
            turn += isinstance(record, User)
            numbered.append((turn, record))
        effective = [record for _, record in effective_records(numbered)]
        return [record.to_wire() for record in effective if not isinstance(record, StateRecord)]
    except (ValueError, TypeError, AttributeError):  # of another version, or edited
        return None
