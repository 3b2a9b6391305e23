"""Type-ahead while a turn runs: commands that need not wait are run, the rest is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from modules.cli.input.keyboard import TypedAhead

SLICE_SECONDS = 0.05
"""Seconds for which the keyboard is listened to before somebody else may have it."""


class TypeAheadListener:
    """Listens to the terminal *descriptor*; whatever is not run stays in *typed_ahead*.

    *may_listen* says whether nobody else wants the keyboard: else that one hears for us. Of each
    line that is entered meanwhile and *is_wanted*, *run* is called from a thread of ours, and
    *keep* of every other one; *show* gets what waits, and last what is being typed. Escape is for
    *stop*.
    """

    def __init__(
        self,
        descriptor: int,
        typed_ahead: TypedAhead,
        *,
        may_listen: Callable[[], bool],
        is_wanted: Callable[[str], bool],
        run: Callable[[str], object],
        show: Callable[[Sequence[str]], object],
        keep: Callable[[str], object] = lambda _: None,
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        self._descriptor = descriptor
        self._typed_ahead = typed_ahead
        self._may_listen = may_listen
        self._is_wanted = is_wanted
        self._run = run
        self._show = show
        self._keep = keep
        self._stop = stop

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen until this ends."""
        finished = threading.Event()
        thread = threading.Thread(target=self._listen, args=(finished,), name="beside", daemon=True)
        typed_ahead = self._typed_ahead
        typed_ahead.forget_escape()
        previous = typed_ahead.on_entered, typed_ahead.on_escape
        typed_ahead.on_entered, typed_ahead.on_escape = self._on_entered, self._stop
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()
            typed_ahead.on_entered, typed_ahead.on_escape = previous
            self._show(())

    def _listen(self, finished: threading.Event) -> None:
        while not finished.is_set():
            typed = self._typed_ahead.read(self._descriptor, SLICE_SECONDS, self._may_listen)
            if typed is None:  # the terminal went away
                return
            if not typed and not self._may_listen():
                finished.wait(SLICE_SECONDS)

    def _on_entered(self, entered: Sequence[str]) -> None:
        for line in entered:
            self._run_or_keep(line)
        self._show(self._typed_ahead.entries)

    def _run_or_keep(self, line: str) -> None:
        if self._may_listen() and self._is_wanted(line):
            self._typed_ahead.discard(line)
            self._show(())
            self._run(line)
        else:
            self._keep(line)
