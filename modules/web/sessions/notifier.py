"""Notifications about a session: its events, state, row and changed files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from core.conversation.transcript import Packet
from core.web_terminal import WebTerminal
from modules.web.http.errors import ApiError
from modules.web.sessions.snapshot import SessionSnapshot
from utils.i18n import Phrase, UserError

MessageKind = Literal["ev", "state", "session", "files"]
Publish = Callable[[MessageKind, str, Packet], None]
"""Publishes a message about a session to its subscribers; must not block."""
OnError = Callable[[BaseException], Phrase]
"""Logs a failure of our own and returns the sentence for the person."""


class Notifier:
    """Publishes news of the session of *terminal*: *snapshot* has its state, *load_row* its row.

    *title* is what the row said last.
    """

    def __init__(
        self,
        terminal: WebTerminal,
        snapshot: SessionSnapshot,
        publish: Publish,
        load_row: Callable[[str], Packet],
    ) -> None:
        self.title = ""
        self._terminal = terminal
        self._snapshot = snapshot
        self._publish = publish
        self._load_row = load_row

    def send_event(self, packet: Packet) -> None:
        boot = self._terminal.delivery.boot
        self._publish("ev", self._terminal.session, {"boot": boot, **packet})

    def send_state(self) -> None:
        self._publish("state", self._terminal.session, self._snapshot.state())

    def send_question_change(self) -> None:
        """Publish that another question is open now, or none."""
        self.send_state()
        self.send_row()

    def send_files(self, origin: str, changes: list[Packet]) -> None:
        """Publish that files changed; no *changes* means that any may have."""
        paths = [p for change in changes for p in (change["path"], change["new_path"]) if p]
        folders = sorted({path.rpartition("/")[0] for path in paths}) if changes else ["*"]
        packet = {"by": origin, "folders": folders, "paths": changes}
        self._publish("files", self._terminal.session, packet)

    def after_event(self, packet: Packet) -> None:
        """Publish the state, row or files that the event *packet* changed."""
        match packet["type"]:
            case "TurnStarted":
                self.send_row()
                self.send_state()
            case "StepFinished":
                self.send_state()
            case "ToolFinished" | "Informed" if packet["changes"]:
                self.send_files("agent", packet["changes"])
            case "ToolFinished" if packet["card"]["kind"] == "todo" or packet["card"].get("job"):
                self.send_state()
            case "CommandAnswered":
                command = self._terminal.commands.get(packet["command"])
                if command and command.spec.changes_files:
                    self.send_files("agent", [])
                self.send_state()

    def send_row(self) -> None:
        with suppress(UserError, ApiError):  # the list is a little older then
            self._publish("session", self._terminal.session, self.refresh_row())

    def refresh_row(self) -> Packet:
        """Return the row as it is now, and keep its title."""
        row = self._load_row(self._terminal.session)
        self.title = row["title"]
        return row
