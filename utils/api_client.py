"""The client of a model: sends requests and streams replies, whatever the API of its server."""

from __future__ import annotations

import copy
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from utils.llm.api import Api, ReplyParser
from utils.llm.completion import (
    Completion,
    Delta,
    ErrorKind,
    ModelError,
    ProfileLearned,
    RawCall,
    Retry,
    StreamItem,
    Usage,
    Wire,
)
from utils.llm.http.reply_failures import (
    RequestFailed,
    RetryKind,
    cut_silently,
    invalid_key,
    window_too_small,
)
from utils.llm.http.reply_limits import ReplyLimits
from utils.llm.openai_api.chat_completions import ChatCompletions
from utils.llm.openai_api.request import RequestBody
from utils.llm.prices import PriceList, Tariff
from utils.llm.profiles.refusals import adaptation_notice, parse_window, without_pictures
from utils.llm.profiles.server_knowledge import ServerKnowledge, below
from utils.llm.profiles.server_profile import ProfilesInMemory, ProfileStore, ServerProfile
from utils.llm.profiles.silent_cut import SilentCut
from utils.llm.served_model import ModelChoice, to_base_url, without_login
from utils.pictures import ReadPicture
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from utils.llm.endpoint import Endpoint
    from utils.llm.protocols.call_protocol import CallProtocol
    from utils.llm.protocols.text_reply import TextReply

__all__ = [
    "ApiClient",
    "Completion",
    "Delta",
    "ErrorKind",
    "ProfileLearned",
    "ModelError",
    "RawCall",
    "Retry",
    "Usage",
    "Wire",
]

MAX_RETRY_AFTER_SECONDS = 60.0
"""A server that asks for a longer wait between two tries than this gets this."""

_MAX_ADAPTATIONS = 24
"""Shapes that one request is tried in; a server that minds each of them minds something else."""
_FAILURES_BEFORE_GUESS = 2
_LOCK_POLL_SECONDS = 0.05
_UNREACHABLE_RETRIES = 2
_REPLY_RETRIES = 3
_LOADING_RETRIES = 8
"""Tries for each of the settings' while a server loads its model: with five, some six minutes."""
_FIRST_BACKOFF_SECONDS = 0.5
_MAX_BACKOFF_SECONDS = 10.0


class ApiClient:
    """A model at a server of DeepSeek's chat-completions API, or one that is compatible.

    *api* is that of another provider. *base_url* is what its paths are appended to. *max_tokens*
    limits a reply, thinking included; less is asked for where the prompt leaves less of
    *context_limit* tokens. *effort* is how hard a thinking call thinks. A server that sends nothing
    for *idle_seconds* is given up, and *retries* is how often a busy server or a broken connection
    is tried again. *limits* are for what one reply may take. What a server refuses of a request's
    shape is learned, kept in *profiles*, and not sent again.

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
        self._base_url = to_base_url(base_url)
        self._key = api_key.strip()
        self._api = api or ChatCompletions()
        self._writer = self._api.make_writer(
            max_tokens=max_tokens, context_limit=context_limit, effort=effort
        )
        self._cut = SilentCut()
        self._prices = prices or PriceList()
        self._user_agent = user_agent
        self._idle_seconds = idle_seconds
        self._limits = limits or ReplyLimits(progress_seconds=5 * idle_seconds)
        self._max_retries: dict[RetryKind, int] = {
            "never": 0,
            "unreachable": min(_UNREACHABLE_RETRIES, retries),
            "reply": _REPLY_RETRIES,
            "server": retries,
            "loading": _LOADING_RETRIES * retries,
        }
        self._host = urlsplit(base_url).netloc or base_url
        self._known = ServerKnowledge(self._api, self._base_url, profiles or ProfilesInMemory())
        self._lock = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._on_request: Callable[[bytes], None] = lambda _: None
        """Called with the body of each request, before that is sent; must not raise."""
        self.may_probe = True
        """Whether the server may be looked at for what it says of the model."""

    def warm(self) -> None:
        """Import the SDK and build its client: half a second, better spent before the first call.

        Nothing is sent. May run in a thread of its own; `stream` waits for it.
        """
        self._get_endpoint()

    def models(self, name: str = "") -> Sequence[str]:  # noqa: ARG002 - all are of one server
        """Return the names that the server has; none where it does not say so in time.

        What it says of them is saved in the profiles.
        """
        if not self._key.isascii() or not self._key.isprintable():
            return []
        return self._known.models(self._get_endpoint(), self.model)

    def for_other_conversation(self) -> ApiClient:
        """Return a client of the same server for another conversation: its model is its own."""
        other = copy.copy(self)
        other._writer = self._writer.for_other_conversation()
        other._cut = SilentCut()
        other._on_request = lambda _: None
        return other

    def set_request_observer(self, on_request: Callable[[bytes], None]) -> None:
        """Have *on_request* called with the body of each request, before that is sent."""
        self._on_request = on_request

    def set_picture_reader(self, read_picture: ReadPicture) -> None:
        """Have *read_picture* give the pictures that messages refer to, for models that see."""
        self._writer.read_picture = read_picture

    def close(self) -> None:
        """Close the connections that are kept open."""
        with self._lock:
            endpoint, self._endpoint = self._endpoint, None
        if endpoint:
            endpoint.close()

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> Iterator[StreamItem]:
        """Stream one reply to *messages*: deltas, then its `Completion`, always last.

        It has at most *reply_tokens*, 0: as many as usual; where it is to *think*, then with
        *effort*, "" for the usual one.

        A try that fails and may be made again is announced with a `Retry`. Raises `ModelError`
        when there is no reply to be had, and `Stopped` at once on *stop*, whatever it waits for.
        """
        if not self._key.isascii() or not self._key.isprintable():
            raise invalid_key(self._api.account).error
        spent = Usage()
        failures: dict[RetryKind, int] = {}
        self._writer.profile = self.profile
        adaptations = 0
        while True:
            if stop.is_set():
                raise Stopped
            endpoint = self._get_endpoint(stop)
            body = self._write(
                messages, tools, think=think, reply_tokens=reply_tokens, effort=effort
            )
            self._on_request(body)
            parser = self._api.make_parser(self._limits.calls, body, self._writer.profile)
            try:
                path = below(self._writer.profile)
                reply = endpoint.stream(self.model, body, parser, stop, below=path)
                text_reply = self._text_reply(messages, tools)
                yield from self._announce_adaptation(_deltas(reply, text_reply))
                self._probe_once(endpoint)
                usage = self._usage(parser, body)
                yield from self._cut_noticed(body, usage)
                yield from self._completed(parser, spent + usage, text_reply, failures)
                return
            except RequestFailed as failure:
                if parser.usage:
                    spent += self._usage(parser, body)
                if stop.is_set():
                    raise Stopped from None
                failure.error.usage = spent
                has_failed = failures.get("server", 0) >= _FAILURES_BEFORE_GUESS
                if adaptations < _MAX_ADAPTATIONS and self._adapt(failure, body, has_failed):
                    adaptations += 1
                    yield from _restart_notice(parser, failure, failures)
                    continue
                retry = self._next_retry(self._refine_context_error(failure, messages), failures)
            if failures.get("reply") == self._max_retries["reply"]:
                think = False  # it may have said nothing for all its thinking
            yield retry
            if stop.wait(retry.seconds):
                raise Stopped

    @property
    def choice(self) -> ModelChoice:
        """The model of now with its server, as a session keeps it."""
        return ModelChoice(self.model, without_login(self._base_url))

    def use(self, choice: ModelChoice | None) -> None:
        """Take the model of *choice*; its server is this one, whatever it was."""
        self.model = choice.name if choice else self.model

    @property
    def profile(self) -> ServerProfile:
        """Known properties of the server, for the current model."""
        return self._known.profile(self.model)

    @property
    def usual_profile(self) -> ServerProfile:
        """The profile of the model of now where nothing was learnt or said."""
        return self._known.usual(self.model)

    @property
    def tariff(self) -> Tariff | None:
        """The price of the model of now, None where it is unknown."""
        return self._prices.tariff(self.model)

    def known_of(self, name: str) -> tuple[ServerProfile, Tariff | None]:
        """Return what is known of the model *name* of this server, and its price; asks nobody."""
        return self._known.profile(name), self._prices.tariff(name)

    @property
    def is_well_known(self) -> bool:
        """Whether the model of now is known for calling its tools: DeepSeek's, Claude, OpenAI's.

        The practice model does it by its nature.
        """
        is_priced = self._prices.has_price(self.model)
        return is_priced or self._known.is_of_first_party or not self.may_probe

    def forget_profile(self) -> None:
        """Forget the learned profile of the server for the current model: it is learned again."""
        self._known.forget(self.model)

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person says of the server for the model of now; None: the usual again."""
        self._known.say(self.model, changes)

    def _text_protocol(self) -> CallProtocol | None:
        """Return the protocol in which calls stand in the text, None where they do not."""
        if self._writer.profile.protocol == "native":
            return None
        from utils.llm.protocols.registry import ALL  # for those alone who need it

        return ALL[self._writer.profile.protocol]

    def _write(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        reply_tokens: int,
        effort: str,
    ) -> RequestBody:
        """Return the body of a request in the protocol of the model."""
        if protocol := self._text_protocol():
            messages, tools = protocol.request(messages, tools)
        return self._writer.write(
            self.model, messages, tools, think=think, reply_tokens=reply_tokens, effort=effort
        )

    def _text_reply(self, messages: Sequence[Wire], tools: Sequence[Wire]) -> TextReply | None:
        """Return the reader of a reply with calls in its text, None where none stand there."""
        protocol = self._text_protocol()
        if protocol is None or not tools:
            return None
        from utils.llm.protocols.text_reply import TextReply

        return TextReply(protocol, messages, tools)

    def _adapt(self, failure: RequestFailed, body: RequestBody, has_failed: bool) -> bool:
        """Adapt the profile to a refusal of *body*; return whether the next request will differ.

        DeepSeek's own API is known but for its pictures, and what else it refuses is refused. A
        server that *has_failed* again and again, and never did anything else, may mind the shape.
        """
        if failure.is_wrong_path:
            if not self._known.may_be_below(self._writer.profile):
                return False
            self._writer.profile = replace(self._writer.profile, below_v1=True)
            return True
        if failure.refusal is None:
            return False
        if body.picture_bytes:
            profile = without_pictures(self._writer.profile, failure.refusal)
            if profile is not None:
                self._writer.profile = profile
                return True
        if self._known.is_deepseek:
            return False
        may_guess = failure.error.kind != "context" and not self._prices.has_price(self.model)
        if failure.refusal.status == 500:
            may_guess = may_guess and has_failed and not self.profile.probed
        return self._writer.adapt(failure.refusal, may_guess=may_guess)

    def _probe_once(self, endpoint: Endpoint) -> None:
        """Look for what the server says of a model that is not known; then the model is loaded."""
        if self.may_probe and not self._prices.has_price(self.model):
            self._known.probe(endpoint, self.model)

    def _announce_adaptation(self, reply: Iterator[Delta]) -> Iterator[Delta | ProfileLearned]:
        """Save an adapted profile once a *reply* to it comes, and announce it before that."""
        before, after = self.profile, self._writer.profile
        for delta in reply:
            if before != after:
                self._known.learn(self.model, after)
                if replace(before, below_v1=after.below_v1) != after:
                    yield ProfileLearned(adaptation_notice(before, after, self._host))
                before = after
            yield delta

    def _cut_noticed(self, body: RequestBody, usage: Usage) -> Iterator[ProfileLearned]:
        """Learn the window of a server that leaves out without a word what does not fit; say so."""
        is_silent = not (self._known.is_deepseek or usage.cache_hit_tokens or body.picture_bytes)
        if not is_silent or not usage.prompt_tokens or self._prices.has_price(self.model):
            return
        window = self._cut.window(len(body), usage.prompt_tokens)
        profile = self._writer.profile
        if 0 < window < (profile.window or window + 1):
            self._writer.profile = replace(profile, window=window)
            self._known.learn(self.model, self._writer.profile)
            yield ProfileLearned(cut_silently(self._host, window))

    def _completed(
        self,
        parser: ReplyParser,
        usage: Usage,
        text_reply: TextReply | None,
        failures: Mapping[RetryKind, int],
    ) -> Iterator[Delta | Completion]:
        """Yield the whole reply, what of its text was held back before it.

        A server that takes whole replies for thoughts goes on so, however often it is asked; the
        thought of the last try is the reply then.
        """
        try:
            completion = parser.completion(usage)
        except RequestFailed as failure:
            is_last = failures.get("reply", 0) == self._max_retries["reply"]
            is_reply = is_last and not (self._known.is_deepseek or text_reply)
            if not is_reply or not failure.thought.strip():
                raise
            yield Delta(failure.thought)
            completion = Completion(failure.thought, "", (), usage)
        self._learn_signatures(completion)
        yield from _finished(completion, text_reply)

    def _learn_signatures(self, completion: Completion) -> None:
        """Have replies sent back as they were signed, from the first one on that is."""
        profile = self._writer.profile
        is_open = self._api.has_dialects and not self._known.is_deepseek
        if completion.signed and is_open and profile.signatures == "none":
            self._writer.profile = replace(profile, signatures="sent")
            self._known.say(self.model, {"signatures": "sent"})

    def _refine_context_error(
        self, failure: RequestFailed, messages: Sequence[Wire]
    ) -> RequestFailed:
        """Return the failure in fitting words: a first request cannot be made shorter.

        The window that the refusal of a later one names is kept: the next has to fit into it.
        """
        if failure.error.kind != "context" or self._known.is_deepseek:
            return failure
        window = parse_window(failure.refusal.text) if failure.refusal else 0
        if not any(message["role"] == "assistant" for message in messages):
            return RequestFailed("context", window_too_small(window))
        if 0 < window < (self.profile.window or window + 1):
            self._known.learn(self.model, replace(self.profile, window=window))
        return failure

    def _next_retry(self, failure: RequestFailed, failures: dict[RetryKind, int]) -> Retry:
        """Count the failure and return the next try. Raises `ModelError` after too many."""
        failures[failure.retry_kind] = count = failures.get(failure.retry_kind, 0) + 1
        if count > self._max_retries[failure.retry_kind]:
            raise failure.error
        seconds = min(_FIRST_BACKOFF_SECONDS * 2 ** (count - 1), _MAX_BACKOFF_SECONDS)
        if failure.retry_after is not None:
            seconds = min(failure.retry_after, MAX_RETRY_AFTER_SECONDS)
        elif failure.retry_kind == "reply":
            seconds = 0.0
        else:
            seconds = min(seconds * random.uniform(1.0, 1.5), _MAX_BACKOFF_SECONDS)  # noqa: S311 - spreads load
        return Retry(failure.error.message, sum(failures.values()), seconds)

    def _get_endpoint(self, stop: Stop | None = None) -> Endpoint:
        """Return the endpoint; raise `Stopped` on *stop* while `warm` creates it."""
        while not self._lock.acquire(timeout=_LOCK_POLL_SECONDS):
            if stop and stop.is_set():
                raise Stopped
        try:
            if self._endpoint is None:
                self._endpoint = self._create_endpoint()
            return self._endpoint
        finally:
            self._lock.release()

    def _create_endpoint(self) -> Endpoint:
        from utils.llm.endpoint import Endpoint
        from utils.llm.http.errors import ServerErrors

        return Endpoint(
            self._api,
            self._base_url,
            self._key,
            ServerErrors(self._host, self._key, self._api.account),
            user_agent=self._user_agent,
            idle_seconds=self._idle_seconds,
            limits=self._limits,
        )

    def _usage(self, parser: ReplyParser, body: RequestBody) -> Usage:
        model = parser.model if self._prices.has_price(parser.model) else self.model
        profile = self._writer.profile
        counts = self._api.count_tokens(parser.usage, profile)
        usage = counts.usage
        if profile.cache_figures != counts.cache_figures and not self._known.is_deepseek:
            self._writer.profile = replace(profile, cache_figures=counts.cache_figures)
            self._known.say(self.model, {"cache_figures": counts.cache_figures})
        if not self._cut.is_suspected:
            self._writer.calibrate(body, usage.prompt_tokens)
        cost = self._prices.cost(
            model,
            hit=usage.cache_hit_tokens,
            miss=usage.cache_miss_tokens,
            output=usage.completion_tokens,
            timestamp=time.time(),
            cache_write=counts.cache_write,
            cache_write_long=counts.cache_write_long,
        )
        return replace(usage, cost_usd=cost)


def _deltas(reply: Iterator[Delta], text_reply: TextReply | None) -> Iterator[Delta]:
    return text_reply.deltas(reply) if text_reply else reply


def _finished(completion: Completion, text_reply: TextReply | None) -> Iterable[Delta | Completion]:
    return text_reply.finish(completion) if text_reply else (completion,)


def _restart_notice(
    parser: ReplyParser, failure: RequestFailed, failures: Mapping[RetryKind, int]
) -> Iterator[Retry]:
    """Announce that another try follows at once, if *parser* has produced anything."""
    if parser.has_content:
        yield Retry(failure.error.message, sum(failures.values()) + 1, 0.0)
