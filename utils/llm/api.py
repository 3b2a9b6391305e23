"""Protocols of a provider's API: everything that differs between one wire and another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from utils.frozen import frozen
from utils.llm.account import Account
from utils.llm.completion import Completion, Delta, Usage, Wire
from utils.llm.openai_api.request import RequestBody
from utils.llm.profiles.refusals import Refusal
from utils.llm.profiles.server_profile import CacheFigures, ServerProfile
from utils.pictures import ReadPicture


@frozen
class TokenCounts:
    """The tokens of one request; *cache_write* of the prompt went into the cache,
    *cache_write_long* of these to stay there for longer. *cache_figures* is where the server counts
    what its cache had.
    """

    usage: Usage
    cache_write: int = 0
    cache_write_long: int = 0
    cache_figures: CacheFigures = "prompt_cache_hit_tokens"


@frozen
class Sdk:
    """Parts of a provider's package, for an `Endpoint`: its *client*, the *path* for messages, and
    what it raises for a refusal and for anything else."""

    client: Any
    path: str
    stream_class: Any
    status_error: type[Exception]
    base_error: type[Exception]
    models_path: str = "/models"


class Writer(Protocol):
    """Writes the requests of one conversation."""

    profile: ServerProfile
    read_picture: ReadPicture

    def for_other_conversation(self) -> Writer:
        """Return a writer for another conversation."""

    def write(
        self,
        model: str,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> RequestBody:
        """Return the body of a request, in the shape of `profile`.

        Where it is to *think*, then with *effort*, "" for the usual one.

        The reply has at most *reply_tokens* where these are not 0 and the model does not reason
        beside it: reasoning would fill them. With the effort "low" there is room for that as well.
        """

    def calibrate(self, body: RequestBody, prompt_tokens: int) -> None:
        """Calibrate the estimate of tokens by the server's count for *body*."""

    def adapt(self, refusal: Refusal, *, may_guess: bool) -> bool:
        """Adapt `profile` to *refusal*; return whether the next request will differ."""


class ReplyParser(Protocol):
    """Collects the events of one stream."""

    finish_reason: str
    is_done: bool
    usage: dict[str, Any]
    model: str

    @property
    def has_content(self) -> bool:
        """Whether anything of it may have been shown."""

    def add(self, data: bytes) -> None:
        """Take in one event. Raises `RequestFailed` for a broken one, `StreamError` for an
        error."""

    def take_delta(self) -> Delta | None:
        """Return what has come since the last time, None if nothing to show has."""

    def close(self) -> Delta | None:
        """Return what was still held back and may be shown. Raises `RequestFailed`."""

    def completion(self, usage: Usage) -> Completion:
        """Return the reply, closed before. Raises `RequestFailed` if nothing in it is of use."""


class Api(Protocol):
    """One provider's API.

    *has_dialects* says that servers of all kinds speak it, each in its way: their address may lack
    `/v1`, and what they say of a model is looked for.
    """

    account: Account
    has_dialects: bool

    def make_writer(self, *, max_tokens: int, context_limit: int, effort: str) -> Writer:
        """Return a writer of the requests of a conversation."""

    def make_parser(self, max_calls: int, body: bytes, profile: ServerProfile) -> ReplyParser:
        """Return a parser of the reply of a server of *profile* to *body*.

        More than *max_calls* calls are a failure.
        """

    def connect(self, base_url: str, key: str, *, user_agent: str, http_client: Any) -> Sdk:
        """Load the provider's package, for requests by *http_client*. Raises `ModelError`."""

    def count_tokens(self, usage: Mapping[str, Any], profile: ServerProfile) -> TokenCounts:
        """Return the tokens of one request as the server counted them; 0 for what it omits."""

    def parse_models(self, rows: Iterable[Any]) -> Mapping[str, ServerProfile | None]:
        """Return the models in a server's list, each with its profile, None where there is none."""

    def usual(self, model: str) -> ServerProfile:
        """Return what is known of *model* without asking."""
