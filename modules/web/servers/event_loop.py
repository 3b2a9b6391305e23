"""The two ways to serve, behind one face: where sockets live, and what must stay away from there.

Under eventlet all sockets live in one thread, the hub's, which must never wait for anything else;
turns run in real threads and reach the hub by a socket pair. Nothing is monkey-patched: the model's
client, SQLite and the tools stay the ordinary threaded code that they are. With threads there is
no such place, and everything is simply called.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")
AsyncMode = Literal["eventlet", "threading"]
Empty = queue.Empty
_NO_RESOLVER = "EVENTLET_NO_GREENDNS"


class LoopQueue(Protocol):
    """What carries packets to one listener."""

    def put(self, item: Any) -> None: ...

    def get(self, *, timeout: float) -> Any:
        """Return the next item. Raises `Empty` when none came within *timeout* seconds."""

    def qsize(self) -> int: ...


class EventLoop(Protocol):
    """Where the sockets live."""

    mode: AsyncMode

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        """Have *work* done where the sockets live, in the order of the calls; from any thread."""

    def offload(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        """Return what *work* returns; meanwhile the sockets are served. Not for the work of
        `call`."""

    def queue(self) -> LoopQueue:
        """Return a queue that is filled by `call` and emptied where requests are answered."""

    def close(self) -> None: ...


class ThreadingLoop:
    """Every request has a thread of its own; *failed* hears of our own failures."""

    mode: AsyncMode = "threading"

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        self._failed = failed

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001 - it is no failure of the turn that tells of itself
            self._failed(error)

    def offload(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        return work(*args, **kwargs)

    def queue(self) -> LoopQueue:
        return queue.Queue()

    def close(self) -> None:
        """Nothing is held."""


def load_eventlet() -> None:
    """Import eventlet, in the main thread: in any other it would make that one impossible to join.

    (It imports a second copy of `threading`, which takes the thread that it is imported in for the
    main one.) Its warning that it is near retirement is left out: we use what is safe of it.
    """
    # What eventlet is the first to import keeps eventlet's sockets, locks and clock inside, for
    # every thread of this process: `http.server` brings all of those that are not eventlet's own.
    import http.server
    import warnings

    real = http.server
    with warnings.catch_warnings(), _without_its_resolver():
        warnings.simplefilter("ignore")
        import eventlet.tpool
        import eventlet.wsgi  # noqa: F401
    http.server = real  # eventlet leaves a copy of its own in the package


@contextmanager
def _without_its_resolver() -> Iterator[None]:
    """Have eventlet leave dnspython alone: the hub looks up no names, and it takes 0.1 s."""
    os.environ[_NO_RESOLVER] = "yes"
    try:
        yield
    finally:
        del os.environ[_NO_RESOLVER]


class EventletLoop:
    """All sockets are served by the thread that makes this; *failed* hears of our own failures."""

    mode: AsyncMode = "eventlet"

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        import eventlet

        self._failed = failed
        self._waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._ear, self._bell = socket.socketpair()
        self._ear.setblocking(False)
        self._bell.setblocking(False)
        self._lock = threading.Lock()
        self._is_open = True
        self._runner = eventlet.spawn(self._run)

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        self._waiting.append((work, arguments))
        with self._lock:
            if self._is_open:
                self._ring()

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # so many rings are unheard that the hub is sure to wake
            self._bell.send(b"!")

    def _run(self) -> None:
        from eventlet.hubs import trampoline

        while True:
            trampoline(self._ear, read=True)
            self._ear.recv(65_536)
            while self._waiting:
                work, arguments = self._waiting.popleft()
                try:
                    work(*arguments)
                except Exception as error:  # noqa: BLE001 - one failure must not end delivery
                    self._failed(error)

    def offload(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        from eventlet import tpool

        result: Result = tpool.execute(work, *args, **kwargs)
        return result

    def queue(self) -> LoopQueue:
        from eventlet.queue import LightQueue

        waiting: LoopQueue = LightQueue()
        return waiting

    def close(self) -> None:
        from eventlet import tpool

        with self._lock:
            self._is_open = False
        self._runner.kill()
        self._ear.close()
        self._bell.close()
        tpool.killall()
        _end_hub()


def _end_hub() -> None:
    """End what serves this thread's sockets, with the descriptor that it waits on."""
    from eventlet import hubs

    hub = hubs.get_hub()
    hub.abort(wait=True)
    hubs.use_hub()  # another one, should this thread ever need it
    if close := getattr(getattr(hub, "poll", None), "close", None):
        close()
