"""Redaction of keys and passwords by their form, for logs and notes."""

from __future__ import annotations

import re
from functools import cache

REDACTED = "…"
MIN_SECRET_LENGTH = 8  # characters; a shorter value would be found by chance everywhere
# What may be repeated is bounded: else a long word would be gone through once for each character.
_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|gh[pousr]|github_pat|xox[abprs]|glpat|npm|hf|pypi|tvly)[-_][\w-]{12,}"
    r"|AKIA[0-9A-Z]{12,}|eyJ[\w-]{8,}\.[\w.-]+)"
)
_PASSWORD_IN_ADDRESS = re.compile(
    r"(\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:)[^@\s/]{1,999}(?=@)", re.I
)
_WORD = r"(?:password|passwd|passphrase|secret|token|api[_-]?key|private[_-]?key|credential)"
_VALUE = r"""(?:"[^"\n]{4,999}"|'[^'\n]{4,999}'|["']?[^\s"',;)}\]]{6,999})"""
_NAMED_VALUE = (
    rf"(\b[\w.-]{{0,60}}{_WORD}[\w.-]{{0,60}}[\"']?\s{{0,9}}[=:]\s{{0,9}}(?:bearer\s)?){_VALUE}"
)
_OPTION = (
    rf"((?<![\w-])--?(?:\w{{1,30}}[_-]){{0,5}}{_WORD}[ \t]{{1,9}}){_VALUE}"
    r"|((?<![\w-])(?:-u|--user)[ \t]{1,9}[\w.@-]{1,99}:)\S{4,999}"
)
_BEARER = r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}"
_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.S
)


@cache
def _named_values() -> tuple[re.Pattern[str], ...]:
    """Return what finds values by words before them: compiled once a text is to be redacted."""
    return tuple(re.compile(pattern, re.I) for pattern in (_BEARER, _NAMED_VALUE, _OPTION))


def redact_secret(secret: str, text: str) -> str:
    """Return *text* with “…” in place of *secret*; one that is too short is left."""
    return text.replace(secret, REDACTED) if len(secret) >= MIN_SECRET_LENGTH else text


def holds_key(text: str) -> bool:
    """Return whether *text* has a key, or an address with a password, in it."""
    return any(pattern.search(text) for pattern in (_KEY, _BLOCK, _PASSWORD_IN_ADDRESS))


def redact_keys(text: str) -> str:
    """Return *text* with “…” in place of all that looks like a key or a password."""
    text = _KEY.sub(REDACTED, _BLOCK.sub(REDACTED, text))
    for pattern in (_PASSWORD_IN_ADDRESS, *_named_values()):
        text = pattern.sub(lambda match: f"{next(filter(None, match.groups()))}{REDACTED}", text)
    return text
