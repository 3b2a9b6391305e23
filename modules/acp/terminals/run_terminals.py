"""The terminals of a client, where it has some, for the programs that a session runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from acp import tool_terminal_ref, update_tool_call

from core.cards import Card, RunCard
from core.events import ToolFinished
from core.main_terminal import MainTerminal
from modules.acp.client_link import ClientLink
from modules.acp.terminals.run_terminal import RunTerminal
from modules.acp.updates.calls import markdown_of, text_content
from modules.acp.updates.updates import Update
from modules.translator import Translator


class RunTerminals:
    """Shows each run of a session in a terminal of its client; *send* shows updates.

    A client that could not make or use one is asked for no more.
    """

    def __init__(
        self,
        client: ClientLink,
        terminal: MainTerminal,
        folders: tuple[Path, Path],
        send: Callable[[Update], None],
        translator: Translator,
    ) -> None:
        """*folders* are that of the sockets, a private one, and that of the project."""
        self._client, self._session = client, terminal.session
        self._folders = folders
        self._stop = terminal.stop
        self._send = send
        self._translator = translator
        self._is_off = False
        self._current: RunTerminal | None = None
        self._as_text: list[Update] = []
        self._is_told = threading.Event()
        self._ending: list[RunTerminal] = []

    def begin(self, call_id: str, stop_run: Callable[[], None]) -> None:
        """Show the program that *call_id* runs from now on, which *stop_run* stops alone."""
        if self._is_off or self._current or not self._client.capabilities.terminal:
            return
        as_text: list[Update] = []
        self._is_told = is_told = threading.Event()

        def show(terminal: str) -> None:
            self._send(update_tool_call(call_id, content=[tool_terminal_ref(terminal)]))

        def show_text() -> None:
            is_told.wait()
            self._is_off = not self._stop.is_set()
            for update in as_text:
                self._send(update)

        self._as_text = as_text
        self._current = RunTerminal(
            self._client, self._session, self._folders, stop_run, show, show_text
        )

    def add(self, text: str) -> bool:
        """Show *text* of the program that runs; return whether a terminal does."""
        return self._current is not None and self._current.add(text)

    def finished(self, event: ToolFinished, updates: Iterable[Update]) -> Iterator[Update]:
        """Yield the *updates* of *event*, with the terminal in the place of the output."""
        if self._current is None:
            yield from updates
            return
        [update] = updates
        self._as_text.append(update)
        terminal = self._finish(self._current, event.card)
        try:
            yield self._in_terminal(update, event.card, terminal) if terminal else update
        finally:
            self._is_told.set()

    def end(self) -> None:
        """Wait until all that is over was shown; each terminal has its own time for that."""
        if self._current:  # it was not told how that ended
            self._finish(self._current, None)
            self._is_told.set()
        while self._ending:
            self._ending.pop().wait()

    def _finish(self, current: RunTerminal, card: Card | None) -> str:
        """End what *current* shows; return the id of its terminal, "" where none shows it."""
        self._current = None
        self._ending.append(current)
        exit_code = card.exit_code if isinstance(card, RunCard) else None
        is_stopped = self._stop.is_set()
        terminal = current.finish(1 if exit_code is None else exit_code, is_stopped=is_stopped)
        if not current.was_made and not is_stopped:
            self._is_off = True
        return terminal

    def _in_terminal(self, update: Update, card: Card, terminal: str) -> Update:
        """Return *update* with the *terminal* in the place of the output of *card*."""
        content = [tool_terminal_ref(terminal)]
        if not isinstance(card, RunCard):
            return update.model_copy(update={"content": [*content, *update.content]})
        ending = text_content(markdown_of(replace(card, output=""), self._translator))
        output = {"output": card.output, "exit_code": card.exit_code}
        return update.model_copy(update={"content": [*content, ending], "raw_output": output})
