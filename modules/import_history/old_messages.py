"""Entries of an old conversation, and the repairs that it may need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from core.conversation.messages import Context, User
from utils.i18n import phrase
from utils.llm.completion import RawCall


class Repair(Enum):
    """Repair that a message may need."""

    NO_MESSAGE = phrase("skipped: not a message")
    EMPTY = phrase("skipped: empty")
    SYSTEM = phrase("skipped: system prompt at the start; Onefold has its own")
    PART = phrase("a part that is not text was skipped")
    ROLE = phrase("a missing or unusual role")
    UNKNOWN_ROLE = phrase("unknown role; kept as a note to the model")
    CONTENT = phrase("content that is not text")
    THINKING = phrase("thinking separated from the text")
    CALL = phrase("an invalid call was skipped")
    CALL_TYPE = phrase("a call without a type")
    CALL_ID = phrase("a call without an id of its own")
    CALL_NAME = phrase("a call without a valid tool name")
    ARGUMENTS = phrase("call arguments that are not JSON")
    BROKEN = phrase("unreadable call arguments")
    ANSWER_ID = phrase("a tool result without its call id")
    ANSWER_PLACE = phrase("a tool result that did not directly follow its call")
    ORPHAN = phrase("a tool result without a call; kept as a note to the model")
    UNANSWERED = phrase("a call without a tool result; the model is told")
    BEGINNING = phrase("the beginning is missing")


OnRepair = Callable[[Repair, int], None]
"""Called with a repair and the number of the message that needed it, counted from 1."""


@dataclass(eq=False)
class OldCall:
    """A call as it was read; *id* is None where it had none, *answer* where none was found yet."""

    number: int
    id: str | None
    raw: RawCall
    answer: OldToolResult | None = None


@dataclass
class OldReply:
    number: int
    text: str
    thinking: str
    calls: list[OldCall]


@dataclass
class OldToolResult:
    number: int
    id: str | None
    name: str
    text: str


@dataclass
class OldMessage:
    """A message of the person, or a note to the model."""

    number: int
    record: User | Context


Entry = OldReply | OldToolResult | OldMessage
