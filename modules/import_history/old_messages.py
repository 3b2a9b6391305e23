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

    NO_MESSAGE = phrase("left out: no message")
    EMPTY = phrase("left out: nothing in it")
    SYSTEM = phrase("left out: instructions at the start; Onefold has its own")
    PART = phrase("a part that is no text left out")
    ROLE = phrase("a missing or unusual role")
    UNKNOWN_ROLE = phrase("an unknown role; kept as a note to the model")
    CONTENT = phrase("content that was no text")
    THINKING = phrase("thinking taken out of the text")
    CALL = phrase("a call that is none left out")
    CALL_TYPE = phrase("a call without a type")
    CALL_ID = phrase("a call without an id of its own")
    CALL_NAME = phrase("a call without a name that a tool can have")
    ARGUMENTS = phrase("arguments of a call that were no JSON text")
    BROKEN = phrase("arguments of a call that could not be read")
    ANSWER_ID = phrase("an answer without the id of its call")
    ANSWER_PLACE = phrase("an answer that was not right behind its call")
    ORPHAN = phrase("an answer without a call; kept as a note to the model")
    UNANSWERED = phrase("a call without an answer; the model is told")
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
