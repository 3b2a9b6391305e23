"""Bounds of what a server may send, over whichever transport."""

from __future__ import annotations

MAX_LINE_BYTES = 16 * 2**20
"""Bytes of one message: some pictures in a result, and no more than can be held."""
MAX_CALL_BYTES = 48 * 2**20
"""Bytes that a server may send while one call of it runs."""
_MESSAGE_BYTES = 1_000  # that a message counts for at least, however short
_VALUE_BYTES = 40  # that each value in it counts for: as an object it takes far more than its text


def weight(data: bytes, message_bytes: int = _MESSAGE_BYTES) -> int:
    """Return for how many bytes of JSON *data* counts: more than it has where it is many values."""
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    return len(data) + _VALUE_BYTES * values + message_bytes * data.count(b"\n")
