"""One connection of a browser to a preview: who asks is checked, and each request passed on.

Each request goes to the program over a connection of its own, so what one of them smuggles reaches
nobody else's; the browser's connection is kept for the next.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import parse_qs

from modules.preview.access import Kind
from modules.preview.answer_pages import (
    FOREIGN,
    NO_ENTRY,
    OVER,
    OwnAnswer,
    bad_answer,
    bad_request,
    not_there,
    own_answer_bytes,
)
from modules.preview.bodies import (
    LAST_CHUNK,
    chunk,
    relay_both_ways,
    sized,
    unchunked,
    until_end,
)
from modules.preview.http_head import (
    BadMessage,
    ConnectionEnded,
    Headers,
    RequestHead,
    ResponseHead,
    SocketReader,
    body_length,
    head_bytes,
    header,
    parse_request,
    parse_response,
    values_of,
    words_of,
)
from modules.preview.preview import ENTRY_PATH, Preview
from modules.preview.rewriting import request_headers, response_headers
from utils.system.sockets import shut_down

HEAD_SECONDS = 20.0
"""Seconds in which the head of a request has to come."""
IDLE_SECONDS = 75.0
"""Seconds that the connection of somebody known is kept for the next request."""
_SMALL_BODY = 1 << 16  # bytes that are passed on before the answer is waited for
_MAX_INTERIM_ANSWERS = 8
FindPreview = Callable[[str], Preview | None]
"""Returns the preview that goes by a Host header; None for one that has ended or never was."""


class RequestRefused(Exception):
    """A request that is answered by us with *answer*; with *closes* the connection ends."""

    def __init__(self, answer: OwnAnswer, *, closes: bool = False) -> None:
        super().__init__(str(answer.what))
        self.answer = answer
        self.closes = closes


class Forwarding:
    """Serves the connection *client*; `on_authenticated` is called when a bearer has shown up."""

    def __init__(
        self, client: socket.socket, find: FindPreview, on_authenticated: Callable[[], None]
    ) -> None:
        self._client = client
        self._reader = SocketReader(client)
        self._find = find
        self._on_authenticated = on_authenticated
        self._head_seconds = HEAD_SECONDS

    def serve(self) -> None:
        """Answer one request after another until either side ends. Raises `OSError`."""
        with suppress(ConnectionEnded, TimeoutError):
            while self._serve_one():
                pass

    def _serve_one(self) -> bool:
        """Answer the next request; return whether another may follow."""
        request: RequestHead | None = None
        preview: Preview | None = None
        try:
            request = parse_request(self._reader.head(self._head_seconds))
            length = body_length(request.headers)
            preview = self._preview_of(request)
            kind = self._checked(request, preview)
            return self._forward(request, length, preview, kind)
        except BadMessage as problem:
            return self._refuse(
                RequestRefused(bad_request(str(problem)), closes=True), request, preview
            )
        except RequestRefused as refusal:
            return self._refuse(refusal, request, preview)

    def _refuse(
        self, refusal: RequestRefused, request: RequestHead | None, preview: Preview | None
    ) -> bool:
        keeps_alive = (
            not refusal.closes
            and request is not None
            and not _ends_connection(request)
            and not body_length(request.headers)  # what is not read would pass for a request
        )
        self._client.sendall(
            own_answer_bytes(
                refusal.answer,
                request.headers if request else [],
                is_head=request is not None and request.method == "HEAD",
                keeps_alive=keeps_alive,
                ancestors=preview.ancestors if preview else "'none'",
            )
        )
        return keeps_alive

    # --- who may come in -------------------------------------------------------------------------

    def _preview_of(self, request: RequestHead) -> Preview:
        preview = self._find(header(request.headers, "host").lower())
        if preview is None:
            raise RequestRefused(OwnAnswer(410, OVER), closes=True)
        return preview

    def _checked(self, request: RequestHead, preview: Preview) -> Kind:
        """Return by which kind of link the request may come in. Raises `RequestRefused`."""
        if request.target.startswith(ENTRY_PATH):
            raise self._entry(request, preview)
        kinds = (preview.access.kind(one) for one in values_of(request.headers, "cookie"))
        kind = next((kind for kind in kinds if kind), None)
        if kind is None:
            raise RequestRefused(OwnAnswer(403, NO_ENTRY), closes=True)
        self._on_authenticated()
        self._head_seconds = IDLE_SECONDS
        if _is_foreign(request, preview):
            raise RequestRefused(OwnAnswer(403, FOREIGN), closes=True)
        return kind

    def _entry(self, request: RequestHead, preview: Preview) -> RequestRefused | ConnectionEnded:
        """Redeem the link of *request*: answer with its cookie, or return why not."""
        ticket, _, query = request.target.removeprefix(ENTRY_PATH).partition("?")
        cookie = None
        if request.method == "GET":  # who looks ahead at a link must not use it up
            cookie = preview.access.redeem(ticket)
        if cookie is None:
            return RequestRefused(OwnAnswer(403, NO_ENTRY), closes=True)
        headers = [
            ("Location", _path_of(parse_qs(query).get("to", ["/"])[0])),
            ("Set-Cookie", cookie),
            ("Content-Length", "0"),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("Content-Security-Policy", f"frame-ancestors {preview.ancestors}"),
            ("Connection", "close"),
        ]
        self._client.sendall(head_bytes("HTTP/1.1 303 See Other", headers))
        return ConnectionEnded()

    # --- a request and its answer ----------------------------------------------------------------

    def _forward(
        self, request: RequestHead, length: int | None, preview: Preview, kind: Kind
    ) -> bool:
        if kind == "pane" and header(request.headers, "sec-fetch-dest") == "iframe":
            preview.path = request.target
        try:
            server = preview.connect()
        except OSError:
            retries = request.method == "GET"
            raise RequestRefused(not_there(preview.port, retries=retries)) from None
        with server, preview.registered(self._client, server):
            exchange = _Exchange(self._reader, server, request, length, preview, kind)
            try:
                return exchange.run()
            except BadMessage as problem:
                if exchange.has_begun:  # too late to say so
                    return False
                answer = bad_answer(preview.port, str(problem))
                raise RequestRefused(answer, closes=True) from problem
            finally:
                exchange.end()


def _is_foreign(request: RequestHead, preview: Preview) -> bool:
    """Return whether the page of another origin made the browser ask, other than by a link."""
    if any(origin != preview.origin for origin in values_of(request.headers, "origin")):
        return True
    if header(request.headers, "sec-fetch-site") in ("", "none", "same-origin"):
        return False
    is_link = header(request.headers, "sec-fetch-mode") == "navigate"
    return not (is_link and request.method in ("GET", "HEAD"))


def _path_of(wanted: str) -> str:
    """Return *wanted* if it is a path of this very host, else the start page."""
    is_path = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_path and wanted.isascii() and wanted.isprintable() else "/"


def _ends_connection(request: RequestHead) -> bool:
    return not request.minor or "close" in words_of(request.headers, "connection")


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        client: SocketReader,
        server: socket.socket,
        request: RequestHead,
        length: int | None,
        preview: Preview,
        kind: Kind,
    ) -> None:
        self._client = client
        self._server = server
        self._answers = SocketReader(server, self._wait_for_server)
        self._request = request
        self._length = length
        self._preview = preview
        self._kind = kind
        self._upload: threading.Thread | None = None
        self._watches_client = not length
        self.has_begun = False
        """Whether some of the answer was passed on."""

    def run(self) -> bool:
        """Pass both on; return whether another request may follow. Raises `BadMessage`."""
        is_websocket = self._is_websocket()
        self._send_head(is_websocket=is_websocket)
        self._send_body()
        for _ in range(_MAX_INTERIM_ANSWERS):
            response = parse_response(self._response_lines())
            if response.status == 101:
                if not is_websocket or "websocket" not in words_of(response.headers, "upgrade"):
                    raise BadMessage("it changes to another protocol unasked")
                self._become_websocket(response)
                return False
            if response.status >= 200:
                return self._pass_on(response)
        raise BadMessage("it never comes to its answer")

    def end(self) -> None:
        """Wait for what is still on its way to the program, which gets no more of it."""
        if self._upload and self._upload.is_alive():
            shut_down(self._server)
            shut_down(self._client.connection)
            self._upload.join()

    def _response_lines(self) -> list[bytes]:
        try:
            return self._answers.head(None)
        except ConnectionEnded:
            raise BadMessage("it hangs up without an answer") from None

    def _is_websocket(self) -> bool:
        headers = self._request.headers
        return (
            self._request.method == "GET"
            and not self._length
            and "websocket" in words_of(headers, "upgrade")
            and "upgrade" in words_of(headers, "connection")
        )

    def _send_head(self, *, is_websocket: bool) -> None:
        headers = request_headers(self._request, self._preview.host, self._preview.port)
        if is_websocket:
            headers += [("Connection", "Upgrade"), ("Upgrade", "websocket")]
        else:
            headers.append(("Connection", "close"))
        if self._length is not None:
            headers.append(_framing(self._length))
        first_line = f"{self._request.method} {self._request.target} HTTP/1.1"
        self._server.sendall(head_bytes(first_line, headers))

    def _send_body(self) -> None:
        """Begin to pass the body on: at once if it is small, else beside the answer."""
        if not self._length:
            return
        if header(self._request.headers, "expect").lower() == "100-continue":
            self._client.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if 0 < self._length <= _SMALL_BODY:
            for data in sized(self._client, self._length):
                self._server.sendall(data)
            self._watches_client = True
            return
        self._upload = threading.Thread(target=self._pass_body_on, name="upload", daemon=True)
        self._upload.start()

    def _pass_body_on(self) -> None:
        assert self._length  # noqa: S101 - as begun
        is_chunked = self._length < 0
        body = unchunked(self._client) if is_chunked else sized(self._client, self._length)
        try:
            for data in body:
                self._server.sendall(chunk(data) if is_chunked else data)
            if is_chunked:
                self._server.sendall(LAST_CHUNK)
        except (OSError, BadMessage):
            with suppress(OSError):  # the program may have answered before it heard all
                self._server.shutdown(socket.SHUT_WR)

    def _wait_for_server(self) -> None:
        """Wait until there is news of the program. Raises `ConnectionEnded` if the browser goes."""
        while self._watches_client:
            client, poll = self._client.connection, select.poll()
            poll.register(self._server, select.POLLIN)
            poll.register(client, select.POLLIN)
            if self._server.fileno() in dict(poll.poll()):
                return
            if not client.recv(1, socket.MSG_PEEK):
                raise ConnectionEnded
            self._watches_client = False  # the next request is there already

    def _pass_on(self, response: ResponseHead) -> bool:
        length = body_length(response.headers)
        has_body = self._request.method != "HEAD" and response.status not in (204, 304)
        knows_chunks = bool(self._request.minor)
        keeps_alive = not _ends_connection(self._request) and self._upload is None
        headers = self._response_headers(response)
        is_chunked = has_body and knows_chunks and length in (None, -1)
        if is_chunked:
            headers.append(("Transfer-Encoding", "chunked"))
        elif length is not None and length >= 0 and response.status != 204:
            headers.append(("Content-Length", str(length)))
        keeps_alive = keeps_alive and (not has_body or is_chunked or length not in (None, -1))
        headers.append(("Connection", "keep-alive" if keeps_alive else "close"))
        self._begin(response, headers)
        send = self._client.connection.sendall
        for data in self._body(length) if has_body else ():
            send(chunk(data) if is_chunked else data)
        if is_chunked:
            send(LAST_CHUNK)
        return keeps_alive

    def _body(self, length: int | None) -> Iterator[bytes]:
        if length is None:
            return until_end(self._answers)
        return unchunked(self._answers) if length < 0 else sized(self._answers, length)

    def _become_websocket(self, response: ResponseHead) -> None:
        headers = self._response_headers(response)
        self._begin(response, [*headers, ("Connection", "Upgrade"), ("Upgrade", "websocket")])
        relay_both_ways(self._client, self._answers)

    def _response_headers(self, response: ResponseHead) -> Headers:
        preview = self._preview
        return response_headers(
            response.headers, preview.host, preview.port, self._kind, preview.policy
        )

    def _begin(self, response: ResponseHead, headers: Headers) -> None:
        self.has_begun = True
        first_line = f"HTTP/1.1 {response.status} {response.reason}".rstrip()
        self._client.connection.sendall(head_bytes(first_line, headers))


def _framing(length: int) -> tuple[str, str]:
    return ("Transfer-Encoding", "chunked") if length < 0 else ("Content-Length", str(length))
