"""Reading the body of an error: its sentence, its type and the status it stands for."""

from __future__ import annotations

import re
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


def message_of(body: str) -> tuple[str, str]:
    """Return the sentence in an error *body* (JSON, HTML, plain or nothing) and its type."""
    try:
        value = read_json(body)
    except ValueError:
        return _plain(body), ""
    return message_in(value)


def message_in(value: Any) -> tuple[str, str]:
    """Return the sentence in the JSON *value* of an error and its type."""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return str(error), ""
    message = error.get("message") or error.get("detail") or error.get("code") or ""
    if isinstance(message, list):  # FastAPI names each field that it minds
        message = error_strings(message)
    return str(message), str(error.get("type") or "")


def _plain(body: str) -> str:
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
