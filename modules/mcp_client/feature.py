"""MCP servers of a session: their tools, resources and prompts, and `/mcp`."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from core.cards import Card, Change, TableCard, TextCard
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
from core.tools import Outcome, RunningTool, Tool, ToolError, run_to_end
from modules.checkpoints.undo.background_ids import IN_BACKGROUND
from modules.files.project import Project
from modules.instructions.consent import Consents
from modules.mcp_client.config_names import PROJECT_FILE
from modules.outputs import Outputs
from modules.pictures.feature import Pictures
from modules.sandbox.types import Limits
from modules.storage.data_folder import DataFolder
from utils.i18n import Phrase, Text, UserError, phrase
from utils.pictures import Picture
from utils.text.clean import visible
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from modules.mcp_client.answers import Answer as ServerAnswer
    from modules.mcp_client.config import ServerConfig
    from modules.mcp_client.listing import OfferedPrompt
    from modules.mcp_client.server_tools import ServerTool
    from modules.mcp_client.servers import Request, Servers
    from modules.sandbox.late_sandbox import LateSandbox
    from modules.sandbox.run.file_changes import FileChanges, FolderState

_LIST_SECONDS = 20.0  # that the first request of a session waits for servers that are new
_MAX_TOLD = 40  # tools that are named in what the model is told of changes
_MAX_BODY = 4_000  # characters of an answer on its card
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


class FolderWatch(Protocol):
    """Watches what programs do to the folder that are not run as calls of their own."""

    def begin_watch(self) -> FolderState | None: ...
    def end_watch(self, before: FolderState | None) -> tuple[FileChanges, Sequence[Phrase]]: ...
    def outside_environment(self) -> Mapping[str, str]: ...


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
        from modules.mcp_client.launcher import Launcher
        from modules.mcp_client.listing import ListingCache
        from modules.mcp_client.servers import Servers

        settings = self._settings
        environment = settings.person_environment
        launcher = Launcher(
            *(self._sandbox, self._project.root, self._limits, settings.network_hosts),
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
                from modules.mcp_client.server_tools import server_tools

                self._is_stale = False
                self._known = {
                    tool.name: tool
                    for config in servers.usable()
                    if (listing := servers.listing(config))
                    for tool in server_tools(config, listing, self._call, self._read)
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

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, server: str, tool: str, arguments: dict[str, Any]) -> RunningTool:
        return (
            yield from self._run(
                server,
                tool,
                lambda connection, channel: connection.call_tool(tool, arguments, channel),
            )
        )

    def _read(self, server: str, uri: str, _: dict[str, Any]) -> RunningTool:
        return (
            yield from self._run(
                server, uri, lambda connection, channel: connection.read_resource(uri, channel)
            )
        )

    def _run(self, name: str, what: str, request: Request[ServerAnswer]) -> RunningTool:
        """Ask a server, and say what it answered and what became of the files."""
        from modules.mcp_client.failures import ServerFailed

        servers = self._found()
        if servers is None:
            raise ToolError(phrase("There is no MCP server {name}; /mcp shows them.", name=name))
        config = servers.find(name)
        before = self._folder.begin_watch() if config and config.command else None
        try:
            answer = yield from servers.ask(name, request, self._stop)
        except ServerFailed as error:
            if config and config.command:
                self._folder.end_watch(before)
            why = phrase("MCP server {name}: {why}.", name=visible(name), why=error.message)
            raise ToolError(why, error.code) from None
        except (Stopped, GeneratorExit):
            if config and config.command:
                self._folder.end_watch(before)
            raise
        changes = () if before is None else self._folder.end_watch(before)[0].changes
        return self._outcome(name, what, answer, changes)

    def _outcome(
        self, name: str, what: str, answer: ServerAnswer, changes: tuple[Change, ...]
    ) -> Outcome:
        from modules.mcp_client.answers import fenced

        pictures, problems = self._kept(name, answer.pictures)
        said = "\n".join([answer.text, *problems]).strip()
        text = said or "(no text)"
        shown = self._outputs.shorten(fenced(name, text))
        if answer.is_error:
            shown = f"The tool failed. {shown}"
        title = f"{visible(name)}: {visible(what)}"
        card = TextCard(
            title,
            visible_body(said) or phrase("No text. Pictures: {count}", count=len(pictures)),
            pictures=pictures,
        )
        return Outcome(
            *(shown, card, not answer.is_error, changes, pictures),
            error_code="command" if answer.is_error else None,
        )

    def _kept(self, name: str, found: Sequence[bytes]) -> tuple[tuple[Picture, ...], list[str]]:
        pictures: list[Picture] = []
        problems: list[str] = []
        for number, data in enumerate(found, 1):
            try:
                pictures.append(self._pictures.add(data, f"{visible(name)} {number}"))
            except UserError as error:
                problems.append(f"[{error.message}]")
        return tuple(pictures), problems

    # --- prompts ---------------------------------------------------------------------------------

    def prompt_commands(self) -> Mapping[str, PromptCommand]:
        servers = self._found()
        if servers is None:
            return {}
        return {
            f"/{config.prefix.removesuffix('__')}:{prompt.name}": self._prompt(config, prompt)
            for config in servers.usable()
            if (listing := servers.listing(config))
            for prompt in listing.prompts
            if prompt.name.isprintable() and " " not in prompt.name
        }

    def _prompt(self, config: ServerConfig, prompt: OfferedPrompt) -> PromptCommand:
        words = (
            f"{name}=…" if name in prompt.required else f"[{name}=…]" for name in prompt.arguments
        )
        name = f"/{config.prefix.removesuffix('__')}:{prompt.name}"
        said = visible(" ".join(prompt.description.split()))[:120]
        return PromptCommand(
            usage=" ".join([name, *map(visible, words)]),
            help=phrase(
                "{what} (MCP server {server})", what=said or name, server=visible(config.name)
            ),
            path=config.place,
            body="",
            programs=lambda _: (),
            expand=lambda argument, _: self._expanded(config.name, prompt, argument),
        )

    def _expanded(self, server: str, prompt: OfferedPrompt, argument: str) -> str:
        """Return the message that a prompt is. Raises `UserError` and `Stopped`."""
        from modules.mcp_client.answers import fenced_prompt
        from modules.mcp_client.failures import ServerFailed

        arguments = _prompt_arguments(prompt, argument)
        servers = self._found()
        assert servers is not None  # noqa: S101 - it has offered the prompt
        request: Callable[..., Any] = lambda connection, channel: connection.get_prompt(  # noqa: E731
            prompt.name, arguments, channel
        )
        running = servers.ask(server, request, self._stop)
        try:
            answer: Any = run_to_end(running)  # nobody is asked here
        except ServerFailed as error:
            why = phrase("MCP server {name}: {why}.", name=visible(server), why=error.message)
            raise UserError(why) from None
        return fenced_prompt(server, prompt.name, answer.text)

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
            return self._table(servers)
        if action == "restart" and name:
            servers.restart(name.strip())
            return self._table(servers)
        if argument == "restart" and not servers.find(argument):
            raise UserError(phrase("Usage: /mcp restart NAME. /mcp lists the names."))
        if action in ("sign-in", "sign-out") and (name := name.strip()):
            is_in = action == "sign-in"
            said = servers.sign_in(name, Stop()) if is_in else servers.sign_out(name)
            return TextCard(phrase("MCP server {name}", name=visible(name)), said)
        if argument:
            return self._details(servers, argument)
        return self._table(servers)

    def next_words(self, words: Sequence[str]) -> Sequence[str]:
        """Return what `/mcp` may take behind *words*."""
        servers = self._found()
        names = [config.name for config in servers.configs] if servers else []
        if not words:
            return ["allow", *_ACTIONS, *names]
        return names if len(words) == 1 and words[0] in _ACTIONS else []

    def _table(self, servers: Servers) -> Card:
        rows = [self._row(servers, config) for config in servers.configs]
        rows += [(problem, "", "", "") for problem in servers.problems]
        columns = (phrase("server"), phrase("state"), phrase("tools"), phrase("tokens"))
        return TableCard(phrase("MCP servers"), tuple(rows), columns)

    def _row(self, servers: Servers, config: ServerConfig) -> tuple[Text, ...]:
        tools = [tool for tool in self._tools().values() if tool.source == config.name]
        count = str(len(tools)) if servers.listing(config) else "?"
        tokens = f"{sum(tool.tokens for tool in tools):,}" if tools else ""
        return visible(config.name), self._state(servers, config), count, tokens

    def _state(self, servers: Servers, config: ServerConfig) -> Text:
        is_allowed = self._handle is not None and self._handle.allows_all
        if (why := servers.reason_against(config)) and not (
            is_allowed and servers.is_unanswered(config)
        ):
            return phrase("not used: {why}", why=why)
        connection = servers.connection_of(config.name)
        if connection is None:
            return phrase("starts when needed")
        if connection.failure:
            return phrase("failed: {why}", why=connection.failure)
        if not connection.is_alive:
            return phrase("stopped; restarts when needed")
        if connection.state == "starting":
            return phrase("starting")
        return phrase("running, MCP {version}", version=connection.protocol)

    def _details(self, servers: Servers, name: str) -> Card:
        config = servers.find(name)
        if config is None:
            raise UserError(phrase("There is no MCP server {name}; /mcp shows them.", name=name))
        whose = phrase("yours") if config.is_own else phrase("the project's")
        whose = phrase("your editor") if config.is_given else whose
        rows: list[tuple[Text, ...]] = [
            (phrase("state"), self._state(servers, config), ""),
            (phrase("source"), whose, config.place),
        ]
        from modules.mcp_client.tool_search import ToolSearch
        from modules.tool_switches import RISK_LABELS

        listed, finder = {t.name for t in self.listed_tools()}, ToolSearch.find_tools.__name__
        for tool in self._tools().values():
            if tool.source == config.name:
                in_list = "" if tool.name in listed else phrase("found by {tool}", tool=finder)
                rows.append((tool.name, RISK_LABELS[tool.risk], in_list))
        connection = servers.connection_of(name)
        if connection and (said := connection.error_text):
            rows.append((phrase("output"), visible_body(said), ""))
        return TableCard(phrase("MCP server {name}", name=visible(name)), tuple(rows))

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        servers = self._found()
        if servers is None:
            return
        for config in servers.configs:
            yield (
                phrase("MCP server"),
                phrase(
                    "{name}: {state}",
                    name=visible(config.name),
                    state=self._state(servers, config),
                ),
            )

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


def visible_body(text: str) -> str:
    """Return the beginning of *text* as a card shows it."""
    from utils.text.clean import clean

    shown = clean(text)
    return shown if len(shown) <= _MAX_BODY else f"{shown[:_MAX_BODY]}…"


def _joined(names: Sequence[str]) -> str:
    more = len(names) - _MAX_TOLD
    return ", ".join(names[:_MAX_TOLD]) + (f" and {more} more" if more > 0 else "")


def _prompt_arguments(prompt: OfferedPrompt, argument: str) -> dict[str, str]:
    """Return the arguments of *prompt* in *argument*: by name, else in order.

    Raises `UserError` where one is missing.
    """
    try:
        words = shlex.split(argument)
    except ValueError:  # a quotation mark that is part of a word
        words = argument.split()
    arguments: dict[str, str] = {}
    for word in words:
        name, is_named, value = word.partition("=")
        if is_named and name in prompt.arguments:
            arguments[name] = value
            continue
        free = [one for one in prompt.arguments if one not in arguments]
        if not free:
            break
        arguments[free[0]] = argument if len(prompt.arguments) == 1 else word
    if missing := [name for name in prompt.required if name not in arguments]:
        raise UserError(phrase("It needs {names}, as NAME=TEXT.", names=", ".join(missing)))
    return arguments
