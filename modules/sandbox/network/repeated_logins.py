"""Logins that a server repeats in its answer: noticed before a program reads them."""

from __future__ import annotations

import base64
import binascii
import errno
from collections.abc import Collection, Iterator

_MIN_SECRET_LENGTH = 6  # characters; what is shorter is in any text by chance


def without(body: Iterator[bytes], secrets: Collection[bytes]) -> Iterator[bytes]:
    """Yield *body*, none of it empty. Raises `OSError` before the first byte of a secret in it."""
    held_back = max(map(len, secrets), default=1) - 1
    rest = b""
    for data in body:
        rest += data
        if bears(rest, secrets):
            raise OSError(errno.EACCES, "the answer bears what lets the person in")
        end = len(rest) - held_back
        if end > 0:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def bears(data: bytes, secrets: Collection[bytes]) -> bool:
    return any(secret in data for secret in secrets)


def secrets_of(authorization: str) -> tuple[bytes, ...]:
    """Return the forms in which a server could hand *authorization* back."""
    value = authorization.rpartition(" ")[2].encode()
    forms = [value]
    if authorization.startswith("Basic "):
        try:
            pair = base64.b64decode(value, validate=True)
        except binascii.Error:
            pair = b""
        forms += [pair, pair.partition(b":")[2]]
    return tuple(form for form in forms if len(form) >= _MIN_SECRET_LENGTH)
