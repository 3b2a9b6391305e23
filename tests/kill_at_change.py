"""The program, killed right before its n-th change on disk: N, then the program's options.

What counts are changes of files and folders, and each beginning and end of a transaction. N = 0
kills nothing.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from modules.storage import database

_CHANGES = frozenset(
    f"os.{name}"
    for name in (
        *("rename", "remove", "mkdir", "rmdir", "chmod", "chown", "utime", "link", "symlink"),
        *("setxattr", "removexattr", "truncate"),
    )
)


def kill_at(change: int) -> Callable[[], int]:
    """Kill this process right before its *change*.

    Return what counts one more, of any other kind, and says how many there were.
    """
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        if count == change:
            os.kill(os.getpid(), signal.SIGKILL)
        return count

    def hook(event: str, _: Any) -> None:
        if event in _CHANGES:
            step()

    transaction = database._transaction

    @contextmanager
    def counting_transaction(connection: Any) -> Iterator[Any]:
        step()
        with transaction(connection) as begun:
            yield begun
            step()
        step()

    sys.addaudithook(hook)
    database._transaction = counting_transaction
    return step


if __name__ == "__main__":
    kill_at(int(sys.argv.pop(1)))
    import main

    sys.exit(main.main())
