"""Server-sent events: bytes as the network brings them to the data of whole events."""

from __future__ import annotations

from utils.reply_limits import Beyond, ReplyLimits

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Collects bytes, cut anywhere, into events.

    Comments (`: keep-alive`), other fields than `data` and empty events are skipped; lines may
    end in LF or CRLF. Time is linear in the bytes fed, however they are cut. More than *most*
    bytes without a whole event raise `Beyond`.
    """

    def __init__(self, most: int = ReplyLimits().event_bytes) -> None:
        self._most = most
        self._held = 0
        self._rest: list[bytes] = []
        self._data: list[bytes] = []
        self._is_first_line = True

    def feed(self, data: bytes) -> list[bytes]:
        """Return the data of each event that *data* completes."""
        self._held += len(data)
        if self._held > self._most:
            raise Beyond("size")
        if b"\n" not in data:
            self._rest.append(data)
            return []
        lines = (b"".join(self._rest) + data).split(b"\n")
        self._rest = [lines.pop()]
        events = self._events(lines)
        if events:
            self._held = len(self._rest[0])
        return events

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
            elif self._data and line in (b"", b"\r"):
                events.append(b"\n".join(self._data).strip())
                self._data = []
        return events
