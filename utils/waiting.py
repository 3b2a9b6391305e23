"""Waiting that can be cut short: every wait in the house ends when its `Stop` is set."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")


class Stopped(Exception):
    """A wait ended because its `Stop` was set."""


class Stop:
    """A wish to stop, made from any thread and felt by everything that waits.

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
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call *callback* on `set`, also when that was before; forget it at the end."""
        with self._lock:
            self._callbacks.append(callback)
            is_late = self._event.is_set()
        try:
            if is_late:
                callback()
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


class _End:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def interruptible(make: Callable[[], Iterator[Item]], stop: Stop) -> Iterator[Item]:
    """Yield what *make()* yields, read in a thread of its own; raise `Stopped` at once on *stop*.

    The reading thread is left to end by itself: make sure that *stop* also breaks what it reads
    (shut its sockets down), or it stays until its own time limit. An error of the source is raised
    here.
    """
    queue: SimpleQueue[Item | _End] = SimpleQueue()
    abandoned = threading.Event()

    def read() -> None:
        end = _End()
        try:
            for item in make():
                queue.put(item)
                if abandoned.is_set():
                    break
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread
            end = _End(error)
        queue.put(end)

    with stop.calling(lambda: queue.put(_End(Stopped()))):
        threading.Thread(target=read, name="model-stream", daemon=True).start()
        try:
            while True:
                item = queue.get()
                if isinstance(item, _End):
                    if stop.is_set():
                        raise Stopped
                    if item.error is not None:
                        raise item.error
                    return
                yield item
        finally:
            abandoned.set()
