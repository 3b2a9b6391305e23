"""Event bus: delivers the events of sessions to every page and program that subscribes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.conversation.transcript import Packet
from modules.web.servers.event_loop import Empty, EventLoop, LoopQueue
from modules.web.sessions.notifier import MessageKind

MAX_LAG = 2_000
"""Packets that may wait for one subscriber; one further behind comes back by a snapshot."""
KEEPALIVE_SECONDS = 10.0
"""Seconds of silence after which a listening program is told that we are still there."""
_LAG_CHECK_SECONDS = 0.25
"""Seconds between two looks at how far behind the pages are."""

Message = tuple[str, Packet]
Emit = Callable[..., None]


class Subscriber:
    """A program that listens to one session."""

    def __init__(self, queue: LoopQueue) -> None:
        self._queue = queue
        self._is_closed = False

    def put(self, message: Message) -> None:
        self._is_closed = self._is_closed or self._queue.qsize() > MAX_LAG
        if not self._is_closed:
            self._queue.put(message)

    def close(self) -> None:
        """Have `messages` end once the waiting ones are delivered."""
        self._is_closed = True
        self._queue.put(None)

    def messages(self) -> Iterator[Message | None]:
        """Yield messages, None after a `KEEPALIVE_SECONDS` of silence; end after a dropped one."""
        while not (self._is_closed and not self._queue.qsize()):
            try:
                yield self._queue.get(timeout=KEEPALIVE_SECONDS)
            except Empty:
                yield None


class EventBus:
    """Carries messages from any thread to the event loop, in order."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._subscribers: dict[str, set[Subscriber]] = defaultdict(set)
        self._emit: Emit = lambda *_, **__: None
        self._drop_slow_clients: Callable[[], None] = lambda: None
        self._last_lag_check = 0.0

    def connect(self, emit: Emit, drop_slow_clients: Callable[[], None]) -> None:
        """Use *emit* to reach the pages, and *drop_slow_clients* to drop those that lag too far."""
        self._emit, self._drop_slow_clients = emit, drop_slow_clients

    def publish(self, kind: MessageKind, session: str, packet: Packet) -> None:
        self._loop.call(self._deliver, kind, session, packet)

    def _deliver(self, kind: MessageKind, session: str, packet: Packet) -> None:
        """Deliver one message; runs in the event loop."""
        packet = {"session": session, **packet} if kind == "ev" else packet
        target: dict[str, Any] = {"to": room_name(session)} if kind in ("ev", "state") else {}
        self._emit(kind, packet, **target)
        is_deleted = bool(packet.get("deleted"))
        for subscriber in tuple(self._subscribers.get(session, ())) if target or is_deleted else ():
            subscriber.put((kind, packet))
            if is_deleted:
                subscriber.close()
        if (now := time.monotonic()) - self._last_lag_check > _LAG_CHECK_SECONDS:
            self._last_lag_check = now
            self._drop_slow_clients()

    @contextmanager
    def subscribe(self, session: str) -> Iterator[Subscriber]:
        subscriber = Subscriber(self._loop.queue())
        self._subscribers[session].add(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers[session].discard(subscriber)

    def close(self) -> None:
        """Close all subscribers; called in the event loop."""
        for subscribers in list(self._subscribers.values()):
            for subscriber in tuple(subscribers):
                subscriber.close()

    def has_subscribers(self, session: str) -> bool:
        return bool(self._subscribers.get(session))


def room_name(session: str) -> str:
    """Return the name of the Socket.IO room of those who follow *session*."""
    return f"session {session}"
