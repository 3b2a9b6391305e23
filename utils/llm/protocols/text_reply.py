"""A streamed reply whose calls stand in its text: shown without them, then read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from utils.llm.calls.vcp_block import NAME_KEY, OPENING, REQUEST
from utils.llm.calls.vcp_text import Outline
from utils.llm.completion import Completion, Delta, RawCall, Wire
from utils.llm.protocols.call_protocol import CallProtocol
from utils.llm.protocols.vcp_messages import OWN_CALL

_NAME = re.compile(
    rf"{re.escape(REQUEST)}\s*{NAME_KEY}\s*[:：]\s*「始」\s*([^\s「」]{{1,64}})\s*「末」"
)
_LONGEST_HEAD = 400
"""Characters in which a block says its tool's name; more of one that does not is not looked at."""
_LONGEST_OPENING = 300
"""More characters than a marker and the first key behind it have."""


class TextReply:
    """One reply to *messages* in *protocol*, which offered *tools*.

    Text passes as it comes up to the first block that is not shown as one; from there on it is held
    back, and what comes is that of a call. At the end either all blocks are calls, or all of it is
    text: see `CallProtocol.parse`.
    """

    def __init__(
        self, protocol: CallProtocol, messages: Sequence[Wire], tools: Sequence[Wire]
    ) -> None:
        self._protocol = protocol
        self._messages = messages
        self._tools = tools
        self._outline = Outline()
        self._pending = ""
        self._is_held = False
        self._head = ""
        self._call_name = ""
        self._shown: list[str] = []

    def deltas(self, stream: Iterable[Delta]) -> Iterator[Delta]:
        """Yield the deltas of *stream*, what belongs to a block as that of a call."""
        for delta in stream:
            shown = self._feed(delta.text) if delta.text else ""
            is_call = self._is_held and bool(delta.text)
            name = delta.call_name or (self._call_name if is_call else "")
            characters = delta.call_characters + (len(delta.text) - len(shown)) * is_call
            if shown or delta.thinking or name:
                yield Delta(shown, delta.thinking, name, characters)

    def finish(self, completion: Completion) -> Iterator[Delta | Completion]:
        """Yield what of the text was held back and is no call, then the reply with its calls.

        One that was cut has none that runs: its blocks become calls that are cut.
        """
        reply = self._read(completion)
        shown = "".join(self._shown)
        shown = shown if reply.text.startswith(shown) else shown.strip()
        if reply.text.startswith(shown) and (rest := reply.text[len(shown) :]):
            yield Delta(rest)
        yield reply

    def _read(self, completion: Completion) -> Completion:
        if completion.calls:  # the server's own, unasked: what stands beside them is text
            own = (replace(call, id=f"{OWN_CALL}{call.id}") for call in completion.calls)
            return replace(completion, calls=tuple(own))
        if completion.is_cut:
            return self._cut(completion)
        parsed = self._protocol.parse(completion.text, self._tools, self._sources())
        if not parsed.calls:
            return replace(completion, has_doubtful_calls=parsed.is_doubtful)
        calls = [
            RawCall("", call.name, json.dumps(call.arguments, ensure_ascii=False))
            for call in parsed.calls
        ]
        return replace(completion, text=parsed.text, calls=_with_ids(calls))

    def _cut(self, completion: Completion) -> Completion:
        """Return a reply that was cut, with the call that it was cut in, which never runs."""
        if not self._call_name:
            return completion
        shown = "".join(self._shown)
        call = RawCall("", self._call_name, completion.text[len(shown) :], is_cut=True)
        return replace(completion, text=shown.strip(), calls=_with_ids([call]))

    def _sources(self) -> Iterator[str]:
        """Yield what the model read of others: the person, and the tools."""
        for message in self._messages:
            if message["role"] in ("tool", "user") and isinstance(message["content"], str):
                yield message["content"]

    def _feed(self, text: str) -> str:
        """Return what of *text*, and of what was held back for a moment, may be shown now."""
        if self._is_held:
            self._look_for_name(text)
            return ""
        text, self._pending = self._pending + text, ""
        shown = self._pass(text)
        self._shown.append(shown)
        return shown

    def _pass(self, text: str) -> str:
        position = 0
        while (start := text.find("<", position)) >= 0:
            rest = text[start:]
            is_opening = OPENING.match(rest) is not None
            if is_opening or _may_open(rest):
                if self._outline.is_shown_after(text[position:start]):
                    self._outline.read("<")
                    position = start + 1
                    continue
                if is_opening:
                    self._is_held = True
                    self._look_for_name(rest)
                else:
                    self._pending = rest
                return text[:start]
            self._outline.read(text[position : start + 1])
            position = start + 1
        self._outline.read(text[position:])
        return text

    def _look_for_name(self, text: str) -> None:
        """Find the name of the block that *text* goes on with, or begins."""
        self._head += text
        if match := _NAME.search(self._head):
            self._call_name = match[1]
            self._head = self._head[match.end() :]
        self._head = self._head[-_LONGEST_HEAD:]


def _may_open(rest: str) -> bool:
    """Return whether *rest*, which more text follows, may become the begin of a block."""
    if len(rest) < len(REQUEST):
        return REQUEST.startswith(rest)
    return rest.startswith(REQUEST) and _may_be_key(rest[len(REQUEST) :])


_KEY_START = re.compile(r"\s*(?:[^\s:：「」,，<>]{0,200}\s*(?:[:：]\s*(?:「始?)?)?)?\Z")


def _may_be_key(text: str) -> bool:
    return len(text) < _LONGEST_OPENING and _KEY_START.match(text) is not None


def _with_ids(calls: list[RawCall]) -> tuple[RawCall, ...]:
    from utils.llm.openai_api.streamed_calls import with_ids

    return with_ids(calls)
