"""What is told of a session without being asked, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from core.web_terminal import Packet, WebTerminal
from modules.web.http.errors import ApiError
from modules.web.sessions.snapshot import SessionSnapshot
from utils.i18n import Phrase, UserError

Kind = Literal["ev", "state", "session", "files"]
Tell = Callable[[Kind, str, Packet], None]
"""Carries a message about a session to whom it concerns; must not block."""
Failed = Callable[[BaseException], Phrase]
"""Logs a failure of our own and returns what the person is told of it."""


class Notifier:
    """Tells of the session of *terminal*: *picture* has its state, *row* gives its row.

    *title* is what the row said last.
    """

    def __init__(
        self,
        terminal: WebTerminal,
        picture: SessionSnapshot,
        tell: Tell,
        row: Callable[[str], Packet],
    ) -> None:
        self.title = ""
        self._terminal = terminal
        self._picture = picture
        self._tell = tell
        self._row = row

    def event(self, packet: Packet) -> None:
        self._tell("ev", self._terminal.session, {"boot": self._terminal.boot, **packet})

    def state(self) -> None:
        self._tell("state", self._terminal.session, self._picture.state())

    def asked(self) -> None:
        """Tell that another question is open now, or none."""
        self.state()
        self.row()

    def files(self, by: str, changes: list[Packet]) -> None:
        """Tell that files changed; no *changes* means that anything may have."""
        paths = [p for change in changes for p in (change["path"], change["new_path"]) if p]
        folders = sorted({path.rpartition("/")[0] for path in paths}) if changes else ["*"]
        told = {"by": by, "folders": folders, "paths": changes}
        self._tell("files", self._terminal.session, told)

    def what_follows(self, packet: Packet) -> None:
        """Tell what is another after the event *packet*."""
        match packet["type"]:
            case "TurnStarted":
                self.row()
                self.state()
            case "StepFinished":
                self.state()
            case "ToolFinished" if packet["changes"]:
                self.files("agent", packet["changes"])
            case "ToolFinished" if packet["card"]["kind"] == "todo":
                self.state()
            case "CommandAnswered":
                command = self._terminal.commands.get(packet["command"])
                if command and command.spec.changes_files:
                    self.files("agent", [])
                self.state()

    def row(self) -> None:
        with suppress(UserError, ApiError):  # the list is a little older then
            self._tell("session", self._terminal.session, self.look())

    def look(self) -> Packet:
        """Return the row as it is now, and take note of its title."""
        row = self._row(self._terminal.session)
        self.title = row["title"]
        return row
