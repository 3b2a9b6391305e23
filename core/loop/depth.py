"""Depth of a task: how much of a model's work it gets, and what the model is told of that."""

from __future__ import annotations

from typing import Literal

from utils.frozen import frozen

Depth = Literal["social", "brief", "standard", "deep"]


@frozen
class Route:
    """What a task of *depth* gets.

    *note* is told to the model behind the person's line, "" for nothing. *reply_tokens* limits its
    first reply, 0 for as many as usual. A task that does not *may_think* acts at once.
    """

    depth: Depth = "standard"
    note: str = ""
    reply_tokens: int = 0
    may_think: bool = True


STANDARD = Route()
