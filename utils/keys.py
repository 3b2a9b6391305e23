"""Recognising keys and passwords by their look, for files that only help the person's memory."""

from __future__ import annotations

import re

BLOT = "…"
# What may be repeated is bounded: else a long word would be gone through once for each character.
_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|gh[pousr]|github_pat|xox[abprs]|glpat|npm|hf|pypi|tvly)[-_][\w-]{12,}"
    r"|AKIA[0-9A-Z]{12,}|eyJ[\w-]{8,}\.[\w.-]+)"
)
_PASSWORD_IN_ADDRESS = re.compile(
    r"(\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:)[^@\s/]{1,999}(?=@)", re.I
)
_NAMED = re.compile(
    r"(\b[\w.-]{0,60}(?:password|passwd|secret|token|api[_-]?key|credential)[\w.-]{0,60}[\"']?\s*[=:]\s*"
    r"(?:bearer\s+)?[\"']?)[^\s\"',;)}\]]{6,}",
    re.I,
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}", re.I)


def without_keys(text: str) -> str:
    """Return *text* with a dot in the place of whatever looks like a key or a password."""
    text = _KEY.sub(BLOT, text)
    for pattern in (_PASSWORD_IN_ADDRESS, _BEARER, _NAMED):
        text = pattern.sub(rf"\1{BLOT}", text)
    return text
