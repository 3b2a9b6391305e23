"""Git for the person: `/git` in the terminal, and all that the page's Git pane does."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from core.cards import Card, Change, TextCard
from core.conversation.messages import ShellResult
from core.events import CommandAnswered
from core.feature import Feature, SessionHandle, command, name_of
from core.hooks import BindsToSession
from core.tools import ToolError
from modules.files.project import Project
from utils.i18n import Phrase, Text, UserError, join_lines, phrase
from utils.text.clean import visible
from utils.text.lines import first_names
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.files.git.commit_selection import CommitSelection
    from modules.files.git.git_runs import GitRuns
    from modules.files.git.secret_scan import SecretNamesIn
    from modules.git.commit import GitCommit
    from modules.git.person.agent_commits import AgentCommits
    from modules.git.person.diffs import FileDiff
    from modules.git.person.suggestion import Suggestion
    from utils.llm.completion import Usage


class ActRecorder(Protocol):
    """What records an act of the person's as a call, to be undone like one."""

    def acting(
        self, begin_turn: Callable[[], int], name: str
    ) -> AbstractContextManager[tuple[str, int]]: ...
    def exclusive(self) -> AbstractContextManager[None]: ...
    def can_restore(self, path: str) -> bool: ...


class GitForPerson(Feature, BindsToSession):
    """Shows the repository of *project* and changes it as the person says; nothing goes online.

    What cannot be taken back by its own button is an act: a turn of its own that *recorder* holds
    a checkpoint of. *refusal* says why nothing more may be spent on the model.
    """

    _session: SessionHandle

    def __init__(
        self,
        project: Project,
        recorder: ActRecorder,
        commits: GitCommit,
        agent_commits: Callable[[], AgentCommits],
        *,
        names_in: SecretNamesIn,
        stop: Stop,
        refusal: Callable[[], Phrase | None],
    ) -> None:
        self._project = project
        self._recorder = recorder
        self._commits = commits
        self._make_agent_commits = agent_commits
        self._agent_commits: AgentCommits | None = None
        self._names_in = names_in
        self._stop = stop
        self._refusal = refusal

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    @property
    def agent_commits(self) -> AgentCommits:
        """The commits that calls have made."""
        if self._agent_commits is None:
            self._agent_commits = self._make_agent_commits()
        return self._agent_commits

    @contextmanager
    def repository(self) -> Iterator[GitRuns]:
        """Yield git for the project. Raises `UserError` where there is no repository."""
        from modules.git.person.repository import repository  # for who uses git

        with repository(self._project.root) as git:
            yield git

    def head(self) -> str:
        """Return the branch or commit that the project is on, "" where there is none."""
        from modules.git.person.head import shown_head  # for who has the page open

        return shown_head(self._project.root)

    def diff(self, path: str, *, is_staged: bool) -> FileDiff:
        """Return how the file *path* differs. Raises `UserError`, `ToolError`."""
        from modules.git.person.diffs import file_diff  # for who uses git

        name = self._named(path)
        with self.repository() as git:
            return file_diff(git, self._project, name, is_staged=is_staged)

    @command(
        "/git [log|stage|unstage|commit|switch|branch] [TEXT]",
        "Show git's state and log; stage, unstage and commit, switch or make a branch.",
        changes_files=True,
    )
    def git(self, argument: str) -> Card | CommandAnswered:
        word, _, rest = argument.partition(" ")
        rest = rest.strip()
        match word:
            case "":
                return CommandAnswered(name_of(self.git), self._state_card(), effect="git")
            case "log":
                return self._log_card(rest)
            case "stage":
                return self.stage(_paths(rest))
            case "unstage":
                return self.unstage(_paths(rest))
            case "commit":
                return self.commit(rest)
            case "switch" if rest:
                return self.switch(rest)
            case "branch" if rest:
                return self.create_branch(rest)
            case _:
                raise UserError(_USAGE)

    def _state_card(self) -> Card:
        from modules.git.person.cards import state_card  # for who uses git

        with self.repository() as git:
            return state_card(git, self.agent_commits.marks())

    def _log_card(self, rest: str) -> Card:
        from modules.git.person.cards import log_card  # for who uses git

        with self.repository() as git:
            return log_card(git, self.agent_commits.marks(), rest)

    # --- the index: taken back by the opposite ---------------------------------------------------

    def stage(self, paths: Sequence[str], hunk: str = "") -> Card:
        """Stage *paths*, without any all that changed, or the *hunk* of the one of them."""
        from modules.git.person import index_writes  # for who uses git

        with self._recorder.exclusive(), self.repository() as git:
            if hunk:
                index_writes.stage_hunk(git, self._project, self._named(paths[0]), hunk)
                return TextCard(phrase("Staged."))
            chosen = index_writes.stage(git, [self._named(path) for path in paths])
        return TextCard(phrase("Staged."), _left_out(chosen))

    def unstage(self, paths: Sequence[str], hunk: str = "") -> Card:
        """Unstage *paths*, without any all that is staged, or the *hunk* of the one of them."""
        from modules.git.person import index_writes  # for who uses git

        with self._recorder.exclusive(), self.repository() as git:
            if hunk:
                index_writes.unstage_hunk(git, self._project, self._named(paths[0]), hunk)
            else:
                index_writes.unstage(git, [self._named(path) for path in paths])
        return TextCard(phrase("Unstaged."))

    # --- acts: taken back by undo ----------------------------------------------------------------

    def discard(self, paths: Sequence[str], hunk: str = "") -> CommandAnswered:
        """Give the files *paths* what is staged of them; those unknown to git are deleted.

        With a *hunk* only that is taken out. A checkpoint holds what they were.
        """
        from modules.git.person import index_writes  # for who uses git

        names = [self._named(path) for path in paths]
        for name in names:
            if not self._recorder.can_restore(name):
                message = phrase("No checkpoint can hold {path}, so it was not discarded.",
                                 path=visible(name))  # fmt: skip
                raise UserError(message)
        title = phrase("Discarded changes in {names}.", names=first_names([*map(visible, names)]))
        with self.repository() as git, self._act(f"discard {_quoted(names)}") as act:
            act.changes = (
                (index_writes.discard_hunk(git, self._project, names[0], hunk),)
                if hunk
                else tuple(index_writes.discard(git, self._project, names))
            )
            return act.done(TextCard(title, _UNDO))

    def switch(self, name: str) -> CommandAnswered:
        """Go over to the branch *name*. Raises `ToolError` where work would be lost."""
        from modules.git.person.branches import plan_switch  # for who uses git

        with self.repository() as git:
            with self._recorder.exclusive():
                plan = plan_switch(git, name)
            with self._act(f"switch {visible(name)}") as act:
                plan.run(git)
                act.changes = plan.changes
                title = phrase("Switched to {name}.", name=visible(name))
                return act.done(TextCard(title, _UNDO))

    def create_branch(self, name: str) -> CommandAnswered:
        """Make the branch *name* at HEAD and go over to it. Raises `ToolError`."""
        from modules.git.person.branches import check_new_branch, create_branch  # for git alone

        with self.repository() as git:
            check_new_branch(git, name)
            with self._act(f"branch {visible(name)}") as act:
                create_branch(git, name)
                title = phrase("Created {name} and switched to it.", name=visible(name))
                return act.done(TextCard(title, _UNDO))

    def commit(self, message: str, *, publishes: bool = False) -> CommandAnswered:
        """Commit what is staged with *message*.

        Raises `PublishesSecrets` where it holds secrets and not *publishes* them, `ToolError`.
        """
        from modules.git.person.status import conflicting  # for who uses git

        with self.repository() as git:
            if not (git.git.common_dir.config.name and git.git.common_dir.config.email):
                raise UserError(_NO_IDENTITY)
            if conflicting(git):
                raise UserError(phrase("Some files have conflicts. Resolve and stage them first."))
        first = message.strip().partition("\n")[0]
        with (
            self._commits.staged(message, publishes=publishes) as ready,
            self._act(f"commit {first}") as act,
        ):
            text = ready.changes.commit(ready.message)
            return act.done(TextCard(phrase("Committed"), join_lines(text, *ready.remarks)))

    def suggest(self) -> Suggestion:
        """Return a message for what is staged, which one call of the model writes.

        Raises `UserError`, `ToolError`; `Stop` ends it.
        """
        from core.conversation.history import usage_record  # for who asks
        from modules.git.person.suggestion import Suggester

        if refusal := self._refusal():
            raise UserError(refusal)
        with self.repository() as git:
            if not (git.git.common_dir.config.name and git.git.common_dir.config.email):
                raise UserError(_NO_IDENTITY)

        def spent(usage: Usage) -> None:
            self._session.record(usage_record(usage))

        self._stop.clear()
        suggester = Suggester(self._session.model, self._session.redact, spent, self._stop)
        return suggester.suggest(self._project.root, self._names_in)

    @contextmanager
    def _act(self, line: str) -> Iterator[_Act]:
        """Record the block as what `/git` with *line* did, in a turn of its own."""
        from modules.git.person.agent_commits import PERSON_CALL  # for who uses git

        line = f"{name_of(self.git)} {line}"
        act = _Act(name_of(self.git))
        with self._recorder.acting(lambda: self._session.begin_turn(line), PERSON_CALL) as recorded:
            try:
                yield act
            except (ToolError, UserError) as error:
                card = TextCard(error.message)
                self._session.record(
                    ShellResult(recorded[0], line, "", "failed", card, 0.0, is_private=True)
                )
                raise
            self._session.record(
                ShellResult(recorded[0], line, "", "done", act.card, 0.0, is_private=True)
            )

    def _named(self, path: str) -> str:
        """Return *path* in the project. Raises `ToolError` for one that is not."""
        name = self._project.normalize(path)
        if not name:
            raise UserError(_USAGE)
        return name


class _Act:
    """What an act did: its *card*, and its *changes* of files."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.card: Card = TextCard("")
        self.changes: tuple[Change, ...] = ()

    def done(self, card: Card) -> CommandAnswered:
        self.card = card
        return CommandAnswered(self._name, card, changes=self.changes)


_USAGE = phrase("Usage: /git, /git log, /git stage a.txt, /git commit MESSAGE, /git switch NAME.")
_UNDO = phrase("/undo reverts it.")
_NO_IDENTITY = phrase(
    "git does not know your name. Run: git config --global user.name NAME and "
    "git config --global user.email ADDRESS"
)


def _paths(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise UserError(_USAGE) from None


def _quoted(names: Sequence[str]) -> str:
    return first_names([shlex.quote(visible(name)) for name in names])


def _left_out(chosen: CommitSelection) -> Text:
    names = [*chosen.env_files, *chosen.generated]
    if not names:
        return ""
    shown = first_names([visible(name.decode("utf-8", "replace")) for name in names])
    return phrase("Not staged, for it may hold secrets or tools make it: {names}. Stage it by "
                  "name.", names=shown)  # fmt: skip
