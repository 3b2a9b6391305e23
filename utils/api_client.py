"""The model's wire: requests out, a reply in pieces back, whatever the API of its server."""

from __future__ import annotations

import copy
import gc
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from utils.llm.api import Api, ReplyDraft
from utils.llm.completion import (
    Completion,
    Delta,
    ErrorKind,
    Learnt,
    ModelError,
    RawCall,
    Retry,
    StreamItem,
    Usage,
    Wire,
)
from utils.llm.errors import Again, Failed, Server, cut_silently, unfit_key, window_too_small
from utils.llm.openai_api.chat_completions import ChatCompletions
from utils.llm.openai_api.request import Body
from utils.llm.prices import PriceList
from utils.llm.refusals import told, window_named, without_pictures
from utils.llm.reply_limits import ReplyLimits
from utils.llm.server_knowledge import ServerKnowledge, below
from utils.llm.server_profile import ProfilesInMemory, ProfileStore, ServerProfile
from utils.llm.silent_cut import SilentCut
from utils.pictures import ReadPicture
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from utils.llm.endpoint import Endpoint

__all__ = [
    "ApiClient",
    "Completion",
    "Delta",
    "ErrorKind",
    "Learnt",
    "ModelError",
    "RawCall",
    "Retry",
    "Usage",
    "Wire",
]

LONGEST_WAIT_SECONDS = 60.0
"""A server that asks for a longer wait between two tries than this gets this."""

_MOST_LESSONS = 24
"""Shapes that one request is tried in; a server that minds each of them minds something else."""
_GLANCE_SECONDS = 0.05
_UNREACHABLE_RETRIES = 2
_REPLY_RETRIES = 3
_LOADING_RETRIES = 8
"""Tries for each of the settings' while a server loads its model: with five, some six minutes."""
_FIRST_BACKOFF_SECONDS = 0.5
_LONGEST_BACKOFF_SECONDS = 10.0


class ApiClient:
    """A model at a server of DeepSeek's chat-completions API, or one that is compatible.

    *api* is that of another provider. *base_url* is what its paths are appended to. *max_tokens*
    limits a reply, thinking included; less is asked for where the prompt leaves less of
    *context_limit* tokens. *effort* is how hard a thinking call thinks. A server that sends nothing
    for *idle_seconds* is given up, and *retries* is how often a busy server or a broken connection
    is tried again. *limits* are for what one reply may take. What a server refuses of a request's
    shape is learnt, kept in *profiles*, and not sent again.

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
        limits: ReplyLimits | None = None,
        profiles: ProfileStore | None = None,
        api: Api | None = None,
    ) -> None:
        self.model = model
        self._base_url = _without_endpoint(base_url)
        self._key = api_key.strip()
        self._api = api or ChatCompletions()
        self._writer = self._api.writer(
            max_tokens=max_tokens, context_limit=context_limit, effort=effort
        )
        self._cut = SilentCut()
        self._prices = prices or PriceList()
        self._user_agent = user_agent
        self._idle_seconds = idle_seconds
        self._limits = limits or ReplyLimits(progress_seconds=5 * idle_seconds)
        self._patience: dict[Again, int] = {
            "never": 0,
            "unreachable": min(_UNREACHABLE_RETRIES, retries),
            "reply": _REPLY_RETRIES,
            "server": retries,
            "loading": _LOADING_RETRIES * retries,
        }
        self._host = urlsplit(base_url).netloc or base_url
        self._server = Server(self._host, self._key, self._api.account)
        self._known = ServerKnowledge(self._api, self._base_url, profiles or ProfilesInMemory())
        self._lock = threading.Lock()
        self._endpoint: Endpoint | None = None
        self.may_probe = True
        """Whether the server may be looked at for what it says of the model."""

    def warm(self) -> None:
        """Import the SDK and build its client: half a second, better spent before the first call.

        Nothing is sent. May run in a thread of its own; `stream` waits for it.
        """
        self._opened()

    def models(self, name: str = "") -> Sequence[str]:  # noqa: ARG002 - all are of one server
        """Return the names that the server has; none where it does not say so in time.

        What it says of them is learnt.
        """
        if not self._key.isascii() or not self._key.isprintable():
            return []
        return self._known.models(self._opened(), self.model)

    def another(self) -> ApiClient:
        """Return a client of the same server for another conversation: its model is its own."""
        other = copy.copy(self)
        other._writer = self._writer.another()
        other._cut = SilentCut()
        return other

    def take_pictures_from(self, read_picture: ReadPicture) -> None:
        """Have *read_picture* give the pictures that messages refer to, for models that see."""
        self._writer.read_picture = read_picture

    def close(self) -> None:
        """Close the connections that are kept open."""
        with self._lock:
            endpoint, self._endpoint = self._endpoint, None
        if endpoint:
            endpoint.close()

    def stream(
        self, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool, stop: Stop
    ) -> Iterator[StreamItem]:
        """Stream one reply to *messages*: deltas, then its `Completion`, always last.

        A try that fails and may be made again is announced with a `Retry`. Raises `ModelError`
        when there is no reply to be had, and `Stopped` at once on *stop*, whatever it waits for.
        """
        if not self._key.isascii() or not self._key.isprintable():
            raise unfit_key(self._api.account).error
        spent = Usage()
        failures: dict[Again, int] = {}
        self._writer.profile = self.profile
        lessons = 0
        while True:
            if stop.is_set():
                raise Stopped
            endpoint = self._opened(stop)
            body = self._writer.write(self.model, messages, tools, think=think)
            draft = self._api.draft(self._limits.calls, body)
            try:
                path = below(self._writer.profile)
                reply = endpoint.ask(self.model, body, draft, stop, below=path)
                yield from self._announced(reply)
                self._look_once(endpoint)
                usage = self._usage(draft, body)
                yield from self._cut_noticed(body, usage)
                yield draft.completion(spent + usage)
                return
            except Failed as failed:
                if draft.usage:
                    spent += self._usage(draft, body)
                if stop.is_set():
                    raise Stopped from None
                failed.error.usage = spent
                if lessons < _MOST_LESSONS and self._has_learnt(failed, body):
                    lessons += 1
                    yield from _taken_back(draft, failed, failures)
                    continue
                retry = self._next(self._fitting(failed, messages), failures)
            if failures.get("reply") == self._patience["reply"]:
                think = False  # it may have said nothing for all its thinking
            yield retry
            if stop.wait(retry.seconds):
                raise Stopped

    @property
    def profile(self) -> ServerProfile:
        """What is known of the server for the model of now."""
        return self._known.profile(self.model)

    @property
    def usual_profile(self) -> ServerProfile:
        """What holds for the model of now where nothing was learnt or said."""
        return self._known.usual(self.model)

    @property
    def is_well_known(self) -> bool:
        """Whether the model of now is known for calling its tools: DeepSeek's, Claude, OpenAI's.

        The practice model does it by its nature.
        """
        is_priced = self._prices.knows(self.model)
        return is_priced or self._known.is_of_first_party or not self.may_probe

    def forget_profile(self) -> None:
        """Forget what was learnt of the server for the model of now: it is learnt again."""
        self._known.forget(self.model)

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person says of the server for the model of now; None: the usual again."""
        self._known.say(self.model, changes)

    def _has_learnt(self, failed: Failed, body: Body) -> bool:
        """Take in what a refusal of *body* says of the server; return whether it teaches anything.

        DeepSeek's own API is known but for its pictures, and what else it refuses is refused.
        """
        if failed.is_elsewhere:
            if not self._known.may_be_below(self._writer.profile):
                return False
            self._writer.profile = replace(self._writer.profile, below_v1=True)
            return True
        if failed.refusal is None:
            return False
        if body.picture_bytes:
            profile = without_pictures(self._writer.profile, failed.refusal)
            if profile is not None:
                self._writer.profile = profile
                return True
        if self._known.is_deepseek:
            return False
        may_guess = failed.error.kind != "context" and not self._prices.knows(self.model)
        return self._writer.mend(failed.refusal, may_guess=may_guess)

    def _look_once(self, endpoint: Endpoint) -> None:
        """Look for what the server says of a model that is not known; then the model is loaded."""
        if self.may_probe and not self._prices.knows(self.model):
            self._known.probe(endpoint, self.model)

    def _announced(self, reply: Iterator[Delta]) -> Iterator[Delta | Learnt]:
        """Keep what was learnt once a *reply* comes of it, and say it before that."""
        known, learnt_now = self.profile, self._writer.profile
        for delta in reply:
            if known != learnt_now:
                self._known.learn(self.model, learnt_now)
                if replace(known, below_v1=learnt_now.below_v1) != learnt_now:
                    yield Learnt(told(known, learnt_now, self._host))
                known = learnt_now
            yield delta

    def _cut_noticed(self, body: Body, usage: Usage) -> Iterator[Learnt]:
        """Learn the window of a server that leaves out without a word what does not fit; say so."""
        is_silent = not (self._known.is_deepseek or usage.cache_hit_tokens or body.picture_bytes)
        if not is_silent or not usage.prompt_tokens or self._prices.knows(self.model):
            return
        window = self._cut.window(len(body), usage.prompt_tokens)
        profile = self._writer.profile
        if 0 < window < (profile.window or window + 1):
            self._writer.profile = replace(profile, window=window)
            self._known.learn(self.model, self._writer.profile)
            yield Learnt(cut_silently(self._host, window))

    def _fitting(self, failed: Failed, messages: Sequence[Wire]) -> Failed:
        """Return the failure in words that fit: a first request is not to be made shorter.

        The window that the refusal of a later one names is kept: the next has to fit into it.
        """
        if failed.error.kind != "context" or self._known.is_deepseek:
            return failed
        window = window_named(failed.refusal.text) if failed.refusal else 0
        if not any(message["role"] == "assistant" for message in messages):
            return Failed("context", window_too_small(window))
        if 0 < window < (self.profile.window or window + 1):
            self._known.learn(self.model, replace(self.profile, window=window))
        return failed

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

    def _opened(self, stop: Stop | None = None) -> Endpoint:
        """Return the way to the server; raise `Stopped` on *stop* while `warm` is at it."""
        while not self._lock.acquire(timeout=_GLANCE_SECONDS):
            if stop and stop.is_set():
                raise Stopped
        try:
            if self._endpoint is None:
                self._endpoint = self._open()
            return self._endpoint
        finally:
            self._lock.release()

    def _open(self) -> Endpoint:
        with _without_collection():  # an eighth faster: what the import makes all stays
            from utils.llm.endpoint import Endpoint

        return Endpoint(
            self._api,
            self._base_url,
            self._key,
            self._server,
            user_agent=self._user_agent,
            idle_seconds=self._idle_seconds,
            limits=self._limits,
        )

    def _usage(self, draft: ReplyDraft, body: Body) -> Usage:
        model = draft.model if self._prices.knows(draft.model) else self.model
        profile = self._writer.profile
        counted = self._api.counted(draft.usage, profile)
        usage = counted.usage
        if profile.cache_figures != counted.cache_figures and not self._known.is_deepseek:
            self._writer.profile = replace(profile, cache_figures=counted.cache_figures)
            self._known.say(self.model, {"cache_figures": counted.cache_figures})
        if not self._cut.is_suspected:
            self._writer.learn(body, usage.prompt_tokens)
        cost = self._prices.cost(
            model,
            hit=usage.cache_hit_tokens,
            miss=usage.cache_miss_tokens,
            output=usage.completion_tokens,
            moment=time.time(),
            written=counted.written,
            written_long=counted.written_long,
        )
        return replace(usage, cost_usd=cost)


def _without_endpoint(url: str) -> str:
    """Return *url* as a base, also where somebody gave the whole address of chat completions."""
    address, mark, query = url.partition("?")
    return address.rstrip("/").removesuffix("/chat/completions").rstrip("/") + mark + query


def _taken_back(
    draft: ReplyDraft, failed: Failed, failures: Mapping[Again, int]
) -> Iterator[Retry]:
    """Announce that another try follows at once, if anything was shown of the *draft* of this."""
    if draft.is_begun:
        yield Retry(failed.error.what, sum(failures.values()) + 1, 0.0)


@contextmanager
def _without_collection() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
