"""Event loops for the two async modes: the thread of the sockets, and work kept out of it.

Under eventlet all sockets live in one thread, the loop's, which must never wait for anything else;
turns run in real threads and wake it by a socket pair. Nothing is monkey-patched: the model's
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
_NO_GREENDNS = "EVENTLET_NO_GREENDNS"


class LoopQueue(Protocol):
    """Queue of packets for one subscriber."""

    def put(self, item: Any) -> None: ...

    def get(self, *, timeout: float) -> Any:
        """Return the next item. Raises `Empty` when none came within *timeout* seconds."""

    def qsize(self) -> int: ...


class EventLoop(Protocol):
    """Runs work in the thread of the sockets, or away from it."""

    mode: AsyncMode

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        """Run *work* in the loop's thread, in the order of the calls; from any thread."""

    def offload(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        """Return the result of *work*; meanwhile the sockets are served. Not for the work of
        `call`."""

    def queue(self) -> LoopQueue:
        """Return a queue that is filled by `call` and emptied where requests are answered."""

    def close(self) -> None: ...


class ThreadingLoop:
    """Loop of a thread for each request; *on_error* gets our own failures."""

    mode: AsyncMode = "threading"

    def __init__(self, on_error: Callable[[BaseException], object]) -> None:
        self._on_error = on_error

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001 - it is no failure of the turn that tells of itself
            self._on_error(error)

    def offload(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        return work(*args, **kwargs)

    def queue(self) -> LoopQueue:
        return queue.Queue()

    def close(self) -> None:
        """Nothing is held."""


def load_eventlet() -> None:
    """Import eventlet, in the main thread: in any other it would make that one impossible to join.

    (It imports a second copy of `threading`, which takes the thread that it is imported in for the
    main one.) No other thread may import anything meanwhile: it would find eventlet's modules by
    the names of the standard ones. Its warning that it is near retirement is left out: we use what
    is safe of it.
    """
    # What eventlet is the first to import keeps eventlet's sockets, locks and clock inside, for
    # every thread of this process: `http.server` brings all of those that are not eventlet's own.
    import http.server
    import warnings

    stdlib_server = http.server
    with warnings.catch_warnings(), _without_greendns():
        warnings.simplefilter("ignore")
        import eventlet.tpool
        import eventlet.wsgi  # noqa: F401
    http.server = stdlib_server  # eventlet leaves a copy of its own in the package


@contextmanager
def _without_greendns() -> Iterator[None]:
    """Have eventlet leave dnspython alone: the loop looks up no names, and it takes 0.1 s."""
    os.environ[_NO_GREENDNS] = "yes"
    try:
        yield
    finally:
        del os.environ[_NO_GREENDNS]


class EventletLoop:
    """Loop in the thread that makes this, for all sockets; *on_error* gets our own failures."""

    mode: AsyncMode = "eventlet"

    def __init__(self, on_error: Callable[[BaseException], object]) -> None:
        import eventlet

        self._on_error = on_error
        self._pending: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._lock = threading.Lock()
        self._is_open = True
        self._runner = eventlet.spawn(self._run)

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        self._pending.append((work, arguments))
        with self._lock:
            if self._is_open:
                self._wake()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # so many wake-ups are unread that the loop is sure to wake
            self._wake_writer.send(b"!")

    def _run(self) -> None:
        from eventlet.hubs import trampoline

        while True:
            trampoline(self._wake_reader, read=True)
            self._wake_reader.recv(65_536)
            while self._pending:
                work, arguments = self._pending.popleft()
                try:
                    work(*arguments)
                except Exception as error:  # noqa: BLE001 - one failure must not end delivery
                    self._on_error(error)

    def offload(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        from eventlet import tpool

        result: Result = tpool.execute(work, *args, **kwargs)
        return result

    def queue(self) -> LoopQueue:
        from eventlet.queue import LightQueue

        loop_queue: LoopQueue = LightQueue()
        return loop_queue

    def close(self) -> None:
        from eventlet import tpool

        with self._lock:
            self._is_open = False
        self._runner.kill()
        self._wake_reader.close()
        self._wake_writer.close()
        tpool.killall()
        _end_hub()


def _end_hub() -> None:
    """End eventlet's hub of this thread, with the descriptor that it waits on."""
    from eventlet import hubs

    loop = hubs.get_hub()
    loop.abort(wait=True)
    hubs.use_hub()  # another one, should this thread ever need it
    if close := getattr(getattr(loop, "poll", None), "close", None):
        close()
