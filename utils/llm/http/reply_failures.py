"""A request that brought no usable reply, and the ways in which a reply can be of no use."""

from __future__ import annotations

import re
from typing import Any, Literal

from utils.i18n import Phrase, phrase
from utils.llm.account import Account
from utils.llm.completion import EmptyReply, ErrorKind, ModelError
from utils.llm.profiles.refusals import Refusal
from utils.text.sentences import ended

RetryKind = Literal["never", "unreachable", "reply", "server", "loading"]
"""Kind of retry that may help: each has a maximum of its own."""

MAX_MESSAGE_LENGTH = 300
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Characters that no message of a server is shown with."""


class RequestFailed(Exception):
    """One try that brought no usable reply; *error* is what to raise if it was the last.

    *retry_after* is how many seconds the server asked us to wait, None if it did not say; *refusal*
    is what it answered where it did not take the request.
    """

    refusal: Refusal | None = None
    thought = ""
    """What the model thought, where it said nothing else."""
    is_wrong_path = False
    """Whether there is nothing at the address that was asked."""

    def __init__(
        self,
        kind: ErrorKind,
        message: Phrase,
        retry_kind: RetryKind = "never",
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(str(message))
        self.error = ModelError(kind, message)
        self.retry_kind = retry_kind
        self.retry_after = retry_after


class StreamError(Exception):
    """The server sent *error* instead of the rest of the reply."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


def content_blocked() -> RequestFailed:
    error_message = phrase(
        "The model's provider refused this content. Rephrase it, or go back with /rewind."
    )
    return RequestFailed("content", error_message)


def broken_reply() -> RequestFailed:
    return RequestFailed("reply", phrase("The reply ended early."), "server")


def filtered_reply() -> RequestFailed:
    return content_blocked()


def refused_reply(explanation: str) -> RequestFailed:
    """Return the failure of a model that refused to reply, with the server's *explanation*."""
    if not explanation:
        return content_blocked()
    error_message = phrase(
        "The model refused: {why} Rephrase it, or go back with /rewind.",
        why=ended(" ".join(CONTROL.sub(" ", explanation).split())[:MAX_MESSAGE_LENGTH]),
    )
    return RequestFailed("content", error_message)


def overloaded() -> RequestFailed:
    error_message = phrase("The model's server ran out of resources during the reply.")
    return RequestFailed("server", error_message, "server")


def leaked_markup() -> RequestFailed:
    return RequestFailed(
        "reply", phrase("The model wrote a tool call that cannot be read."), "reply"
    )


def empty_reply(thought: str = "") -> RequestFailed:
    """Return the failure of a reply that is nothing, or nothing but a *thought*."""
    failed = RequestFailed("reply", phrase("The model sent an empty reply."), "reply")
    failed.error = EmptyReply(failed.error.kind, failed.error.message)
    failed.thought = thought
    return failed


def too_many_calls(maximum: int) -> RequestFailed:
    error_message = phrase(
        "The model made more than {n:,} calls in one reply. None was run.", n=maximum
    )
    return RequestFailed("reply", error_message, "reply")


def context_too_long() -> RequestFailed:
    error_message = phrase(
        "The conversation no longer fits the model. Shorten it with /compact, or /new."
    )
    return RequestFailed("context", error_message)


def invalid_key(account: Account) -> RequestFailed:
    error_message = phrase(
        "The API key contains invalid characters. Copy it again to {setting}.",
        setting=account.key_name,
    )
    return RequestFailed("key", error_message)


def window_too_small(window: int) -> Phrase:
    """Return the message about a window that not even a first request fits in."""
    if not window:
        return phrase(
            "The context window is too small for Onefold's instructions and tools. Start the "
            "server with a larger one, or choose another model with /model."
        )
    return phrase(
        "The context window of {window} tokens is too small for Onefold's instructions and "
        "tools. Start the server with a larger one, or choose another model with /model.",
        window=f"{window:,}",
    )


def cut_silently(host: str, window: int) -> Phrase:
    """Return what to say of a server that leaves out without a word what does not fit."""
    return phrase(
        "{host} silently drops what exceeds its context window of about {window} tokens, so "
        "the model forgot the beginning. Start the server with a larger window (Ollama: "
        "OLLAMA_CONTEXT_LENGTH=32768); until then, older turns are summarized.",
        host=host,
        window=f"{window:,}",
    )
