"""Server-sent events: bytes as the network brings them to the data of whole events."""

from __future__ import annotations

import json

from utils.llm.http.reply_limits import LimitExceeded, ReplyLimits

_FIELDS = (b"data:", b"event:", b"error:", b"id:", b"retry:", b":")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Collects bytes, cut anywhere, into events.

    Comments (`: keep-alive`), other fields than `data` and empty events are skipped; lines may
    end in LF, CRLF or CR. A line `error: {…}`, which llama.cpp sends, is an event with that error;
    so is an event by the name of `error` whose data does not say so itself.
    Time is linear in the bytes fed, however they are cut. More than *max_event_bytes* bytes without
    a whole event raise `LimitExceeded`.
    """

    def __init__(self, max_event_bytes: int = ReplyLimits().event_bytes) -> None:
        self._max_event_bytes = max_event_bytes
        self._buffered_bytes = 0
        self._partial_line: list[bytes] = []
        self._data_lines: list[bytes] = []
        self.has_read = False
        """Whether anything of it was a field or a comment of such a stream."""
        self._is_first_line = True
        self._is_error = False
        self._ended_in_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the data of each event that *data* completes."""
        self._buffered_bytes += len(data)
        if self._buffered_bytes > self._max_event_bytes:
            raise LimitExceeded("size")
        if b"\r" in data or self._ended_in_cr:
            data = self._with_line_feeds(data)
        if b"\n" not in data:
            self._partial_line.append(data)
            return []
        lines = (b"".join(self._partial_line) + data).split(b"\n")
        self._partial_line = [lines.pop()]
        events = self._events(lines)
        if events:
            self._buffered_bytes = len(self._partial_line[0])
        return events

    def _with_line_feeds(self, data: bytes) -> bytes:
        """Return *data* with every end of a line as LF, one that was cut in two as well."""
        if self._ended_in_cr:
            data = data.removeprefix(b"\n")
        self._ended_in_cr = data.endswith(b"\r") or (self._ended_in_cr and not data)
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def close(self) -> list[bytes]:
        """Return the last event if the stream ended without the blank line that ends one."""
        lines = [b"".join(self._partial_line), b""]
        self._partial_line = []
        return self._events(lines)

    def _events(self, lines: list[bytes]) -> list[bytes]:
        if self._is_first_line:
            self._is_first_line = False
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        events = []
        for line in lines:
            self.has_read = self.has_read or line.startswith(_FIELDS)
            if line.startswith(b"data:"):
                self._data_lines.append(line[5:])
            elif line.startswith(b"error:"):
                self._data_lines.append(b'{"error":%s}' % line[6:])
            elif line.startswith(b"event:"):
                self._is_error = line[6:].strip() == b"error"
            elif self._data_lines and not line:
                if data := b"\n".join(self._data_lines).strip():
                    events.append(_as_error(data) if self._is_error else data)
                self._data_lines = []
                self._is_error = False
        return events


def _as_error(data: bytes) -> bytes:
    """Return the *data* of an event that is an error as JSON that says so."""
    if not data.startswith(b"{"):
        return json.dumps({"error": data.decode(errors="replace")}).encode()
    return data if b'"error"' in data else b'{"error":%s}' % data
