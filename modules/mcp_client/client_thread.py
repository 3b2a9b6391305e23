"""The thread in which the SDK's event loop runs: nothing of asyncio is anywhere else."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

Result = TypeVar("Result")
_END_SECONDS = 5.0  # in which what runs there may end


class ClientThread:
    """An event loop in a thread of its own, from the first `submit` on until `close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._submitted: set[Future[Any]] = set()

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run *coroutine* there; cancelling what is returned cancels it."""
        import asyncio

        with self._lock:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
            self._submitted.add(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._submitted.discard(future)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop; the lock is held."""
        import asyncio

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="mcp-client", daemon=True
            )
            self._thread.start()
        return self._loop

    def close(self) -> None:
        """Cancel what was submitted and still runs, and end the loop and the thread.

        What that began ends with it, as its own groups say: a task that is cancelled from outside
        before its first step leaves the coroutine that anyio wrapped in it for ever unawaited.
        """
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
            submitted = list(self._submitted)
        if loop is None or thread is None:
            return
        import asyncio

        for future in submitted:
            future.cancel()
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_all_ended(), loop).result(_END_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_END_SECONDS)
        if not thread.is_alive():
            loop.close()


async def _all_ended() -> None:
    import asyncio

    if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(tasks, timeout=_END_SECONDS / 2)
