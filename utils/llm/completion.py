"""Parts of a model's reply, as the rest of the program sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from utils.error_codes import ErrorCode
from utils.frozen import frozen
from utils.i18n import Phrase, UserError

Wire = dict[str, Any]
"""One message, tool or request in the JSON form of the chat-completions API."""

DIRECT_CALL = "direct-"
"""What the id of a call begins with that no model made, but a person or the system."""
SIGNED = "signed_reply"
"""The field of an assistant message that only its own provider is sent, in a form of its own."""


@frozen
class Usage:
    """Tokens and US dollars; *requests* counts the model calls they were spent on."""

    prompt_tokens: int = 0
    cache_hit_tokens: int = 0
    cache_miss_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cache_hit_tokens + other.cache_hit_tokens,
            self.cache_miss_tokens + other.cache_miss_tokens,
            self.completion_tokens + other.completion_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.requests + other.requests,
            self.cost_usd + other.cost_usd,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens - other.prompt_tokens,
            self.cache_hit_tokens - other.cache_hit_tokens,
            self.cache_miss_tokens - other.cache_miss_tokens,
            self.completion_tokens - other.completion_tokens,
            self.reasoning_tokens - other.reasoning_tokens,
            self.requests - other.requests,
            self.cost_usd - other.cost_usd,
        )


@frozen
class Delta:
    """A piece of a reply as it streams; several deltas of one network read come as one.

    *thinking* comes before *text*. *call_name* is the tool whose call is being written and
    *call_characters* how much of its arguments this piece brought.
    """

    text: str = ""
    thinking: str = ""
    call_name: str = ""
    call_characters: int = 0


@frozen
class Retry:
    """The reply broke off and is asked for again: forget every `Delta` since the last one."""

    reason: Phrase
    attempt: int
    seconds: float


@frozen
class ProfileLearned:
    """The server takes requests of another shape than it was sent; *message* is for people."""

    message: Phrase


@frozen
class RawCall:
    """A call as the model wrote it; *is_cut* when the output limit cut it off.

    One that *is_recovered* stood in the text, as markup. *extra* is what its server wants back
    with it.
    """

    id: str
    name: str
    arguments: str
    is_cut: bool = False
    is_recovered: bool = False
    extra: Mapping[str, Any] | None = None


@frozen
class Completion:
    """A whole reply, always the last item of a stream. *is_cut*: the output limit ended it.

    One that *is_repeating* was ended by us, for it said the same again and again; it is cut too.

    *usage* includes that of the tries before it that were billed: the prompt was sent
    `usage.requests` times. *signed* is what its provider wants back with it, for no other one.
    One that *has_doubtful_calls* holds as text what may be meant as calls of its protocol.
    """

    text: str
    thinking: str
    calls: tuple[RawCall, ...]
    usage: Usage
    is_cut: bool = False
    signed: Mapping[str, Any] | None = None
    is_repeating: bool = False
    has_doubtful_calls: bool = False


StreamItem = Delta | Retry | ProfileLearned | Completion
"""Items of a streamed reply, its `Completion` last."""


ErrorKind = Literal[
    "key", "balance", "context", "content", "request", "server", "rate", "network", "reply"
]


_CODES: Mapping[ErrorKind, ErrorCode] = {
    "key": "key",
    "balance": "balance",
    "context": "overflow",
    "rate": "rate",
    "network": "network",
}


class ModelError(UserError):
    """The model could not be asked, or no usable reply could be had; *kind* says which.

    *usage* is what the tries were billed all the same.
    """

    code = "model"

    def __init__(self, kind: ErrorKind, message: Phrase, usage: Usage | None = None) -> None:
        super().__init__(message, _CODES.get(kind))
        self.kind = kind
        self.usage = usage or Usage()


class EmptyReply(ModelError):
    """The model was asked again and again, and said nothing."""
