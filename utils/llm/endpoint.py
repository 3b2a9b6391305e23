"""A model's server: a request's bytes out, its reply in pieces back.

This loads the SDK, which takes half a second.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from itertools import chain
from typing import Any, cast

import httpx2

from utils.llm.api import Api, ReplyDraft
from utils.llm.completion import Delta
from utils.llm.errors import ErrorInStream, Failed, Server
from utils.llm.reply_limits import Beyond, ReplyLimits, ReplyWatch
from utils.llm.server_profile import ServerProfile
from utils.llm.sse import EventReader
from utils.llm.transport import CancellableTransport, Exchange, Insecure, Unreachable
from utils.text.strict_json import is_json, read_json
from utils.waiting import Stop, Stopped

CONNECT_SECONDS = 10.0
LIST_SECONDS = 5.0
"""More is not worth the check of a name."""


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
        server: Server,
        *,
        user_agent: str,
        idle_seconds: float,
        limits: ReplyLimits,
    ) -> None:
        self._api = api
        self._server = server
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._line = CancellableTransport(
            base_url,
            connect_seconds=CONNECT_SECONDS,
            idle_seconds=idle_seconds,
            begin_seconds=limits.progress_seconds,
        )
        self._sdk = api.connect(base_url, key, user_agent=user_agent, transport=self._line)

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
        stop = Stop()
        use = Exchange(stop, ReplyWatch(self._limits))
        timer = threading.Timer(LIST_SECONDS, stop.set)
        timer.start()
        try:
            with stop.calling(use.cut), self._line.used_by(use):
                path = below + self._sdk.models_path
                response = self._sdk.client.get(path, cast_to=httpx2.Response)
                return self._api.described(read_json(response.read())["data"])
        except (Unreachable, Insecure, Stopped, Beyond, OSError, HTTPException):
            return {}
        except (httpx2.HTTPError, self._sdk.failed, ValueError, KeyError, TypeError):
            return {}  # no list that we know
        finally:
            timer.cancel()

    def look(self, path: str, body: Mapping[str, Any] | None = None, *, below: str = "") -> Any:
        """Return the JSON at *path*, None where there is none in time.

        A *path* that begins with "/" is one of the host, else one *below* the address.
        """
        stop = Stop()
        use = Exchange(stop, ReplyWatch(self._limits))
        timer = threading.Timer(LIST_SECONDS, stop.set)
        timer.daemon = True
        timer.start()
        path = path if path.startswith("/") else f"{below}/{path}".removeprefix("/")
        url = str(httpx2.URL(self._sdk.client.base_url).join(path))
        try:
            with stop.calling(use.cut), self._line.used_by(use):
                if body is None:
                    response = self._sdk.client.get(url, cast_to=httpx2.Response)
                else:
                    response = self._sdk.client.post(url, cast_to=httpx2.Response, body=dict(body))
                return read_json(response.read())
        except (Unreachable, Insecure, Stopped, Beyond, OSError, HTTPException):
            return None
        except (httpx2.HTTPError, self._sdk.failed, ValueError):
            return None  # nothing that we know
        except RuntimeError:
            if not self.is_closed:
                raise
            return None
        finally:
            timer.cancel()

    def ask(
        self, model: str, body: bytes, draft: ReplyDraft, stop: Stop, *, below: str = ""
    ) -> Generator[Delta, None, None]:
        """Send *body* and let *draft* grow by its reply. Raises `Failed`, `Stopped`.

        *below* stands before the path.
        """
        watch = ReplyWatch(self._limits)
        use = Exchange(stop, watch)
        with stop.calling(use.cut), self._failing(model, draft, stop, watch):
            with self._line.used_by(use):
                response = self._post(body, below)
            try:
                if "html" in response.headers.get("content-type", ""):
                    raise self._server.no_api(response.status_code)
                yield from _read(response, draft, watch)
            finally:
                response.close()
        if rest := draft.close():
            yield rest

    def _post(self, body: bytes, below: str) -> httpx2.Response:
        # The SDK's own methods would walk the whole conversation at every step to convert it, and
        # build an object of every token; this sends and receives bytes.
        response: object = self._sdk.client.post(
            below + self._sdk.path,
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Accept": "text/event-stream"}},
            stream=True,
            stream_cls=self._sdk.stream_class,
        )
        return cast(httpx2.Response, response)

    @contextmanager
    def _failing(
        self, model: str, draft: ReplyDraft, stop: Stop, watch: ReplyWatch
    ) -> Iterator[None]:
        """Turn what the SDK, the line and the stream raise into `Failed`, or `Stopped`.

        What breaks after the finish reason came breaks nothing: the reply is whole.
        """
        try:
            yield
        except self._sdk.refused as error:
            reply: httpx2.Response = error.response  # type: ignore[attr-defined]
            raise self._server.refused(
                reply.status_code, reply.text, reply.headers, model=model
            ) from None
        except ErrorInStream as error:
            raise self._server.broke_in(error.error, model=model) from None
        except Beyond as error:
            raise self._server.went_beyond(error.measure, self._limits) from None
        except Unreachable as error:
            raise self._server.unreachable(str(error)) from None
        except Insecure as error:
            raise self._server.insecure(str(error)) from None
        except (OSError, HTTPException, httpx2.HTTPError, self._sdk.failed) as error:
            if stop.is_set():
                raise Stopped from None
            if draft.finish_reason:
                return
            raise self._broke(error, watch) from None

    def _broke(self, error: Exception, watch: ReplyWatch) -> Failed:
        if watch.is_late:
            return self._server.went_beyond("progress", self._limits)
        if isinstance(error.__cause__ or error, TimeoutError):
            return self._server.kept_silent(self._idle_seconds)
        return self._server.went_away()


def _read(response: httpx2.Response, draft: ReplyDraft, watch: ReplyWatch) -> Iterator[Delta]:
    """Feed *draft* and yield what there is to show, a piece for each read of the network."""
    pieces = response.iter_bytes()
    start = _start(pieces)
    if start.lstrip().startswith((b"{", b"[")):  # a server that does not stream, whatever it says
        _add_whole(draft, _whole(chain([start], pieces), watch.limits.event_bytes))
    else:
        events = EventReader(watch.limits.event_bytes)
        for data in chain([start], pieces):
            for event in events.feed(data):
                draft.add(event)
            if delta := draft.take():
                watch.advanced(len(delta.text) + len(delta.thinking) + delta.call_characters)
                yield delta
            if draft.is_done:
                return
        if not draft.finish_reason:
            for event in events.close():
                draft.add(event)
    if delta := draft.take():
        yield delta


def _start(pieces: Iterator[bytes]) -> bytes:
    """Return the body as far as to its first byte that is no white space."""
    start = b""
    for piece in pieces:
        start = piece if start.isspace() or not start else start + piece
        if not start.isspace():
            break
    return start


def _add_whole(draft: ReplyDraft, body: bytes) -> None:
    """Feed *draft* a body that is no event stream: one JSON value, or one a line."""
    if is_json(body.decode(errors="replace")):
        draft.add(body)
        draft.is_done = True  # it came whole
        return
    for line in filter(None, map(bytes.strip, body.splitlines())):
        draft.add(line)


def _whole(pieces: Iterable[bytes], most: int) -> bytes:
    """Return the body. Raises `Beyond` if it has more than *most* bytes."""
    known, length = [], 0
    for piece in pieces:
        known.append(piece)
        length += len(piece)
        if length > most:
            raise Beyond("size")
    return b"".join(known)
