"""Data folder of a project, outside of it, with everything that Onefold keeps about it."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from utils.i18n import UserError, phrase


class DataFolder:
    """`<data>/projects/<name>-<hash of the path>/`, readable by its owner only."""

    def __init__(self, data: Path, project: Path) -> None:
        """Make the folder. Raises `UserError` when that cannot be done."""
        self.root = data
        self.path = self.path_for(data, project)
        try:
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                phrase(
                    "Cannot create the data folder {path}: {why}. Set ONEFOLD_DATA_DIR to a "
                    "folder you can write to.",
                    path=str(self.path),
                    why=error.strerror or str(error),
                )
            ) from None

    def check_writable(self) -> None:
        """Raise `UserError` when this person may not write here: what is said could not be kept."""
        for path in filter(os.path.exists, (self.root, self.path, self.sessions)):
            if not os.access(path, os.R_OK | os.W_OK):
                raise UserError(
                    phrase(
                        "No permission to write to {path}, where Onefold stores its data. "
                        "Change its owner, or set ONEFOLD_DATA_DIR to a folder you can write "
                        "to.",
                        path=str(path),
                    )
                )

    @staticmethod
    def path_for(data: Path, project: Path) -> Path:
        """Return the path that the folder of *project* has, or would have."""
        name = re.sub(r"[^\w.-]+", "_", project.name)[:40] or "root"
        digest = hashlib.sha256(str(project).encode("utf-8", "surrogateescape")).hexdigest()[:10]
        return data / "projects" / f"{name}-{digest}"

    @property
    def sessions(self) -> Path:
        return self.sessions_in(self.path)

    @staticmethod
    def sessions_in(folder: Path) -> Path:
        """Return the path of the sessions in the *folder* of a project."""
        return folder / "sessions.sqlite"

    @property
    def approvals(self) -> Path:
        """The approvals that last."""
        return self.path / "approvals.json"

    @property
    def sockets(self) -> Path:
        """The folder of sockets by which what runs is shown, and answered, elsewhere."""
        return self.path / "sockets"

    @property
    def tool_switches(self) -> Path:
        """The switches of the tools."""
        return self.path / "tools.json"

    @property
    def skill_switches(self) -> Path:
        """The switches of the skills."""
        return self.path / "skills.json"

    @property
    def checks(self) -> Path:
        """The check commands of the project."""
        return self.path / "checks.json"

    @property
    def requests(self) -> Path:
        """What was sent to the models, a file for each session."""
        return self.path / "requests"

    @property
    def past_tasks(self) -> Path:
        """What past tasks cost."""
        return self.path / "past_tasks"

    @property
    def spending(self) -> Path:
        """What was spent when, in every project."""
        return self.root / "spending"

    @property
    def own_instructions(self) -> Path:
        """The person's own instructions, for every project."""
        return self.root / "AGENTS.md"

    @property
    def own_system_prompt(self) -> Path:
        """The person's own instructions in the place of ours, for every project."""
        return self.root / "prompts" / "system.md"

    @property
    def tool_cases(self) -> Path:
        """The cases of the tool tester, of every project."""
        return self.root / "tool_cases"

    @property
    def own_agents(self) -> Path:
        """The folder of the person's own roles of helpers, for every project."""
        return self.root / "agents"

    @property
    def own_commands(self) -> Path:
        """The folder of the person's own commands, for every project."""
        return self.root / "commands"

    @property
    def own_hooks(self) -> Path:
        """The person's own hooks, for every project."""
        return self.root / "hooks.json"

    @property
    def mcp_servers(self) -> Path:
        """The person's own MCP servers, for every project."""
        return self.root / "mcp.json"

    @property
    def mcp_tokens(self) -> Path:
        """The tokens of MCP servers that the person signed in to, for every project."""
        return self.root / "mcp-tokens"

    @property
    def mcp_listings(self) -> Path:
        """What MCP servers said that they offer."""
        return self.path / "mcp"

    @property
    def consents(self) -> Path:
        """What the person said of instructions and commands that somebody else may have written."""
        return self.path / "consents.json"

    @property
    def memory(self) -> Path:
        return self.path / "MEMORY.md"

    @property
    def config(self) -> Path:
        """The person's preferences, and their rules of how deep a task goes."""
        return self.path / "CONFIG.md"

    @property
    def memory_offers(self) -> Path:
        """What was offered for the memory before."""
        return self.path / "memory_offers.json"

    @property
    def session_decisions(self) -> Path:
        """What sessions decided, and was not offered for the memory yet."""
        return self.path / "session_decisions.json"

    @property
    def task_memory(self) -> Path:
        """What the session at hand is about."""
        return self.path / "WORKING.md"

    @property
    def plans(self) -> Path:
        """The plans made in plan mode, a file for each session."""
        return self.path / "plans"

    @property
    def races(self) -> Path:
        """The races that are not over, a file for each."""
        return self.path / "races"

    @property
    def of_work(self) -> tuple[Path, ...]:
        """The small files that say how to work in the project, beside those in its folder."""
        switches = (self.tool_switches, self.skill_switches, self.shows_secrets)
        return (*switches, self.checks, self.consents, self.config, self.memory, self.task_memory)

    @property
    def notes(self) -> Path:
        return self.path / "notes.json"

    @property
    def outputs(self) -> Path:
        return self.path / "outputs"

    @property
    def pictures(self) -> Path:
        """The pictures of the sessions, a folder for each."""
        return self.path / "pictures"

    @property
    def document_previews(self) -> Path:
        """The pages of documents as pictures, a folder for each content."""
        return self.path / "previews"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def shows_secrets(self) -> Path:
        """A file that is there while the person lets the model see secrets."""
        return self.path / "shows-secrets"

    @property
    def input_history(self) -> Path:
        """History of the prompt."""
        return self.path / "typed.txt"

    @property
    def log(self) -> Path:
        return self.path / "onefold.log"

    @property
    def operations(self) -> Path:
        """The operations log."""
        return self.operations_in(self.path)

    @staticmethod
    def operations_in(folder: Path) -> Path:
        """Return the path of the operations log in the *folder* of a project."""
        return folder / "operations.jsonl"

    @property
    def git_record(self) -> Path:
        """Record of git's files in the project before the run under way, if there is one."""
        return self.path / "git-before-run.json"

    @property
    def program_home(self) -> Path:
        """Home of the programs that run in the sandbox."""
        return self.path / "home"

    @property
    def conversation(self) -> Path:
        """The conversation as JSON, where that is wanted."""
        return self.path / "conversation_history.json"
