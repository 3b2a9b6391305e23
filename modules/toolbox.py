"""The families of a session: the one list to add a new one to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.conversation.store import Store
from core.feature import Feature
from modules.annotations import Annotations
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checkpoints.undo.undo_state import StateUndo
from modules.export import Export
from modules.file_manager import FileManager
from modules.files.project import Project
from modules.focus import Focus
from modules.fork import Forking
from modules.git_commit import GitCommit
from modules.history_tool import HistoryTool
from modules.keep_json import KeepJson
from modules.mass_deletion import MassDeletionGuard
from modules.memory_manager import Memory
from modules.operations_log import OperationsLog
from modules.outputs import Outputs
from modules.pictures.feature import Pictures
from modules.pictures.picture_store import PictureStore
from modules.sandbox.sandbox import Alone, Sandbox
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


def families(
    project: Project,
    data: DataFolder,
    store: Store,
    stop: Stop,
    settings: Settings,
    system_text: str = "",
) -> Sequence[Feature]:
    """Return every family of a session on *project*, in the order the model sees their tools."""
    secrets = Secrets(
        project.root, settings.secrets, data.shows_secrets, is_wanted=settings.hide_secrets
    )
    outputs = Outputs(data.outputs, reader=FileManager.read_file.__name__, blind=secrets.blind)
    notes = Annotations(project, data.notes)
    todos, focus = Todos(), Focus(project, context_limit=settings.context_limit)
    memory = Memory(data.memory)
    beside = StateUndo({"notes": notes, "todos": todos, "focus": focus, "memory": memory})
    checkpoints = _checkpoints(project, data, settings)
    undo = UndoCommands(project, checkpoints, beside)
    past = HistoryTool()
    shown = PictureStore(data.pictures)
    pictures = Pictures(shown)
    return [
        FileManager(project, outputs, notes.note, past.read, pictures),
        TextSearch(project, stop=stop),
        _terminal_ops(project, data, stop, outputs, secrets, checkpoints.vault.alone, settings),
        GitCommit(project, stop, secrets.names_in),
        todos,
        focus,
        notes,
        memory,
        _search(outputs, stop, settings),
        secrets,
        undo,
        past,
        pictures,
        MassDeletionGuard(undo, project.files),
        Forking(store, project.root, undo, data.all, shown),
        Export(store, project.root, system_text, secrets.names_in),
        *([KeepJson(data.conversation)] if settings.keep_json else []),
        OperationsLog(data.operations, settings.secrets.values(), is_on=settings.operations_log),
    ]


def announcements(families: Sequence[Feature]) -> list[Phrase]:
    """Return what the person should know from the start, a line each."""
    return [family.announcement() for family in families if isinstance(family, TerminalOps)]


def _checkpoints(project: Project, data: DataFolder, settings: Settings) -> Checkpoints:
    return Checkpoints(
        project.root,
        data.checkpoints,
        file_cap=settings.checkpoint_file_mb * 1_000_000,
        total_cap=settings.checkpoint_total_mb * 1_000_000,
        keep_days=settings.checkpoint_days,
        protected=[data.all],
        own=project.own,
    )


def _terminal_ops(
    project: Project,
    data: DataFolder,
    stop: Stop,
    outputs: Outputs,
    secrets: Secrets,
    alone: Alone,
    settings: Settings,
) -> TerminalOps:
    sandbox = Sandbox(
        project.root,
        hidden=[data.all],
        own=project.own,
        cache_folder=data.all,
        allow_limits_only=settings.allow_unsandboxed,
        covers=secrets.covers,
        alone=alone,
        git_record=data.git_record,
    )
    return TerminalOps(
        project,
        sandbox,
        stop,
        outputs,
        network_hosts=settings.network_hosts,
        run_seconds=settings.run_seconds,
        call_seconds=settings.call_seconds,
        pip_variables=settings.pip_variables,
    )


def _search(outputs: Outputs, stop: Stop, settings: Settings) -> Feature:
    if not settings.tavily_api_key:
        return NoWebSearch()
    return WebSearch(settings.tavily_api_key, outputs, stop, base_url=settings.tavily_base_url)
