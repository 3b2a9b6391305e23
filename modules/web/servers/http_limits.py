"""Limits of both HTTP servers, and malformed requests that they refuse to read."""

from __future__ import annotations

import re
from email.errors import FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect
from email.message import Message
from http import HTTPStatus
from typing import Any

from modules.web.http.security import SECURITY_HEADERS

HEAD_SECONDS = 30.0
"""Seconds in which the head of a request has to come; then the connection is cut."""
MAX_LINE_BYTES = 65_536
"""Bytes of a line in the head of a request; `http.server` and `http.client` have the same limit."""
MAX_CONNECTIONS = 256
"""Connections that are served at once; others wait, so that descriptors are left for the work."""
DRAIN_SECONDS = 0.1
"""Seconds at most for the last packets to leave when the server ends."""
_HEADER_DEFECTS = (FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect)
_CONTENT_LENGTH = re.compile("[0-9]{1,15}")
_CONTROL_CHARS = re.compile("[\0\r\n]")


class HttpLimits:
    """Mixin of both servers' request handlers, over those of `http.server`.

    What another program could read in another way is refused, and nothing behind it is read. Such
    a refusal bears the same headers as every other answer.
    """

    headers: Message
    path: str
    request_version: str
    close_connection: bool
    wfile: Any

    def parse_request(self) -> bool:
        is_parsed: bool = super().parse_request()  # type: ignore[misc]
        if not is_parsed:
            return False
        reason = _malformation(self.request_version, self.path, self.headers)
        if reason:
            self.send_error(400, reason)
        return not reason

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that cannot be read, and end the connection."""
        self.close_connection = True
        self.request_version = "HTTP/1.0"  # without one an answer would have no head
        body = f"{explain or message or HTTPStatus(code).phrase}\n".encode()
        self.send_response(code)  # type: ignore[attr-defined]
        for name, value in {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **SECURITY_HEADERS,
        }.items():
            self.send_header(name, value)
        self.end_headers()  # type: ignore[attr-defined]
        self.wfile.write(body)

    def send_header(self, keyword: str, value: str) -> None:
        """Send a header, but for the program and its version: whom it concerns can ask."""
        if keyword != "Server":
            super().send_header(keyword, value)  # type: ignore[misc]

    def handle_expect_100(self) -> bool:
        """Leave that to the application: it knows whether it wants the body."""
        return True

    def log_message(self, *_: Any) -> None:
        """Say nothing: the terminal is for the person."""

    log_request = log_message


def _malformation(version: str, path: str, headers: Message) -> str:
    """Return why the request is malformed, "" if it is not; no browser sends such a one."""
    if version not in ("HTTP/1.0", "HTTP/1.1"):
        return "HTTP/1.1 is wanted"
    if any(isinstance(defect, _HEADER_DEFECTS) for defect in headers.defects):
        return "Broken headers"
    if any(_CONTROL_CHARS.search(value) for value in headers.values()):
        return "A header with a NUL, or of several lines"
    if not path.startswith("/"):
        return "The path must begin with a slash"
    if headers["Transfer-Encoding"] is not None:
        return "Content-Length is wanted, not Transfer-Encoding"
    if any(len(headers.get_all(name, ())) > 1 for name in ("Host", "Content-Length")):
        return "A header that can only be there once"
    length = headers["Content-Length"]
    if length is not None and not _CONTENT_LENGTH.fullmatch(length):
        return "Content-Length is no number"
    return ""
