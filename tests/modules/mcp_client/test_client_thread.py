"""The thread of the SDK's event loop, ended in the middle of what runs there."""

from __future__ import annotations

import threading

import anyio

from modules.mcp_client.client_thread import ClientThread


def test_it_ends_while_tasks_begin_and_leaves_none_unawaited() -> None:
    """A coroutine that nobody awaited would be told by Python, and fail this test."""
    has_begun = threading.Event()

    async def do_nothing() -> None:
        has_begun.set()

    async def begin_tasks() -> None:
        while True:
            async with anyio.create_task_group() as group:
                group.start_soon(do_nothing)

    for _ in range(20):
        has_begun.clear()
        thread = ClientThread()
        running = thread.submit(begin_tasks())
        assert has_begun.wait(10)
        thread.close()
        assert running.cancelled()
