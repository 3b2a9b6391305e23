"""The parts of a session that more than one of its features needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import VERSION
from modules.annotations import Annotations
from modules.ask_person import AskPerson
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.past_contents import hold_now
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checkpoints.undo.undo_state import StateUndo
from modules.depth.decision_stops import DecisionStops, deep_note
from modules.documents.feature import Documents
from modules.earlier_sessions import EarlierSessions
from modules.file_manager import FileManager
from modules.focus import Focus
from modules.git.commit import GitCommit
from modules.git.remote import GitRemote
from modules.history_tool import HistoryTool
from modules.instructions.consent import Consents
from modules.instructions.feature import Instructions
from modules.jobs.feature import Jobs
from modules.mcp_client.feature import McpServers, join_names
from modules.memory.task_memory import TaskMemory
from modules.memory_manager import Memory
from modules.notes.protection import Protection
from modules.outputs import Outputs
from modules.pictures.feature import Pictures
from modules.pictures.picture_store import PictureStore
from modules.project_copies import ProjectCopies
from modules.results.feature import Results
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.late_sandbox import LateSandbox, RememberedSandbox
from modules.sandbox.types import Limits
from modules.secrets.redactor import Secrets
from modules.skills.feature import Skills
from modules.skills.files import BUILT_IN
from modules.skills.switches import SkillSwitches
from modules.spending.feature import Spending
from modules.spending.ledger import Ledger
from modules.spending.past_tasks import PastTasks
from modules.terminal_ops import TerminalOps
from modules.todos import Todos
from modules.why.feature import Why

if TYPE_CHECKING:
    from config import Settings
    from core.conversation.store import Store
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.files.project import Project
    from modules.git.commit_hooks import CommitHooks
    from modules.results.opening import Opener
    from modules.sandbox.sandbox import Sandbox
    from modules.storage.data_folder import DataFolder
    from utils.waiting import Stop

READ_FILE = FileManager.read_file.__name__


def limits_of(settings: Settings) -> Limits:
    """Return the limits that *settings* give a run."""
    return Limits.of(
        memory_mb=settings.memory_mb,
        processes=settings.processes,
        disk_mb=settings.disk_mb,
        tmp_mb=settings.tmp_mb,
        output_mb=settings.output_mb,
    )


def checkpoint_limits_of(settings: Settings) -> dict[str, int]:
    """Return the limits that *settings* give checkpoints, as `Checkpoints.limit` takes them."""
    return {
        "file_cap": settings.checkpoint_file_mb * 1_000_000,
        "total_cap": settings.checkpoint_total_mb * 1_000_000,
        "keep_days": settings.checkpoint_days,
    }


class SessionParts:
    """What the features of one session are made of, each part made when it is first asked for.

    See `modules.toolbox.build_features` for *is_machine* and *given_ledger*.
    """

    def __init__(
        self,
        project: Project,
        data: DataFolder,
        store: Store,
        stop: Stop,
        settings: Settings,
        *,
        is_machine: bool,
        given_ledger: Ledger | None,
    ) -> None:
        self.project = project
        self.data = data
        self.store = store
        self.stop = stop
        self.settings = settings
        self.is_machine = is_machine
        self.given_ledger = given_ledger

    # --- what the model reads, and what is remembered --------------------------------------------

    @cached_property
    def outputs(self) -> Outputs:
        return Outputs(self.data.outputs, reader=READ_FILE, redact=self.secrets.redact)

    @cached_property
    def notes(self) -> Annotations:
        notes = Annotations(self.project, self.data.notes)
        if not self.project.is_whole_disk:
            notes.on_protect = lambda: hold_now(self.checkpoints)
        return notes

    @cached_property
    def protection(self) -> Protection:
        return Protection(self.notes.protecting, self.undo)

    @cached_property
    def todos(self) -> Todos:
        return Todos()

    @cached_property
    def focus(self) -> Focus:
        return Focus(self.project, context_limit=self.settings.context_limit)

    @cached_property
    def task_memory(self) -> TaskMemory:
        return TaskMemory(self.data.task_memory)

    @cached_property
    def memory(self) -> Memory:
        data = self.data
        return Memory(data.memory, data.memory_offers, data.session_decisions, self.task_memory)

    @cached_property
    def history_tool(self) -> HistoryTool:
        return HistoryTool()

    @cached_property
    def earlier_sessions(self) -> EarlierSessions:
        return EarlierSessions(self.store)

    @cached_property
    def skills(self) -> Skills:
        home = self.settings.person_environment.get("HOME", "")
        return Skills(
            self.project,
            Path(home) if home.startswith("/") else None,
            BUILT_IN,
            SkillSwitches(self.data.skill_switches),
            documents=lambda: self.documents.reader(),
        )

    @cached_property
    def consents(self) -> Consents:
        return Consents(self.data.consents)

    @cached_property
    def instructions(self) -> Instructions:
        return Instructions(
            *(self.project, self.data.own_instructions, self.consents),
            focused=lambda: self.focus.paths,
            running=self.jobs.running_names,
        )

    @cached_property
    def decision_stops(self) -> DecisionStops:
        return DecisionStops(deep_note(AskPerson.ask_person.__name__), self.undo.undo_turn)

    # --- pictures, documents and results ---------------------------------------------------------

    @cached_property
    def picture_store(self) -> PictureStore:
        return PictureStore(self.data.pictures)

    @cached_property
    def pictures(self) -> Pictures:
        return Pictures(self.picture_store)

    @cached_property
    def documents(self) -> Documents:
        return Documents(self.project, self.data.document_previews, self.data.root)

    @cached_property
    def results(self) -> Results:
        return Results(
            *(self.project, self.checkpoints),
            self._opener,
            lambda: self.documents.previews,
        )

    def _opener(self) -> Opener:
        from modules.checks.syntax import problems_of  # for who hands something over
        from modules.documents.check import check_document
        from modules.results.opening import Opener

        def parse(path: str) -> str:
            return problems_of(path, self.terminal_ops.run_quietly)

        return Opener(self.project, parse, check_document)

    # --- programs --------------------------------------------------------------------------------

    @cached_property
    def home(self) -> ProgramHome:
        """The home of programs; on a machine of the agent's own as large as it likes."""
        max_size = 0 if self.is_machine else self.settings.home_mb * 1_000_000
        return ProgramHome(self.data.program_home, max_size=max_size)

    @cached_property
    def secrets(self) -> Secrets:
        settings = self.settings
        return Secrets(
            *(self.project.root, settings.hidden_values, self.data.shows_secrets),
            is_enabled=settings.hide_secrets,
        )

    @cached_property
    def sandbox(self) -> LateSandbox:
        allows_none = self.settings.allow_unsandboxed
        root, record = self.project.root, self.data.git_record
        remembered = RememberedSandbox(root, record, self.data.root / "sandbox", allows_none)
        return LateSandbox(
            self._make_sandbox,
            None if self.is_machine else remembered,
            is_for_agent=self.is_machine,
        )

    def _make_sandbox(self) -> Sandbox:
        from modules.sandbox.sandbox import Sandbox  # at the first run

        settings, known = self.settings, self.settings.secrets
        environment = settings.person_environment
        machine = {name: text for name, text in environment.items() if name not in known}
        return Sandbox(
            self.project.root,
            hidden=[self.data.root],
            own_code=self.project.own_code,
            cache_folder=self.data.root,
            allow_limits_only=settings.allow_unsandboxed,
            replacements=self.secrets.redacted_files,
            lock_project=lambda: self.checkpoints.get().objects.locked(),
            git_record=self.data.git_record,
            home=self.home,
            environment=environment,
            show_folders=settings.show_folders,
            machine=machine if self.is_machine else None,
            git_hooks=settings.git_hooks,
        )

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(self.sandbox, self.data.path, self.stop, self.outputs)

    @cached_property
    def terminal_ops(self) -> TerminalOps:
        settings = self.settings
        return TerminalOps(
            *(self.project, self.sandbox, self.stop, self.outputs),
            jobs=self.jobs,
            network_hosts=settings.network_hosts,
            run_seconds=settings.run_seconds,
            call_seconds=settings.call_seconds,
            limits=limits_of(settings),
            package_variables=settings.person_environment,
            environment=settings.person_environment,
            secret_names=settings.secrets,
            remote_tool=GitRemote.git_remote.__name__,
        )

    @cached_property
    def mcp_servers(self) -> McpServers:
        return McpServers(
            *(self.project, self.data, self.consents, self.sandbox, self.terminal_ops, self.undo),
            *(self.outputs, self.pictures, self.stop, self.settings),
            limits=limits_of(self.settings),
            hide=self.secrets.hide,
        )

    # --- what is taken back, committed and copied ------------------------------------------------

    @cached_property
    def checkpoints(self) -> LateCheckpoints:
        return LateCheckpoints(
            partial(self.open_checkpoints, self.project, self.data), self.data.checkpoints
        )

    def open_checkpoints(self, project: Project, data: DataFolder) -> Checkpoints:
        """Return those of *project*, this one or a copy of it, that are kept in *data*."""
        from modules.checkpoints.checkpoints import Checkpoints  # at the first change

        return Checkpoints(
            project.root,
            data.checkpoints,
            **checkpoint_limits_of(self.settings),
            protected=[data.root],
            own_code=project.own_code,
            root_fd=project.open_root(),
            holds_files=not project.is_whole_disk,
        )

    @cached_property
    def undo(self) -> UndoCommands:
        states = StateUndo(
            {
                "notes": self.notes,
                "todos": self.todos,
                "focus": self.focus,
                "memory": self.memory,
                "results": self.results,
            }
        )
        undo = UndoCommands(self.project, self.checkpoints, states)
        undo.watch_background(
            lambda: join_names(self.jobs.running_names(), self.mcp_servers.running_names())
        )
        return undo

    @cached_property
    def why(self) -> Why:
        return Why(self.project, self.checkpoints, self.store, self.stop, VERSION)

    @cached_property
    def git_commit(self) -> GitCommit:
        return GitCommit(
            *(self.project, self.stop, self.secrets.names_in), make_hooks=self._make_commit_hooks
        )

    def _make_commit_hooks(self) -> CommitHooks:
        from modules.git.commit_hooks import CommitHooks  # for commits only

        settings = self.settings
        limits = replace(limits_of(settings), seconds=settings.call_seconds)
        return CommitHooks(self.sandbox, self.stop, limits, settings.git_hooks)

    @cached_property
    def copies(self) -> ProjectCopies:
        return ProjectCopies(self.project.root, self.data, self.undo, self.open_checkpoints)

    def make_twin_sandbox(self, twin: Path, shown: Sequence[Path]) -> Sandbox:
        """Return the sandbox of a copy of the project: no secret of its files is in there."""
        from modules.sandbox.sandbox import Sandbox

        root = self.project.root

        def replacements() -> Mapping[Path, str]:
            found = self.secrets.redacted_files()
            inside = {path: text for path, text in found.items() if path.is_relative_to(root)}
            return {twin / path.relative_to(root): text for path, text in inside.items()}

        return Sandbox(
            twin,
            hidden=[self.data.root],
            own_code=self.project.own_code,
            cache_folder=self.data.root,
            replacements=replacements,
            home=self.home,
            environment=self.settings.person_environment,
            show_folders=[*self.settings.show_folders, *shown],
        )

    # --- money -----------------------------------------------------------------------------------

    @cached_property
    def past_tasks(self) -> PastTasks:
        return PastTasks(self.data.past_tasks)

    @cached_property
    def spending(self) -> Spending:
        settings = self.settings
        return Spending(
            self.given_ledger or Ledger(self.data.spending),
            self.past_tasks,
            task_budget=settings.task_budget,
            daily_budget=settings.daily_budget,
            when=settings.when,
        )
