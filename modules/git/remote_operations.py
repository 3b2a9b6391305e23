"""Operations with remotes of git: fetch, pull, push and clone, loaded with the first of them.

Git speaks to the network with the person's credentials, and nothing of the project is run or
obeyed meanwhile (`modules.files.git_remotes.remote_transport`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from core.cards import Change
from core.tools import ToolError
from modules.files import path_errors
from modules.files.git.git_runs import GitRuns, git_for
from modules.files.git.new_repository import follow, make_repository
from modules.files.git.secret_scan import SecretNamesIn, Secrets, format_secrets, secrets_in_commits
from modules.files.git_remotes.branches import (
    checked_branch,
    commit_of,
    current_branch,
    fast_forward,
)
from modules.files.git_remotes.config_file import write_config
from modules.files.git_remotes.lfs_contents import (
    PointerFile,
    check_out,
    pointer_files,
    with_filter,
)
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.git_remotes.remote_address import RemoteAddress, network_address, remote_address
from modules.files.git_remotes.remote_transport import Ref, Transport
from modules.files.git_remotes.upstreams import has_upstream, upstream_changes
from modules.files.project import Project
from modules.git.remote_lfs import PushedContents, bring_contents, planned_contents, send_contents
from utils.i18n import Phrase, Text, join_lines, phrase
from utils.text.clean import clean, visible
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.git.remote import Operation

_MAX_COMMITS_SHOWN = 30
_MAX_NAMED_REFS = 20
_MAX_SHOWN = 20_000  # characters of what a question shows
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class Push:
    """Contents of a push of the branch or tag *name*: *commits*, a line each, and *secrets* in them
    by file.
    """

    address: RemoteAddress
    name: str
    object_id: str
    is_tag: bool
    commits: list[str]
    changes: str
    secrets: Secrets
    unscanned: int
    contents: PushedContents


class RemoteOperations:
    """What `GitRemote` does, with its arguments."""

    def __init__(
        self,
        project: Project,
        stop: Stop,
        person: PersonEnvironment,
        names_in: SecretNamesIn,
        guard: Callable[[str], None],
        running_jobs: Callable[[], Text],
    ) -> None:
        self._project = project
        self._stop = stop
        self._person = person
        self._names_in = names_in
        self._guard = guard
        self._running_jobs = running_jobs
        self._shown: tuple[str, str] | None = None
        """The branch or tag, and its object, that the person was asked about last."""

    def intent(self, given: Mapping[str, Any]) -> Text:
        """Return what a call with *given* would do. Raises `ToolError`."""
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
            self._shown = (push.name, push.object_id)
            return _push_text(push)

    def run(
        self, operation: Operation, remote: str, branch: str | None, path: str | None
    ) -> tuple[Text, tuple[Change, ...]]:
        """Do it; return what there is to say, and what it changed. Raises `ToolError`."""
        match operation:
            case "fetch":
                return self._fetch(remote), ()
            case "pull":
                return self._pull(remote, branch)
            case "push":
                return self._push(remote, branch), ()
            case "clone":
                return self._clone(remote, branch, path)

    # Operations

    def _fetch(self, remote: str) -> Text:
        with self._runs() as git:
            address = remote_address(git, remote)
            transport = self._transport(git)
            refs = transport.fetch(address.url, address.refspec)
            upstream = _upstream(git, remote)
            files = [file for commit in ("HEAD", upstream) for file in _files_of(git, commit)]
            return join_lines(
                _fetched(address, refs), *bring_contents(git, transport, address.url, files)
            )

    def _pull(self, remote: str, branch: str | None) -> tuple[Text, tuple[Change, ...]]:
        with self._runs() as git:
            address = remote_address(git, remote)
            current = current_branch(git)
            transport = self._transport(git)
            refs = transport.fetch(address.url, address.refspec)
            upstream = f"refs/remotes/{remote}/{checked_branch(branch or current)}"
            before, files = _files_of(git, "HEAD"), _files_of(git, upstream)
            brought = bring_contents(git, transport, address.url, files)
            moving = with_filter(git) if before else git
            text, changes = fast_forward(moving, current, upstream, self._refuse_out_of_bounds)
            filled = check_out(git, [file for file in files if self._is_within_bounds(file)])
            known = {change.path for change in changes}
            more = [name for name in map(os.fsdecode, filled) if name not in known]
            told = join_lines(_fetched(address, refs), *brought, text)
            return told, (*changes, *(Change("modified", name) for name in more))

    def _push(self, remote: str, branch: str | None) -> Text:
        with self._runs() as git:
            push = self._planned_push(git, remote, branch)
            shown, self._shown = self._shown, None
            if shown and shown[0] == push.name and shown[1] != push.object_id:
                raise ToolError(phrase("The branch was moved since it was shown; push again."))
            transport = self._transport(git)
            sent = send_contents(git, transport, push.address.url, push.contents)
            kind = "tags" if push.is_tag else "heads"
            transport.push(push.address.url, push.object_id, f"refs/{kind}/{push.name}")
            told: Text = phrase(
                "Pushed {commit} to {address} as {branch}.",
                commit=push.object_id[:10],
                address=push.address.shown,
                branch=push.name,
            )
            told = join_lines(told, *sent)
            if push.is_tag:
                return told
            name = f"refs/remotes/{remote}/{push.name}"
            transport.update([Ref(name, transport.refs.get(name, ""), push.object_id)])
            if not _follow_pushed(git, remote, push.name):
                return told
            return join_lines(told, phrase("It follows that branch from now on."))

    def _planned_push(self, git: GitRuns, remote: str, branch: str | None) -> Push:
        address = remote_address(git, remote, is_push=True)
        name = checked_branch(branch or current_branch(git))
        object_id = commit_of(git, f"refs/heads/{name}")
        if is_tag := not object_id:
            object_id = _tag_of(git, name)
        known = ("--not", f"--remotes={remote}") if address.is_followed else ()
        span = (object_id, *known)
        log = git.run("log", "--format=%h %s", "--no-show-signature", "--no-color", *span,
                      "--")  # fmt: skip
        commits = clean(log.decode(errors="replace")).splitlines()
        followed = f"refs/remotes/{remote}/{name}"
        if known and not is_tag and commit_of(git, followed) == object_id:
            raise ToolError(phrase("There is nothing to push: {name} is there already.", name=name))
        changes = _changed_files(git, span, object_id)
        secrets, unscanned = secrets_in_commits(git, span, self._names_in)
        contents = planned_contents(git, span, self._names_in)
        return Push(
            *(address, name, object_id, is_tag, commits, changes),
            {**secrets, **contents.secrets},
            unscanned + contents.unscanned,
            contents,
        )

    def _clone(
        self, url: str, branch: str | None, path: str | None
    ) -> tuple[Text, tuple[Change, ...]]:
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
                upstream = f"refs/remotes/origin/{first}"
                files = _files_of(git, upstream)
                brought = bring_contents(git, transport, address.url, files)
                fast_forward(git, first, upstream, lambda _names: None)
                check_out(git, files)
            follow(tree, first)
            self._guard(name)
            self._project.move_in(tree, name)
        text = phrase(
            "Cloned {address} into {path} (branch {branch}).",
            address=address.shown,
            path=visible(name),
            branch=first,
        )
        return join_lines(text, *brought), (Change("created", name),)

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

    def _is_within_bounds(self, file: PointerFile) -> bool:
        try:
            self._refuse_out_of_bounds([os.fsdecode(file.path)])
        except ToolError:
            return False
        return True

    @contextmanager
    def _runs(self, tree: Path | None = None) -> Iterator[GitRuns]:
        with TemporaryDirectory(prefix="onefold-git-remote-") as scratch:
            yield GitRuns(git_for(tree or self._project.root, self._stop.on_stop), Path(scratch))

    def _transport(self, git: GitRuns) -> Transport:
        return Transport(git, git.scratch / "transport", self._person.without(self._project.root))


def _tag_of(git: GitRuns, name: str) -> str:
    """Return the object of the tag *name*. Raises `ToolError` if there is none of a commit."""
    tag = f"refs/tags/{name}"
    if not commit_of(git, tag):
        raise ToolError(phrase("There is no branch or tag {name!r} with a commit here.", name=name))
    return git.run("rev-parse", "--verify", tag).decode().strip()


def _upstream(git: GitRuns, remote: str) -> str:
    """Return the ref of *remote* for the branch that is checked out, "HEAD" on none."""
    named = git.split_output("symbolic-ref", "--quiet", "HEAD", may_fail=True, end=b"\n")
    branch = os.fsdecode(named[0]).removeprefix("refs/heads/") if named else ""
    return f"refs/remotes/{remote}/{branch}" if branch else "HEAD"


def _files_of(git: GitRuns, name: str) -> list[PointerFile]:
    """Return the files in Git LFS of the commit that *name* leads to, if there is one."""
    commit = commit_of(git, name)
    return pointer_files(git, commit) if commit else []


def _fetched(address: RemoteAddress, refs: list[Ref]) -> Text:
    lines: list[Text] = [
        f"{visible(ref.name.removeprefix('refs/'))} {ref.old[:10] or '+'} → {ref.new[:10]}"
        for ref in refs
    ]
    if len(lines) > _MAX_NAMED_REFS:
        lines[_MAX_NAMED_REFS:] = [phrase("… {count} more", count=len(lines) - _MAX_NAMED_REFS)]
    told = phrase("Fetched from {address}.", address=address.shown)
    return join_lines(told, *(lines or [phrase("Nothing new.")]))


def _follow_pushed(git: GitRuns, remote: str, branch: str) -> bool:
    """Have *branch* follow what it was pushed as, if it follows nothing; return whether it does."""
    config = git.git.folders.common_dir / "config"
    try:
        if config.is_symlink() or has_upstream(git.git, config, branch):
            return False
        write_config(git.git, config, upstream_changes(branch, (remote, f"refs/heads/{branch}")))
    except OSError:  # it is pushed all the same
        return False
    return True


def _changed_files(git: GitRuns, span: Sequence[str], object_id: str) -> str:
    """Return how the files of *object_id* differ from those before the commits in *span*."""
    rows = git.run("rev-list", "--boundary", *span, "--").decode().splitlines()
    before = next((row[1:] for row in rows if row.startswith("-")), "")
    before = before or git.run("hash-object", "-t", "tree", "--stdin").decode().strip()
    options = (*_PLAIN, "--stat=100", "--submodule=short")
    stat = git.run("diff", *options, before, object_id, "--")
    return clean(stat.decode(errors="replace")).rstrip()


def _push_text(push: Push) -> Text:
    parts: list[Text] = [_heading(push)]
    if push.secrets:
        secrets = format_secrets(push.secrets)
        parts.append(phrase("It publishes secrets: {secrets}", secrets=secrets))
    if push.unscanned:
        parts.append(phrase("Too large to be searched for secrets: {names}", names=push.unscanned))
    parts.extend(push.contents.remarks())
    more = len(push.commits) - _MAX_COMMITS_SHOWN
    shown = push.commits[:_MAX_COMMITS_SHOWN] + ([f"… {more} more"] if more > 0 else [])
    parts.append(
        "\n".join(["", *shown, *(["", push.changes] if push.changes else [])])[:_MAX_SHOWN]
    )
    return join_lines(*parts)


def _heading(push: Push) -> Phrase:
    address, name, count = push.address.shown, push.name, len(push.commits)
    if push.is_tag:
        return (
            phrase("To {address}, tag {tag}: 1 commit", address=address, tag=name)
            if count == 1
            else phrase(
                "To {address}, tag {tag}: {count} commits", address=address, tag=name, count=count
            )
        )
    return (
        phrase("To {address}, branch {branch}: 1 commit", address=address, branch=name)
        if count == 1
        else phrase(
            "To {address}, branch {branch}: {count} commits",
            address=address,
            branch=name,
            count=count,
        )
    )
