"""The endpoint of a model's server: sends a request's bytes, yields its reply in pieces.

This loads the SDK, which takes half a second.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from itertools import chain
from typing import Any, cast

import httpx2

from utils.llm.api import Api, ReplyParser
from utils.llm.completion import Delta
from utils.llm.http.client import HttpClient
from utils.llm.http.error_bodies import page_text
from utils.llm.http.errors import ServerErrors
from utils.llm.http.exchange import Exchange
from utils.llm.http.reply_failures import RequestFailed, StreamError
from utils.llm.http.reply_limits import LimitExceeded, ReplyLimits, ReplyWatch
from utils.llm.http.sse import EventReader
from utils.llm.http.transport import CancellableTransport, Insecure, Unreachable
from utils.llm.profiles.server_profile import ServerProfile
from utils.text.strict_json import is_json, read_json
from utils.waiting import Stop, Stopped

CONNECT_SECONDS = 10.0
METADATA_SECONDS = 5.0
"""More is not worth the check of a name."""
METADATA_BYTES = 4 << 20
"""The longest lists of models have one; what Python makes of them takes twenty times as much."""
END_SECONDS = 10.0
"""What stands behind the reason of a reply's end, the counts of tokens, comes at once."""
_MOST_OPENING_BYTES = 1_000
_TROUBLE_WORDS = re.compile(
    r"\b5\d\d\b|gateway|unavailable|time(d |-)?out|overloaded|server error", re.IGNORECASE
)
"""Words of a page that is no program's own, but that of a proxy in trouble before a server."""


class Endpoint:
    """Sends requests to *base_url* with the SDK's client, several at once if need be.

    A server that sends nothing for *idle_seconds* is given
    up. *server* tells what went wrong.
    """

    def __init__(
        self,
        api: Api,
        base_url: str,
        key: str,
        server: ServerErrors,
        *,
        user_agent: str,
        idle_seconds: float,
        limits: ReplyLimits,
    ) -> None:
        self._api = api
        self._server = server
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._transport = CancellableTransport(
            base_url,
            connect_seconds=CONNECT_SECONDS,
            idle_seconds=idle_seconds,
            begin_seconds=limits.progress_seconds,
        )
        http_client = HttpClient(self._transport)
        self._sdk = api.connect(base_url, key, user_agent=user_agent, http_client=http_client)
        self._base = str(self._sdk.client.base_url).removesuffix("/")

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._sdk.client.close()

    @property
    def is_closed(self) -> bool:
        return bool(self._sdk.client.is_closed())

    def models(self, below: str = "") -> Mapping[str, ServerProfile | None]:
        """Return the models that the server lists, by name, with what it says of each.

        None are returned where it says nothing. *below* stands before the path.
        """
        with suppress(ValueError, KeyError, TypeError):  # no list that we know
            return self._api.parse_models(_rows(self._metadata(below + self._sdk.models_path)))
        return {}

    def get_json(self, path: str, body: Mapping[str, Any] | None = None, *, below: str = "") -> Any:
        """Return the JSON at *path*, None where there is none in time.

        A *path* that begins with "/" is one of the host, else one *below* the address.
        """
        path = path if path.startswith("/") else f"{below}/{path}".removeprefix("/")
        return self._metadata(str(httpx2.URL(self._sdk.client.base_url).join(path)), body)

    def _metadata(self, url: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at *url*, None where there is none in time, or far too much of it."""
        stop = Stop()
        timer = threading.Timer(METADATA_SECONDS, stop.set)
        timer.daemon = True
        timer.start()
        try:
            return self._read_json(url, body, stop)
        except (Unreachable, Insecure, Stopped, LimitExceeded, OSError, HTTPException):
            return None
        except (httpx2.HTTPError, self._sdk.base_error, ValueError):
            return None  # nothing that we know
        except RuntimeError:
            if not self.is_closed:
                raise
            return None
        finally:
            timer.cancel()

    def _read_json(self, url: str, body: Mapping[str, Any] | None, stop: Stop) -> Any:
        exchange = Exchange(stop, ReplyWatch(self._limits))
        options: dict[str, Any] = {"stream": True, "stream_cls": self._sdk.stream_class}
        with stop.on_stop(exchange.abort), self._transport.bound_to(exchange):
            if body is None:
                response = self._sdk.client.get(url, cast_to=httpx2.Response, **options)
            else:
                response = self._sdk.client.post(
                    url, cast_to=httpx2.Response, body=dict(body), **options
                )
            try:
                return read_json(_read_all(response.iter_bytes(), METADATA_BYTES))
            finally:
                response.close()

    def stream(
        self, model: str, body: bytes, parser: ReplyParser, stop: Stop, *, below: str = ""
    ) -> Generator[Delta, None, None]:
        """Send *body* and feed its reply to *parser*. Raises `RequestFailed`, `Stopped`.

        *below* stands before the path.
        """
        watch = ReplyWatch(self._limits)
        exchange = Exchange(stop, watch)
        with stop.on_stop(exchange.abort), self._translating_errors(model, parser, stop, watch):
            with self._transport.bound_to(exchange):
                response = self._post(body, below)
            try:
                try:
                    yield from _read(response, parser, exchange, self._idle_seconds)
                except _NoEvents as error:
                    raise self._without_api(response, error.body) from None
            finally:
                response.close()
        if last_delta := parser.close():
            yield last_delta

    def _post(self, body: bytes, below: str) -> httpx2.Response:
        # The SDK's own methods would walk the whole conversation at every step to convert it, and
        # build an object of every token; this sends and receives bytes.
        response: object = self._sdk.client.post(
            f"{self._base}{below}{self._sdk.path}",  # of a part it would make a whole at each step
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Accept": "text/event-stream"}},
            stream=True,
            stream_cls=self._sdk.stream_class,
        )
        return cast(httpx2.Response, response)

    @contextmanager
    def _translating_errors(
        self, model: str, parser: ReplyParser, stop: Stop, watch: ReplyWatch
    ) -> Iterator[None]:
        """Raise errors of the SDK, the transport and the stream as `RequestFailed`, or `Stopped`.

        What breaks after the finish reason came breaks nothing: the reply is whole.
        """
        try:
            yield
        except self._sdk.status_error as error:
            response: httpx2.Response = error.response  # type: ignore[attr-defined]
            raise self._server.http_error(
                response.status_code, response.text, response.headers, model=model
            ) from None
        except StreamError as error:
            raise self._server.stream_error(error.error, model=model) from None
        except LimitExceeded as error:
            raise self._server.limit_exceeded(error.kind, self._limits) from None
        except Unreachable as error:
            raise self._server.unreachable(str(error)) from None
        except Insecure as error:
            raise self._server.insecure(str(error)) from None
        except (OSError, HTTPException, httpx2.HTTPError, self._sdk.base_error) as error:
            if stop.is_set():
                raise Stopped from None
            if parser.finish_reason:
                return
            raise self._connection_failure(error, watch) from None

    def _without_api(self, response: httpx2.Response, body: str) -> Exception:
        """Return what a *body* means that is neither events nor JSON: a page, or a text."""
        said = page_text(body)
        is_page = "html" in response.headers.get("content-type", "") or said != body
        if is_page and not _TROUBLE_WORDS.search(said):
            return self._server.no_api(response.status_code)
        return StreamError(said)

    def _connection_failure(self, error: Exception, watch: ReplyWatch) -> RequestFailed:
        if watch.has_timed_out:
            return self._server.limit_exceeded("progress", self._limits)
        if isinstance(error.__cause__ or error, TimeoutError):
            return self._server.idle_timeout(self._idle_seconds)
        return self._server.connection_lost()


def _rows(listed: Any) -> list[Any]:
    """Return the rows of a list of models, in whatever form it is *listed*."""
    rows = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
    return rows if isinstance(rows, list) else []


class _NoEvents(Exception):
    """The *body* of a reply holds no event."""

    def __init__(self, body: str) -> None:
        super().__init__(body)
        self.body = body


def _read(
    response: httpx2.Response, parser: ReplyParser, exchange: Exchange, idle_seconds: float
) -> Iterator[Delta]:
    """Feed *parser* and yield its deltas, one for each read of the network.

    Raises `_NoEvents` where there is something else.
    """
    pieces = response.iter_bytes()
    limits = exchange.watch.limits
    start = _skip_white_space(pieces)
    pieces = chain([start], pieces)
    if start.lstrip().startswith((b"{", b"[")):  # a server that does not stream, whatever it says
        _parse_unstreamed(parser, _read_all(pieces, limits.event_bytes))
    elif start.lstrip().startswith(b"<"):
        exchange.set_read_timeout(limits.error_seconds)
        raise _NoEvents(_opening(pieces, limits.error_bytes))
    else:
        yield from _read_events(_hurrying(pieces, parser, exchange, idle_seconds), parser, exchange)
    if delta := parser.take_delta():
        yield delta


def _hurrying(
    pieces: Iterable[bytes], parser: ReplyParser, exchange: Exchange, idle_seconds: float
) -> Iterator[bytes]:
    """Yield *pieces*, waiting but shortly for what comes behind the reason of the end.

    Some servers then say nothing more, or nothing but comments, and keep the connection. One that
    gives a reason with each piece is waited for as ever.
    """
    has_reason, deadline = False, float("inf")
    for piece in pieces:
        yield piece
        if has_reason and b'"content"' in piece:
            deadline = float("inf")
            exchange.set_read_timeout(idle_seconds)
        elif parser.finish_reason and not has_reason:
            has_reason, deadline = True, time.monotonic() + END_SECONDS
            exchange.set_read_timeout(min(idle_seconds, END_SECONDS))
        elif time.monotonic() > deadline:
            return


def _read_events(
    pieces: Iterable[bytes], parser: ReplyParser, exchange: Exchange
) -> Iterator[Delta]:
    """Feed *parser* the events in *pieces*. Raises `_NoEvents` where there are none."""
    events = EventReader(exchange.watch.limits.event_bytes)
    words = opening = b""
    for data in pieces:
        if not events.has_read and len(opening) < _MOST_OPENING_BYTES:
            opening += data
        for event in events.feed(data):
            words = _words(event)
            parser.add(event)
        if delta := parser.take_delta():
            characters = len(delta.text) + len(delta.thinking) + delta.call_characters
            exchange.watch.record_progress(characters)
            yield delta
        if parser.is_done:
            return
    if parser.finish_reason:
        return
    for event in events.close():
        words = _words(event)
        parser.add(event)
    said = words if events.has_read else opening.strip()
    if not (parser.is_done or parser.finish_reason or parser.has_content) and said:
        raise _NoEvents(said.decode(errors="replace"))


def _words(event: bytes) -> bytes:
    """Return the *event* where it is a sentence and no JSON."""
    return event if b"{" not in event and b" " in event else b""


def _opening(pieces: Iterable[bytes], max_bytes: int) -> str:
    """Return the beginning of a page as far as to its title, *max_bytes* bytes at most."""
    text = b""
    with suppress(TimeoutError):
        for piece in pieces:
            text += piece
            if len(text) >= max_bytes or b"</title" in text.lower():
                break
    return text[:max_bytes].decode(errors="replace").strip()


def _skip_white_space(pieces: Iterator[bytes]) -> bytes:
    """Return the body as far as to its first byte that is no white space."""
    start = b""
    for piece in pieces:
        start = piece if start.isspace() or not start else start + piece
        if not start.isspace():
            break
    return start


def _parse_unstreamed(parser: ReplyParser, body: bytes) -> None:
    """Feed *parser* a body that is no event stream: one JSON value, or one a line."""
    if is_json(body.decode(errors="replace")):
        parser.add(body)
        parser.is_done = True  # it came whole
        return
    for line in filter(None, map(bytes.strip, body.splitlines())):
        parser.add(line)


def _read_all(pieces: Iterable[bytes], max_bytes: int) -> bytes:
    """Return the body. Raises `LimitExceeded` if it has more than *max_bytes* bytes."""
    chunks, length = [], 0
    for piece in pieces:
        chunks.append(piece)
        length += len(piece)
        if length > max_bytes:
            raise LimitExceeded("size")
    return b"".join(chunks)
