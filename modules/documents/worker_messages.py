"""Messages between the worker and who starts it: a line of JSON, and files behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Message(NamedTuple):
    """*values* of JSON, and *files*."""

    values: Mapping[str, Any]
    files: Sequence[bytes] = ()


def encode(message: Message) -> bytes:
    head = {**message.values, "sizes": [*map(len, message.files)]}
    return b"".join((json.dumps(head).encode(), b"\n", *message.files))


def decode(data: bytes) -> Message:
    """Return the message that *data* is. Raises `ValueError` where it is none."""
    head, _, rest = data.partition(b"\n")
    values = json.loads(head)
    files, start = [], 0
    for size in values.pop("sizes"):
        files.append(rest[start : start + size])
        start += size
    return Message(values, files)
