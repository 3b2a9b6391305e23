"""Vocabulary of the simulator's scripts; see the package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Say:
    """Text of the answer."""

    text: str


@dataclass(frozen=True)
class Think:
    """Reasoning; left out when the request is one without thinking."""

    text: str


@dataclass(frozen=True)
class CallText:
    """A tool call whose *arguments* are sent to the letter. *id* None: one in DeepSeek's form."""

    name: str
    arguments: str
    id: str | None = None


class Call(CallText):
    """A tool call with these arguments, spelled as the server spells them."""

    def __init__(self, name: str, /, **arguments: Any) -> None:
        super().__init__(name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True)
class Finish:
    """The finish reason, in place of the one that fits the parts."""

    reason: str


@dataclass(frozen=True)
class Cut:
    """The end of the stream, before its finish reason; *done*: after `[DONE]`."""

    done: bool = False


@dataclass(frozen=True)
class Drop:
    """The connection breaks, in the midst of a chunk."""


@dataclass(frozen=True)
class Stall:
    """Silence, until the client leaves or the simulator ends."""


@dataclass(frozen=True)
class Pause:
    """Silence for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class KeepAlive:
    """Comments, as they come while a request is queued."""

    count: int = 2


@dataclass(frozen=True)
class ErrorFrame:
    """An error object in the midst of the stream, which ends there."""

    message: str = "Internal error"
    type: str = "server_error"


@dataclass(frozen=True)
class Raw:
    """Bytes put into the stream as they are."""

    data: bytes


@dataclass(frozen=True)
class Refuse:
    """An HTTP error in place of the stream. *body* None: the official one for *status*.

    The 401 is the one for a wrong key; `Simulator(api_key=…)` sends both by itself.
    """

    status: int
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Delivery:
    """How this reply is sent.

    *usage* on the last chunk (as live), in a chunk of its own after it (as documented), or not at
    all. *repeats_ids*: every piece of a call bears its id and name, as from some gateways.
    *piece_bytes*: send so many bytes at a time, each as a chunk, 0 for an event at a time.
    *done*: end with `[DONE]`.
    """

    usage: Literal["last", "trailing", "none"] = "last"
    repeats_ids: bool = False
    newline: str = "\n"
    piece_bytes: int = 0
    done: bool = True


Part = (
    Say
    | Think
    | CallText
    | Finish
    | Cut
    | Drop
    | Stall
    | Pause
    | KeepAlive
    | ErrorFrame
    | Raw
    | Refuse
    | Delivery
)
Step = Part | tuple[Part, ...]


def markup(
    *calls: CallText, bars: str = "｜", space: str = " ", outer: str = "calls", whole: bool = True
) -> str:
    """Return *calls* in the model's own markup, as it looks when it leaks into the text.

    *bars* is what stands around DSML, *outer* the name of the block (`tool_calls` and
    `function_calls` in older models); not *whole*: the last closing tags are missing.
    """

    def tag(name: str, *, slash: str = "", more: str = "") -> str:
        return f"<{slash}{bars}DSML{bars}{space}{name}{more}>"

    lines = [tag(outer)]
    for call in calls:
        lines.append(tag("invoke", more=f' name="{call.name}"'))
        for name, value in json.loads(call.arguments).items():
            is_string = isinstance(value, str)
            about = f' name="{name}" string="{str(is_string).lower()}"'
            text = value if is_string else json.dumps(value)
            lines.append(tag("parameter", more=about) + text + tag("parameter", slash="/"))
        lines.append(tag("invoke", slash="/"))
    lines.append(tag(outer, slash="/"))
    return "\n".join(lines if whole else lines[:-2])
