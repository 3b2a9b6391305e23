"""What a provider's API has to give: everything that differs between one wire and another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from utils.llm.account import Account
from utils.llm.completion import Completion, Delta, Usage, Wire
from utils.llm.openai_api.request import Body
from utils.llm.refusals import Refusal
from utils.llm.server_profile import CacheFigures, ServerProfile
from utils.pictures import ReadPicture


@dataclass(frozen=True, slots=True)
class Counted:
    """The tokens of one request; *written* of the prompt went into the cache, *written_long* of
    these to stay there for longer. *cache_figures* is where the server counts what its cache had.
    """

    usage: Usage
    written: int = 0
    written_long: int = 0
    cache_figures: CacheFigures = "prompt_cache_hit_tokens"


@dataclass(frozen=True, slots=True)
class Sdk:
    """What an `Endpoint` needs of a provider's package: its *client*, the *path* for messages, and
    what it raises for a refusal and for anything else."""

    client: Any
    path: str
    stream_class: Any
    refused: type[Exception]
    failed: type[Exception]
    models_path: str = "/models"


class Writer(Protocol):
    """Writes the requests of one conversation."""

    profile: ServerProfile
    read_picture: ReadPicture

    def another(self) -> Writer:
        """Return a writer for another conversation."""

    def write(
        self, model: str, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool
    ) -> Body:
        """Return the body of a request, in the shape of `profile`."""

    def learn(self, body: Body, prompt_tokens: int) -> None:
        """Take in what the server counted for *body*, to estimate the next one by."""

    def mend(self, refusal: Refusal, *, may_guess: bool) -> bool:
        """Take in what *refusal* says; return whether the next request will be another one."""


class ReplyDraft(Protocol):
    """Collects the events of one stream."""

    finish_reason: str
    is_done: bool
    usage: dict[str, Any]
    model: str

    @property
    def is_begun(self) -> bool:
        """Whether anything of it may have been shown."""

    def add(self, data: bytes) -> None:
        """Take in one event. Raises `Failed` for a broken one, `ErrorInStream` for an error."""

    def take(self) -> Delta | None:
        """Return what has come since the last time, None if nothing to show has."""

    def close(self) -> Delta | None:
        """Return what was still held back and may be shown. Raises `Failed`."""

    def completion(self, usage: Usage) -> Completion:
        """Return the reply, closed before. Raises `Failed` if there is nothing in it to use."""


class Api(Protocol):
    """One provider's API.

    *has_dialects* says that servers of all kinds speak it, each in its way: their address may lack
    `/v1`, and what they say of a model is looked for.
    """

    account: Account
    has_dialects: bool

    def writer(self, *, max_tokens: int, context_limit: int, effort: str) -> Writer:
        """Return what writes the requests of a conversation."""

    def draft(self, most_calls: int, body: bytes) -> ReplyDraft:
        """Return what collects the reply to *body*; more than *most_calls* calls are a failure."""

    def connect(self, base_url: str, key: str, *, user_agent: str, transport: Any) -> Sdk:
        """Load the provider's package, for requests over *transport*. Raises `ModelError`."""

    def counted(self, usage: Mapping[str, Any], profile: ServerProfile) -> Counted:
        """Return the tokens of one request as the server counted them; 0 for what it omits."""

    def described(self, rows: Iterable[Any]) -> Mapping[str, ServerProfile | None]:
        """Return the models in a server's list, each with what is said of it, None for nothing."""

    def usual(self, model: str) -> ServerProfile:
        """Return what is known of *model* without asking."""
