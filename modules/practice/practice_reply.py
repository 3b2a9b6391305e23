"""Reply of the practice model in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class PracticeCall(NamedTuple):
    """A call of the tool *name*."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PracticeReply:
    """One reply: *thinking*, left out of a call without thinking, then *text*, then *calls*."""

    text: str = ""
    thinking: str = ""
    calls: tuple[PracticeCall, ...] = ()
