"""The tester: runs the calls of a text with the real tools, approval and sandbox, without a model.

In a scratch folder each run begins with an empty one; in the project it can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.conversation.messages import ToolCall
from core.events import CommandAnswered
from core.feature import name_of
from core.loop.tool_calls import FinishedCall
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from core.tool_texts import NATIVE
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.tool_switches import Switches
from modules.tool_tester.scratch import ScratchFolders
from utils.text.codec import to_plain
from utils.text.tokens import estimate_tokens

_UNDO = name_of(UndoCommands.undo)
_TOOLS = name_of(Switches.tools)
Place = Literal["scratch", "project"]
OpenTerminal = Callable[[Path | None], tuple[MainTerminal, Callable[[], None]]]
"""Opens a terminal on a folder, None for the project; returns it with what closes it."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A text that was run, and what came of each call in it; *folder* is where it ran."""

    text: str
    protocol: str
    place: Place
    folder: Path
    results: tuple[FinishedCall, ...]
    turn: int

    @property
    def is_ok(self) -> bool:
        return all(call.result.state == "done" for call in self.results)

    @property
    def is_refused(self) -> bool:
        return any(call.result.state == "refused" for call in self.results)

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "protocol": self.protocol,
            "place": self.place,
            "calls": [
                {
                    "name": call.result.name,
                    "arguments": dict(call.arguments),
                    "state": call.result.state,
                    "answer": call.result.text,
                    "tokens": estimate_tokens(call.result.text),
                    "seconds": round(call.result.seconds, 3),
                    "card": to_plain(call.result.card),
                }
                for call in self.results
            ],
        }


class PendingRun:
    """A run on *terminal* from its first event to its result; close it, whatever happened.

    *resources* are its own from now on.
    """

    def __init__(
        self,
        text: str,
        protocol: str,
        place: Place,
        folder: Path,
        terminal: MainTerminal,
        calls: Sequence[ToolCall],
        resources: ExitStack,
    ) -> None:
        self.terminal = terminal
        self._text = text
        self._protocol = protocol
        self._place: Place = place
        self._folder = folder
        self._results: list[FinishedCall] = []
        self._resources = resources
        line = " ".join([_TOOLS, *dict.fromkeys(call.name for call in calls)])
        self.turn: Turn = terminal.run_calls(line, calls, self._results, is_private=True)
        resources.callback(self.turn.close)

    def result(self) -> ToolRun:
        """Return what came of it; `turn` is at its end."""
        turn = self.terminal.history.turn
        results = tuple(self._results)
        return ToolRun(self._text, self._protocol, self._place, self._folder, results, turn)

    def close(self) -> None:
        """End it where it is, and remove its scratch folder."""
        self._resources.close()


class ToolTester:
    """Runs texts on terminals of *open_terminal*; *data* is the data folder of all projects."""

    def __init__(self, open_terminal: OpenTerminal, project: Path, data: Path) -> None:
        self._open_terminal = open_terminal
        self._project = project
        self._scratch = ScratchFolders(data)
        self._project_terminal: tuple[MainTerminal, Callable[[], None]] | None = None
        self._scratch.clean()

    @property
    def terminal(self) -> MainTerminal:
        """The terminal on the project; what it did there can be undone in it."""
        if self._project_terminal is None:
            self._project_terminal = self._open_terminal(None)
        return self._project_terminal[0]

    def start(self, text: str, place: Place = "scratch", protocol: str = NATIVE) -> PendingRun:
        """Return the run of the calls of *text*, about to begin. Raises `UserError`."""
        from modules.tool_tester.call_text import parse_calls  # a server starts without it

        with ExitStack() as stack:
            if place == "project":
                terminal, folder = self.terminal, self._project
            else:
                folder = stack.enter_context(self._scratch.new())
                terminal, close = self._open_terminal(folder)
                stack.callback(close)
            text = terminal.redact(text)
            calls = parse_calls(text, terminal.tools, protocol)
            return PendingRun(text, protocol, place, folder, terminal, calls, stack.pop_all())

    def undo(self, turn: int = 0) -> CommandAnswered:
        """Take back what the run *turn* in the project did, 0 being the last."""
        line = f"{_UNDO} turn {turn}" if turn else _UNDO
        (answer,) = self.terminal.run_line(line)
        if not isinstance(answer, CommandAnswered):
            raise TypeError(f"{line} is no command")
        return answer

    def close(self) -> None:
        if self._project_terminal:
            self._project_terminal[1]()
            self._project_terminal = None
