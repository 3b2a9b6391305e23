"""Commits for the model: by git itself, outside the sandbox, so that nothing it would run runs.

The repository's hooks run in the sandbox before it (`modules.git.commit_hooks`).

What keeps git from that is in `modules.files.git.isolated_git`. What nobody means to publish
(secrets, what tools fill) is left out and named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from core.cards import Card, TextCard
from core.feature import Feature
from core.hooks import FlagsCalls, PreviewsCalls
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Risk, Tool, ToolError, tool
from modules.secrets.env_files import is_env_name
from utils.frozen import frozen
from utils.i18n import Phrase, Text, join_lines, phrase
from utils.text.clean import clean, visible
from utils.text.lines import first_names
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.files.git.secret_scan import SecretNamesIn
    from modules.files.git.staging import Staging
    from modules.git.commit_hooks import CommitHooks


class CommitFolder(Protocol):
    """The project, as far as it matters here."""

    root: Path

    def resolve(self, path: str) -> str: ...


class PublishesSecrets(ToolError):
    """A commit would publish secrets, and nobody said that it may."""


@frozen
class StagedCommit:
    """A commit of *changes*, ready to be made with *message*; *remarks* are for people."""

    changes: Staging
    message: str
    remarks: tuple[Text, ...]


class GitCommit(Feature, PreviewsCalls, FlagsCalls):
    """Commits what the model has made; *names_in* knows the secrets in a text.

    *make_hooks* makes those of the repository, which run only if the person wants that.
    """

    def __init__(
        self,
        project: CommitFolder,
        stop: Stop,
        names_in: SecretNamesIn = lambda _text: (),
        *,
        make_hooks: Callable[[], CommitHooks] | None = None,
    ) -> None:
        self._make_hooks = make_hooks
        self._project = project
        self._stop = stop
        self._names_in = names_in

    @tool(
        Risk.WRITE,
        phrase("Record changes in git."),
        verb=phrase("Commit"),
        icon="check",
        subject="{message}",
    )
    def git_commit(
        self,
        message: str,
        paths: Annotated[list[str] | None, "files or folders; none: all changes"] = None,
    ) -> Outcome:
        """Commit changes with git, but for secrets and what tools make."""
        with self._stage(message, paths) as staged_changes:
            message, hook_remarks = self._run_hooks(staged_changes, message)
            text = staged_changes.commit(message)
            remarks = [*hook_remarks, *_remarks(staged_changes)]
        if not self._is_held():
            remarks.append(
                phrase("Undo leaves this commit, for checkpoints do not hold its repository.")
            )
        message_lines = "\n".join(("Committed.", text, *map(str, remarks)))
        return Outcome(message_lines, TextCard(phrase("Committed"), join_lines(text, *remarks)))

    @contextmanager
    def staged(self, message: str, *, publishes: bool) -> Iterator[StagedCommit]:
        """Yield the commit with *message* of what the person has staged, hooks run; make it then.

        It holds secrets only where it *publishes* them. Raises `ToolError`.
        """
        from modules.files.git.staging import staged  # with git, for commits only

        if not message.strip():
            raise ToolError(phrase("A commit needs a message."))
        self._refuse_secret_message(message)
        with staged(self._project.root, self._names_in) as changes:
            if changes.published and not publishes:
                raise PublishesSecrets(_published(changes))
            message, hook_remarks = self._run_hooks(changes, message)
            yield StagedCommit(changes, message, (*hook_remarks, *_remarks(changes)))

    def _run_hooks(self, staged_changes: Staging, message: str) -> tuple[str, list[Text]]:
        """Have the repository's hooks judge the commit, if the person wants them.

        Return the message as they leave it, and what is to be said. Raises `ToolError` if one of
        them refuses the commit.
        """
        from modules.git.commit_hooks import hooks_of  # for commits only

        names = hooks_of(staged_changes.git) if self._make_hooks else []
        if not self._make_hooks or not names:
            return message, []
        joined = ", ".join(names)
        hooks = self._make_hooks()
        if not hooks.are_wanted:
            return message, [
                phrase(
                    "The repository's hooks ({names}) did not run. To run them in the "
                    "sandbox, set git_hooks = true in config.toml.",
                    names=joined,
                )
            ]
        tree = staged_changes.tree()
        result = hooks.run(tree, message)
        remarks: list[Text] = [phrase("Hooks that ran in the sandbox: {names}", names=joined)]
        if result.output:
            remarks.append(result.output)
        if result.tree != tree:
            changed = staged_changes.take_tree(result.tree)
            remarks.append(phrase("They changed: {names}", names=_format_names(changed)))
        self._refuse_secret_message(result.message)
        return result.message, remarks

    def _refuse_secret_message(self, message: str) -> None:
        from modules.files.git.secret_scan import (  # with git, for commits only
            secret_names_of,
            unknown_keys,
        )

        data = message.encode(errors="replace")
        keys = unknown_keys(data, self._names_in).values()
        if names := sorted({*secret_names_of(data, self._names_in), *keys}):
            raise ToolError(
                phrase(
                    "The message holds secrets ({names}): say it without them.",
                    names=", ".join(names),
                )
            )

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card | None:
        if tool.name != "git_commit":
            return None
        message, paths = arguments["message"], arguments.get("paths")
        with self._stage(message, paths) as staged_changes:
            difference, remarks = clean(staged_changes.diff()), _remarks(staged_changes)
        return TextCard(
            phrase("Commit to git"), join_lines(clean(message).strip(), "", *remarks, difference)
        )

    @contextmanager
    def _stage(self, message: str, paths: Sequence[str] | None) -> Iterator[Staging]:
        from modules.files.git.commit_selection import ALL  # with git, for commits only
        from modules.files.git.staging import staging

        if not message.strip():
            raise ToolError(phrase("A commit needs a message."))
        self._refuse_secret_message(message)
        selected = [self._project.resolve(path) or ALL for path in paths or [ALL]]
        with staging(
            self._project.root, selected, self._names_in, self._stop.on_stop
        ) as staged_changes:
            yield staged_changes

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.name != "git_commit":
            return None
        if names := self._paths_with_secrets(arguments.get("paths") or ()):
            reason = phrase("It would publish the secrets in {names}.", names=", ".join(names))
            return AlwaysAskReason(reason.template, reason.values)
        if self._is_held():
            return None
        return phrase("It writes to a repository that checkpoints do not hold.")

    def _is_held(self) -> bool:
        """Return whether undo holds the repository."""
        from modules.files.git.linked_tree import linked_tree  # with git, for commits only

        root = self._project.root
        return (root / ".git").is_dir() or linked_tree(root) is not None

    def _paths_with_secrets(self, paths: Sequence[str]) -> list[str]:
        """Return those of *paths*, files that are named themselves, that may hold secrets."""
        return [visible(path) for path in paths if self._may_hold_secrets(path)]

    def _may_hold_secrets(self, path: str) -> bool:
        from modules.files.git.secret_scan import (  # with git, for commits only
            secret_names_of,
            unknown_keys,
        )

        if is_env_name(path.rpartition("/")[2]):
            return True
        try:
            file = self._project.root / self._project.resolve(path)
            if not file.is_file():
                return False
            data = file.read_bytes()
            keys = unknown_keys(data, self._names_in)
            return bool(secret_names_of(data, self._names_in)) or self._has_new(keys)
        except (OSError, ToolError):
            return False  # what is wrong with it, the call itself tells

    def _has_new(self, keys: Collection[str]) -> bool:
        """Return whether one of *keys* stands nowhere in the last commit."""
        from modules.files.git.git_runs import GitRuns, git_for  # with git, for commits only
        from modules.files.git.secret_scan import published_keys

        if not keys:
            return False
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="onefold-") as scratch:
            git = GitRuns(git_for(self._project.root, self._stop.on_stop), Path(scratch))
            return not published_keys(git, keys, ["HEAD"]).issuperset(keys)


def _remarks(staged_changes: Staging) -> list[Phrase]:
    """Say which secrets the commit holds, and what was left out of it."""
    from modules.files.git.secret_scan import format_secrets  # with git, for commits only

    selection = staged_changes.selection
    remarks = []
    if staged_changes.published:
        remarks.append(_published(staged_changes))
    if staged_changes.withheld:
        remark = phrase(
            "Left out, for it would publish secrets: {secrets}. Name such a file in paths only if "
            "the person wants that.",
            secrets=format_secrets(staged_changes.withheld),
        )
        remarks.append(remark)
    if selection.env_files:
        remark = phrase(
            "Left out, for such files hold secrets: {names}. Name one in paths only if the person "
            "wants that.",
            names=_format_names(selection.env_files),
        )
        remarks.append(remark)
    if selection.generated:
        remark = phrase(
            "Left out, for tools make it: {names}. Named in paths, it is committed.",
            names=_format_names(selection.generated),
        )
        remarks.append(remark)
    if staged_changes.unscanned:
        names = _format_names(staged_changes.unscanned)
        remarks.append(phrase("Too large to be searched for secrets: {names}", names=names))
    return remarks


def _published(staged_changes: Staging) -> Phrase:
    from modules.files.git.secret_scan import format_secrets  # with git, for commits only

    secrets = format_secrets(staged_changes.published)
    return phrase("It publishes secrets: {secrets}", secrets=secrets)


def _format_names(names: Sequence[bytes]) -> str:
    return first_names([visible(os.fsdecode(name)) for name in names])
