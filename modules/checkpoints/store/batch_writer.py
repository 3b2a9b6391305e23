"""Writing many small contents into the object store quickly."""

from __future__ import annotations

import os
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING

from modules.checkpoints.snapshot.entries import digest
from modules.checkpoints.store.compression import compress
from modules.checkpoints.store.object_store import ObjectStore

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BATCH_SIZE = 64
"""Contents that one thread compresses in one go."""


class BatchWriter:
    """Compresses and keeps contents in batches, on other cores when there are many."""

    def __init__(self, objects: ObjectStore, stack: ExitStack | None) -> None:
        self._objects = objects
        self._batch: dict[str, bytes] = {}
        self._running: deque[Future[list[tuple[str, bytes]]]] = deque()
        self._ready: list[tuple[str, bytes]] = []
        self._pool = stack.enter_context(_new_pool()) if stack else None

    def add(self, data: bytes) -> str:
        key = digest(data)
        self._batch[key] = data
        if len(self._batch) >= BATCH_SIZE:
            self._compress_batch()
        return key

    def flush(self) -> None:
        """Have all on disk that was added."""
        self._compress_batch()
        while self._running:
            self._ready += self._running.popleft().result()
        self._write_ready()

    def finish(self) -> None:
        self.flush()
        self._pool = None

    def _compress_batch(self) -> None:
        if not self._batch:
            return
        new = self._objects.missing(self._batch)
        batch = {key: self._batch[key] for key in new}
        self._batch = {}
        if self._pool is None:
            self._ready += _compressed(batch)
        else:
            self._running.append(self._pool.submit(_compressed, batch))
            while len(self._running) > 6:
                self._ready += self._running.popleft().result()
        if len(self._ready) >= 16 * BATCH_SIZE:
            self._write_ready()

    def _write_ready(self) -> None:
        if self._ready:
            self._objects.put_compressed(self._ready)
            self._ready = []


def _new_pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # 15 ms: only for many files

    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="checkpoint")


def _compressed(batch: dict[str, bytes]) -> list[tuple[str, bytes]]:
    return [(key, compress(data)) for key, data in batch.items()]
