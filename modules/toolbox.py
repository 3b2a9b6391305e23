"""The features of a session: the one list to add a new one to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import VERSION, parse_setting
from core.conversation.store import Store
from core.feature import Feature
from modules.annotations import Annotations
from modules.answer_schema import AnswerFormat
from modules.ask_person import AskPerson
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.past_contents import hold_now, past_contents
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checkpoints.undo.undo_state import StateUndo
from modules.checks.feature import Checks
from modules.checks.kept_checks import KeptChecks
from modules.depth.decision_stops import DecisionStops, deep_note
from modules.depth.feature import TaskDepth
from modules.earlier_sessions import ADDRESS as SESSIONS
from modules.earlier_sessions import EarlierSessions
from modules.export import Export
from modules.file_manager import FileManager
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.project import Project
from modules.focus import Focus
from modules.fork import Fork
from modules.git.commit import GitCommit
from modules.git.person.feature import GitForPerson
from modules.git.remote import GitRemote
from modules.history_tool import ADDRESS as HISTORY
from modules.history_tool import HistoryTool
from modules.hooks.feature import Hooks
from modules.instructions.consent import Consents
from modules.instructions.feature import Instructions
from modules.instructions.init_command import Init
from modules.jobs.feature import Jobs
from modules.keep_json import KeepJson
from modules.mass_deletion import MassDeletionGuard
from modules.mcp_client.feature import McpServers, join_names
from modules.memory.task_memory import TaskMemory
from modules.memory_manager import ADDRESS as MEMORY
from modules.memory_manager import Memory
from modules.mentions.feature import Mentions
from modules.notes.protection import Protection
from modules.notes.putting_back import PuttingBack
from modules.operations_log import OperationsLog
from modules.outputs import Outputs
from modules.own_commands.feature import OwnCommands
from modules.pictures.feature import Pictures
from modules.pictures.picture_store import PictureStore
from modules.plans import Plans
from modules.preview.feature import Previews
from modules.project_map import ProjectMap
from modules.sandbox.home.clean_command import Clean
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.late_sandbox import LateSandbox, RememberedSandbox
from modules.sandbox.types import Limits
from modules.search_engine import NoWebSearch, WebSearch
from modules.secrets.redactor import Secrets
from modules.sent_requests.feature import SentRequests
from modules.sent_requests.request_log import RequestLog
from modules.settings.feature import SettingsCommand
from modules.skills.feature import ADDRESS as SKILLS
from modules.skills.feature import Skills
from modules.skills.files import BUILT_IN
from modules.skills.switches import SkillSwitches
from modules.spending.feature import Spending
from modules.spending.ledger import Ledger
from modules.spending.masked_answers import MaskedAnswers
from modules.spending.past_tasks import PastTasks
from modules.spending.think_once import ThinkOnce
from modules.storage.data_folder import DataFolder
from modules.storage.kept_switches import KeptSwitches
from modules.terminal_ops import TerminalOps
from modules.text_search import TextSearch
from modules.todos import Todos
from modules.tool_switches import Switches
from modules.why.feature import Why
from modules.work_done import WorkDone
from utils.i18n import Phrase
from utils.logger import FailureLog
from utils.waiting import Stop

if TYPE_CHECKING:
    from config import Settings
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.git.commit_hooks import CommitHooks
    from modules.git.person.agent_commits import AgentCommits
    from modules.sandbox.sandbox import Sandbox


def build_features(
    project: Project,
    data: DataFolder,
    store: Store,
    stop: Stop,
    settings: Settings,
    system_text: str = "",
    *,
    is_machine: bool = False,
) -> Sequence[Feature]:
    """Return every feature of a session on *project*, in the order the model sees their tools.

    Where the machine *is_machine* of the agent's own, nothing confines programs.
    """
    home = _program_home(data, settings, is_machine=is_machine)
    secrets = _secrets(project, data, settings)
    outputs = Outputs(data.outputs, reader=FileManager.read_file.__name__, redact=secrets.redact)
    notes = Annotations(project, data.notes)
    todos, focus = Todos(), Focus(project, context_limit=settings.context_limit)
    task_memory = TaskMemory(data.task_memory)
    memory = Memory(data.memory, data.memory_offers, task_memory)
    state_undo = StateUndo({"notes": notes, "todos": todos, "focus": focus, "memory": memory})
    checkpoints = _checkpoints(project, data, settings)
    undo = UndoCommands(project, checkpoints, state_undo)
    note = deep_note(AskPerson.ask_person.__name__)
    stops = DecisionStops(note, undo.undo_turn)
    sandbox = _sandbox(project, data, secrets, checkpoints, home, settings, is_machine=is_machine)
    protection = Protection(notes.protecting, undo)
    why = Why(project, checkpoints, store, stop, VERSION)
    jobs = Jobs(sandbox, data.path, stop, outputs)
    history_tool, earlier_sessions = HistoryTool(), EarlierSessions(store)
    skills = _skills(project, data, settings)
    readers = {
        HISTORY: history_tool.read,
        MEMORY: memory.read,
        SESSIONS: earlier_sessions.read,
        SKILLS: skills.read,
    }
    consents = Consents(data.consents)
    instructions = _instructions(project, data, consents, focus, jobs)
    picture_store = PictureStore(data.pictures)
    pictures = Pictures(picture_store)
    terminal_ops = _terminal_ops(project, sandbox, stop, outputs, jobs, settings)
    mcp_servers = McpServers(
        *(project, data, consents, sandbox, terminal_ops, undo, outputs, pictures),
        *(stop, settings),
        limits=_limits(settings),
        hide=secrets.hide,
    )
    git_commit = GitCommit(
        *(project, stop, secrets.names_in),
        make_hooks=partial(_make_commit_hooks, sandbox, stop, settings),
    )
    spending = Spending(
        Ledger(data.spending),
        past_tasks := PastTasks(data.past_tasks),
        task_budget=settings.task_budget,
        daily_budget=settings.daily_budget,
        when=settings.when,
    )
    undo.watch_background(lambda: join_names(jobs.running_names(), mcp_servers.running_names()))
    return [
        *_project_map(project, notes, focus, settings),
        FileManager(
            *(project, outputs, notes.told_notes, readers, pictures),
            protection=protection,
            on_edit=focus.on_edit,
            find_notes=notes.sync,
        ),
        TextSearch(project, stop=stop, searches={SESSIONS: earlier_sessions.search}),
        terminal_ops,
        jobs,
        Previews(jobs, FailureLog(data.log).log),
        Clean(home),
        git_commit,
        _git_remote(project, stop, settings, secrets, terminal_ops, jobs),
        todos,
        focus,
        notes,
        memory,
        task_memory,
        TaskDepth(
            data.config,
            None if settings.depth == "auto" else settings.depth,
            note,
            lambda: todos.unfinished_work() is not None,
        ),
        stops,
        AskPerson(stops),
        instructions,
        Init(project, instructions, undo),
        AnswerFormat(),
        skills,
        OwnCommands(project, data.own_commands, consents),
        Plans(data.plans),
        Mentions(project, stop),
        Hooks(project, data.own_hooks, consents, terminal_ops),
        _search(outputs, stop, settings),
        mcp_servers,
        secrets,
        undo,
        WorkDone(undo),
        _checks(project, data, checkpoints, terminal_ops, settings),
        history_tool,
        earlier_sessions,
        pictures,
        spending,
        ThinkOnce(past_tasks),
        MaskedAnswers(past_tasks, outputs),
        Switches(KeptSwitches(data.tool_switches)),
        SettingsCommand(settings, parse_setting),
        protection,
        _putting_back(project, notes, protection, checkpoints, why),
        MassDeletionGuard(undo, project.files),
        why,
        GitForPerson(
            *(project, undo, git_commit, partial(_agent_commits, checkpoints)),
            names_in=secrets.names_in,
            stop=stop,
            refusal=spending.spending_refusal,
        ),
        Fork(store, project.root, undo, data.root, picture_store),
        SentRequests(request_log := RequestLog(data.requests)),
        Export(store, project.root, request_log, system_text, secrets.names_in),
        *([KeepJson(data.conversation)] if settings.keep_json else []),
        *_observers(project, data, settings),
    ]


def _putting_back(
    project: Project,
    notes: Annotations,
    protection: Protection,
    checkpoints: LateCheckpoints,
    why: Why,
) -> PuttingBack:
    if not project.is_whole_disk:
        notes.on_protect = lambda: hold_now(checkpoints)
    return PuttingBack(
        project,
        notes,
        contents_of=lambda path: past_contents(checkpoints, path),
        record=why.person_wrote,
        take_asked=protection.take_asked,
    )


def _project_map(
    project: Project, notes: Annotations, focus: Focus, settings: Settings
) -> Sequence[Feature]:
    if not settings.project_map_tokens:
        return ()
    return (
        ProjectMap(
            project, lambda: {*notes.all_notes(), *focus.paths}, settings.project_map_tokens
        ),
    )


def _observers(project: Project, data: DataFolder, settings: Settings) -> Sequence[Feature]:
    """Return the operations log, and what writes the trace, if one is wanted: it passes on."""
    values = settings.secrets.values()
    operations_log = OperationsLog(data.operations, values, is_on=settings.operations_log)
    if not settings.trace:
        return (operations_log,)
    from modules.trace import Trace  # only where it is used

    trace = Trace(
        Path(settings.trace).expanduser().absolute(),
        project.root,
        {provider.name: provider for provider in settings.all_providers},
        has_content=settings.trace_content,
    )
    return (operations_log, trace)


def _program_home(data: DataFolder, settings: Settings, *, is_machine: bool) -> ProgramHome:
    max_size = 0 if is_machine else settings.home_mb * 1_000_000  # theirs is the machine's own
    return ProgramHome(data.program_home, max_size=max_size)


def _secrets(project: Project, data: DataFolder, settings: Settings) -> Secrets:
    return Secrets(
        project.root, settings.hidden_values, data.shows_secrets, is_enabled=settings.hide_secrets
    )


def _instructions(
    project: Project, data: DataFolder, consents: Consents, focus: Focus, jobs: Jobs
) -> Instructions:
    return Instructions(
        *(project, data.own_instructions, consents),
        focused=lambda: focus.paths,
        running=jobs.running_names,
    )


def _skills(project: Project, data: DataFolder, settings: Settings) -> Skills:
    home = settings.person_environment.get("HOME", "")
    return Skills(
        project,
        Path(home) if home.startswith("/") else None,
        BUILT_IN,
        SkillSwitches(data.skill_switches),
    )


def announcement_lines(features: Iterable[Feature]) -> list[Phrase]:
    """Return the lines that the person should see at the start."""
    return [feature.announcement() for feature in features if isinstance(feature, TerminalOps)]


def _git_remote(
    project: Project,
    stop: Stop,
    settings: Settings,
    secrets: Secrets,
    terminal_ops: TerminalOps,
    jobs: Jobs,
) -> GitRemote:
    return GitRemote(
        project,
        stop,
        PersonEnvironment(settings.git_variables, settings.call_seconds),
        secrets.names_in,
        guard=terminal_ops.guard_repository,
        running_jobs=jobs.running_names,
    )


def _checkpoints(project: Project, data: DataFolder, settings: Settings) -> LateCheckpoints:
    def make() -> Checkpoints:
        from modules.checkpoints.checkpoints import Checkpoints

        return Checkpoints(
            project.root,
            data.checkpoints,
            file_cap=settings.checkpoint_file_mb * 1_000_000,
            total_cap=settings.checkpoint_total_mb * 1_000_000,
            keep_days=settings.checkpoint_days,
            protected=[data.root],
            own_code=project.own_code,
            root_fd=project.open_root(),
            holds_files=not project.is_whole_disk,
        )

    return LateCheckpoints(make, data.checkpoints)


def _sandbox(
    project: Project,
    data: DataFolder,
    secrets: Secrets,
    checkpoints: LateCheckpoints,
    home: ProgramHome,
    settings: Settings,
    *,
    is_machine: bool,
) -> LateSandbox:
    known = settings.secrets
    environment = settings.person_environment
    machine = {name: text for name, text in environment.items() if name not in known}

    def make() -> Sandbox:
        from modules.sandbox.sandbox import Sandbox

        return Sandbox(
            project.root,
            hidden=[data.root],
            own_code=project.own_code,
            cache_folder=data.root,
            allow_limits_only=settings.allow_unsandboxed,
            replacements=secrets.redacted_files,
            lock_project=lambda: checkpoints.get().objects.locked(),
            git_record=data.git_record,
            home=home,
            environment=environment,
            show_folders=settings.show_folders,
            machine=machine if is_machine else None,
            git_hooks=settings.git_hooks,
        )

    remembered = RememberedSandbox(
        project.root, data.git_record, data.root / "sandbox", settings.allow_unsandboxed
    )
    return LateSandbox(make, None if is_machine else remembered, is_for_agent=is_machine)


def _make_commit_hooks(sandbox: LateSandbox, stop: Stop, settings: Settings) -> CommitHooks:
    from modules.git.commit_hooks import CommitHooks  # for commits only

    limits = replace(_limits(settings), seconds=settings.call_seconds)
    return CommitHooks(sandbox, stop, limits, settings.git_hooks)


def _agent_commits(checkpoints: LateCheckpoints) -> AgentCommits:
    from modules.git.person.agent_commits import AgentCommits  # for who uses git

    return AgentCommits(checkpoints)


def _limits(settings: Settings) -> Limits:
    return Limits.of(
        memory_mb=settings.memory_mb,
        processes=settings.processes,
        disk_mb=settings.disk_mb,
        tmp_mb=settings.tmp_mb,
        output_mb=settings.output_mb,
    )


def _terminal_ops(
    project: Project,
    sandbox: LateSandbox,
    stop: Stop,
    outputs: Outputs,
    jobs: Jobs,
    settings: Settings,
) -> TerminalOps:
    environment = settings.person_environment
    return TerminalOps(
        project,
        sandbox,
        stop,
        outputs,
        jobs=jobs,
        network_hosts=settings.network_hosts,
        run_seconds=settings.run_seconds,
        call_seconds=settings.call_seconds,
        limits=_limits(settings),
        package_variables=environment,
        environment=environment,
        secret_names=settings.secrets,
        remote_tool=GitRemote.git_remote.__name__,
    )


def _checks(
    project: Project,
    data: DataFolder,
    checkpoints: LateCheckpoints,
    terminal_ops: TerminalOps,
    settings: Settings,
) -> Checks:
    return Checks(
        project,
        checkpoints,
        terminal_ops,
        KeptChecks(data.checks),
        is_on=settings.verify != "false",
        said=settings.checks,
        seconds=settings.checks_seconds,
    )


def _search(outputs: Outputs, stop: Stop, settings: Settings) -> Feature:
    if not settings.tavily_api_key:
        return NoWebSearch()
    return WebSearch(settings.tavily_api_key, outputs, stop, base_url=settings.tavily_base_url)
