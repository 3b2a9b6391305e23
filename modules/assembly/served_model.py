"""The models of a server of pages: without a key at first, changed while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

from config import Settings
from modules.assembly.live import SERVER_SETTINGS, FollowingTerminals, hide_keys
from modules.assembly.model import client_of, model_for, renew_servers, server_of
from modules.cli.args import Args
from modules.cli.model_access import practice_server
from modules.settings.live import LiveSettings
from modules.translator import Translator

if TYPE_CHECKING:
    from core.main_terminal import MainTerminal
    from modules.models.local_servers import LocalServer
    from utils.llm.providers import ModelClient


_SERVERS = ("deepseek_", "anthropic_", "openai_", "providers")
"""What begins the settings that say where models are."""


class ServedModel:
    """The models that the sessions of a page use; each session has a client of its own.

    A key or an address that is saved is used from the next request on, unless the start said
    `--offline`. Raises `UserError` where there can be no client.
    """

    def __init__(
        self,
        options: Args,
        live: LiveSettings[Settings],
        translator: Translator,
        stack: ExitStack,
        terminals: FollowingTerminals,
    ) -> None:
        self._live = live
        self._translator = translator
        self._stack = stack
        self._terminals = terminals
        self.client, self.is_practice = model_for(options, live.now, translator, stack)
        live.follow(("model",), self._take_name)
        if not options.offline:
            live.follow(SERVER_SETTINGS, self._take_servers)

    @property
    def name(self) -> str:
        """The name of the model of new sessions."""
        return self.client.model

    @property
    def needs_key(self) -> bool:
        """Whether nothing can be asked before the person gives a key or chooses a server."""
        return not self.client.is_ready

    def for_session(self) -> ModelClient:
        """Return a client for one more session."""
        return self.client.for_other_conversation()

    def local_servers(self) -> Sequence[LocalServer]:
        """Return the servers of models that answer on this machine."""
        from modules.models.local_servers import find_servers  # for a first visit

        return find_servers()

    def practise(self) -> None:
        """Have the practice model answer, in all sessions, until a key or a server is saved."""
        if self.is_practice:
            return
        server = practice_server(self._translator, self._stack)
        self._use(client_of(server, self._live.now), server.model, is_practice=True)

    def _use(self, servers: ModelClient, name: str, *, is_practice: bool) -> None:
        self.client.take_servers_of(servers)
        self.client.model = name
        self.is_practice = is_practice

        def use(terminal: MainTerminal) -> None:
            self._pass_on(terminal)
            terminal.model.model = name
            terminal.is_practice = is_practice
            terminal.refresh()

        self._terminals.for_each(use)

    def _pass_on(self, terminal: MainTerminal) -> None:
        cast("ModelClient", terminal.model).take_servers_of(self.for_session())

    def _take_name(self, settings: Settings, _: str) -> None:
        if not self.is_practice:
            self.client.model = settings.model

    def _take_servers(self, settings: Settings, name: str) -> None:
        self._terminals.for_each(lambda terminal: hide_keys(terminal, settings))
        if self.is_practice and not name.startswith(_SERVERS):
            return
        if self.is_practice:
            servers = client_of(server_of(settings), settings)
            self._use(servers, settings.model, is_practice=False)
            return
        renew_servers(self.client, settings, name)
        self._terminals.for_each(self._pass_on)
