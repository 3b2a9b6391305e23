"""The features of a session: the one list to add a new one to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import parse_setting
from core.conversation.store import Store
from core.feature import Feature
from modules.agents.feature import Agents
from modules.answer_schema import AnswerFormat
from modules.ask_person import AskPerson
from modules.assembly.parts import READ_FILE, SessionParts, limits_of
from modules.checkpoints.past_contents import past_contents
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checks.feature import Checks
from modules.checks.kept_checks import KeptChecks
from modules.delegation.feature import Delegation
from modules.delegation.helper_copies import HelperCopies
from modules.delegation.roles import Roles
from modules.depth.decision_stops import deep_note
from modules.depth.feature import TaskDepth
from modules.earlier_sessions import ADDRESS as SESSIONS
from modules.export import Export
from modules.file_manager import FileManager
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.project import Project
from modules.fork import Fork
from modules.git.person.feature import GitForPerson
from modules.git.remote import GitRemote
from modules.history_tool import ADDRESS as HISTORY
from modules.hooks.feature import Hooks
from modules.instructions.init_command import Init
from modules.keep_json import KeepJson
from modules.mass_deletion import MassDeletionGuard
from modules.mcp_client.feature import McpServers
from modules.memory.task_memory import TaskMemory
from modules.memory_manager import ADDRESS as MEMORY
from modules.mentions.feature import Mentions
from modules.notes.putting_back import PuttingBack
from modules.operations_log import OperationsLog
from modules.own_commands.feature import OwnCommands
from modules.phone import Phone
from modules.plans import Plans
from modules.preview.feature import Previews
from modules.project_map import ProjectMap
from modules.race.feature import Race
from modules.results.feature import Results
from modules.sandbox.home.clean_command import Clean
from modules.search_engine import NoWebSearch, WebSearch
from modules.sent_requests.feature import SentRequests
from modules.sent_requests.request_log import RequestLog
from modules.settings.feature import SettingsCommand
from modules.settings.live import LiveSettings
from modules.skills.feature import ADDRESS as SKILLS
from modules.skills.saving import SavesSkills
from modules.spending.feature import Spending
from modules.spending.ledger import Ledger
from modules.spending.masked_answers import MaskedAnswers
from modules.spending.think_once import ThinkOnce
from modules.storage.data_folder import DataFolder
from modules.storage.kept_switches import KeptSwitches
from modules.terminal_ops import TerminalOps
from modules.text_search import TextSearch
from modules.tool_switches import Switches
from modules.work_done import WorkDone
from utils.i18n import Phrase
from utils.logger import FailureLog
from utils.waiting import Stop

if TYPE_CHECKING:
    from config import Settings
    from modules.git.person.agent_commits import AgentCommits
    from modules.skills.trial import Trial


def build_features(
    project: Project,
    data: DataFolder,
    store: Store,
    stop: Stop,
    settings: Settings,
    system_text: str = "",
    *,
    is_machine: bool = False,
    ledger: Ledger | None = None,
    live: LiveSettings[Settings] | None = None,
) -> Sequence[Feature]:
    """Return every feature of a session on *project*, in the order the model sees their tools.

    Where the machine *is_machine* of the agent's own, nothing confines programs. What is spent goes
    to *ledger*, None for the one of the data folder. *live* tells what runs of settings that are
    saved; without it they hold from the next start on.
    """
    parts = SessionParts(
        project, data, store, stop, settings, is_machine=is_machine, given_ledger=ledger
    )
    return [
        *_for_the_work(parts),
        *_for_the_mind(parts),
        *_from_the_person(parts),
        *_after_the_work(parts),
        *_for_the_session(parts, live or LiveSettings(settings), system_text),
    ]


def _for_the_work(parts: SessionParts) -> Iterator[Feature]:
    """Files, programs, documents and git."""
    project = parts.project
    yield from _project_map(parts)
    yield _file_manager(parts)
    yield TextSearch(project, stop=parts.stop, searches={SESSIONS: parts.earlier_sessions.search})
    yield parts.terminal_ops
    yield parts.jobs
    yield Previews(parts.jobs, FailureLog(parts.data.log).log)
    yield Clean(parts.home)
    yield parts.documents
    yield parts.git_commit
    yield _git_remote(parts)


def _for_the_mind(parts: SessionParts) -> Iterator[Feature]:
    """What is planned, looked at and remembered, and what is asked."""
    yield parts.todos
    yield parts.focus
    yield parts.notes
    yield parts.memory
    yield parts.task_memory
    yield _task_depth(parts)
    yield parts.decision_stops
    yield AskPerson(parts.decision_stops)


def _from_the_person(parts: SessionParts) -> Iterator[Feature]:
    """What people wrote for the model, and what it may use of other programs."""
    project, data, consents = parts.project, parts.data, parts.consents
    yield parts.instructions
    yield Init(project, parts.instructions, parts.undo)
    yield AnswerFormat()
    yield parts.skills
    yield _skill_saving(parts)
    yield OwnCommands(project, data.own_commands, consents)
    yield Plans(data.plans)
    yield Mentions(project, parts.stop)
    yield Hooks(project, data.own_hooks, consents, parts.terminal_ops)
    yield _search(parts)
    yield parts.mcp_servers
    yield parts.secrets


def _after_the_work(parts: SessionParts) -> Iterator[Feature]:
    """What is taken back and checked, and what it cost."""
    yield parts.undo
    yield WorkDone(parts.undo)
    yield _checks(parts)
    yield parts.history_tool
    yield parts.earlier_sessions
    yield parts.pictures
    yield parts.spending
    yield ThinkOnce(parts.past_tasks)
    yield MaskedAnswers(parts.past_tasks, parts.outputs)


def _for_the_session(
    parts: SessionParts, live: LiveSettings[Settings], system_text: str
) -> Iterator[Feature]:
    """Its settings and guards, its results, and other sessions beside it."""
    project, data, undo = parts.project, parts.data, parts.undo
    yield Switches(KeptSwitches(data.tool_switches))
    yield SettingsCommand(live, parse_setting)
    yield parts.protection
    yield _putting_back(parts)
    yield MassDeletionGuard(undo, project.files)
    yield parts.why
    yield _git_for_person(parts)
    yield parts.results
    yield Fork(parts.store, project.root, undo, data.root, parts.picture_store)
    sent_requests = SentRequests(request_log := RequestLog(data.requests))
    yield (delegation := _delegation(parts, sent_requests))
    yield (race := _race(parts))
    yield Agents(parts.store, [delegation, race], parts.stop.set, data.sockets)
    yield Phone()
    yield sent_requests
    yield Export(parts.store, project.root, request_log, system_text, parts.secrets.names_in)
    if parts.settings.keep_json:
        yield KeepJson(data.conversation)
    yield from _observers(parts)


def announcement_lines(features: Iterable[Feature]) -> list[Phrase]:
    """Return the lines that the person should see at the start."""
    return [feature.announcement() for feature in features if isinstance(feature, TerminalOps)]


def _project_map(parts: SessionParts) -> Iterator[Feature]:
    if max_tokens := parts.settings.project_map_tokens:
        notes, focus = parts.notes, parts.focus
        yield ProjectMap(parts.project, lambda: {*notes.all_notes(), *focus.paths}, max_tokens)


def _file_manager(parts: SessionParts) -> FileManager:
    readers = {
        HISTORY: parts.history_tool.read,
        MEMORY: parts.memory.read,
        SESSIONS: parts.earlier_sessions.read,
        SKILLS: parts.skills.read,
    }
    return FileManager(
        *(parts.project, parts.outputs, parts.notes.told_notes, readers, parts.pictures),
        documents=parts.documents.reader,
        protection=parts.protection,
        on_edit=parts.focus.on_edit,
        find_notes=parts.notes.sync,
    )


def _git_remote(parts: SessionParts) -> GitRemote:
    settings = parts.settings
    return GitRemote(
        *(parts.project, parts.stop),
        PersonEnvironment(settings.git_variables, settings.call_seconds),
        parts.secrets.names_in,
        guard=parts.terminal_ops.guard_repository,
        running_jobs=parts.jobs.running_names,
    )


def _task_depth(parts: SessionParts) -> TaskDepth:
    depth, todos = parts.settings.depth, parts.todos
    return TaskDepth(
        parts.data.config,
        None if depth == "auto" else depth,
        deep_note(AskPerson.ask_person.__name__),
        lambda: todos.unfinished_work() is not None,
    )


def _skill_saving(parts: SessionParts) -> SavesSkills:
    def make_trial() -> Trial:
        from modules.skills.trial import Trial  # for who saves one

        limits = replace(limits_of(parts.settings), seconds=parts.settings.run_seconds)
        root, undo, stop = parts.project.root, parts.undo, parts.stop
        return Trial(root, undo, parts.make_twin_sandbox, limits, stop)

    return SavesSkills(
        *(parts.project, parts.undo),
        make_trial=make_trial,
        known=parts.skills.names,
        refusal=parts.spending.spending_refusal,
        stop=parts.stop,
    )


def _search(parts: SessionParts) -> Feature:
    settings = parts.settings
    if not settings.tavily_api_key:
        return NoWebSearch()
    key, base_url = settings.tavily_api_key, settings.tavily_base_url
    return WebSearch(key, parts.outputs, parts.stop, base_url=base_url)


def _checks(parts: SessionParts) -> Checks:
    settings = parts.settings
    return Checks(
        *(parts.project, parts.checkpoints, parts.terminal_ops, KeptChecks(parts.data.checks)),
        is_on=settings.verify != "false",
        said=settings.checks,
        seconds=settings.checks_seconds,
        trace=_trace_in_project(parts),
    )


def _trace_in_project(parts: SessionParts) -> str:
    """Return the path of the trace in the project, "" where none is written there."""
    if not parts.settings.trace:
        return ""
    from modules.trace.feature import parts_in  # only where it is used

    return "/".join(parts_in(_trace_path(parts.settings), parts.project.root))


def _trace_path(settings: Settings) -> Path:
    return Path(settings.trace).expanduser().absolute()


def _putting_back(parts: SessionParts) -> PuttingBack:
    return PuttingBack(
        *(parts.project, parts.notes),
        contents_of=partial(past_contents, parts.checkpoints),
        record=parts.why.person_wrote,
        take_asked=parts.protection.take_asked,
    )


def _git_for_person(parts: SessionParts) -> GitForPerson:
    def agent_commits() -> AgentCommits:
        from modules.git.person.agent_commits import AgentCommits  # for who uses git

        return AgentCommits(parts.checkpoints)

    return GitForPerson(
        *(parts.project, parts.undo, parts.git_commit, agent_commits),
        names_in=parts.secrets.names_in,
        stop=parts.stop,
        refusal=parts.spending.spending_refusal,
    )


def _delegation(parts: SessionParts, sent_requests: SentRequests) -> Delegation:
    root = parts.project.root
    return Delegation(
        partial(_helper_features, parts),
        parts.outputs,
        HelperCopies(parts.copies, root, parts.data, parts.store, parts.undo),
        Roles(parts.project, parts.data.own_agents, parts.consents),
        reader=READ_FILE,
        model=parts.settings.helper_model,
        keep_request=sent_requests.keep_of_helper,
    )


_NOT_OF_HELPERS: tuple[type[Feature], ...] = (
    *(TaskMemory, TaskDepth, Checks, WorkDone, Plans, Init, Clean, Previews),
    *(Spending, ThinkOnce, MaskedAnswers, McpServers, GitForPerson, Fork, SentRequests, Export),
    *(KeepJson, OperationsLog, SettingsCommand, Phone, Race, Results, SavesSkills, Agents),
)
"""What sees to a session as a whole, or has commands alone: none of it is in a listed tool."""


def _helper_features(
    parts: SessionParts, copy: tuple[Project, DataFolder] | None, stop: Stop
) -> Sequence[Feature]:
    """Return the features of a helper that ends with *stop*: the same tools, in the same order.

    One that works in a *copy* can take back there what it did, as its calls can be anywhere.
    """
    settings = replace(parts.settings, trace="")  # the session's own tells of it
    project, data = copy or (parts.project, parts.data)
    is_machine = parts.is_machine
    made = build_features(project, data, parts.store, stop, settings, is_machine=is_machine)
    left_out: tuple[type, ...] = _NOT_OF_HELPERS if copy else (*_NOT_OF_HELPERS, UndoCommands)
    return [one for one in made if not isinstance(one, left_out)]


def _race(parts: SessionParts) -> Race:
    return Race(
        *(parts.data, parts.copies, parts.store, parts.undo, parts.picture_store),
        FailureLog(parts.data.log).log,
    )


def _observers(parts: SessionParts) -> Iterator[Feature]:
    """The operations log, and what writes the trace, if one is wanted: it passes on."""
    settings, data = parts.settings, parts.data
    values = settings.secrets.values()
    yield OperationsLog(data.operations, values, is_on=settings.operations_log)
    if settings.trace:
        from modules.trace.feature import Trace  # only where it is used

        yield Trace(
            _trace_path(settings),
            parts.project.root,
            {provider.name: provider for provider in settings.all_providers},
            has_content=settings.trace_content,
        )
