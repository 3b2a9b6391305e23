"""Git with others, for the model: fetch, pull, push and clone, as the person and only with a yes.

Git speaks to the network with the person's credentials, and nothing of the project is run or
obeyed meanwhile (`modules.files.git.remote_transport`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from core.cards import Card, Change, TextCard
from core.feature import Feature
from core.hooks import FlagsCalls, PreviewsCalls
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Risk, Tool, ToolError, tool
from modules.files import path_errors
from modules.files.git.branches import (
    checked_branch,
    commit_of,
    current_branch,
    fast_forward,
    follow,
    make_repository,
)
from modules.files.git.git_runs import GitRuns, git_for
from modules.files.git.remote_address import RemoteAddress, network_address, remote_address
from modules.files.git.remote_transport import PersonEnvironment, Ref, Transport
from modules.files.git.secret_scan import SecretNamesIn, Secrets, format_secrets, secrets_in_commits
from modules.files.project import Project
from utils.i18n import Phrase, Text, join_lines, phrase
from utils.text.clean import clean, visible
from utils.waiting import Stop

Operation = Literal["fetch", "pull", "push", "clone"]
_MAX_COMMITS_SHOWN = 30
_MAX_NAMED_REFS = 20
_MAX_SHOWN = 20_000  # characters of what a question shows
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class Push:
    """Contents of a push: *commits*, a line each, and *secrets* in them by file."""

    address: RemoteAddress
    branch: str
    object_id: str
    commits: list[str]
    changes: str
    secrets: Secrets
    unscanned: int


class GitRemote(Feature, PreviewsCalls, FlagsCalls):
    """Exchanges commits with others; *names_in* knows the secrets in a text.

    *guard* is told the folder of a new repository, in which programs shall not change what git
    obeys; those in *running_jobs* see it as it was when they began.
    """

    def __init__(
        self,
        project: Project,
        stop: Stop,
        person: PersonEnvironment,
        names_in: SecretNamesIn = lambda _text: (),
        *,
        guard: Callable[[str], None] = lambda _folder: None,
        running_jobs: Callable[[], str] = lambda: "",
    ) -> None:
        self._project = project
        self._stop = stop
        self._person = person
        self._names_in = names_in
        self._guard = guard
        self._running_jobs = running_jobs
        self._shown: tuple[str, str] | None = None
        """The branch and the commit that the person was asked about last."""

    @tool(
        Risk.NETWORK,
        phrase("Exchange commits with other repositories."),
        verb=phrase("Git"),
        icon="globe",
        subject="{operation} {remote} {branch}",
        changes_files=True,
    )
    def git_remote(
        self,
        operation: Operation,
        remote: Annotated[str, "clone: address"] = "origin",
        branch: str | None = None,
        path: Annotated[str | None, "clone: new folder"] = None,
    ) -> Outcome:
        """Talk to a git remote, with a yes. Pull fast-forwards only; push never forces."""
        changes: tuple[Change, ...] = ()
        match operation:
            case "fetch":
                text = self._fetch(remote)
            case "pull":
                text, changes = self._pull(remote, branch)
            case "push":
                text = self._push(remote, branch)
            case "clone":
                text, changes = self._clone(remote, branch, path)
        return Outcome(text, TextCard(phrase("Git"), text), changes=changes)

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card | None:
        if tool.name != "git_remote":
            return None
        return TextCard(phrase("Git with a remote"), self._intent(arguments))

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.name != "git_remote":
            return None
        if arguments["operation"] == "push":
            reason = phrase("It publishes commits as you; that cannot be taken back.")
        else:
            reason = phrase("It reaches the remote with your credentials.")
        return AlwaysAskReason(reason.template, reason.values)

    def _intent(self, given: Mapping[str, Any]) -> Text:
        operation, remote = given["operation"], given.get("remote") or "origin"
        if operation == "clone":
            address = network_address(remote, self._project.root)
            folder = self._new_folder(address, given.get("path"))
            return phrase("Clone {address} into {path}", address=address.shown, path=folder)
        with self._runs() as git:
            if operation != "push":
                address = remote_address(git, remote)
                return phrase("From {address}", address=address.shown)
            push = self._planned_push(git, remote, given.get("branch"))
            self._shown = (push.branch, push.object_id)
            return _push_text(push)

    # Operations

    def _fetch(self, remote: str) -> str:
        with self._runs() as git:
            address = remote_address(git, remote)
            refs = self._transport(git).fetch(address.url, address.refspec)
            return f"Fetched from {address.shown}.\n{_named(refs)}"

    def _pull(self, remote: str, branch: str | None) -> tuple[str, tuple[Change, ...]]:
        with self._runs() as git:
            address = remote_address(git, remote)
            current = current_branch(git)
            refs = self._transport(git).fetch(address.url, address.refspec)
            upstream = f"refs/remotes/{remote}/{checked_branch(branch or current)}"
            told = f"Fetched from {address.shown}.\n{_named(refs)}"
            text, changes = fast_forward(git, current, upstream, self._refuse_out_of_bounds)
            return f"{told}\n{text}", changes

    def _push(self, remote: str, branch: str | None) -> str:
        with self._runs() as git:
            push = self._planned_push(git, remote, branch)
            shown, self._shown = self._shown, None
            if shown and shown[0] == push.branch and shown[1] != push.object_id:
                raise ToolError(phrase("The branch was moved since it was shown; push again."))
            transport = self._transport(git)
            transport.push(push.address.url, push.object_id, push.branch)
            name = f"refs/remotes/{remote}/{push.branch}"
            transport.update([Ref(name, transport.refs.get(name, ""), push.object_id)])
            return f"Pushed {push.object_id[:10]} to {push.address.shown} as {push.branch}."

    def _planned_push(self, git: GitRuns, remote: str, branch: str | None) -> Push:
        address = remote_address(git, remote, is_push=True)
        name = checked_branch(branch or current_branch(git))
        object_id = commit_of(git, f"refs/heads/{name}")
        if not object_id:
            raise ToolError(phrase("There is no branch {name!r} with a commit here.", name=name))
        known = ("--not", f"--remotes={remote}") if address.is_followed else ()
        span = (object_id, *known)
        log = git.run("log", "--format=%h %s", "--no-show-signature", "--no-color", *span)
        commits = clean(log.decode(errors="replace")).splitlines()
        if known and commit_of(git, f"refs/remotes/{remote}/{name}") == object_id:
            raise ToolError(phrase("There is nothing to push: {name} is there already.", name=name))
        changes = _changed_files(git, span, object_id)
        secrets, unscanned = secrets_in_commits(git, span, self._names_in)
        return Push(address, name, object_id, commits, changes, secrets, unscanned)

    def _clone(
        self, url: str, branch: str | None, path: str | None
    ) -> tuple[str, tuple[Change, ...]]:
        address = network_address(url, self._project.root)
        name = self._new_folder(address, path)
        if running := self._running_jobs():
            raise ToolError(
                phrase(
                    "Not while {jobs} could change the new repository: stop that first.",
                    jobs=running,
                )
            )
        with TemporaryDirectory(prefix="onefold-clone-") as scratch:
            tree = Path(scratch, "tree")
            make_repository(tree, address.url)
            with self._runs(tree) as git:
                transport = self._transport(git)
                transport.fetch(address.url, "+refs/heads/*:refs/remotes/origin/*")
                first = checked_branch(branch or transport.default_branch(address.url))
                git.run("symbolic-ref", "HEAD", f"refs/heads/{first}")
                fast_forward(git, first, f"refs/remotes/origin/{first}", lambda _names: None)
            follow(tree, first)
            self._guard(name)
            self._project.move_in(tree, name)
        text = f"Cloned {address.shown} into {visible(name)} (branch {first})."
        return text, (Change("created", name),)

    def _new_folder(self, address: RemoteAddress, path: str | None) -> str:
        """Return the path in the project of the new folder. Raises `ToolError` if it exists."""
        last = re.split(r"[/:]", address.url.rstrip("/"))[-1].removesuffix(".git")
        name = self._project.normalize(path or last)
        if not name or self._project.stat(name) is not None:
            raise ToolError(
                phrase("{path} exists already; name another folder in path.", path=visible(name))
            )
        return name

    # Helpers

    def _refuse_out_of_bounds(self, names: Sequence[str]) -> None:
        """Refuse to change what is hidden, and what Onefold is loaded from."""
        kept = [f"{path}/" for path in (*self._project.hidden, *self._project.own_code.paths)]
        for name in names:
            if any(path.startswith(f"{name}/") or f"{name}/".startswith(path) for path in kept):
                raise ToolError(path_errors.outside(name))

    @contextmanager
    def _runs(self, tree: Path | None = None) -> Iterator[GitRuns]:
        with TemporaryDirectory(prefix="onefold-git-remote-") as scratch:
            yield GitRuns(git_for(tree or self._project.root, self._stop.on_stop), Path(scratch))

    def _transport(self, git: GitRuns) -> Transport:
        return Transport(git, git.scratch / "transport", self._person.without(self._project.root))


def _named(refs: list[Ref]) -> str:
    lines = [
        f"{visible(ref.name.removeprefix('refs/'))} {ref.old[:10] or '(new)'} → {ref.new[:10]}"
        for ref in refs
    ]
    if len(lines) > _MAX_NAMED_REFS:
        lines[_MAX_NAMED_REFS:] = [f"… {len(lines) - _MAX_NAMED_REFS} more"]
    return "\n".join(lines) or "Nothing new."


def _changed_files(git: GitRuns, span: Sequence[str], object_id: str) -> str:
    """Return how the files of *object_id* differ from those before the commits in *span*."""
    rows = git.run("rev-list", "--boundary", *span).decode().splitlines()
    before = next((row[1:] for row in rows if row.startswith("-")), "")
    before = before or git.run("hash-object", "-t", "tree", "--stdin").decode().strip()
    stat = git.run("diff", *_PLAIN, "--stat=100", "--submodule=short", before, object_id)
    return clean(stat.decode(errors="replace")).rstrip()


def _push_text(push: Push) -> Text:
    address, branch, count = push.address.shown, push.branch, len(push.commits)
    heading = (
        phrase("To {address}, branch {branch}: 1 commit", address=address, branch=branch)
        if count == 1
        else phrase(
            "To {address}, branch {branch}: {count} commits",
            address=address,
            branch=branch,
            count=count,
        )
    )
    parts: list[Text] = [heading]
    if push.secrets:
        secrets = format_secrets(push.secrets)
        parts.append(phrase("It publishes secrets: {secrets}", secrets=secrets))
    if push.unscanned:
        parts.append(phrase("Too large to be searched for secrets: {names}", names=push.unscanned))
    more = len(push.commits) - _MAX_COMMITS_SHOWN
    shown = push.commits[:_MAX_COMMITS_SHOWN] + ([f"… {more} more"] if more > 0 else [])
    parts.append(
        "\n".join(["", *shown, *(["", push.changes] if push.changes else [])])[:_MAX_SHOWN]
    )
    return join_lines(*parts)
