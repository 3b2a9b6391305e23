"""Keys and passwords, known by their form: redacted in logs and notes, found in commits."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

REDACTED = "…"
MIN_SECRET_LENGTH = 8  # characters; a shorter value would be found by chance everywhere
# What may be repeated is bounded: else a long word would be gone through once for each character.
_KEY = (
    r"\b(?:(?:sk|pk|rk|gh[pousr]|github_pat|xox[abprs]|glpat|npm|hf|pypi|tvly)[-_][\w-]{12,}"
    r"|AKIA[0-9A-Z]{12,}|eyJ[\w-]{8,}\.[\w.-]+)"
)
_ADDRESS_WITH_LOGIN = r"(\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:)[^@\s/]{1,999}(?=@)"
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
_BLOCK = (
    r"(?s)-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)"
)
# Narrower than `_KEY`: what is published is held up for a key, so no plain name may look like one.
_ISSUED_KEY = (
    r"(?<![\w-])(?:(?:sk|rk)[-_][\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
    r"|(?:xox[abprs]|glpat|pypi|tvly)-[\w-]{16,}|(?:npm|hf)_\w{20,}|AKIA[0-9A-Z]{16}(?!\w)"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})"
)
_IN_ADDRESS = r"""[^\s/@"'`<>(){}\\,;\x00-\x1f\x7f\ufffd]"""
_LOGIN = (
    rf"(\b[a-z][a-z0-9+.-]{{0,20}}://)((?:(?!:){_IN_ADDRESS}){{0,200}})"
    rf":({_IN_ADDRESS}{{{MIN_SECRET_LENGTH},200}})@([\w.-]{{1,200}})"
)
_DUMMY = (
    r"example|placeholder|dummy|sample|change-?me|redacted|(?:^|[-_])(?:test|fake|your)"
    r"|IxMjM0NTY3ODkw"  # "1234567890", the subject of the token in every lesson about tokens
)
_DUMMY_PASSWORD = rf"{_DUMMY}|passw|secret|^[$%*]|^x-oauth-basic$"
_DUMMY_HOST = (
    r"^(?:localhost|127\..*|host(?:name)?|(?:.*\.)?example(?:\.\w+)?|.*\.(?:test|invalid))$"
)
_SHOWN_LENGTH = 4  # characters of a key: whose it is, and nothing of what it opens


@cache
def _named_values() -> tuple[re.Pattern[str], ...]:
    """Return what finds values by words before them: compiled once a text is to be redacted."""
    patterns = (_ADDRESS_WITH_LOGIN, _BEARER, _NAMED_VALUE, _OPTION)
    return tuple(re.compile(pattern, re.I) for pattern in patterns)


def redact_secret(secret: str, text: str) -> str:
    """Return *text* with “…” in place of *secret*; one that is too short is left."""
    return text.replace(secret, REDACTED) if len(secret) >= MIN_SECRET_LENGTH else text


def holds_key(text: str) -> bool:
    """Return whether *text* has a key, or an address with a password, in it."""
    return any(
        re.search(pattern, text) for pattern in (_KEY, _BLOCK, rf"(?i){_ADDRESS_WITH_LOGIN}")
    )


def redact_keys(text: str) -> str:
    """Return *text* with “…” in place of all that looks like a key or a password."""
    text = re.sub(_KEY, REDACTED, re.sub(_BLOCK, REDACTED, text))
    for pattern in _named_values():
        text = pattern.sub(lambda match: f"{next(filter(None, match.groups()))}{REDACTED}", text)
    return text


def keys_in(text: str) -> dict[str, str]:
    """Return the keys in *text* and the passwords in its addresses, each with how to show it.

    What stands for a key in examples and tests is none: “sk-xxxx…”, “AKIA…EXAMPLE”, “0123456789”.
    """
    issued, login = _issued_patterns()
    keys = {key: f"{key[:_SHOWN_LENGTH]}…" for key in issued.findall(text) if _is_issued(key)}
    for scheme, user, password, host in login.findall(text):
        if password != user and not _is_dummy_login(password, host):
            keys[password] = f"{scheme}…@{host}"
    return keys


@cache
def _issued_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_ISSUED_KEY, re.ASCII), re.compile(_LOGIN, re.I)


def _is_issued(key: str) -> bool:
    """Return whether *key* looks drawn by chance, and not written by a person."""
    if re.search(_DUMMY, key, re.I) or _is_regular(key):
        return False
    if key.startswith("AKIA"):
        return True
    parts = [key] if key.startswith("glpat-") else re.split(r"[-_.]", key)
    return any(
        len(part) >= MIN_SECRET_LENGTH and len(re.findall(r"\d+|\D+", part)) > 2 for part in parts
    )


def _is_dummy_login(password: str, host: str) -> bool:
    return bool(
        re.search(_DUMMY_PASSWORD, password, re.I)
        or re.search(_DUMMY_HOST, host, re.I)
        or _is_regular(password)
    )


def _is_regular(value: str) -> bool:
    """Return whether *value* mostly repeats a character or counts on, as “aaaa” and “1234” do."""
    steps = sum(ord(after) - ord(before) in (0, 1) for before, after in pairwise(value))
    return steps * 2 > len(value) or len(set(value)) < MIN_SECRET_LENGTH - 2
