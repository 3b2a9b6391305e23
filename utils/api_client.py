"""The model's wire: chat-completions requests out, a reply in pieces back."""

from __future__ import annotations

import copy
import gc
import random
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from utils.completion import (
    Completion,
    Delta,
    ErrorKind,
    ModelError,
    RawCall,
    Retry,
    Usage,
    Wire,
)
from utils.draft import Draft, ErrorInStream
from utils.failures import Again, Failed, Server, unfit_key
from utils.prices import PriceList
from utils.request import RequestWriter
from utils.sse import EventReader
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    import httpx2
    import openai

    from utils.line import Line

__all__ = [
    "ApiClient",
    "Completion",
    "Delta",
    "ErrorKind",
    "ModelError",
    "RawCall",
    "Retry",
    "Usage",
    "Wire",
]

CONNECT_SECONDS = 10.0
LONGEST_WAIT_SECONDS = 60.0
"""A server that asks for a longer wait between two tries than this gets this."""

_GLANCE_SECONDS = 0.05
_UNREACHABLE_RETRIES = 2
_REPLY_RETRIES = 3
_FIRST_BACKOFF_SECONDS = 0.5
_LONGEST_BACKOFF_SECONDS = 10.0


class ApiClient:
    """A model at a server of DeepSeek's chat-completions API, or one that is compatible.

    *base_url* is what `/chat/completions` is appended to. *max_tokens* limits a reply, thinking
    included; less is asked for where the prompt leaves less of *context_limit* tokens. *effort*
    is how hard a thinking call thinks. A server that sends nothing for *idle_seconds* is given
    up, and *retries* is how often a busy server or a broken connection is tried again.

    `model` may be set between calls. Several threads may stream at once.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        model: str,
        max_tokens: int = 65_536,
        context_limit: int = 1_048_576,
        prices: PriceList | None = None,
        user_agent: str = "onefold",
        effort: str = "high",
        idle_seconds: float = 180.0,
        retries: int = 5,
    ) -> None:
        self.model = model
        self._base_url = base_url.rstrip("/")
        self._key = api_key.strip()
        self._writer = RequestWriter(
            max_tokens=max_tokens, context_limit=context_limit, effort=effort
        )
        self._prices = prices or PriceList()
        self._user_agent = user_agent
        self._idle_seconds = idle_seconds
        self._patience: dict[Again, int] = {
            "never": 0,
            "unreachable": min(_UNREACHABLE_RETRIES, retries),
            "reply": _REPLY_RETRIES,
            "server": retries,
        }
        self._server = Server(urlsplit(base_url).netloc or base_url, self._key)
        self._lock = threading.Lock()
        self._ready: tuple[openai.OpenAI, Line] | None = None

    def warm(self) -> None:
        """Import the SDK and build its client: half a second, better spent before the first call.

        Nothing is sent. May run in a thread of its own; `stream` waits for it.
        """
        self._opened()

    def another(self) -> ApiClient:
        """Return a client of the same server for another conversation: its model is its own."""
        other = copy.copy(self)
        other._writer = self._writer.another()
        return other

    def close(self) -> None:
        """Close the connections that are kept open."""
        with self._lock:
            ready, self._ready = self._ready, None
        if ready:
            ready[0].close()

    def stream(
        self, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool, stop: Stop
    ) -> Iterator[Delta | Retry | Completion]:
        """Stream one reply to *messages*: deltas, then its `Completion`, always last.

        A try that fails and may be made again is announced with a `Retry`. Raises `ModelError`
        when there is no reply to be had, and `Stopped` at once on *stop*, whatever it waits for.
        """
        if not self._key.isascii() or not self._key.isprintable():
            raise unfit_key().error
        spent = Usage()
        failures: dict[Again, int] = {}
        while True:
            if stop.is_set():
                raise Stopped
            draft = Draft()
            body = self._writer.write(self.model, messages, tools, think=think)
            try:
                yield from self._try(draft, body, stop)
                completion = draft.completion(spent + self._usage(draft, body))
            except Failed as failed:
                if draft.usage:
                    spent += self._usage(draft, body)
                if stop.is_set():
                    raise Stopped from None
                failed.error.usage = spent
                retry = self._next(failed, failures)
            else:
                yield completion
                return
            if failures.get("reply") == self._patience["reply"]:
                think = False  # it may have said nothing for all its thinking
            yield retry
            if stop.wait(retry.seconds):
                raise Stopped

    def _next(self, failed: Failed, failures: dict[Again, int]) -> Retry:
        """Count the failure and say how to go on. Raises `ModelError` when patience ends."""
        failures[failed.again] = count = failures.get(failed.again, 0) + 1
        if count > self._patience[failed.again]:
            raise failed.error
        seconds = min(_FIRST_BACKOFF_SECONDS * 2 ** (count - 1), _LONGEST_BACKOFF_SECONDS)
        if failed.after is not None:
            seconds = min(failed.after, LONGEST_WAIT_SECONDS)
        elif failed.again == "reply":
            seconds = 0.0
        else:
            seconds = min(seconds * random.uniform(1.0, 1.5), _LONGEST_BACKOFF_SECONDS)  # noqa: S311 - spreads load
        return Retry(failed.error.what, sum(failures.values()), seconds)

    def _try(self, draft: Draft, body: bytes, stop: Stop) -> Generator[Delta, None, None]:
        """Send one request and let *draft* grow by its reply. Raises `Failed`, `Stopped`."""
        client, line = self._opened(stop)
        from utils.line import Use

        use = Use(stop)
        with stop.calling(use.cut), self._failing(draft, stop):
            with line.used_by(use):
                response = self._post(client, body)
            try:
                if "html" in response.headers.get("content-type", ""):
                    raise self._server.no_api(response.status_code)
                yield from _read(response, draft)
            finally:
                response.close()
        if rest := draft.close():
            yield rest

    def _post(self, client: openai.OpenAI, body: bytes) -> httpx2.Response:
        import httpx2
        import openai

        # `chat.completions.create` would walk the whole conversation at every step to convert it,
        # and build an object of every token; this sends and receives bytes.
        response: object = client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Accept": "text/event-stream"}},
            stream=True,
            stream_cls=openai.Stream[Any],
        )
        return cast("httpx2.Response", response)

    @contextmanager
    def _failing(self, draft: Draft, stop: Stop) -> Iterator[None]:
        """Turn what the SDK, the line and the stream raise into `Failed`, or `Stopped`.

        What breaks after the finish reason came breaks nothing: the reply is whole.
        """
        from http.client import HTTPException

        import httpx2
        import openai

        from utils.line import Insecure, Unreachable

        try:
            yield
        except openai.APIStatusError as error:
            reply = error.response
            raise self._server.refused(
                reply.status_code, reply.text, reply.headers, model=self.model
            ) from None
        except ErrorInStream as error:
            raise self._server.broke_in(error.error, model=self.model) from None
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

    def _opened(self, stop: Stop | None = None) -> tuple[openai.OpenAI, Line]:
        """Return the SDK's client and its line; raise `Stopped` on *stop* while `warm` is at it."""
        while not self._lock.acquire(timeout=_GLANCE_SECONDS):
            if stop and stop.is_set():
                raise Stopped
        try:
            if self._ready is None:
                self._ready = self._open()
            return self._ready
        finally:
            self._lock.release()

    def _open(self) -> tuple[openai.OpenAI, Line]:
        with _without_collection():  # an eighth faster: what the import makes all stays
            import httpx2
            import openai

            from utils.line import Line

        line = Line(
            self._base_url, connect_seconds=CONNECT_SECONDS, idle_seconds=self._idle_seconds
        )
        client = openai.OpenAI(
            base_url=self._base_url,
            api_key=self._key or "none",
            max_retries=0,
            default_headers={"User-Agent": self._user_agent},
            http_client=httpx2.Client(transport=line, timeout=None),
        )
        client.organization = client.project = None  # not this server's business
        return client, line

    def _usage(self, draft: Draft, body: bytes) -> Usage:
        model = draft.model if self._prices.knows(draft.model) else self.model
        usage = _counted(draft.usage)
        self._writer.learn(body, usage.prompt_tokens)
        cost = self._prices.cost(
            model,
            hit=usage.cache_hit_tokens,
            miss=usage.cache_miss_tokens,
            output=usage.completion_tokens,
            moment=time.time(),
        )
        return replace(usage, cost_usd=cost)


@contextmanager
def _without_collection() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


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


def _counted(usage: dict[str, Any]) -> Usage:
    """Return the tokens of one request as the server counted them; 0 for what it does not say."""

    def count(counts: Any, name: str) -> int:
        value = counts.get(name) if isinstance(counts, dict) else None
        return value if isinstance(value, int) else 0

    prompt = count(usage, "prompt_tokens")
    hit = count(usage, "prompt_cache_hit_tokens")
    hit = hit or count(usage.get("prompt_tokens_details"), "cached_tokens")
    return Usage(
        prompt_tokens=prompt,
        cache_hit_tokens=hit,
        cache_miss_tokens=count(usage, "prompt_cache_miss_tokens") or prompt - hit,
        completion_tokens=count(usage, "completion_tokens"),
        reasoning_tokens=count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        requests=1,
    )
