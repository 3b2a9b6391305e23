"""The features of a session: the one list to add a new one to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.conversation.store import Store
from core.feature import Feature
from modules.annotations import Annotations
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checkpoints.undo.undo_state import StateUndo
from modules.export import Export
from modules.file_manager import FileManager
from modules.files.git.remote_transport import PersonEnvironment
from modules.files.project import Project
from modules.focus import Focus
from modules.fork import Fork
from modules.git_commit import GitCommit
from modules.git_remote import GitRemote
from modules.history_tool import HistoryTool
from modules.jobs.feature import Jobs
from modules.keep_json import KeepJson
from modules.mass_deletion import MassDeletionGuard
from modules.memory_manager import Memory
from modules.operations_log import OperationsLog
from modules.outputs import Outputs
from modules.pictures.feature import Pictures
from modules.pictures.picture_store import PictureStore
from modules.sandbox.home.clean_command import Clean
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.sandbox import Limits, LockProject, Sandbox
from modules.search_engine import NoWebSearch, WebSearch
from modules.secrets.redactor import Secrets
from modules.storage.data_folder import DataFolder
from modules.terminal_ops import TerminalOps
from modules.text_search import TextSearch
from modules.todos import Todos
from utils.i18n import Phrase
from utils.waiting import Stop

if TYPE_CHECKING:
    from config import Settings


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
    home = ProgramHome(data.program_home, max_size=settings.home_mb * 1_000_000)
    secrets = Secrets(
        project.root, settings.secrets, data.shows_secrets, is_enabled=settings.hide_secrets
    )
    outputs = Outputs(data.outputs, reader=FileManager.read_file.__name__, redact=secrets.redact)
    notes = Annotations(project, data.notes)
    todos, focus = Todos(), Focus(project, context_limit=settings.context_limit)
    memory = Memory(data.memory)
    state_undo = StateUndo({"notes": notes, "todos": todos, "focus": focus, "memory": memory})
    checkpoints = _checkpoints(project, data, settings)
    undo = UndoCommands(project, checkpoints, state_undo)
    sandbox = _sandbox(
        *(project, data, secrets, checkpoints.objects.locked, home, settings),
        is_machine=is_machine,
    )
    jobs = Jobs(sandbox, data.path, stop, outputs)
    undo.watch_background(jobs.running_names)
    history_tool = HistoryTool()
    picture_store = PictureStore(data.pictures)
    pictures = Pictures(picture_store)
    terminal_ops = _terminal_ops(project, sandbox, stop, outputs, jobs, settings)
    return [
        FileManager(project, outputs, notes.note, history_tool.read, pictures),
        TextSearch(project, stop=stop),
        terminal_ops,
        jobs,
        Clean(home),
        GitCommit(project, stop, secrets.names_in),
        _git_remote(project, stop, settings, secrets, terminal_ops, jobs),
        todos,
        focus,
        notes,
        memory,
        _search(outputs, stop, settings),
        secrets,
        undo,
        history_tool,
        pictures,
        MassDeletionGuard(undo, project.files),
        Fork(store, project.root, undo, data.root, picture_store),
        Export(store, project.root, system_text, secrets.names_in),
        *([KeepJson(data.conversation)] if settings.keep_json else []),
        OperationsLog(data.operations, settings.secrets.values(), is_on=settings.operations_log),
    ]


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


def _checkpoints(project: Project, data: DataFolder, settings: Settings) -> Checkpoints:
    return Checkpoints(
        project.root,
        data.checkpoints,
        file_cap=settings.checkpoint_file_mb * 1_000_000,
        total_cap=settings.checkpoint_total_mb * 1_000_000,
        keep_days=settings.checkpoint_days,
        protected=[data.root],
        own_code=project.own_code,
    )


def _sandbox(
    project: Project,
    data: DataFolder,
    secrets: Secrets,
    project_lock: LockProject,
    home: ProgramHome,
    settings: Settings,
    *,
    is_machine: bool,
) -> Sandbox:
    known = settings.secrets
    environment = settings.person_environment
    machine = {name: text for name, text in environment.items() if name not in known}
    return Sandbox(
        project.root,
        hidden=[data.root],
        own_code=project.own_code,
        cache_folder=data.root,
        allow_limits_only=settings.allow_unsandboxed,
        replacements=secrets.redacted_files,
        lock_project=project_lock,
        git_record=data.git_record,
        home=home,
        environment=environment,
        show_folders=settings.show_folders,
        machine=machine if is_machine else None,
    )


def _terminal_ops(
    project: Project,
    sandbox: Sandbox,
    stop: Stop,
    outputs: Outputs,
    jobs: Jobs,
    settings: Settings,
) -> TerminalOps:
    return TerminalOps(
        project,
        sandbox,
        stop,
        outputs,
        jobs=jobs,
        network_hosts=settings.network_hosts,
        run_seconds=settings.run_seconds,
        call_seconds=settings.call_seconds,
        limits=Limits.of(
            memory_mb=settings.memory_mb,
            processes=settings.processes,
            disk_mb=settings.disk_mb,
            tmp_mb=settings.tmp_mb,
            output_mb=settings.output_mb,
        ),
        package_variables=settings.person_environment,
        environment=settings.person_environment,
        secret_names=settings.secrets,
    )


def _search(outputs: Outputs, stop: Stop, settings: Settings) -> Feature:
    if not settings.tavily_api_key:
        return NoWebSearch()
    return WebSearch(settings.tavily_api_key, outputs, stop, base_url=settings.tavily_base_url)
