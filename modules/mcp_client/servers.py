"""The servers of a project: read from their files, asked about, started, and ended with us."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Collection, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.events import PersonQuestion, Reply
from core.feature import Answer
from core.tools import ToolError
from modules.files.project import Project
from modules.instructions.consent import AskOnce, Consents, content_digest
from modules.mcp_client.client_thread import ClientThread
from modules.mcp_client.config import (
    MAX_BYTES,
    ConfigError,
    ServerConfig,
    given_config,
    parse_config,
    shown_config,
)
from modules.mcp_client.config_names import PROJECT_FILE
from modules.mcp_client.connection.launcher import Launcher
from modules.mcp_client.failures import RequestRefused, ServerFailed, ServerLate
from modules.mcp_client.listing import Listing, ListingCache
from modules.mcp_client.sign_in.sign_ins import SignIns
from modules.mcp_client.sign_in.tokens import Hide
from utils.i18n import Phrase, UserError, phrase
from utils.system.shared_file import SharedFile
from utils.text.clean import visible
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from modules.mcp_client.connection.connection import Connection
    from modules.mcp_client.connection.pending_call import Channel

Result = TypeVar("Result")
Request = Callable[["Connection", "Channel"], Coroutine[Any, Any, Result]]
MAX_FAILURES = 3
"""Times that a server may fail in a row before the person has to start it again."""
_CLOSE_SECONDS = 5.0
_BUSY_SECONDS = 0.5  # that a busy event loop is waited for; programs are killed before
_SDK = ("mcp", "mcp_types", "anyio", "httpx2", "pydantic")


class Servers:
    """The servers in the person's *own* file and in that of *project*.

    The project's are the person's to allow, once by content; *consents* keeps it. *tokens* is the
    folder of those of servers, each of which is told to *hide*. Any thread calls *on_change* when a
    server offers something else, or failed, and *tell* with what the person should know.
    """

    def __init__(
        self,
        project: Project,
        own: Path,
        variables: Mapping[str, str],
        consents: Consents,
        cache: ListingCache,
        launcher: Launcher,
        tokens: Path,
        on_change: Callable[[], None],
        tell: Callable[[Phrase], None],
        hide: Hide,
    ) -> None:
        self._project = project
        self.own_file = SharedFile(own)
        self._variables = variables
        self._consent = AskOnce(consents)
        self._cache = cache
        self._launcher = launcher
        self.on_change = on_change
        self._thread = ClientThread()
        self._sign_ins = SignIns(self._thread, tokens, self.restart, tell, hide)
        self._lock = threading.RLock()
        self._connections: dict[str, Connection] = {}
        self._failures: dict[str, int] = {}
        self._listings: dict[str, Listing] = {}
        self._configs: list[ServerConfig] = []
        self._given: tuple[ServerConfig, ...] = ()
        self.problems: list[Phrase] = []
        """Why a whole file counts for nothing."""
        self.project_text = ""
        self._project_digest = ""

    # --- what the files say ----------------------------------------------------------------------

    def load(self) -> None:
        """Read both files as they are now; what runs already goes on as it began."""
        self.problems = []
        own = self._read(str(self.own_file.path), self._own_data, self._variables, is_own=True)
        theirs = self._read(PROJECT_FILE, self._project_data, None, is_own=False)
        own = _without_twins([*own, *self._given])
        names = {config.prefix for config in own}
        others = [config for config in theirs if config.prefix not in names]
        self._configs = _without_twins([*own, *others])

    def give(self, servers: Mapping[str, Mapping[str, Any]]) -> None:
        """Let *servers* count beside those of the files, in place of those that were given before;
        one whose name the person's own file has does not. What is not given any more ends."""
        before, self._given = self._given, tuple(given_config(*one) for one in servers.items())
        for config in before:
            if config not in self._given:
                self._listings.pop(config.name, None)
                self._drop(config.name)
        self.load()

    def _read(
        self,
        path: str,
        data: Callable[[], bytes],
        variables: Mapping[str, str] | None,
        *,
        is_own: bool,
    ) -> list[ServerConfig]:
        try:
            return parse_config(data(), variables, is_own=is_own)
        except (ConfigError, UserError, ToolError) as error:
            what = phrase("Ignored {path}: {why}.", path=path, why=error.message)
            self.problems.append(what)
            return []

    def _own_data(self) -> bytes:
        return self.own_file.read() if self.own_file.stamp() else b""

    def _project_data(self) -> bytes:
        digest, text = "", ""
        try:
            if self._project.stat(PROJECT_FILE) is None:
                return b""
            data = self._project.read_bytes(PROJECT_FILE, MAX_BYTES)
            if len(data) > MAX_BYTES:
                raise ConfigError(phrase("it is too long"))
            digest, text = content_digest("mcp", data), shown_config(data)
            return data
        finally:  # at once: a turn may look at what was allowed while a person reads anew
            self._project_digest, self.project_text = digest, text

    @property
    def configs(self) -> Sequence[ServerConfig]:
        return self._configs

    def usable(self) -> list[ServerConfig]:
        """Return those that may be started."""
        return [one for one in self._configs if self.reason_against(one) is None]

    def reason_against(self, config: ServerConfig) -> Phrase | None:
        """Return why *config* may not be started, None where it may."""
        if config.problem:
            return config.problem
        if not config.is_on:
            return phrase("switched off")
        if config.is_own or self._consent.is_allowed(self._project_digest):
            return None
        if self._consent.is_refused(self._project_digest):
            return phrase("declined by you; /mcp allow allows it")
        return phrase("not enabled yet; /mcp allow enables it")

    def is_unanswered(self, config: ServerConfig) -> bool:
        """Return whether nothing but an answer of the person is missing for *config*."""
        return bool(self.open_question) and config.is_on and not config.problem

    @property
    def open_question(self) -> str:
        """The digest of the project's file where the person has to say whether it counts."""
        wanted = any(not one.is_own and one.is_on and not one.problem for one in self._configs)
        is_open = wanted and self._consent.is_open(self._project_digest)
        return self._project_digest if is_open else ""

    def take_answer(self, digest: str, answer: Answer) -> Phrase:
        """Let *answer* count for the project's file with *digest*; return what that means."""
        self._consent.take(digest, answer)
        match answer:
            case "yes":
                return phrase("Its servers are enabled.")
            case "no":
                return phrase("Its servers are disabled. /mcp allow enables them.")
            case "allowed":
                return phrase("Its servers are enabled for this session.")
            case "nobody":
                return phrase(
                    "Its servers were not started: no one was there to allow them. Allow "
                    "them once in a session, or use --approve all for this run."
                )

    def allow(self) -> None:
        """Let the project's file count, as it is now. Raises `UserError` where there is none."""
        self.load()
        if not self._project_digest:
            raise UserError(phrase("The project has no {file}.", file=PROJECT_FILE))
        self.take_answer(self._project_digest, "yes")

    # --- what they offer -------------------------------------------------------------------------

    def listing(self, config: ServerConfig) -> Listing | None:
        """Return what it said last, None where nothing is known yet; starts nothing."""
        if config.name not in self._listings and (kept := self._cache.get(config.digest)):
            self._listings[config.name] = kept
        return self._listings.get(config.name)

    def fetch_listings(self, configs: Collection[ServerConfig], seconds: float, stop: Stop) -> None:
        """Start those of *configs* of which nothing is known, and wait for what they offer.

        Who is late, is heard later. Raises `Stopped`.
        """
        futures: list[Future[None]] = []
        for config in configs:
            try:
                futures.append(self._thread.submit(self._connection(config).wait_ready()))
            except ServerFailed:  # /mcp says why
                continue
        all_done = threading.Event()

        def check(_: object) -> None:
            if all(future.done() for future in futures):
                all_done.set()

        for future in futures:
            future.add_done_callback(check)
        with stop.on_stop(all_done.set):
            if futures:
                all_done.wait(seconds)
        if stop.is_set():
            raise Stopped

    # --- what is asked of them -------------------------------------------------------------------

    def find(self, name: str) -> ServerConfig | None:
        return next((config for config in self._configs if config.name == name), None)

    def ask(
        self, name: str, request: Request[Result], stop: Stop
    ) -> Generator[str | PersonQuestion, Reply | None, Result]:
        """Ask the server *name*, which is started where it does not run; yield what it says.

        Raises `ServerFailed` and `Stopped`; a program that was waited for in vain is ended then.
        """
        config = self.find(name)
        why = self.reason_against(config) if config else phrase("it is not configured any more")
        if config is None or why:
            raise ServerFailed(why or phrase("it is not configured any more"))
        connection = self._connection(config)
        from modules.mcp_client.connection.pending_call import PendingCall

        def run(channel: Channel) -> Coroutine[Any, Any, Result]:
            return request(connection, channel)

        try:
            result = yield from PendingCall(self._thread, run, stop, config.seconds).wait()
        except RequestRefused:
            raise
        except ServerFailed:
            self._drop(name, has_failed=True)
            raise
        except TimeoutError:
            self._drop(name, has_failed=True)
            raise ServerLate(
                phrase("it did not answer within {n} seconds", n=config.seconds)
            ) from None
        except (Stopped, GeneratorExit):
            self._drop(name, is_only_program=True)
            raise
        self._failures.pop(name, None)
        return result

    def _connection(self, config: ServerConfig) -> Connection:
        with self._lock:
            connection = self._connections.get(config.name)
            if connection and connection.is_alive:
                return connection
            if connection and connection.state == "failed":
                self._failures[config.name] = self._failures.get(config.name, 0) + 1
            failures = self._failures.get(config.name, 0)
            if failures >= MAX_FAILURES:
                why = connection.failure if connection else None
                raise ServerFailed(
                    phrase(
                        "it failed {n} times ({why}); /mcp restart {name} starts it again",
                        n=failures,
                        why=why or "?",
                        name=visible(config.name),
                    )
                )
            self._connections[config.name] = connection = self._new_connection(config)
            self._thread.submit(self._live(connection))
            return connection

    async def _live(self, connection: Connection) -> None:
        await connection.run()
        self.on_change()

    def _new_connection(self, config: ServerConfig) -> Connection:
        try:
            from modules.mcp_client.connection.connection import Connection
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] not in _SDK:
                raise
            command = f"{shlex.quote(sys.executable)} -m pip install mcp"
            raise ServerFailed(
                phrase("the package mcp is not installed; install it: {command}", command=command)
            ) from None

        def keep(listing: Listing) -> None:
            if listing != self._listings.get(config.name):
                self._listings[config.name] = listing
                self._cache.put(config.digest, listing)
                self.on_change()

        return Connection(
            config,
            lambda background, stop: self._launcher.start(config, background, stop),
            self._project.root.as_uri(),
            keep,
            self._sign_ins.tokens(config),
        )

    def _drop(self, name: str, *, has_failed: bool = False, is_only_program: bool = False) -> None:
        """End the connection to *name*, so that the next request makes a new one."""
        with self._lock:
            connection = self._connections.get(name)
            config = self.find(name)
            if connection is None or (is_only_program and config and config.url):
                return
            if has_failed and connection.state != "failed":
                self._failures[name] = self._failures.get(name, 0) + 1
            if connection.state != "failed":
                del self._connections[name]
        self._close([connection])

    def connection_of(self, name: str) -> Connection | None:
        """Return the connection there is, for those who only look."""
        return self._connections.get(name)

    def running_names(self) -> list[str]:
        """Return the servers whose programs run."""
        return [
            config.name
            for config in self._configs
            if config.command and (one := self._connections.get(config.name)) and one.is_alive
        ]

    def restart(self, name: str) -> None:
        """End the server *name* and forget its failures; the files are read again.

        Raises `UserError` where there is none.
        """
        self.load()
        if self.find(name) is None:
            raise UserError(phrase("There is no MCP server {name}; /mcp shows them.", name=name))
        with self._lock:
            connection = self._connections.pop(name, None)
            self._failures.pop(name, None)
        if connection:
            self._close([connection])
        config = self.find(name)
        if config and self.reason_against(config) is None:
            try:
                self._connection(config)
            except ServerFailed as error:
                raise UserError(
                    phrase("MCP server {name}: {why}.", name=name, why=error.message)
                ) from None

    # --- sign-in ---------------------------------------------------------------------------------

    def waiting_for_sign_in(self) -> list[ServerConfig]:
        """Return those that let nobody in who has not signed in."""
        return [
            config
            for config in self.usable()
            if (one := self._connections.get(config.name)) and one.wants_sign_in
        ]

    def sign_in(self, name: str, stop: Stop) -> Phrase:
        """Begin to sign in to *name*; return what the person has to do.

        Raises `UserError` and `Stopped`.
        """
        config = self._known(name)
        if why := self.reason_against(config):
            raise _not_usable(name, why)
        try:
            return self._sign_ins.begin(config, stop)
        except ServerFailed as error:
            raise _not_usable(name, error.message) from None

    def sign_out(self, name: str) -> Phrase:
        """Drop the tokens for *name*; return what became of it. Raises `UserError`."""
        config = self._known(name)
        had_tokens = self._sign_ins.sign_out(config)
        with self._lock:
            connection = self._connections.pop(name, None) if config.url else None
        if connection:
            self._close([connection])
        shown = visible(name)
        if had_tokens:
            return phrase("Signed out of {name}: its tokens are deleted here.", name=shown)
        return phrase("You were not signed in to {name}.", name=shown)

    def _known(self, name: str) -> ServerConfig:
        if config := self.find(name):
            return config
        raise UserError(phrase("There is no MCP server {name}; /mcp shows them.", name=name))

    def close(self) -> None:
        """End all of them; nothing of their programs is alive then."""
        with self._lock:
            connections, self._connections = list(self._connections.values()), {}
        self._close(connections)
        self._thread.close()

    def _close(self, connections: Sequence[Connection]) -> None:
        for connection in connections:
            connection.stop_program()
        futures = [self._thread.submit(connection.close()) for connection in connections]
        for future in futures:
            with suppress(TimeoutError):  # it is reading what a server wrote
                future.result(_BUSY_SECONDS)
        for connection in connections:
            connection.wait_ended(_CLOSE_SECONDS)


def _not_usable(name: str, why: Phrase) -> UserError:
    return UserError(phrase("MCP server {name}: {why}.", name=visible(name), why=why))


def _without_twins(configs: Sequence[ServerConfig]) -> list[ServerConfig]:
    """Return *configs* without those whose tools would be called as another's."""
    found: dict[str, ServerConfig] = {}
    for config in configs:
        found.setdefault(config.prefix, config)
    return list(found.values())
