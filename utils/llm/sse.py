"""Server-sent events: bytes as the network brings them to the data of whole events."""

from __future__ import annotations

from utils.llm.reply_limits import Beyond, ReplyLimits

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Collects bytes, cut anywhere, into events.

    Comments (`: keep-alive`), other fields than `data` and empty events are skipped; lines may
    end in LF, CRLF or CR. A line `error: {…}`, which llama.cpp sends, is an event with that error.
    Time is linear in the bytes fed, however they are cut. More than *most* bytes without a whole
    event raise `Beyond`.
    """

    def __init__(self, most: int = ReplyLimits().event_bytes) -> None:
        self._most = most
        self._held = 0
        self._rest: list[bytes] = []
        self._data: list[bytes] = []
        self._is_first_line = True
        self._ended_in_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the data of each event that *data* completes."""
        self._held += len(data)
        if self._held > self._most:
            raise Beyond("size")
        if b"\r" in data or self._ended_in_cr:
            data = self._with_line_feeds(data)
        if b"\n" not in data:
            self._rest.append(data)
            return []
        lines = (b"".join(self._rest) + data).split(b"\n")
        self._rest = [lines.pop()]
        events = self._events(lines)
        if events:
            self._held = len(self._rest[0])
        return events

    def _with_line_feeds(self, data: bytes) -> bytes:
        """Return *data* with every end of a line as LF, one that was cut in two as well."""
        if self._ended_in_cr:
            data = data.removeprefix(b"\n")
        self._ended_in_cr = data.endswith(b"\r") or (self._ended_in_cr and not data)
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def close(self) -> list[bytes]:
        """Return the last event if the stream ended without the blank line that ends one."""
        lines = [b"".join(self._rest), b""]
        self._rest = []
        return self._events(lines)

    def _events(self, lines: list[bytes]) -> list[bytes]:
        if self._is_first_line:
            self._is_first_line = False
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:])
            elif line.startswith(b"error:"):
                self._data.append(b'{"error":%s}' % line[6:])
            elif self._data and not line:
                if data := b"\n".join(self._data).strip():
                    events.append(data)
                self._data = []
        return events
