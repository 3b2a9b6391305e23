"""The browser screen put together, and served."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask_socketio import SocketIO

from core.cards import Change
from core.feature import buttons_of
from core.web_terminal import Packet, WebTerminal
from modules.annotations import Annotations
from modules.files.project import Project
from modules.pictures.picture_store import PictureStore
from modules.secrets.redactor import Secrets
from modules.sessions import Sessions
from modules.storage.data_folder import DataFolder
from modules.translator import Translator
from modules.web.api.changes_api import ChangesApi
from modules.web.api.files_api import FilesApi
from modules.web.api.model_api import ModelApi
from modules.web.api.pictures_api import PicturesApi
from modules.web.api.server_api import About, ServerApi
from modules.web.api.session_api import SessionApi
from modules.web.api.sessions_api import TURNS, SessionsApi
from modules.web.files.content import FileContents
from modules.web.files.tree_listing import TreeListing
from modules.web.files.watcher import FolderWatcher
from modules.web.http.app import make_app, replay_page
from modules.web.http.auth import LINK_SECONDS, Authenticator, announced, server_file
from modules.web.http.routes import Route, routes_of
from modules.web.http.security import SecurityMiddleware
from modules.web.servers import http_servers, websocket_limits
from modules.web.servers.bind import BindAddress
from modules.web.sessions.event_bus import EventBus
from modules.web.sessions.notifier import Kind
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import Opener
from modules.web.socketio.handlers import Sockets, say_bye
from modules.web.socketio.rooms import Rooms
from utils.i18n import Text, phrase
from utils.logger import FailureLog
from utils.system.interrupts import stopping
from utils.text.codec import to_plain


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """What is served: sessions of one project, each on a terminal of *open_terminal*.

    *store* is the one that all those terminals use; *start* the session that is shown first, "" for
    the one a browser showed last.
    """

    project: Project
    data: DataFolder
    store: Sessions
    open_terminal: Opener
    version: str
    language: str
    model: str
    is_practice: bool
    log: FailureLog
    start: str = ""


class WebServer:
    """The server of *house* at *place*; make and `run` it in one thread.

    Raises `Problem` when the address cannot be had.
    """

    def __init__(self, place: BindAddress, house: ServerConfig) -> None:
        self._house = house
        self._listening = place.listen()
        self.port: int = self._listening.getsockname()[1]
        self.url = place.url(self.port)
        self.access = Authenticator(self.port)
        self._hub, self._server = http_servers.make(
            place.async_mode, self._listening, self._house.log.keep
        )
        self._outlet = EventBus(self._hub)
        notes = Annotations(house.project, house.data.notes)
        self._listing = TreeListing(house.project, notes, self._list_again, house.log.keep)
        self._first = house.open_terminal(lambda _: None)
        self._veil = PageRedactor(_secrets_of(self._first))
        self.workspace = SessionRegistry(
            house.store,
            house.open_terminal,
            self._tell,
            self._house.log.keep,
            self._veil,
            is_watched=self._is_watched,
            pictures=PictureStore(house.data.pictures),
        )
        self._watch = FolderWatcher(house.project, self._listing, self._tell)
        self._files = FileContents(
            house.project, notes, self._changed_by_hand, self._veil, self._listing.stamps
        )
        self._make(place)

    def _make(self, place: BindAddress) -> None:
        house, outlet = self._house, self._outlet
        desk = SessionApi(self.workspace, outlet)
        self.app = make_app(
            self._routes(desk),
            self._hub,
            self.access,
            self._house.log.keep,
            self._picture_of,
            self._first.tools.specs,
            buttons_of(self._first.commands.values()),
            version=house.version,
            language=house.language,
            start=house.start,
        )
        self._socketio = SocketIO(
            self.app,
            async_mode=place.async_mode,
            client_manager=Rooms(),
            max_http_buffer_size=websocket_limits.LARGEST,
            ping_interval=websocket_limits.PING_SECONDS,
            ping_timeout=websocket_limits.PING_SECONDS,
            serve_client=False,
            manage_session=False,
            logger=_silent(),
            engineio_logger=_silent(),
        )
        websocket_limits.install(self._socketio.server.eio, place.async_mode)
        sockets = Sockets(self._socketio, self._hub, desk, self._watch, self._house.log.keep)
        outlet.connect(self._socketio.emit, sockets.drop_slow)
        self._guarded = SecurityMiddleware(self.app, self.access, place.hosts(self.port))

    def _routes(self, desk: SessionApi) -> list[Route]:
        house = self._house
        about = About(
            version=house.version,
            project=house.project.name,
            root=str(house.project.root),
            language=house.language,
            model=house.model,
            is_practice=house.is_practice,
            url=self.url,
            port=self.port,
        )
        commands, tools = self._first.commands, self._first.tools
        sessions = SessionsApi(
            self.workspace,
            lambda *told: replay_page(self.app, self._files, tools.specs)(*told),
            self._veil,
        )
        files = FilesApi(self._files, self._listing, self.workspace, self._veil)
        server = ServerApi(
            about,
            self.access,
            self.workspace,
            lambda: list(commands.values()),
            lambda: tools.specs,
        )
        changes = ChangesApi(house.project, self.workspace, self._listing.stamps)
        pictures = PicturesApi(self.workspace)
        models = ModelApi(self.workspace)
        return routes_of(server, sessions, desk, models, pictures, changes, files)

    def run(self) -> None:
        """Serve until `stop`; then nothing of a session runs any more."""
        self._watch.start()
        try:
            self._server.run(self._guarded)
        finally:
            websocket_limits.end(self._socketio.server.eio)
            self._outlet.close()
            self._server.close()
            self._watch.close()
            self._listing.close()
            self.workspace.close()
            self._hub.close()
            self._listening.close()

    def stop(self) -> None:
        """End it all, what runs in the sessions first; from any thread but `run`'s."""
        self.workspace.close()
        self._hub.call(say_bye, self._socketio)
        self._server.stop()

    def _tell(self, kind: Kind, session: str, packet: Packet) -> None:
        if kind == "files":
            self._listing.outdated()
            if packet["by"] == "agent":
                self._listing.written(c["new_path"] or c["path"] for c in packet["paths"])
        self._outlet.tell(kind, session, packet)

    def _list_again(self) -> None:
        """Have every page ask anew what the files are: it was told of an older survey of them."""
        self._outlet.tell("files", "", {"by": "outside", "folders": ["*"], "paths": []})

    def _changed_by_hand(self, changes: Sequence[Change]) -> None:
        self.workspace.changed_by_hand(changes)
        paths = [p for change in changes for p in (change.path, change.new_path) if p]
        folders = sorted({path.rpartition("/")[0] for path in paths})
        told = {"by": "person", "folders": folders, "paths": to_plain(list(changes))}
        self._tell("files", "", told)

    def _picture_of(self, session: str) -> Packet | None:
        """Return what `attach` would answer now, if *session* is open."""
        seats = {seat.session: seat for seat in self.workspace.open_seats}
        seat = seats.get(session)
        return seat.arrive("", 0, TURNS) if seat else None

    def _is_watched(self, session: str) -> bool:
        rooms: Any = self._socketio.server.manager.rooms.get("/", {})
        return f"session {session}" in rooms or self._outlet.has_listeners(session)


def _secrets_of(terminal: WebTerminal) -> Secrets | None:
    return next((family for family in terminal.families if isinstance(family, Secrets)), None)


def _silent() -> logging.Logger:
    """Return a log that nobody reads: the terminal is for the person."""
    log = logging.getLogger("onefold.sockets")
    log.setLevel(logging.CRITICAL + 1)
    return log


def serve(place: BindAddress, house: ServerConfig, words: Translator, data_dir: Path) -> int:
    """Serve *house* until Ctrl-C; print how to get in. Raises `Problem` when that cannot begin.

    *data_dir* gets the file that tells the person's own programs how to reach the server.
    """

    def say(what: Text) -> None:
        sys.stdout.write(f"{words.say(what)}\n")
        sys.stdout.flush()

    server = WebServer(place, house)
    with ExitStack() as stack:
        stack.enter_context(stopping(_begin(server.stop), ("SIGINT", "SIGTERM")))
        file = server_file(data_dir, server.port)
        stack.enter_context(announced(file, server.url, server.access.token, house.project.root))
        say(phrase("Onefold works in {path}.", path=str(house.project.root)))
        if not place.is_local:
            say(phrase("Mind: others on the network can listen in; nothing is encrypted."))
        say(phrase("Open this link; it works once:"))
        say(f"  {server.url}{server.access.new_link()}")
        _give_links(server, say)
        gc.collect()
        gc.freeze()  # to look through all that is loaded, a collection would hold up every thread
        server.run()
    say(phrase("Stopped. The sessions are kept."))
    return 0


def _begin(stop: Callable[[], None]) -> Callable[[], None]:
    """Return what has *stop* done in a thread of its own: it takes as long as a turn to end."""
    return threading.Thread(target=stop, name="stop", daemon=True).start


def _give_links(server: WebServer, say: Callable[[Text], None]) -> None:
    """Print a fresh link whenever the person presses Enter, if there is somebody who can."""
    if not (sys.stdin and sys.stdin.isatty()):
        return
    say(phrase("Enter gives another link, Ctrl-C ends it all."))
    keyboard = sys.stdin.fileno()

    def listen() -> None:
        while os.read(keyboard, 1_000):
            say(f"  {server.url}{server.access.new_link(LINK_SECONDS)}")

    threading.Thread(target=listen, name="keyboard", daemon=True).start()
