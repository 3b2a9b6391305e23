"""The server's place for chat completions: a request's bytes out, its reply in pieces back.

This loads the SDK, which takes half a second.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, cast

import httpx2
import openai

from utils.completion import Delta
from utils.draft import Draft, ErrorInStream
from utils.failures import Server
from utils.line import Insecure, Line, Unreachable, Use
from utils.sse import EventReader
from utils.waiting import Stop, Stopped

CONNECT_SECONDS = 10.0
LIST_SECONDS = 5.0
"""More is not worth the check of a name."""


class Endpoint:
    """Sends requests to *base_url* with the SDK's client, several at once if need be.

    A server that sends nothing for *idle_seconds* is given up. *server* tells what went wrong.
    """

    def __init__(
        self, base_url: str, key: str, server: Server, *, user_agent: str, idle_seconds: float
    ) -> None:
        self._server = server
        self._idle_seconds = idle_seconds
        self._line = Line(base_url, connect_seconds=CONNECT_SECONDS, idle_seconds=idle_seconds)
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=key or "none",
            max_retries=0,
            default_headers={"User-Agent": user_agent},
            http_client=httpx2.Client(transport=self._line, timeout=None),
        )
        self._client.organization = self._client.project = None  # not this server's business

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._client.close()

    def models(self) -> list[str]:
        """Return the names of the models that the server lists; none where it says nothing."""
        stop = Stop()
        use = Use(stop)
        timer = threading.Timer(LIST_SECONDS, stop.set)
        timer.start()
        try:
            with stop.calling(use.cut), self._line.used_by(use):
                response = self._client.get("/models", cast_to=httpx2.Response)
                return [str(row["id"]) for row in json.loads(response.read())["data"]]
        except (Unreachable, Insecure, Stopped, OSError, HTTPException):
            return []
        except (httpx2.HTTPError, openai.OpenAIError, ValueError, KeyError, TypeError):
            return []  # no list that we know
        finally:
            timer.cancel()

    def ask(
        self, model: str, body: bytes, draft: Draft, stop: Stop
    ) -> Generator[Delta, None, None]:
        """Send *body* and let *draft* grow by its reply. Raises `Failed`, `Stopped`."""
        use = Use(stop)
        with stop.calling(use.cut), self._failing(model, draft, stop):
            with self._line.used_by(use):
                response = self._post(body)
            try:
                if "html" in response.headers.get("content-type", ""):
                    raise self._server.no_api(response.status_code)
                yield from _read(response, draft)
            finally:
                response.close()
        if rest := draft.close():
            yield rest

    def _post(self, body: bytes) -> httpx2.Response:
        # `chat.completions.create` would walk the whole conversation at every step to convert it,
        # and build an object of every token; this sends and receives bytes.
        response: object = self._client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Accept": "text/event-stream"}},
            stream=True,
            stream_cls=openai.Stream[Any],
        )
        return cast(httpx2.Response, response)

    @contextmanager
    def _failing(self, model: str, draft: Draft, stop: Stop) -> Iterator[None]:
        """Turn what the SDK, the line and the stream raise into `Failed`, or `Stopped`.

        What breaks after the finish reason came breaks nothing: the reply is whole.
        """
        try:
            yield
        except openai.APIStatusError as error:
            reply = error.response
            raise self._server.refused(
                reply.status_code, reply.text, reply.headers, model=model
            ) from None
        except ErrorInStream as error:
            raise self._server.broke_in(error.error, model=model) from None
        except Unreachable as error:
            raise self._server.unreachable(str(error)) from None
        except Insecure as error:
            raise self._server.insecure(str(error)) from None
        except (OSError, HTTPException, httpx2.HTTPError, openai.OpenAIError) as error:
            if stop.is_set():
                raise Stopped from None
            if draft.finish_reason:
                return
            if isinstance(error.__cause__ or error, TimeoutError):
                raise self._server.kept_silent(self._idle_seconds) from None
            raise self._server.went_away() from None


def _read(response: httpx2.Response, draft: Draft) -> Iterator[Delta]:
    """Feed *draft* and yield what there is to show, a piece for each read of the network."""
    kind = response.headers.get("content-type", "")
    if "json" in kind:  # a server that does not stream
        draft.add(response.read())
    else:
        events = EventReader()
        for data in response.iter_bytes():
            for event in events.feed(data):
                draft.add(event)
            if delta := draft.take():
                yield delta
            if draft.is_done:
                return
        if not draft.finish_reason:
            for event in events.close():
                draft.add(event)
    if delta := draft.take():
        yield delta
