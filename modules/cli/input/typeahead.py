"""What is typed while a turn runs: commands that need not wait are run, the rest is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from modules.cli.input.keyboard import TypedAhead

SLICE = 0.05
"""Seconds for which the keyboard is listened to before somebody else may have it."""


class TypeAheadListener:
    """Listens to the terminal *descriptor*; whatever is not run stays in *ahead*.

    *may_listen* says whether nobody else wants the keyboard: else that one hears for us. Of each
    line that is entered meanwhile and *is_wanted*, *run* is called from a thread of ours, and
    *keep* of every other one; *show* gets what waits, and last what is being typed.
    """

    def __init__(
        self,
        descriptor: int,
        ahead: TypedAhead,
        *,
        may_listen: Callable[[], bool],
        is_wanted: Callable[[str], bool],
        run: Callable[[str], object],
        show: Callable[[Sequence[str]], object],
        keep: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._descriptor = descriptor
        self._ahead = ahead
        self._may_listen = may_listen
        self._is_wanted = is_wanted
        self._run = run
        self._show = show
        self._keep = keep

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen until this ends."""
        over = threading.Event()
        thread = threading.Thread(target=self._listen, args=(over,), name="beside", daemon=True)
        before, self._ahead.heard = self._ahead.heard, self._heard
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._ahead.heard = before
            self._show(())

    def _listen(self, over: threading.Event) -> None:
        while not over.is_set():
            typed = self._ahead.hear(self._descriptor, SLICE, self._may_listen)
            if typed is None:  # the terminal went away
                return
            if not typed and not self._may_listen():
                over.wait(SLICE)

    def _heard(self, entered: Sequence[str]) -> None:
        for line in entered:
            self._take(line)
        self._show(self._ahead.entries)

    def _take(self, line: str) -> None:
        if self._may_listen() and self._is_wanted(line):
            self._ahead.drop(line)
            self._show(())
            self._run(line)
        else:
            self._keep(line)
