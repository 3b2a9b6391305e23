"""Reading the body of an error: its sentence, its type and the status it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from utils.llm.profiles.refusals import error_strings
from utils.text.strict_json import read_json

STATUS_OF_KIND = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
}
"""The HTTP status that Anthropic gives an error of this type: in a stream it has none."""


_MINIMAX_STATUS = {1002: 429, 1039: 429, 1004: 401, 2049: 401, 1008: 402, 2013: 400}
"""The HTTP status that MiniMax's own numbers stand for; it answers all of them with 200."""
_MESSAGE_NAMES = ("message", "Message", "detail", "msg", "error_msg", "errorMessage", "errors")


def message_of(body: str) -> tuple[str, str]:
    """Return the sentence in an error *body* (JSON, HTML, plain or nothing) and its type."""
    try:
        value = read_json(body)
    except ValueError:
        return page_text(body), ""
    return message_in(value)


def message_in(value: Any) -> tuple[str, str]:
    """Return the sentence in the JSON *value* of an error and its type, or else its code."""
    if isinstance(value, dict) and (error := status_error(value)):
        value = error
    error = value.get("error", value) if isinstance(value, dict) else value
    if error is True:
        error = {**value, "error": None}
    if not isinstance(error, dict):
        return error if isinstance(error, str) else _sentences(error), ""
    if told := _upstream(error):
        return told
    message = next((error[name] for name in _MESSAGE_NAMES if error.get(name)), "")
    if not isinstance(message, str):  # FastAPI names each field that it minds
        message = _sentences(message)
    code = error.get("code")
    kind = error.get("type") or (code if isinstance(code, str) else "")
    return message or str(code or "") or error_strings(error), str(kind or "")


def _sentences(value: Any) -> str:
    """Return the words in *value*, be it a list of sentences, or of places with what is wrong."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return error_strings(value)


def status_error(event: Mapping[str, Any]) -> Any:
    """Return the error that MiniMax's status in *event* is, None where it is none."""
    status = event.get("base_resp")
    if not isinstance(status, dict) or not status.get("status_code"):
        return None
    code = _MINIMAX_STATUS.get(status["status_code"], 500)
    return {"message": status.get("status_msg"), "code": code}


def _upstream(error: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what the provider behind OpenRouter said, of whose *error* it tells only that."""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return message_of(raw) if raw and isinstance(raw, str) else None


def page_text(body: str) -> str:
    """Return what *body* says: the title of a page, else all of it."""
    if not re.search(r"<(html|!doctype|head|body)\b", body[:1000], re.IGNORECASE):
        return body
    title = re.search(r"<title[^>]*>(.*?)</title>", body, re.IGNORECASE | re.DOTALL)
    return unescape(title[1]) if title else ""


def status_in(error: Any, kind: str) -> int:
    """Return the HTTP status that an *error* in a stream stands for, 500 where it does not say."""
    if kind in STATUS_OF_KIND:
        return STATUS_OF_KIND[kind]
    for name in ("code", "status", "status_code"):
        value = error.get(name) if isinstance(error, dict) else None
        if isinstance(value, int | str) and re.fullmatch(r"[45]\d\d", str(value)):
            return int(value)
    return 400 if kind.lower() in ("invalid_request_error", "badrequesterror") else 500
