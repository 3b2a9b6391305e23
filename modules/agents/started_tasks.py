"""Tasks that were started from the board: each in a process and a session of its own."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Sequence

from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible

_PATIENCE_SECONDS = 10.0
"""Seconds that a stopped process has to end before it is killed."""


class StartedTasks:
    """The processes of the tasks; *on_end* is told, from a thread, the sentence on one's end.

    They run without a person: what would be asked is refused. When we leave they are stopped.
    """

    def __init__(self, on_end: Callable[[Phrase], None]) -> None:
        self._on_end = on_end
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._watchers: list[threading.Thread] = []
        self._is_closing = False

    def start(self, session: str, command: Sequence[str]) -> None:
        """Run *command*, which does a task in *session*. Raises `OSError`."""
        process = subprocess.Popen(  # noqa: S603 - this very program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # a Ctrl-C at our terminal is not meant for it
        )
        self._processes[session] = process
        watcher = threading.Thread(
            target=self._watch, args=(session, process), name=f"task {session}", daemon=True
        )
        self._watchers.append(watcher)
        watcher.start()

    def stop(self, session: str) -> bool:
        """Have the task of *session* stop; return whether it is one of these that runs."""
        process = self._processes.get(session)
        if process is None or process.poll() is not None:
            return False
        process.send_signal(signal.SIGINT)
        return True

    def close(self) -> None:
        """Stop them all, and wait until they are gone."""
        self._is_closing = True
        for session in [*self._processes]:
            self.stop(session)
        for process in self._processes.values():
            try:
                process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        for watcher in self._watchers:
            watcher.join()

    def _watch(self, session: str, process: subprocess.Popen[str]) -> None:
        assert process.stderr  # noqa: S101 - it is a pipe
        errors = process.stderr.read().strip()
        code = process.wait()
        process.stderr.close()
        if not self._is_closing:
            self._on_end(_end_of(session, code, errors))


def _end_of(session: str, code: int, errors: str) -> Phrase:
    if code == 0:
        return phrase("The task of session {id} is done: /resume {id} shows it.", id=session)
    why: Text = phrase("exit code {code}", code=str(code))
    if errors:
        why = visible(errors.splitlines()[-1]).rstrip(".。")
    return phrase(
        "The task of session {id} did not come to its end: {why}. /resume {id} shows it.",
        id=session,
        why=why,
    )
