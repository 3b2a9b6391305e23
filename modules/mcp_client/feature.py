"""MCP servers of a session: their tools, resources and prompts, and `/mcp`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from core.cards import Card, TextCard
from core.feature import (
    Answer,
    Feature,
    PromptCommand,
    Question,
    Section,
    SessionHandle,
    command,
    name_of,
)
from core.hooks import (
    AsksPerson,
    BindsToSession,
    FollowsSession,
    HoldsResources,
    OffersCommands,
    OffersTools,
    PreparesContext,
    PreparesTurns,
    ProvidesContext,
    ProvidesNews,
    ProvidesStatus,
    ProvidesWarnings,
    RecordsCalls,
    RestsAfterTurns,
)
from core.tools import Tool, ToolError
from modules.checkpoints.undo.background_ids import IN_BACKGROUND
from modules.files.project import Project
from modules.instructions.consent import Consents
from modules.mcp_client.config_names import PROJECT_FILE
from modules.outputs import Outputs
from modules.pictures.feature import Pictures
from modules.sandbox.types import Limits
from modules.storage.data_folder import DataFolder
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.mcp_client.config import ServerConfig
    from modules.mcp_client.server_calls import FolderWatch
    from modules.mcp_client.server_cards import ServerCards
    from modules.mcp_client.server_tools import ServerTool
    from modules.mcp_client.servers import Servers
    from modules.sandbox.late_sandbox import LateSandbox

_LIST_SECONDS = 20.0  # that the first request of a session waits for servers that are new
_MAX_TOLD = 40  # tools that are named in what the model is told of changes
_SECTION = "mcp"
_ACTIONS = ("restart", "sign-in", "sign-out")  # words of `/mcp` before a server's name


class ClientSettings(Protocol):
    """The settings that count here."""

    @property
    def person_environment(self) -> Mapping[str, str]: ...
    @property
    def network_hosts(self) -> Sequence[str]: ...
    @property
    def mcp_tokens(self) -> int: ...


class McpServers(
    Feature,
    BindsToSession,
    PreparesTurns,
    PreparesContext,
    AsksPerson,
    ProvidesContext,
    OffersTools,
    OffersCommands,
    ProvidesStatus,
    ProvidesNews,
    ProvidesWarnings,
    RestsAfterTurns,
    FollowsSession,
    HoldsResources,
):
    """The servers in the person's `mcp.json` and the project's `.mcp.json`.

    The list of their tools is made with the first request of a session, and stays; what changes
    then is told, found by a tool and called by another. Where no server is configured nothing of
    all this is loaded, and two files are looked for once a session.
    """

    def __init__(
        self,
        project: Project,
        data: DataFolder,
        consents: Consents,
        sandbox: LateSandbox,
        folder: FolderWatch,
        recorder: RecordsCalls,
        outputs: Outputs,
        pictures: Pictures,
        stop: Stop,
        settings: ClientSettings,
        *,
        limits: Limits,
        hide: Callable[[str, str], None],
    ) -> None:
        """Each token that lets the person in somewhere is told to *hide*, by name and value."""
        self._project = project
        self._data = data
        self._consents = consents
        self._sandbox = sandbox
        self._folder = folder
        self._recorder = recorder
        self._unstarted: Phrase | None = None
        self._outputs = outputs
        self._pictures = pictures
        self._stop = stop
        self._settings = settings
        self.network_hosts = settings.network_hosts
        """What servers that start may reach, of those that may reach the network."""
        self._limits = limits
        self._hide = hide
        self._handle: SessionHandle | None = None
        self._lock = threading.RLock()  # a screen looks while a turn begins
        self._servers: Servers | None = None
        self._given: Mapping[str, Mapping[str, Any]] = {}
        self._was_looked = False
        self._was_asked = False
        self._is_in_turn = False
        self._listed: tuple[Tool, ...] | None = None
        self._known: dict[str, ServerTool] = {}
        self._known_at_first: frozenset[str] = frozenset()
        self._is_stale = True
        self._warned: set[str] = set()
        self._news: list[Phrase] = []
        self._asked_to_sign_in: set[str] = set()

    def bind(self, session_handle: SessionHandle) -> None:
        self._handle = session_handle

    # --- what there is ---------------------------------------------------------------------------

    def give(self, servers: Mapping[str, Mapping[str, Any]]) -> None:
        """Let *servers* count beside those of the files as long as this session is open: by name,
        each as the person's own file would have it. They take the place of those given before, and
        the next request has a new list."""
        with self._lock:
            if servers == self._given:
                return
            self._given, self._listed, self._was_asked = servers, None, False
            self._was_looked = self._servers is not None
            if self._servers is not None:
                self._servers.give(servers)
        self._on_change()

    def _found(self) -> Servers | None:
        """Return the servers, None where none is configured; the files are read once a session."""
        with self._lock:
            if not self._was_looked:
                self._was_looked = True
                if self._servers is not None:
                    self._servers.load()
                elif self._given or self._has_files():
                    self._servers = self._new_servers()
            return self._servers

    def _has_files(self) -> bool:
        if self._data.mcp_servers.exists():
            return True
        try:
            return self._project.stat(PROJECT_FILE) is not None
        except ToolError:
            return False

    def _new_servers(self) -> Servers:
        from modules.mcp_client.connection.launcher import Launcher
        from modules.mcp_client.listing import ListingCache
        from modules.mcp_client.servers import Servers

        settings = self._settings
        environment = settings.person_environment
        launcher = Launcher(
            *(self._sandbox, self._project.root, self._limits, lambda: self.network_hosts),
            *(environment, self._folder.outside_environment),
        )
        servers = Servers(
            *(self._project, self._data.mcp_servers, environment, self._consents),
            *(ListingCache(self._data.mcp_listings), launcher, self._data.mcp_tokens),
            *(self._on_change, self._tell, self._hide),
        )
        servers.give(self._given)
        return servers

    def _tell(self, what: Phrase) -> None:
        """Tell the person at once where the screen can, else with the next event of a turn."""
        if self._handle is None or not self._handle.announce(what):
            self._news.append(what)

    def news(self) -> Sequence[Phrase]:
        told, self._news = self._news, []
        return told

    def _on_change(self) -> None:
        self._is_stale = True
        if self._handle:
            self._handle.refresh()

    def _tools(self) -> dict[str, ServerTool]:
        """Return the tools there are now by name, as far as servers have told of theirs."""
        servers = self._found()
        if servers is None:
            return {}
        with self._lock:
            if self._is_stale:
                from modules.mcp_client.server_calls import ServerCalls
                from modules.mcp_client.server_tools import server_tools

                self._is_stale = False
                calls = ServerCalls(
                    self._found, self._folder, self._outputs, self._pictures, self._stop
                )
                self._known = {
                    tool.name: tool
                    for config in servers.usable()
                    if (listing := servers.listing(config))
                    for tool in server_tools(config, listing, calls.call_tool, calls.read_resource)
                }
            return self._known

    # --- the list of the model -------------------------------------------------------------------

    def on_turn_start(self) -> None:
        self._is_in_turn = True

    def on_turn_end(self) -> None:
        self._is_in_turn = False

    def questions(self) -> Sequence[Question]:
        self._was_asked = True
        if (servers := self._found()) is None:
            return []
        if self._listed is None and (digest := servers.open_question):
            return [self._project_question(servers, digest)]
        self.before_request()
        return [
            self._sign_in_question(servers, config)
            for config in servers.waiting_for_sign_in()
            if config.name not in self._asked_to_sign_in
        ]

    def _project_question(self, servers: Servers, digest: str) -> Question:
        why = phrase(
            "Start these MCP servers of the project? Programs run in the sandbox, and their "
            "tools ask as usual. You are asked once, until the file changes."
        )

        def take(answer: Answer) -> Phrase:
            self._is_stale = True
            return servers.take_answer(digest, answer)

        card = TextCard(PROJECT_FILE, servers.project_text)
        return Question(f"mcp-{digest[:12]}", name_of(self.mcp), PROJECT_FILE, why, card, take)

    def _sign_in_question(self, servers: Servers, config: ServerConfig) -> Question:
        self._asked_to_sign_in.add(config.name)
        name = visible(config.name)
        why = phrase(
            "The MCP server {name} at {host} needs you to sign in. Sign in now? You get a "
            "link to open; the model does not see it.",
            name=name,
            host=visible(urlsplit(config.url).netloc.rpartition("@")[2]),
        )

        def take(answer: Answer) -> Phrase:
            if answer != "yes":
                return phrase(
                    "Not signed in: /mcp sign-in {name} in a dialogue begins it.", name=name
                )
            try:
                return servers.sign_in(config.name, self._stop)
            except UserError as error:
                return error.message

        card = TextCard(phrase("MCP server {name}", name=name), config.place)
        return Question(
            f"mcp-sign-in-{config.digest[:12]}", name_of(self.mcp), name, why, card, take
        )

    def before_request(self) -> None:
        """Make the list, once the person had the say on whose servers count."""
        while self._was_asked and self._listed is None:
            self._was_asked = False  # whoever stops it here is asked anew, inside of a turn
            given = self._given
            listed = self._new_list()
            with self._lock:
                self._was_asked = True
                if given is self._given:  # else others were given meanwhile
                    self._listed = listed

    def _new_list(self) -> tuple[Tool, ...]:
        servers = self._found()
        usable = servers.usable() if servers else []
        if servers is None or not usable:
            return ()
        if unknown := [one for one in usable if servers.listing(one) is None]:
            self._start(servers, unknown)
            self._is_stale = True
        from modules.mcp_client.server_tools import fitting
        from modules.mcp_client.tool_search import ToolSearch

        known = self._tools()
        self._known_at_first = frozenset(known)
        search = ToolSearch(lambda: list(self._tools().values()))
        return (*fitting(known.values(), self._settings.mcp_tokens), *search.listed())

    def _start(self, servers: Servers, unknown: Sequence[ServerConfig]) -> None:
        """Start *unknown*, for what they offer; what they do to the folder meanwhile is recorded.

        Raises `Stopped`. Where nothing can be recorded, none is started.
        """
        names = ", ".join(visible(one.name) for one in unknown)
        if self._handle is None:
            return
        self._handle.announce(phrase("Starting MCP servers: {names} …", names=names))
        call_id, turn = f"{names}{IN_BACKGROUND}", self._handle.history.turn
        try:
            self._recorder.before_call(call_id, turn)
        except UserError as error:
            self._unstarted = error.message
            return
        before = self._folder.begin_watch()
        try:
            servers.fetch_listings(unknown, _LIST_SECONDS, self._stop)
        finally:
            self._folder.end_watch(before)
            self._recorder.after_call(call_id, turn)

    def listed_tools(self) -> tuple[Tool, ...]:
        return self._listed or ()

    def find_tool(self, name: str) -> Tool | None:
        listed = (tool for tool in self.listed_tools() if tool.name == name)
        return self._tools().get(name) or next(listed, None)

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._changes())] if self._listed else []

    def _changes(self) -> str:
        """Return what is to be known of tools beside the list that the model was given."""
        from modules.mcp_client.tool_search import ToolSearch

        now = frozenset(self._tools())
        new, gone = sorted(now - self._known_at_first), sorted(self._known_at_first - now)
        lines = []
        if new:
            caller = ToolSearch.call_tool.__name__
            lines.append(f"New tools of MCP servers, for {caller}: {_joined(new)}.")
        if gone:
            lines.append(f"Tools of MCP servers that are gone: {_joined(gone)}.")
        return "\n".join(lines)

    def prompt_commands(self) -> Mapping[str, PromptCommand]:
        if (servers := self._found()) is None:
            return {}
        from modules.mcp_client.prompts import prompt_commands

        return prompt_commands(servers, self._stop)

    # --- the person ------------------------------------------------------------------------------

    @command(
        "/mcp [NAME|restart NAME|sign-in NAME|sign-out NAME|allow]",
        "Show the MCP servers, restart one, sign in or out, or allow the project's.",
        is_concurrent=True,
        completes="next_words",
    )
    def mcp(self, argument: str) -> Card:
        with self._lock:
            self._was_looked = False
            servers = self._found()
        if servers is None:
            return TextCard(
                phrase("No MCP servers configured."),
                phrase(
                    "Configure them in {own}, or in the project's {project}.",
                    own=str(self._data.mcp_servers),
                    project=PROJECT_FILE,
                ),
            )
        self._is_stale = True
        action, _, name = argument.partition(" ")
        if argument == "allow":
            servers.allow()
            return self._cards(servers).table()
        if action == "restart" and name:
            servers.restart(name.strip())
            return self._cards(servers).table()
        if argument == "restart" and not servers.find(argument):
            raise UserError(phrase("Usage: /mcp restart NAME. /mcp lists the names."))
        if action in ("sign-in", "sign-out") and (name := name.strip()):
            is_in = action == "sign-in"
            said = servers.sign_in(name, Stop()) if is_in else servers.sign_out(name)
            return TextCard(phrase("MCP server {name}", name=visible(name)), said)
        if argument:
            return self._cards(servers).details(argument)
        return self._cards(servers).table()

    def _cards(self, servers: Servers) -> ServerCards:
        from modules.mcp_client.server_cards import ServerCards

        listed = {tool.name for tool in self.listed_tools()}
        allows_all = self._handle is not None and self._handle.allows_all
        return ServerCards(servers, self._tools().values(), listed, allows_all=allows_all)

    def next_words(self, words: Sequence[str]) -> Sequence[str]:
        """Return what `/mcp` may take behind *words*."""
        servers = self._found()
        names = [config.name for config in servers.configs] if servers else []
        if not words:
            return ["allow", *_ACTIONS, *names]
        return names if len(words) == 1 and words[0] in _ACTIONS else []

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        servers = self._found()
        if servers is None:
            return
        cards = self._cards(servers)
        for config in servers.configs:
            state = phrase("{name}: {state}", name=visible(config.name), state=cards.state(config))
            yield phrase("MCP server"), state

    def warnings(self) -> Sequence[Phrase]:
        """Return, once each, why a file or a server that should be used cannot be."""
        servers = self._servers
        if servers is None or self._listed is None:
            return []
        found = [*servers.problems, *([self._unstarted] if self._unstarted else [])]
        for config in servers.configs:
            connection = servers.connection_of(config.name)
            why = config.problem or (connection.failure if connection else None)
            if why and config.is_on:
                name = visible(config.name)
                found.append(phrase("MCP server {name}: {why}.", name=name, why=why))
        new = [one for one in found if str(one) not in self._warned]
        self._warned.update(map(str, new))
        return new

    # --- the session -----------------------------------------------------------------------------

    def running_names(self) -> Text:
        """Return the servers that may change files between two calls of a turn, "" for none."""
        names = self._servers.running_names() if self._servers and self._is_in_turn else []
        return ", ".join(visible(name) for name in names)

    @property
    def has_programs(self) -> bool:
        """Whether a server of ours runs as a program, in a turn or between two."""
        return bool(self._servers and self._servers.running_names())

    def on_session_changed(self, session: str) -> None:  # noqa: ARG002 - whichever it is
        self._was_looked = self._was_asked = False
        self._listed, self._is_stale = None, True
        self._asked_to_sign_in.clear()

    def close(self) -> None:
        if self._servers:
            self._servers.close()


def join_names(*names: Text) -> Text:
    """Return all of *names* that are not empty as one text."""
    found = [name for name in names if name]
    if len(found) < 2:
        return found[0] if found else ""
    return phrase("{one}, {other}", one=found[0], other=join_names(*found[1:]))


def _joined(names: Sequence[str]) -> str:
    more = len(names) - _MAX_TOLD
    return ", ".join(names[:_MAX_TOLD]) + (f" and {more} more" if more > 0 else "")
