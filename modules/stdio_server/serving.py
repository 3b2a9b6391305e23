"""Serving one client on standard input and output, until it goes away or a signal comes.

Standard output belongs to the protocol: whatever else prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from utils.system.interrupts import stopping_on_signals

Converse = Callable[[int, int, asyncio.Event], Awaitable[None]]
"""Serves a client on two descriptors until it goes away or the event, "we are to end", is set."""


@dataclass
class _Ending:
    """The way for a signal to end the event loop."""

    loop: asyncio.AbstractEventLoop | None = None
    event: asyncio.Event | None = None
    number: int = 0

    def note(self, number: int) -> None:
        self.number = number

    def begin(self) -> None:
        if self.loop and self.event:
            self.loop.call_soon_threadsafe(self.event.set)


def serve_client(converse: Converse) -> int:
    """Have *converse* serve the client in an event loop; return the exit code."""
    ending = _Ending()

    async def run(source: int, sink: int) -> None:
        ending.loop, ending.event = asyncio.get_running_loop(), asyncio.Event()
        await converse(source, sink, ending.event)

    with (
        _protocol_streams() as (source, sink),
        stopping_on_signals(ending.begin, on_signal=ending.note),
    ):
        asyncio.run(run(source, sink))
    return 128 + ending.number if ending.number else 0


@contextmanager
def _protocol_streams() -> Iterator[tuple[int, int]]:
    """Yield descriptors of standard input and output, and leave nothing there for anybody else."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    before = sys.stdout
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        yield source, sink
    finally:
        sys.stdout = before
        os.close(nothing)
