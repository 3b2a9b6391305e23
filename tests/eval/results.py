"""Results on disk, a line for each attempt."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from tests.eval.tasks import Attempt, TaskError

Key = tuple[str, str, int]
"""Agent, task and number of an attempt."""


class Results:
    """The attempts in the file *path*, for one evaluation at a time while its `with` block lasts.

    An attempt that was added is on disk, whatever happens next; a line that was cut by a kill is
    dropped, and that attempt made again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._attempts: dict[Key, Attempt] = {}
        self._settings: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
        except BlockingIOError:
            os.close(self._file)
            raise TaskError(f"Another evaluation writes to {self._path}: wait for it.") from None
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    @property
    def attempts(self) -> Sequence[Attempt]:
        with self._lock:
            return list(self._attempts.values())

    @property
    def settings(self) -> Mapping[str, str]:
        return dict(self._settings)

    def find(self, agent: str, task: str, number: int) -> Attempt | None:
        with self._lock:
            return self._attempts.get((agent, task, number))

    def settle(self, settings: Mapping[str, str]) -> None:
        """Note with what attempts are made. Raises `TaskError` where earlier ones had others."""
        for name, value in settings.items():
            earlier = self._settings.get(name, value)
            if earlier != value:
                raise TaskError(
                    f"The attempts in {self._path} were made with {name} {earlier!r}, not "
                    f"{value!r}: say that, or choose another folder with --out."
                )
        new = {name: value for name, value in settings.items() if name not in self._settings}
        if new:
            self._settings |= new
            self._append({"settings": new})

    def add(self, attempt: Attempt) -> None:
        with self._lock:
            self._append(asdict(attempt))
            self._attempts[attempt.agent, attempt.task, attempt.number] = attempt

    def _append(self, value: Mapping[str, Any]) -> None:
        with open(self._file, "ab", closefd=False) as file:
            file.write(json.dumps(value).encode() + b"\n")
            file.flush()
            os.fsync(self._file)

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole, end, cut = data.rpartition(b"\n")
        if cut:
            os.ftruncate(self._file, len(whole) + len(end))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, AttributeError):
                raise TaskError(
                    f"Line {number} of {self._path} is not of an evaluation; choose another folder."
                ) from None

    def _take(self, value: dict[str, Any]) -> None:
        if "settings" in value:
            self._settings |= value["settings"]
            return
        attempt = Attempt(**value)
        self._attempts[attempt.agent, attempt.task, attempt.number] = attempt
