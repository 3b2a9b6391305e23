"""Interruptible waiting: every wait of the program ends when its `Stop` is set."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Stopped(Exception):
    """A wait ended because its `Stop` was set."""


class Stop:
    """A request to stop, made from any thread, which ends everything that waits.

    Callbacks registered with `calling` run in the thread that calls `set`, each at most once per
    `set`; they must be quick and must not raise.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    def set(self) -> None:
        with self._lock:
            self._event.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def clear(self) -> None:
        self._event.clear()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait at most *seconds*; return whether a stop was asked for."""
        return self._event.wait(seconds)

    @contextmanager
    def on_stop(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call *callback* on `set`, also when that was before; forget it at the end."""
        with self._lock:
            self._callbacks.append(callback)
            was_set = self._event.is_set()
        try:
            if was_set:
                callback()
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


class EitherStop(Stop):
    """Ends a wait that *stop* ends, or *other*. To set it is to set *stop*."""

    def __init__(self, stop: Stop, other: Stop) -> None:
        super().__init__()
        self._stop = stop
        self._other = other

    def set(self) -> None:
        self._stop.set()

    def is_set(self) -> bool:
        return self._stop.is_set() or self._other.is_set()

    def wait(self, seconds: float) -> bool:
        is_ended = threading.Event()
        with self.on_stop(is_ended.set):
            return is_ended.wait(seconds)

    @contextmanager
    def on_stop(self, callback: Callable[[], None]) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self._stop.on_stop(callback))
            stack.enter_context(self._other.on_stop(callback))
            yield


class Timeout:
    """Calls back when something takes longer than *seconds*, all of it watched by one thread.

    The thread lives for as long as anything does that is watched. Callbacks run in it; they must be
    quick and must not raise.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._watched: deque[tuple[float, Callable[[], None]]] = deque()  # by when they end
        self._is_running = False

    @contextmanager
    def watching(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call *callback* unless this ends in time."""
        with self._lock:
            watched = (time.monotonic() + self._seconds, callback)
            self._watched.append(watched)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="timeout", daemon=True).start()
        try:
            yield
        finally:
            with self._lock, suppress(ValueError):  # it was called
                self._watched.remove(watched)

    def _run(self) -> None:
        """Sleep to the next end: what begins meanwhile ends later still."""
        while True:
            with self._lock:
                while self._watched and self._watched[0][0] <= time.monotonic():
                    self._watched.popleft()[1]()
                if not self._watched:
                    self._is_running = False
                    return
                seconds = self._watched[0][0] - time.monotonic()
            time.sleep(max(0.0, seconds))


class _EndOfItems:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class _ItemQueue(Generic[Item]):
    """Queue of items from one thread to another: each arrives, or is given to *discard*."""

    def __init__(self, discard: Callable[[Item], object]) -> None:
        self._discard = discard
        self._queue: SimpleQueue[Item | _EndOfItems] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_closed = False

    def put(self, item: Item) -> bool:
        """Put *item*; return whether it was taken."""
        with self._lock:
            if not self._is_closed:
                self._queue.put(item)
                return True
        self._discard(item)
        return False

    def put_end(self, error: BaseException | None = None) -> None:
        """End the items; may be called from any thread, with or without a lock held."""
        self._queue.put(_EndOfItems(error))

    def get(self) -> Item | _EndOfItems:
        return self._queue.get()

    def close(self) -> None:
        """Discard all further items."""
        with self._lock:
            self._is_closed = True
        while not self._queue.empty():
            if not isinstance(item := self._queue.get(), _EndOfItems):
                self._discard(item)


def interruptible(
    make_iterator: Callable[[], Iterator[Item]],
    stop: Stop,
    *,
    discard: Callable[[Item], object] = lambda _: None,
) -> Iterator[Item]:
    """Yield what *make()* yields, read in a thread of its own; raise `Stopped` at once on *stop*.

    The reading thread is left to end by itself: make sure that *stop* also breaks what it reads
    (shut its sockets down), or it stays until its own time limit. An error of the source is raised
    here. Each item is either yielded or given to *discard*, in either thread, and never both.
    """
    items = _ItemQueue(discard)

    def read() -> None:
        try:
            for item in make_iterator():
                if not items.put(item):
                    break
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread
            items.put_end(error)
        else:
            items.put_end()

    with stop.on_stop(lambda: items.put_end(Stopped())):
        threading.Thread(target=read, name="model-stream", daemon=True).start()
        try:
            while True:
                item = items.get()
                if isinstance(item, _EndOfItems):
                    if stop.is_set():
                        raise Stopped
                    if item.error is not None:
                        raise item.error
                    return
                yield item
        finally:
            items.close()
