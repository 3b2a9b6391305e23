"""A real server on the loopback interface, with scripted models, and real clients of it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import engineio
import socketio

from core.cards import Card
from core.conversation.transcript import Packet
from core.feature import Feature, command
from core.web_terminal import WebTerminal
from modules.files.project import Project
from modules.focus import Focus
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from modules.web.server import ServerConfig, WebServer
from modules.web.servers.bind import BindAddress
from modules.web.servers.event_loop import AsyncMode
from tests.core.loop.test_turn import Box
from tests.scripted_model import Item, ScriptedModel
from tests.served_model import FixedModel
from utils.logger import FailureLog

TIMEOUT_SECONDS = 60.0


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class RunningServer:
    """A running server; *model* is the one all its terminals ask."""

    server: WebServer
    model: ScriptedModel
    project: Path
    data: Path
    failures: list[BaseException] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.server.authenticator.token}"}

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        with_token: bool = True,
    ) -> Answer:
        """Make one request; a dict becomes JSON. *with_token*: with the token."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.server.port, timeout=TIMEOUT_SECONDS
        )
        request_headers = dict(self.token if with_token else {}) | (headers or {})
        if isinstance(body, dict):
            body = json.dumps(body).encode()
            request_headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, request_headers)
            answer = connection.getresponse()
            return Answer(
                answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
            )
        finally:
            connection.close()

    def cookie(self) -> dict[str, str]:
        """Log in as a browser does; return the header that it sends from then on, to any port."""
        return self._logged_in()[0]

    def login(self) -> dict[str, str]:
        """Log in as a browser does; return the headers of what the page itself asks for."""
        cookie, location = self._logged_in()
        origin_headers = {"Origin": f"http://{self.host}"}
        return cookie | origin_headers | {"X-Onefold-Key": location.partition("#key=")[2]}

    def _logged_in(self) -> tuple[dict[str, str], str]:
        """Return the cookie, and where the login leads to."""
        accept_headers = {"Accept": "text/html,*/*;q=0.8"}
        answer = self.ask(
            "GET", self.server.authenticator.new_link(), headers=accept_headers, with_token=False
        )
        assert answer.status == 303
        cookie = {"Cookie": answer.headers["set-cookie"].split(";")[0]}
        return cookie, answer.headers["location"]

    def new_session(self) -> str:
        session: str = self.ask("POST", "/api/sessions").json["id"]
        return session

    @contextmanager
    def page(self) -> Iterator[Page]:
        page = Page(self)
        page.connect()
        try:
            yield page
        finally:
            page.disconnect()


class OrderedEngineClient(engineio.Client):  # type: ignore[misc]
    """Engine.IO client that handles messages in order; the base has a thread for each."""

    def _trigger_event(self, event: str, *arguments: Any, **options: Any) -> Any:
        return super()._trigger_event(event, *arguments, **{**options, "run_async": False})


class Client(socketio.Client):  # type: ignore[misc]
    def _engineio_client_class(self) -> type[OrderedEngineClient]:
        return OrderedEngineClient


class Page:
    """Client that behaves like the page: follows a session by the rules of docs/protocol.md."""

    def __init__(self, served: RunningServer) -> None:
        self.served = served
        self.messages: SimpleQueue[tuple[str, Packet]] = SimpleQueue()
        self.state: Packet = {}

    def connect(self) -> None:
        self.client = Client(reconnection=False, request_timeout=TIMEOUT_SECONDS)
        for name in ("ev", "state", "session", "files", "bye"):
            self.client.on(name, lambda packet, name=name: self.messages.put((name, packet)))
        self.client.connect(
            f"http://{self.served.host}",
            headers=self.served.token,
            transports=["websocket"],
            wait_timeout=TIMEOUT_SECONDS,
        )

    def disconnect(self) -> None:
        connection = self.client.eio.ws
        self.client.disconnect()
        self._wait_closed(connection)

    def break_connection(self) -> None:
        """Lose the connection as by a broken network; what was under way is lost with it."""
        connection = self.client.eio.ws
        connection.sock.shutdown(socket.SHUT_RDWR)
        self._wait_closed(connection)
        self.messages = SimpleQueue()

    def _wait_closed(self, connection: Any) -> None:
        """Wait until the reader has ended and the socket is closed, whoever closed first."""
        self.client.eio.wait()
        connection.shutdown()

    def call(self, name: str, **arguments: Any) -> Any:
        return self.client.call(name, arguments, timeout=TIMEOUT_SECONDS)

    def attach(self, session: str, boot: str = "", after: int = 0) -> Packet:
        answer: Packet = self.call("attach", session=session, boot=boot, after=after)
        assert answer["ok"], answer
        return answer

    def wait_for(self, kind: str, **wanted: Any) -> Packet:
        """Return the next message, or event of the type, *kind* that has what is *wanted*."""
        while True:
            try:
                name, packet = self.messages.get(timeout=TIMEOUT_SECONDS)
            except Empty:
                raise AssertionError(f"{kind} {wanted} never came") from None
            if name == "state":
                self.state = packet
            if kind in (name, packet.get("type")) and wanted.items() <= packet.items():
                return packet


class Forks(Feature):
    """The command of `modules.fork`: the server itself does it."""

    @command("/fork [TURN]", "Continue from the end of a turn in a new session.", leads_to="copy")
    def fork(self, rest: str) -> Card:
        raise AssertionError(f"/fork {rest} came to a session")


@contextmanager
def run_server(
    mode: AsyncMode,
    tmp: Path,
    *replies: list[Item],
    port: int = 0,
    make_features: Callable[[Project, DataFolder], Sequence[Feature]] = lambda *_: (),
    shell_environment: Mapping[str, str] | None = None,
    allow_remote: bool = False,
    **settings: Any,
) -> Iterator[RunningServer]:
    """Serve a project in *tmp*, with the data folder beside it; *make_features* adds features."""
    (tmp / "project").mkdir(exist_ok=True)
    project = Project(tmp / "project")
    data = DataFolder(tmp / "data", project.root)
    store = Sessions(data.sessions)
    model = ScriptedModel(*replies)

    def open_terminal(emit: Any) -> WebTerminal:
        return WebTerminal(
            model=model,
            feature_list=[Box(), Focus(project), Forks(), *make_features(project, data)],
            store=store,
            project="demo",
            system_prompt="You are a test.",
            today=lambda: date(2026, 1, 2),
            emit=emit,
            **settings,
        )

    config = ServerConfig(
        project=project,
        data=data,
        store=store,
        open_terminal=open_terminal,
        version="0",
        language="en",
        model=FixedModel(),
        log=FailureLog(data.log),
        shell_environment=shell_environment,
    )
    ready = threading.Event()
    servers: list[WebServer] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            address = BindAddress(port=port, async_mode=mode, allow_remote=allow_remote)
            servers.append(WebServer(address, config))
            ready.set()
            servers[0].run()
        except BaseException as error:  # told by the assertion below
            failures.append(error)
            ready.set()
            raise

    thread = threading.Thread(target=run, name="server")
    thread.start()
    assert ready.wait(TIMEOUT_SECONDS)
    assert servers, failures
    try:
        yield RunningServer(servers[0], model, project.root, data.path, failures)
    finally:
        servers[0].stop()
        thread.join(TIMEOUT_SECONDS)
        assert not thread.is_alive()
        store.close()
        project.close()
    log = data.log
    assert not log.exists(), log.read_text()
