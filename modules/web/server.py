"""Assembly of the browser screen, and its server."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask_socketio import SocketIO

from core.cards import Change
from core.conversation.transcript import Packet
from core.feature import buttons_of
from core.web_terminal import WebTerminal
from modules.annotations import Annotations
from modules.files.project import Project
from modules.mentions.feature import Mentions
from modules.pictures.picture_store import PictureStore
from modules.preview.feature import Previews
from modules.preview.gateway import PreviewGateway
from modules.secrets.redactor import Secrets
from modules.sent_requests.request_log import RequestLog
from modules.sessions.store import Sessions
from modules.settings.feature import SettingsCommand
from modules.storage.data_folder import DataFolder
from modules.symbols.symbol_index import SymbolIndex
from modules.terminal_ops import TerminalOps
from modules.tool_tester.cases import ToolCases
from modules.tool_tester.tester import ToolTester
from modules.translator import Translator
from modules.web.api.agents_api import AgentsApi
from modules.web.api.artifacts_api import ArtifactsApi
from modules.web.api.changes_api import ChangesApi
from modules.web.api.figures_api import FiguresApi
from modules.web.api.files_api import FilesApi
from modules.web.api.git_api import GitApi
from modules.web.api.mentions_api import MentionsApi
from modules.web.api.model_api import ModelApi
from modules.web.api.pictures_api import PicturesApi
from modules.web.api.preview_api import PreviewApi
from modules.web.api.receipts_api import ReceiptsApi
from modules.web.api.server_api import ServerApi, ServerInfo
from modules.web.api.session_api import SessionApi
from modules.web.api.sessions_api import DEFAULT_TURNS, SessionsApi
from modules.web.api.settings_api import ModelServers, SettingsApi
from modules.web.api.skills_api import SkillsApi
from modules.web.api.symbols_api import SymbolsApi
from modules.web.api.tools_api import ToolsApi
from modules.web.api.why_api import WhyApi
from modules.web.files.content import FileContents
from modules.web.files.running_pages import RunningPages
from modules.web.files.tree_listing import TreeListing
from modules.web.files.watcher import FolderWatcher
from modules.web.http.app import make_app, replay_page
from modules.web.http.auth import Authenticator, published_server_file, server_file
from modules.web.http.routes import Route, routes_of
from modules.web.http.security import SecurityMiddleware
from modules.web.login_links import LoginLinks
from modules.web.pairing.devices import Device
from modules.web.servers import http_servers, websocket_limits
from modules.web.servers.bind import BindAddress
from modules.web.sessions.event_bus import EventBus
from modules.web.sessions.notifier import MessageKind
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import TerminalFactory
from modules.web.socketio.handlers import SocketHandlers, announce_shutdown
from modules.web.socketio.rooms import ThreadSafeManager
from modules.why.feature import Why
from utils.i18n import Text, phrase
from utils.logger import FailureLog
from utils.system.interrupts import stopping_on_signals
from utils.text.codec import to_plain

if TYPE_CHECKING:
    from modules.shells.shells import Shells
    from modules.web.api.devices_api import DevicesApi
    from modules.web.api.shells_api import ShellsApi
    from modules.web.remote_access import RemoteAccess

NO_REMOTE_PREVIEWS = phrase(
    "Previews only work on a server that other machines cannot reach. Start it without "
    "--host and forward its ports with ssh."
)


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Configuration of a server: sessions of one project, each on one of *open_terminal*.

    *store* is the one that all those terminals use; *start* the session that is shown first, "" for
    the one a browser showed last.
    """

    project: Project
    data: DataFolder
    store: Sessions
    open_terminal: TerminalFactory
    version: str
    language: str
    model: ModelServers
    log: FailureLog
    theme: Callable[[], str] = lambda: "auto"
    """The colors of a page where the browser has chosen none."""
    shortcuts: Callable[[], Mapping[str, str]] = dict
    """The keyboard shortcuts that the settings change."""
    start: str = ""
    make_tester: Callable[[], ToolTester] | None = None
    """Makes what tries the tools, when that is first wanted."""
    shell_environment: Mapping[str, str] | None = None
    """Environment of the person's own shells in the page; without it there are no terminals."""


class WebServer:
    """The server of *config* at *bind_address*; make and `run` it in one thread.

    Raises `UserError` when the address cannot be had.
    """

    def __init__(self, bind_address: BindAddress, config: ServerConfig) -> None:
        self._config = config
        self.remote = self._make_remote(bind_address)
        self._listen_socket = self.remote.inner_socket if self.remote else bind_address.listen()
        self.port: int = self.remote.port if self.remote else self._listen_socket.getsockname()[1]
        self.url = self.remote.own_url if self.remote else bind_address.url(self.port)
        self.authenticator = Authenticator(
            self.port, devices=self.remote.devices if self.remote else None
        )
        self.on_paired: Callable[[Device], object] = lambda _: None
        self._loop, self._server = http_servers.make_server(
            bind_address.async_mode, self._listen_socket, self._config.log.log
        )
        self._event_bus = EventBus(self._loop)
        self._shells: Shells | None = None
        self._previews = self._make_gateway(bind_address)
        notes = Annotations(config.project, config.data.notes)
        self._listing = TreeListing(config.project, notes, self._publish_relist, config.log.log)
        self._first_terminal = self._open_terminal(lambda _: None)
        self._redactor = PageRedactor(self._first_terminal.features.find(Secrets))
        self.registry = SessionRegistry(
            config.store,
            self._open_terminal,
            self._publish,
            self._config.log.log,
            self._redactor,
            is_watched=self._is_watched,
            pictures=PictureStore(config.data.pictures),
            requests=RequestLog(config.data.requests),
            plans=config.data.plans,
        )
        self._tools = ToolsApi(
            self.registry,
            config.make_tester,
            ToolCases(config.data.tool_cases),
            config.project.root,
        )
        self._watcher = FolderWatcher(config.project, self._listing, self._publish)
        self._files = FileContents(
            config.project,
            notes,
            self._on_manual_changes,
            self._redactor,
            self._listing.stat_cache,
            self._first_terminal.features.person_wrote,
        )
        self._make_app(bind_address)

    def _make_remote(self, bind_address: BindAddress) -> RemoteAccess | None:
        if not bind_address.allow_remote:
            return None
        from modules.web.remote_access import RemoteAccess  # few let others in

        return RemoteAccess(bind_address, self._config.data.root, self._config.log.log)

    def _make_gateway(self, bind_address: BindAddress) -> PreviewGateway | None:
        """Return the gateway to previews on the next port, or another if that is not free.

        None where browsers on other machines are meant: the names of previews lead nowhere there.
        """
        if bind_address.allow_remote:
            return None
        wanted = self.port + 1 if bind_address.port and self.port < 65_535 else 0
        return PreviewGateway(self._config.log.log, wanted, bind_address.origins(self.port))

    def _open_terminal(self, emit: Callable[[Packet], None]) -> WebTerminal:
        terminal = self._config.open_terminal(emit)
        if previews := terminal.features.find(Previews):
            if self._previews:
                previews.share(self._previews)
            else:
                previews.refuse(NO_REMOTE_PREVIEWS)
        return terminal

    def _make_app(self, bind_address: BindAddress) -> None:
        config, event_bus = self._config, self._event_bus
        api = SessionApi(self.registry, event_bus)
        shells_api = self._make_shells()
        self.app = make_app(
            self._routes(api),
            self._loop,
            self.authenticator,
            self._config.log.log,
            self._attach_reply,
            self._first_terminal.tools.specs,
            buttons_of(self._first_terminal.commands.values()),
            version=config.version,
            language=config.language,
            theme=config.theme,
            shortcuts=config.shortcuts,
            start=config.start,
            on_paired=self._paired,
        )
        self._socketio = SocketIO(
            self.app,
            async_mode=bind_address.async_mode,
            client_manager=ThreadSafeManager(),
            max_http_buffer_size=websocket_limits.MAX_MESSAGE_BYTES,
            ping_interval=websocket_limits.PING_SECONDS,
            ping_timeout=websocket_limits.PING_SECONDS,
            serve_client=False,
            manage_session=False,
            logger=_silent_logger(),
            engineio_logger=_silent_logger(),
        )
        websocket_limits.install(self._socketio.server.eio, bind_address.async_mode)
        sockets = SocketHandlers(
            self._socketio,
            self._loop,
            api,
            self._watcher,
            self._config.log.log,
            shells_api,
        )
        event_bus.connect(self._socketio.emit, sockets.drop_slow)
        self._wsgi_app = SecurityMiddleware(
            self.app,
            self.authenticator,
            self.remote.hosts() if self.remote else [bind_address.hosts(self.port)],
            frame_source=self._previews.frame_source if self._previews else "",
            is_closed=self.remote is not None,
            connections=self.remote.connections if self.remote else None,
        )

    def _make_shells(self) -> ShellsApi | None:
        """Return the API of the terminals of pages, if there are to be any."""
        runner = self._first_terminal.features.find(TerminalOps)
        if self._config.shell_environment is None or runner is None:
            return None
        from modules.shells.shells import Shells  # few want them
        from modules.web.api.shells_api import ShellsApi

        def deliver(page: str, message: dict[str, Any]) -> None:
            self._loop.call(partial(self._socketio.emit, "terminal", message, to=page))

        def tell_list() -> None:
            message = {"terminals": shells.rows()}
            self._loop.call(partial(self._socketio.emit, "terminals", message))

        shells = Shells(runner, self._config.shell_environment, deliver, tell_list)
        self._shells = shells
        return ShellsApi(shells, lambda page: self._socketio.server.manager.is_connected(page, "/"))

    def _routes(self, api: SessionApi) -> list[Route]:
        config = self._config
        info = ServerInfo(
            version=config.version,
            project=config.project.name,
            root=str(config.project.root),
            language=config.language,
            model=config.model,
            url=self.url,
            port=self.port,
            has_terminals=self._shells is not None,
            is_remote=self.remote is not None,
        )
        commands, tools = self._first_terminal.commands, self._first_terminal.tools
        sessions = SessionsApi(
            self.registry,
            lambda *arguments: replay_page(self.app, self._files, tools.specs)(*arguments),
            self._redactor,
        )
        pages = RunningPages(self._previews, self._files)
        files = FilesApi(self._files, self._listing, self.registry, self._redactor, pages)
        why = self._first_terminal.features.find(Why)
        settings = self._first_terminal.features.find(SettingsCommand)
        mentions = self._first_terminal.features.find(Mentions)
        server = ServerApi(
            info,
            self.authenticator,
            self.registry,
            lambda: list(commands.values()),
            lambda: tools.specs,
        )
        shown = (config.project, self.registry, self._listing.stat_cache)
        receipts, changes = ReceiptsApi(*shown, self._watcher), ChangesApi(*shown)
        pictures = PicturesApi(self.registry)
        models = ModelApi(self.registry)
        previews = PreviewApi(self.registry)
        symbols = SymbolsApi(SymbolIndex(config.project, lambda: self._listing.files()[0]))
        return routes_of(
            *(server, sessions, api, models, pictures, changes, receipts, files, previews),
            FiguresApi(self.registry, self._redactor),
            AgentsApi(self.registry, self._redactor),
            GitApi(self.registry),
            ArtifactsApi(self.registry, api, self._redactor),
            SkillsApi(self.registry),
            symbols,
            self._tools,
            *([WhyApi(why, self._redactor)] if why else []),
            *([SettingsApi(settings, config.model)] if settings else []),
            *([MentionsApi(mentions)] if mentions else []),
            *self._devices_api(),
        )

    def _devices_api(self) -> list[DevicesApi]:
        if self.remote is None:
            return []
        from modules.web.api.devices_api import DevicesApi  # few let others in

        return [DevicesApi(self.remote, self.authenticator, self._removed)]

    def _paired(self, device: Device) -> None:
        self.on_paired(device)
        self._loop.call(partial(self._socketio.emit, "devices", {"paired": device.name}))

    def _removed(self, device_id: str) -> None:
        self._loop.call(partial(self._socketio.emit, "devices", {"removed": device_id}))

    def run(self) -> None:
        """Serve until `stop`; then nothing of a session runs any more."""
        self._watcher.start()
        if self.remote:
            self.remote.start()
        try:
            self._server.run(self._wsgi_app)
        finally:
            if self.remote:
                self.remote.close()
            self._end_shells()
            websocket_limits.end_connection(self._socketio.server.eio)
            self._event_bus.close()
            self._server.close()
            self._watcher.close()
            self._listing.close()
            self.registry.close()
            self._tools.close()
            if self._previews:
                self._previews.close()
            self._loop.close()
            self._listen_socket.close()

    def stop(self) -> None:
        """End it all, what runs in the sessions first; from any thread but `run`'s."""
        self.registry.close()
        self._end_shells()
        self._loop.call(announce_shutdown, self._socketio)
        self._server.stop()

    def _end_shells(self) -> None:
        if self._shells:
            self._shells.close()

    def _publish(self, kind: MessageKind, session: str, packet: Packet) -> None:
        if kind == "files":
            self._listing.mark_stale()
            if packet["by"] == "agent":
                self._listing.mark_written(c["new_path"] or c["path"] for c in packet["paths"])
        self._event_bus.publish(kind, session, packet)

    def _publish_relist(self) -> None:
        """Have every page ask anew what the files are: it has the list of an older index."""
        self._event_bus.publish("files", "", {"by": "outside", "folders": ["*"], "paths": []})

    def _on_manual_changes(self, changes: Sequence[Change]) -> None:
        self.registry.note_manual_changes(changes)
        paths = [p for change in changes for p in (change.path, change.new_path) if p]
        folders = sorted({path.rpartition("/")[0] for path in paths})
        packet = {"by": "person", "folders": folders, "paths": to_plain(list(changes))}
        self._publish("files", "", packet)

    def _attach_reply(self, session: str) -> Packet | None:
        """Return what `attach` would answer now, if *session* is open."""
        runners = {runner.session: runner for runner in self.registry.open_runners}
        runner = runners.get(session)
        return runner.attach("", 0, DEFAULT_TURNS) if runner else None

    def _is_watched(self, session: str) -> bool:
        rooms: Any = self._socketio.server.manager.rooms.get("/", {})
        return f"session {session}" in rooms or self._event_bus.has_subscribers(session)


def _silent_logger() -> logging.Logger:
    """Return a log that nobody reads: the terminal is for the person."""
    log = logging.getLogger("onefold.sockets")
    log.setLevel(logging.CRITICAL + 1)
    return log


def serve(
    bind_address: BindAddress,
    config: ServerConfig,
    translator: Translator,
    data_dir: Path,
    warm: Callable[[], None],
) -> int:
    """Serve *config* until Ctrl-C; print how to get in. Raises `UserError` if that cannot begin.

    *data_dir* gets the file that tells the person's own programs how to reach the server. *warm*
    loads what the first task will need, in a thread, once the link is there.
    """

    def echo(message: Text) -> None:
        sys.stdout.write(f"{translator.render(message)}\n")
        sys.stdout.flush()

    server = WebServer(bind_address, config)
    with ExitStack() as stack:
        stack.enter_context(
            stopping_on_signals(_stop_in_thread(server.stop), ("SIGINT", "SIGTERM"))
        )
        file = server_file(data_dir, server.port)
        stack.enter_context(
            published_server_file(file, server.url, server.authenticator.token, config.project.root)
        )
        echo(phrase("Onefold is working in {path}.", path=str(config.project.root)))
        server.on_paired = lambda device: echo(phrase("Paired: {device}.", device=device.name))
        links = LoginLinks(server.url, server.authenticator, server.remote, echo)
        links.show(float("inf"))
        links.offer()
        threading.Thread(target=warm, name="warm", daemon=True).start()
        server.run()
    echo(phrase("Stopped. All sessions are saved."))
    return 0


def _stop_in_thread(stop: Callable[[], None]) -> Callable[[], None]:
    """Return a function that runs *stop* in a thread: it takes as long as a turn to end."""
    return threading.Thread(target=stop, name="stop", daemon=True).start
