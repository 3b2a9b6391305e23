"""Redaction of keys and passwords by their form, for logs and notes."""

from __future__ import annotations

import re

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
_NAMED_VALUE = re.compile(
    rf"(\b[\w.-]{{0,60}}{_WORD}[\w.-]{{0,60}}[\"']?\s{{0,9}}[=:]\s{{0,9}}(?:bearer\s)?){_VALUE}",
    re.I,
)
_OPTION = re.compile(
    rf"((?<![\w-])--?(?:\w{{1,30}}[_-]){{0,5}}{_WORD}[ \t]{{1,9}}){_VALUE}"
    r"|((?<![\w-])(?:-u|--user)[ \t]{1,9}[\w.@-]{1,99}:)\S{4,999}",
    re.I,
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}", re.I)
_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.S
)


def redact_secret(secret: str, text: str) -> str:
    """Return *text* with “…” in place of *secret*; one that is too short is left."""
    return text.replace(secret, REDACTED) if len(secret) >= MIN_SECRET_LENGTH else text


def redact_keys(text: str) -> str:
    """Return *text* with “…” in place of all that looks like a key or a password."""
    text = _KEY.sub(REDACTED, _BLOCK.sub(REDACTED, text))
    for pattern in (_PASSWORD_IN_ADDRESS, _BEARER, _NAMED_VALUE, _OPTION):
        text = pattern.sub(lambda match: f"{next(filter(None, match.groups()))}{REDACTED}", text)
    return text
