"""What a client is shown of a session beside its turns: its history, options and commands."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from acp.helpers import update_available_commands, update_current_mode
from acp.schema import (
    ConfigOptionUpdate,
    Cost,
    SessionInfoUpdate,
    SessionModeState,
    UsageUpdate,
)

from core.conversation.transcript import replay_events
from core.main_terminal import MainTerminal
from modules.acp.client_link import ClientLink
from modules.acp.options import (
    ConfigOptions,
    commands_of_clients,
    config_options,
    mode_state,
    offered_commands,
)
from modules.acp.updates.updates import Update, Updates
from modules.pictures.feature import Pictures
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.pictures import read_no_picture


class SessionView:
    """Shows the session of *terminal* to *client*. Any thread but the event loop's may call."""

    def __init__(
        self, terminal: MainTerminal, root: Path, client: ClientLink, translator: Translator
    ) -> None:
        self._terminal = terminal
        self._session = terminal.session
        self._root = root
        self._client = client
        self._translator = translator
        self._models: Sequence[str] = ()
        self._lock = threading.Lock()
        self.updates = self._make_updates(is_replay=False)
        self.updates.turn = terminal.history.turn
        terminal.commands.hidden = commands_of_clients(terminal)
        self._shown_options = self.config_options()
        self._shown_mode = terminal.approval.mode

    def send(self, update: Update) -> None:
        self._client.send(self._session, update, self._terminal.stop)

    def notify(self, what: Phrase) -> None:
        self.send(self.updates.notice(what))

    def replay(self, *, is_open: bool) -> None:
        """Send the whole history; where it *is open*, its last turn goes on later."""
        terminal = self._terminal
        updates = self._make_updates(is_replay=True)
        seconds = terminal.store.seconds(self._session)
        for event in replay_events(list(terminal.history.records), seconds, is_open=is_open):
            for update in updates.of(event):
                self.send(update)
        if terminal.locked_by:
            self.notify(terminal.locked_by)
        if is_open:
            self.notify(
                phrase("A question is still open. It will be asked again with your next message.")
            )

    def introduce(self) -> None:
        """Tell what can be done here; the models come when the server has said what it has."""
        self.send(update_available_commands(offered_commands(self._terminal, self._translator)))
        self.send_usage()
        if not (self._models or self._terminal.is_practice):
            threading.Thread(target=self._learn_models, name="models", daemon=True).start()

    def send_usage(self) -> None:
        used, size = self._terminal.context_used
        cost = Cost(amount=self._terminal.usage.cost_usd, currency="USD")
        self.send(UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost))

    def send_end_of_prompt(self) -> None:
        """Tell what a prompt may have changed: the title, and what is chosen."""
        info = self._terminal.store.info(self._session)
        self.send(
            SessionInfoUpdate(
                session_update="session_info_update",
                title=self._terminal.redact(info.title),
                updated_at=iso_time(info.updated),
            )
        )
        self.send_options()

    def send_options(self) -> None:
        """Tell what is chosen, if that is something else than was told."""
        with self._lock:
            before, now = self._shown_options, self.config_options()
            self._shown_options = now
            mode, self._shown_mode = self._shown_mode, self._terminal.approval.mode
        if mode != self._terminal.approval.mode:
            self.send(update_current_mode(self._terminal.approval.mode))
        if now != before:
            self.send(ConfigOptionUpdate(session_update="config_option_update", config_options=now))

    def config_options(self) -> ConfigOptions:
        return config_options(self._terminal, self._models, self._translator)

    def mode_state(self) -> SessionModeState:
        return mode_state(self._terminal, self._translator)

    def _learn_models(self) -> None:
        self._models = self._terminal.model.models()
        self.send_options()

    def _make_updates(self, *, is_replay: bool) -> Updates:
        pictures = self._terminal.features.find(Pictures)
        read_picture = pictures.read if pictures else read_no_picture
        specs = self._terminal.tools.specs
        return Updates(self._root, specs, self._translator, read_picture, is_replay)


def iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
