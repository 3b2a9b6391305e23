"""Getting many small contents into the vault quickly."""

from __future__ import annotations

import os
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING

from modules.checkpoints.snapshot.entries import digest
from modules.checkpoints.store.compression import pack
from modules.checkpoints.store.object_store import ObjectStore

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BATCH = 64
"""Contents that one thread compresses in one go."""


class BatchWriter:
    """Compresses and keeps contents in batches, on other cores when there are many."""

    def __init__(self, vault: ObjectStore, stack: ExitStack | None) -> None:
        self._vault = vault
        self._batch: dict[str, bytes] = {}
        self._running: deque[Future[list[tuple[str, bytes]]]] = deque()
        self._packed: list[tuple[str, bytes]] = []
        self._pool = stack.enter_context(_new_pool()) if stack else None

    def add(self, data: bytes) -> str:
        key = digest(data)
        self._batch[key] = data
        if len(self._batch) >= BATCH:
            self._flush()
        return key

    def settle(self) -> None:
        """Have all on disk that was added."""
        self._flush()
        while self._running:
            self._packed += self._running.popleft().result()
        self._keep()

    def finish(self) -> None:
        self.settle()
        self._pool = None

    def _flush(self) -> None:
        new = self._vault.missing(self._batch)
        batch = {key: self._batch[key] for key in new}
        self._batch = {}
        if self._pool is None:
            self._packed += _packed(batch)
        else:
            self._running.append(self._pool.submit(_packed, batch))
            while len(self._running) > 6:
                self._packed += self._running.popleft().result()
        if len(self._packed) >= 16 * BATCH:
            self._keep()

    def _keep(self) -> None:
        if self._packed:
            self._vault.keep(self._packed)
            self._packed = []


def _new_pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # 15 ms: only for many files

    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="checkpoint")


def _packed(batch: dict[str, bytes]) -> list[tuple[str, bytes]]:
    return [(key, pack(data)) for key, data in batch.items()]
