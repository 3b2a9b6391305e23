"""The shapes in which servers send the parts of a streamed reply, brought to the usual one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utils.llm.completion import Wire
from utils.llm.http.error_bodies import status_error
from utils.text.strict_json import read_json

_CALL_KEYS = ("tool_calls", "tool_call", "toolCalls")
_CALL_PARTS = ("tool_use", "tool_call", "function_call")
_PLACEHOLDERS = ("{}", "null", '""')
"""What stands for arguments that are yet to come."""
_NO_REASONS = ("", "null", "none")
_WAITING = ("queued", "pending", "waiting", "processing", "in_progress", "ping", "heartbeat")
"""What an event says of itself that is a sign of life, whatever words are with it."""
_LOOSE = json.JSONDecoder(parse_constant=lambda _: None)


def read_event(data: bytes) -> Any:
    """Return the JSON value of an event; a number that is none (`NaN`) is null.

    A letter that was cut in two is replaced, but never in a call. Raises `ValueError`.
    """
    try:
        return read_json(data.decode())
    except ValueError:
        text = data.decode(errors="replace")
        if "\ufffd" in text and "arguments" in text:
            raise
        try:
            return _LOOSE.decode(text)
        except RecursionError as error:
            raise ValueError("nested too deep") from error


def unwrapped(event: Wire) -> Wire:
    """Return *event*, or the one that a gateway wrapped into it."""
    if "choices" in event:
        return event
    inner = (event.get(name) for name in ("data", "result", "response"))
    return next((one for one in inner if isinstance(one, dict) and "choices" in one), event)


def choices_of(event: Wire) -> Iterator[Wire]:
    """Yield the choices of *event* that are of the first reply; none of another is wanted."""
    choices = event.get("choices") or ()
    for choice in filter(None, [choices] if isinstance(choices, dict) else choices):
        if str(choice.get("index") or 0) == "0":
            yield choice


def finish_reason_of(choice: Wire) -> str:
    """Return the reason for which the reply of *choice* ended, in small letters; "" for none."""
    if not (reason := choice.get("finish_reason")):
        return ""
    reason = str(reason).strip().lower()
    return "" if reason in _NO_REASONS else reason


def usage_of(part: Wire) -> Wire:
    """Return the counts of tokens in *part*, an event or a choice; {} where it has none."""
    usage = part.get("usage") or (part.get("x_groq") or {}).get("usage")
    return usage if isinstance(usage, dict) else {}


def delta_of(choice: Wire) -> Wire:
    """Return what *choice* adds to the reply, {} where that is in a whole message."""
    delta, message = choice.get("delta"), choice.get("message")
    if isinstance(delta, str) or not (delta or message):
        delta = {"content": delta or choice.get("text")}
    calls = {key: choice[key] for key in _CALL_KEYS if choice.get(key)}
    return {**(delta or {}), **calls}


def error_of(event: Mapping[str, Any]) -> Any:
    """Return the error that *event* brings, by that name or as a whole; None if it brings none."""
    error = event.get("error")
    if error and (not isinstance(error, dict) or any(error.values())):
        return event if error is True else error
    if "base_resp" in event and (error := status_error(event)):
        return error
    if "choices" in event:
        return None
    if str(event.get("status") or event.get("type")).lower() in _WAITING:
        return None
    has_words = any(isinstance(event.get(name), str) for name in ("message", "msg", "error_msg"))
    is_error = event.get("object") == "error" or has_words
    return event if is_error or event.get("detail") or event.get("errors") else None


def call_pieces(delta: Wire) -> Iterator[Wire]:
    """Yield the pieces of calls in *delta*; one that says nothing is none."""
    pieces = next((delta[key] for key in _CALL_KEYS if delta.get(key)), ())
    if isinstance(pieces, dict):
        is_call = "function" in pieces or "name" in pieces
        pieces = [pieces] if is_call else list(pieces.values())
    if isinstance(pieces, str):
        pieces = read_json(pieces)
    yield from map(_call_piece, filter(None, pieces))
    function = delta.get("function_call")
    if function and any(function.values()):
        yield {"function": function}


def _call_piece(piece: Wire) -> Wire:
    """Return *piece* with its function as an object, under the usual names."""
    function = piece.get("function")
    if isinstance(function, str) and function.lstrip().startswith("{"):
        return {**piece, "function": read_json(function)}
    names = [name for name in ("tool_name", "tool") if isinstance(piece.get(name), str)]
    if function or piece.get("name") or not names:
        return piece
    keys = ("arguments", "parameters", "args")
    arguments = next((piece[key] for key in keys if key in piece), "")
    return {**piece, "function": {"name": piece[names[0]], "arguments": arguments}}


def is_call_part(part: Wire) -> bool:
    """Return whether a *part* of a content is a call."""
    return part.get("type") in _CALL_PARTS and bool(part.get("name"))


def part_text(part: Wire) -> str:
    """Return the text of a *part* of a content."""
    text = part.get("text")
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else ""


def without_placeholder(pieces: Sequence[str]) -> Sequence[str]:
    """Return the *pieces* of arguments without one at their head that stood for all of them."""
    is_replaced = len(pieces) > 1 and pieces[0].strip() in _PLACEHOLDERS
    return pieces[1:] if is_replaced else pieces


def thinking_text(value: Any) -> str:
    """Return the text of a thought that may be an object, or a list of them."""
    if isinstance(value, list):
        return "".join(map(thinking_text, value))
    if isinstance(value, dict):
        value = value.get("text") or value.get("content") or value.get("summary") or ""
        return value if isinstance(value, str) else thinking_text(value)
    return value if isinstance(value, str) else ""
