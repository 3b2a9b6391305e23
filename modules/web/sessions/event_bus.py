"""Delivery: what happens in the sessions, to every page and program that listens."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.web_terminal import Packet
from modules.web.servers.event_loop import Empty, EventLoop, LoopQueue
from modules.web.sessions.notifier import Kind

MAX_LAG = 2_000
"""Packets that may wait for one listener; one further behind comes back by a snapshot."""
KEEPALIVE = 10.0
"""Seconds of silence after which a listening program is told that we are still there."""
_LOOK = 0.25
"""Seconds between two looks at how far behind the pages are."""

Message = tuple[str, Packet]
Emit = Callable[..., None]


class Subscriber:
    """A program that listens to one session."""

    def __init__(self, waiting: LoopQueue) -> None:
        self._waiting = waiting
        self._is_lost = False

    def put(self, message: Message) -> None:
        self._is_lost = self._is_lost or self._waiting.qsize() > MAX_LAG
        if not self._is_lost:
            self._waiting.put(message)

    def end(self) -> None:
        """Have `messages` end once what waits is told."""
        self._is_lost = True
        self._waiting.put(None)

    def messages(self) -> Iterator[Message | None]:
        """Yield what comes, None after a `KEEPALIVE` of silence; end when packets were dropped."""
        while not (self._is_lost and not self._waiting.qsize()):
            try:
                yield self._waiting.get(timeout=KEEPALIVE)
            except Empty:
                yield None


class EventBus:
    """Carries messages from any thread to where the sockets live, in order."""

    def __init__(self, hub: EventLoop) -> None:
        self._hub = hub
        self._listeners: dict[str, set[Subscriber]] = defaultdict(set)
        self._emit: Emit = lambda *_, **__: None
        self._drop_slow: Callable[[], None] = lambda: None
        self._looked = 0.0

    def connect(self, emit: Emit, drop_slow: Callable[[], None]) -> None:
        """Use *emit* to reach the pages, and *drop_slow* to be rid of those that do not listen."""
        self._emit, self._drop_slow = emit, drop_slow

    def tell(self, kind: Kind, session: str, packet: Packet) -> None:
        self._hub.call(self._deliver, kind, session, packet)

    def _deliver(self, kind: Kind, session: str, packet: Packet) -> None:
        """Hand one message on; runs where the sockets live."""
        packet = {"session": session, **packet} if kind == "ev" else packet
        where: dict[str, Any] = {"to": room(session)} if kind in ("ev", "state") else {}
        self._emit(kind, packet, **where)
        is_deleted = bool(packet.get("deleted"))
        for listener in tuple(self._listeners.get(session, ())) if where or is_deleted else ():
            listener.put((kind, packet))
            if is_deleted:
                listener.end()
        if (now := time.monotonic()) - self._looked > _LOOK:
            self._looked = now
            self._drop_slow()

    @contextmanager
    def listening(self, session: str) -> Iterator[Subscriber]:
        listener = Subscriber(self._hub.queue())
        self._listeners[session].add(listener)
        try:
            yield listener
        finally:
            self._listeners[session].discard(listener)

    def close(self) -> None:
        """End what programs listen to; called where the sockets live."""
        for listeners in list(self._listeners.values()):
            for listener in tuple(listeners):
                listener.end()

    def has_listeners(self, session: str) -> bool:
        return bool(self._listeners.get(session))


def room(session: str) -> str:
    """Return the name of the Socket.IO room of those who follow *session*."""
    return f"session {session}"
