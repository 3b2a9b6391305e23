"""Env files of a project, which hold settings not meant for others, and the secrets in them."""

from __future__ import annotations

import codecs
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from utils.text.keys import MIN_SECRET_LENGTH

_MIN_ENTROPY_BITS = 24.0  # bits
_MAX_BYTES = 200_000  # bytes of a file
_MAX_DEPTH, _MAX_FOLDERS = 3, 1_000
_SKIPPED = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", "site-packages"}
)
_NAME = re.compile(
    r"(\.env(\.(?!(example|sample|template|dist|defaults?)$)[\w.-]+)?|[\w.-]+\.env|\.envrc)"
)
# Patterns are compiled where they are first used: a project without such files needs none.
_LINE = (  # one that is commented out as well: it was in use, or will be
    r"""(?msx)^[ \t]*(?:\#+[ \t]*)?(?:(?:export|set|readonly|declare|typeset)[ \t]+(?:-\w+[ \t]+)*)?
    ([A-Za-z_][\w.-]*)[ \t]*(?:=|:(?=[ \t]))[ \t]*
    (?: \"{3}(.*?)\"{3} | '{3}(.*?)'{3} | "((?:[^"\\]|\\.)*)" | '([^']*)' | `([^`]*)`
      | ([^\n\#][^\n]*)? )"""
)
_INLINE_SETTING = r"""(?:^|(?<=\s))([A-Za-z_][\w.-]*)=["']?([^\s;"']+)"""
_PART = r"""(?:^|(?<=[\s;?&]))([A-Za-z_][\w.-]*)=["']?([^\s;&"']+)"""
"""A part of a value: of a connection string, or of the query of an address."""
_PRIVATE_KEY = (
    r"(?s)(?:(?<![\w.-])([A-Za-z_][\w.-]*)[ \t]*[=:][\s\"'`|]*)?"
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"
)
_PRIVATE_NAME = r"(?i)KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|AUTH|PRIVATE|SALT|DSN|SIGNATURE"
_KEY_START = r"(sk|pk|rk|gh[pousr]|xox[abprs]|glpat|npm|hf|pypi)[-_]|AKIA|eyJ"
_LOGIN_ADDRESS = r"(?i)[a-z][a-z0-9+.-]*://[^/\s:@]*:([^@\s/]+)@"
_ADDRESS = r"(?i)([a-z][a-z0-9+.-]*:/?/?)?[\w.~-]*(:\d+)?(/[\w.~%-]*)*|[\w.+-]+@[\w.-]+"
_COMMON_VALUES = frozenset(
    {
        *("password", "localhost", "changeme", "postgres", "username", "database", "required"),
        *("development", "production", "disabled", "unlimited", "anonymous", "xxxxxxxx"),
    }
)


def is_env_name(name: str) -> bool:
    """Return whether a file called *name* is taken to hold secrets."""
    return _NAME.fullmatch(name) is not None


def is_env_path(path: str) -> bool:
    """Return whether `env_files` would find the file *path*, relative to the project."""
    *folders, name = path.split("/")
    return is_env_name(name) and len(folders) < _MAX_DEPTH and not _SKIPPED.intersection(folders)


def env_files(root: Path) -> Iterator[Path]:
    """Yield the files of *root*, not too deep in it, whose names say that they hold secrets."""
    folders = [(os.fspath(root), 1)]
    for folder, depth in folders:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if (
                    depth < _MAX_DEPTH
                    and len(folders) < _MAX_FOLDERS
                    and entry.name not in _SKIPPED
                ):
                    folders.append((entry.path, depth + 1))
            elif is_env_name(entry.name) and (file := _resolved_file(root, entry)):
                yield file


def _resolved_file(root: Path, entry: os.DirEntry[str]) -> Path | None:
    """Return the file that *entry* is or leads to, if that is in *root*."""
    if entry.is_file(follow_symlinks=False):
        return Path(entry.path)
    try:
        within = Path(entry.path).resolve(strict=True).relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # it leads nowhere, in a circle, or outside
        return None
    return root / within if (root / within).is_file() else None


def read_env(path: Path) -> str | None:
    """Return the text of *path*, None if it is no readable, small, plain file (any more)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        return None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # by an editor of Windows
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "surrogateescape")


def secrets_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of each secret in the *text* of such a file, quotes taken off.

    The last that is set comes first, and what is commented out last.
    """
    for name, value in _settings(text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")):
        if secret := secret_part(name, value):
            yield name, secret


def _settings(text: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(_PRIVATE_KEY, text):
        yield match[1] or "PRIVATE_KEY", match[2]
    lines = [*re.finditer(_LINE, text)][::-1]
    for match in sorted(lines, key=lambda line: line[0].lstrip().startswith("#")):
        name, *quoted, plain = match.groups(default="")
        value = ("".join(quoted) or _cut_at(plain, " #", "\t#")).strip()
        inline = re.findall(_INLINE_SETTING, plain)
        if "=" in plain or ";" in plain:  # what a shell takes of it, before all of it
            yield name, _cut_at(plain, " #", "\t#", ";", " ").strip()
        yield from inline
        yield name, value
        for part, secret in re.findall(_PART, value):
            if (part, secret) not in inline and secret_part(part, secret):
                yield f"{name}_{part}", secret


def _cut_at(value: str, *marks: str) -> str:
    """Return *value* up to the first of *marks*, without quotes that nothing closes."""
    ends = [end for mark in marks if (end := value.find(mark)) >= 0]
    return value[: min(ends, default=None)].lstrip("\"'")


def secret_part(name: str, value: str) -> str:
    """Return the part of *value* that must not be seen, "" if all may be.

    Of an address with a password in it, that is the password alone.
    """
    if re.search(r"PRIVATE KEY-----.", value, re.DOTALL):
        return value
    if (match := re.match(_LOGIN_ADDRESS, value)) and len(match[1]) >= MIN_SECRET_LENGTH:
        return match[1]
    if len(value) < MIN_SECRET_LENGTH or value.lower() in _COMMON_VALUES:
        return ""
    if match or re.match(_KEY_START, value) or _looks_random(value):
        return value
    is_place = _is_plain_address(value) and ("://" in value or value[0] in "/~.")
    return value if re.search(_PRIVATE_NAME, name) and not is_place else ""


def _looks_random(value: str) -> bool:
    """Return whether *value* is more likely made by a machine than written by a person."""
    if " " in value:
        return False
    if _is_plain_address(value):
        return False
    has_digits = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    is_mixed = len(value) >= 2 * MIN_SECRET_LENGTH and value.lower() != value != value.upper()
    return (has_digits or is_mixed) and _entropy_bits(value) > _MIN_ENTROPY_BITS


def _is_plain_address(value: str) -> bool:
    """Return whether *value* is a place, a host or a plain word, with nothing like a key in it."""
    longest = max(re.split(r"[/:.,;@=_-]", value), key=len)
    return bool(re.fullmatch(_ADDRESS, value)) and len(longest) < 2 * MIN_SECRET_LENGTH


def _entropy_bits(value: str) -> float:
    """Return the entropy of *value* in bits, going by how often each character is in it."""
    counts = Counter(value).values()
    return -sum(count * math.log2(count / len(value)) for count in counts)
