"""The beginning of requests: each is the one before and more, but where something is named for it.

Servers keep what they have read of a request; of one that begins otherwise they read all anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from core.conversation.messages import StateRecord, Wire
from utils.frozen import frozen
from utils.text.tokens import estimate_tokens

PREFIX_BREAK = "prefix_break"
"""The `StateRecord` that keeps a `PrefixBreak`."""
RewriteReason = Literal["", "compaction", "left_out", "results_cut", "masked", "rewind"]
"""A rewriting of what was sent before, "" being none."""
BreakReason = Literal[RewriteReason, "model", "tools", "system_text"]


@frozen
class PrefixBreak:
    """A request that does not begin with the one before it.

    *tokens* is about how many of it the server has to read anew. A *reason* of "" would be a
    mistake of ours: nothing that is known of has brought it about.
    """

    reason: BreakReason
    tokens: int

    def to_record(self) -> StateRecord:
        return StateRecord(PREFIX_BREAK, {"reason": self.reason, "tokens": self.tokens})


@frozen
class Request:
    """What a server reads, in its order: *messages* begin with the system text."""

    session: str
    model: str
    tools: Sequence[Wire]
    messages: Sequence[Wire]


class PrefixWatch:
    """Compares each request of a terminal with the one before in the same session."""

    def __init__(self) -> None:
        self._last: Request | None = None

    def next(self, request: Request, rewrite: RewriteReason) -> PrefixBreak | None:
        """Return how *request* breaks with the last one, None where it extends that or repeats it.

        *rewrite* is what was done meanwhile to messages that were sent.
        """
        last, self._last = self._last, request
        if last is None or last.session != request.session:
            return None
        if last.model != request.model:
            return PrefixBreak("model", _tokens(request))
        if last.tools != request.tools:
            return PrefixBreak("tools", _tokens(request))
        shared = _shared_count(last.messages, request.messages)
        if shared in (len(last.messages), len(request.messages)):
            return None  # said again after a rewinding, it is all known
        if shared == 0:
            return PrefixBreak("system_text", _tokens(request))
        return PrefixBreak(rewrite, sum(map(_size, request.messages[shared:])))


def _shared_count(before: Sequence[Wire], after: Sequence[Wire]) -> int:
    """Return how many messages both begin with."""
    if before == after[: len(before)]:  # nearly always, and quickly: they are the same objects
        return len(before)
    pairs = enumerate(zip(before, after, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(before), len(after)))


def _tokens(request: Request) -> int:
    return sum(map(_size, [*request.tools, *request.messages]))


def _size(part: Any) -> int:
    return estimate_tokens(str(part))
