"""The API on git: its state, diffs, branches and log, and what the person does to them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from core.cards import Card, TextCard
from core.events import CommandAnswered
from core.feature import name_of
from core.redaction import map_strings
from core.tools import ToolError
from modules.git.commit import PublishesSecrets
from modules.git.person.feature import GitForPerson
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.idempotency import CommandId
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import SessionRunner
from utils.i18n import phrase
from utils.text.codec import to_plain

if TYPE_CHECKING:
    from modules.git.person.diffs import FileDiff

Json = dict[str, Any]
_MAX_PATHS = 1_000
_MAX_PATH = 4_096  # characters
_MAX_MESSAGE = 100_000  # characters
_PATH = Annotated[str, "As the state names it.", Bounds(1, _MAX_PATH)]
_PATHS = Annotated[list[str], f"As the state names them, at most {_MAX_PATHS:,}; empty: all."]
_HUNK = Annotated[str, "With one path: the id of a hunk of its diff; empty: all of the file."]
_BRANCH = Annotated[str, "The name of a branch.", Bounds(1, 200)]
_CARD = {"card": "What was done."}


class GitApi:
    """Shows git in the project, and does what the person says, in the sessions of *registry*."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    # --- shown -----------------------------------------------------------------------------------

    @route(
        "GET",
        "/api/sessions/{id}/git",
        "The state of the repository, without any network.",
        answer={
            "state?": "Its branch, what is staged and what is not: see docs/protocol.md.",
            "branches?": "Its branches, the one with the newest commit first.",
            "refusal?": "Why there is nothing to show.",
        },
    )
    def state(self, id: ID) -> Json:  # noqa: A002 - its name in the address
        from modules.git.person.branches import list_branches  # for who opens the pane
        from modules.git.person.status import read_state

        runner, git = self._opened(id)
        try:
            with as_api_errors(), git.repository() as runs:
                state, branches = read_state(runs), list_branches(runs)
        except ApiError as refusal:
            return {"refusal": to_plain(refusal.message)}
        redact = runner.terminal.redact
        shown = {**to_plain(state), "is_practice": runner.terminal.is_practice}
        return {"state": shown, "branches": map_strings(to_plain(branches), redact)}

    @route(
        "GET",
        "/api/sessions/{id}/git/head",
        "What the project is on, without starting git.",
        answer={"head": "A branch, the beginning of a commit, or empty where there is no git."},
    )
    def head(self, id: ID) -> Json:  # noqa: A002
        runner, git = self._opened(id)
        return {"head": runner.terminal.redact(git.head())}

    @route(
        "GET",
        "/api/sessions/{id}/git/diff",
        "How one file differs, staged or not.",
        answer={"diff": "The file with its hunks, each with an id, and a note."},
    )
    def diff(self, id: ID, path: _PATH, staged: bool = False) -> Json:  # noqa: A002
        runner, git = self._opened(id)
        with as_api_errors():
            found = git.diff(path, is_staged=staged)
        return {"diff": map_strings(_diff_json(found), runner.terminal.redact)}

    @route(
        "GET",
        "/api/sessions/{id}/git/log",
        "The log, the newest first, with the commits that were the agent's.",
        answer={
            "commits": "Each with its id, author, time, subject, names and `agent`: null, or the "
            "session and the turn that made it, as checkpoints know.",
            "more": "Whether there are older ones.",
        },
    )
    def log(
        self,
        id: ID,  # noqa: A002
        skip: Annotated[int, "How many of the newest are known.", Bounds(0)] = 0,
    ) -> Json:
        from modules.git.person.history import log_page  # for who opens the pane

        runner, git = self._opened(id)
        with as_api_errors(), git.repository() as runs:
            commits, has_more = log_page(runs, skip)
        marks = git.agent_commits.marks()
        shown = [{**to_plain(one), "agent": to_plain(marks.get(one.id))} for one in commits]
        return {"commits": map_strings(shown, runner.terminal.redact), "more": has_more}

    @route(
        "GET",
        "/api/sessions/{id}/git/commit",
        "One commit: its message, and what it changed.",
        answer={
            "message": "All of it.",
            "files": "The diff of each, against the first parent.",
            "left_out": "How many more files it changed.",
        },
    )
    def show_commit(
        self,
        id: ID,  # noqa: A002
        commit: Annotated[str, "Its id.", Bounds(7, 64)],
    ) -> Json:
        from modules.git.person.diffs import commit_diffs  # for who opens the pane
        from modules.git.person.history import checked_commit, message_of

        runner, git = self._opened(id)
        with as_api_errors(), git.repository() as runs:
            whole = checked_commit(runs, commit)
            diffs, left_out = commit_diffs(runs, whole)
            message = message_of(runs, whole)
        redact = runner.terminal.redact
        files = [map_strings(_diff_json(one), redact) for one in diffs]
        return {"message": redact(message), "files": files, "left_out": left_out}

    # --- done ------------------------------------------------------------------------------------

    @route("POST", "/api/sessions/{id}/git/stage", "Stage files, or a hunk.", answer=_CARD)
    def stage(self, id: ID, paths: _PATHS, hunk: _HUNK = "", cmd: CommandId = "") -> Json:  # noqa: A002
        chosen = _checked(paths, hunk)
        return self._do(id, cmd, lambda git: git.stage(chosen, hunk), is_logged=False)

    @route("POST", "/api/sessions/{id}/git/unstage", "Unstage files, or a hunk.", answer=_CARD)
    def unstage(self, id: ID, paths: _PATHS, hunk: _HUNK = "", cmd: CommandId = "") -> Json:  # noqa: A002
        chosen = _checked(paths, hunk)
        return self._do(id, cmd, lambda git: git.unstage(chosen, hunk), is_logged=False)

    @route(
        "POST",
        "/api/sessions/{id}/git/discard",
        "Discard changes that are not staged; a checkpoint holds them.",
        answer=_CARD,
    )
    def discard(self, id: ID, paths: _PATHS, hunk: _HUNK = "", cmd: CommandId = "") -> Json:  # noqa: A002
        chosen = _checked(paths, hunk)
        if not chosen:
            raise ApiError("bad_request", phrase("Invalid request: {why}.", why="no paths"))
        return self._do(id, cmd, lambda git: git.discard(chosen, hunk))

    @route(
        "POST",
        "/api/sessions/{id}/git/commit",
        "Commit what is staged.",
        answer=_CARD,
    )
    def commit(
        self,
        id: ID,  # noqa: A002
        message: Annotated[str, "All of it.", Bounds(0, _MAX_MESSAGE)],
        publish: Annotated[bool, "Whether it may hold the secrets that are staged."] = False,
        cmd: CommandId = "",
    ) -> Json:
        return self._do(id, cmd, lambda git: git.commit(message, publishes=publish))

    @route("POST", "/api/sessions/{id}/git/switch", "Go over to a branch.", answer=_CARD)
    def switch(
        self,
        id: ID,  # noqa: A002
        branch: _BRANCH,
        create: Annotated[bool, "Whether it is to be made first, at HEAD."] = False,
        cmd: CommandId = "",
    ) -> Json:
        return self._do(
            id, cmd, lambda git: git.create_branch(branch) if create else git.switch(branch)
        )

    @route(
        "POST",
        "/api/sessions/{id}/git/suggest",
        "Have the model write a message for what is staged: one call, which costs.",
        answer={
            "message": "What it offers.",
            "cost": "What that was, in words.",
            "left_out": "The files whose content it was not shown.",
            "cut": "Whether the diff was too long to be shown whole.",
        },
    )
    def suggest(self, id: ID, cmd: CommandId = "") -> Json:  # noqa: A002
        from modules.git.person.suggestion import Suggestion, cost_text  # for who asks

        runner, _ = self._opened(id)
        if runner.terminal.is_practice:
            raise ApiError("unsupported", phrase("The practice model does not suggest messages."))
        offered: list[Suggestion] = []

        def ask(git: GitForPerson) -> Card:
            offered.append(git.suggest())
            return TextCard("")

        self._do(id, cmd, ask, is_logged=False)
        if not offered:  # the same request again, which was answered
            raise ApiError("failed", phrase("Stopped."))
        one = offered[0]
        return {
            "message": one.message,
            "cost": to_plain(cost_text(one.usage)),
            "left_out": list(one.left_out),
            "cut": one.is_cut,
        }

    def _do(
        self,
        session: str,
        cmd: str,
        work: Callable[[GitForPerson], Card | CommandAnswered],
        *,
        is_logged: bool = True,
    ) -> Json:
        """Do *work* while no turn runs; where it *is_logged* all screens hear of it."""
        runner, git = self._opened(session)
        command = cmd or uuid.uuid4().hex
        secrets: list[ToolError] = []

        def act() -> Card | CommandAnswered:
            try:
                return work(git)
            except PublishesSecrets as error:
                secrets.append(error)
                raise

        def done() -> Json:
            try:
                answer = runner.run_exclusively(
                    lambda: runner.terminal.perform(name_of(GitForPerson.git), act),
                    command,
                    is_logged=is_logged,
                )
            except ApiError as error:
                raise ApiError("secrets", error.message) if secrets else error from None
            return {"card": to_plain(answer.card)}

        return runner.idempotency.run_once(command, done)

    def _opened(self, session: str) -> tuple[SessionRunner, GitForPerson]:
        runner = self._registry.open(session)
        git = runner.terminal.features.find(GitForPerson)
        if git is None:
            raise ApiError("unsupported", phrase("git is not available here."))
        return runner, git


def _diff_json(one: FileDiff) -> Json:
    hunks = [
        {"id": hunk.id, "diff": hunk.diff, "added": hunk.added, "removed": hunk.removed}
        for hunk in one.hunks
    ]
    return {
        "path": one.path,
        "shown": one.shown,
        "hunks": hunks,
        "note": to_plain(one.note),
        "is_divisible": one.is_divisible,
    }


def _checked(paths: list[str], hunk: str) -> list[str]:
    if len(paths) > _MAX_PATHS or (hunk and len(paths) != 1):
        why = f"1 path with a hunk, else at most {_MAX_PATHS:,}"
        raise ApiError("bad_request", phrase("Invalid request: {why}.", why=why))
    return paths
