"""What a protocol of calls does, and what it reads out of a reply's text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from utils.llm.calls.text_call_values import TextCall
from utils.llm.completion import Wire


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The *calls* that a reply's text means, and its *text* without them.

    Where it *is_doubtful* the text holds what may be meant as calls: it is all there, and there are
    none. *problem* says to the model what is wrong with a block that is not whole.
    """

    text: str
    calls: tuple[TextCall, ...] = ()
    is_doubtful: bool = False


class CallProtocol(Protocol):
    """Puts tools, calls and answers into words and finds calls in them.

    Tools and messages are those of the chat-completions API; they are not changed. What is written
    depends on nothing else, so that a conversation that goes on begins with the same bytes.
    """

    @property
    def name(self) -> str: ...

    def definitions(self, tools: Sequence[Wire]) -> str:
        """Return what the model reads of *tools*, "" where there are none."""

    def render(self, name: str, arguments: Mapping[str, Any], tools: Sequence[Wire]) -> str:
        """Return a call as the model would write it: `parse` gives it back."""

    def parse(self, text: str, tools: Sequence[Wire], sources: Iterable[str] = ()) -> ParsedReply:
        """Return the calls in the *text* of a whole reply, with the values that *tools* declare.

        *sources* are texts that the model read: a call that stands in one is quoted.
        """

    def request(
        self, messages: Sequence[Wire], tools: Sequence[Wire]
    ) -> tuple[Sequence[Wire], Sequence[Wire]]:
        """Return the messages and the tools that a server is sent for *messages* and *tools*."""
