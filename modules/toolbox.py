"""The families of a session: the one list to add a new one to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the settings say about the families."""

    system_text: str
    context_limit: int
    search_key: str
    search_url: str
    allow_unsandboxed: bool
    checkpoint_file_bytes: int
    checkpoint_total_bytes: int
    checkpoint_days: int
    hide_secrets: bool = True
    operations_log: bool = False
    keep_json: bool = False
    network_hosts: tuple[str, ...] = ()
    run_seconds: int = 60
    call_seconds: int = 600
    pip_variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    known_secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


def families(
    project: Project, data: DataFolder, store: Store, stop: Stop, choices: Choices
) -> Sequence[Feature]:
    """Return every family of a session on *project*, in the order the model sees their tools."""
    secrets = Secrets(
        project.root, choices.known_secrets, data.shows_secrets, is_wanted=choices.hide_secrets
    )
    outputs = Outputs(data.outputs, reader=FileManager.read_file.__name__, blind=secrets.blind)
    notes = Annotations(project, data.notes)
    todos, focus = Todos(), Focus(project, context_limit=choices.context_limit)
    memory = Memory(data.memory)
    beside = StateUndo({"notes": notes, "todos": todos, "focus": focus, "memory": memory})
    checkpoints = _checkpoints(project, data, choices)
    undo = UndoCommands(project, checkpoints, beside)
    past = HistoryTool()
    shown = PictureStore(data.pictures)
    pictures = Pictures(shown)
    return [
        FileManager(project, outputs, notes.note, past.read, pictures),
        TextSearch(project, stop=stop),
        _terminal_ops(project, data, stop, outputs, secrets, checkpoints.vault.alone, choices),
        GitCommit(project, stop, secrets.names_in),
        todos,
        focus,
        notes,
        memory,
        _search(outputs, stop, choices),
        secrets,
        undo,
        past,
        pictures,
        MassDeletionGuard(undo, project.files),
        Forking(store, project.root, undo, data.all, shown),
        Export(store, project.root, choices.system_text, secrets.names_in),
        *([KeepJson(data.conversation)] if choices.keep_json else []),
        OperationsLog(
            data.operations, choices.known_secrets.values(), is_on=choices.operations_log
        ),
    ]


def announcements(families: Sequence[Feature]) -> list[Phrase]:
    """Return what the person should know from the start, a line each."""
    return [family.announcement() for family in families if isinstance(family, TerminalOps)]


def _checkpoints(project: Project, data: DataFolder, choices: Choices) -> Checkpoints:
    return Checkpoints(
        project.root,
        data.checkpoints,
        file_cap=choices.checkpoint_file_bytes,
        total_cap=choices.checkpoint_total_bytes,
        keep_days=choices.checkpoint_days,
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
    choices: Choices,
) -> TerminalOps:
    sandbox = Sandbox(
        project.root,
        hidden=[data.all],
        own=project.own,
        cache_folder=data.all,
        allow_limits_only=choices.allow_unsandboxed,
        covers=secrets.covers,
        alone=alone,
        git_record=data.git_record,
    )
    return TerminalOps(
        project,
        sandbox,
        stop,
        outputs,
        network_hosts=choices.network_hosts,
        run_seconds=choices.run_seconds,
        call_seconds=choices.call_seconds,
        pip_variables=choices.pip_variables,
    )


def _search(outputs: Outputs, stop: Stop, choices: Choices) -> Feature:
    if not choices.search_key:
        return NoWebSearch()
    return WebSearch(choices.search_key, outputs, stop, base_url=choices.search_url)
