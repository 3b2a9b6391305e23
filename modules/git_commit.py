"""Commits for the model: by git itself, outside the sandbox, so that nothing it would run runs.

What keeps git from that is in `modules.files.git.isolated_git`. What nobody means to publish
(secrets, what tools fill) is left out and named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Protocol

from core.cards import Card, TextCard
from core.feature import Feature
from core.hooks import FlagsCalls, PreviewsCalls
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Risk, Tool, ToolError, tool
from modules.files.git.commit_selection import ALL
from modules.files.git.staging import NamesIn, Secrets, Staging, names_of, staged
from modules.secrets.env_files import is_env_name
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import clean, visible
from utils.text.lines import listed
from utils.waiting import Stop


class CommitFolder(Protocol):
    """The project, as far as it matters here."""

    root: Path

    def meant(self, path: str) -> str: ...


class GitCommit(Feature, PreviewsCalls, FlagsCalls):
    """Commits what the model has made; *names_in* knows the secrets in a text."""

    def __init__(
        self, project: CommitFolder, stop: Stop, names_in: NamesIn = lambda _text: ()
    ) -> None:
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
        """Commit changes with git (programs cannot: .git is read-only to them). No hooks run."""
        with self._staged(message, paths) as made:
            text, remarks = made.commit(message), _remarks(made)
        told = "\n".join(("Committed.", text, *map(str, remarks)))
        return Outcome(told, TextCard(phrase("Committed"), _joined(text, *remarks)))

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card | None:
        if tool.name != "git_commit":
            return None
        message, paths = arguments["message"], arguments.get("paths")
        with self._staged(message, paths) as made:
            what, remarks = clean(made.difference()), _remarks(made)
        return TextCard(
            phrase("Commit to git"), _joined(clean(message).strip(), "", *remarks, what)
        )

    @contextmanager
    def _staged(self, message: str, paths: Sequence[str] | None) -> Iterator[Staging]:
        if not message.strip():
            raise ToolError(phrase("A commit needs a message."))
        chosen = [self._project.meant(path) or ALL for path in paths or [ALL]]
        with staged(self._project.root, chosen, self._names_in, self._stop.calling) as made:
            yield made

    def concern(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.name != "git_commit":
            return None
        if names := self._publishing(arguments.get("paths") or ()):
            what = phrase("It would publish the secrets in {names}.", names=", ".join(names))
            return AlwaysAskReason(what.template, what.values)
        return phrase("It writes to .git, which checkpoints do not hold.")

    def _publishing(self, paths: Sequence[str]) -> list[str]:
        """Return those of *paths*, files that are named themselves, that may hold secrets."""
        return [visible(path) for path in paths if self._may_hold_secrets(path)]

    def _may_hold_secrets(self, path: str) -> bool:
        if is_env_name(path.rpartition("/")[2]):
            return True
        try:
            file = self._project.root / self._project.meant(path)
            return file.is_file() and bool(names_of(file.read_bytes(), self._names_in))
        except (OSError, ToolError):
            return False  # what is wrong with it, the call itself tells


def _remarks(made: Staging) -> list[Phrase]:
    """Say which secrets the commit holds, and what was left out of it."""
    chosen = made.selection
    remarks = []
    if made.published:
        secrets = _with_secrets(made.published)
        remarks.append(phrase("It publishes secrets: {secrets}", secrets=secrets))
    if made.withheld:
        what = phrase(
            "Left out, for it would publish secrets: {secrets}. Name such a file in paths only if "
            "the person wants that.",
            secrets=_with_secrets(made.withheld),
        )
        remarks.append(what)
    if chosen.settings:
        what = phrase(
            "Left out, for such files hold secrets: {names}. Name one in paths only if the person "
            "wants that.",
            names=_listed(chosen.settings),
        )
        remarks.append(what)
    if chosen.generated:
        what = phrase(
            "Left out, for tools make it: {names}. Named in paths, it is committed.",
            names=_listed(chosen.generated),
        )
        remarks.append(what)
    if made.unread:
        names = _listed(made.unread)
        remarks.append(phrase("Too large to be searched for secrets: {names}", names=names))
    return remarks


def _with_secrets(files: Secrets) -> str:
    named = [f"{visible(os.fsdecode(name))} ({', '.join(why)})" for name, why in files.items()]
    return listed(named)


def _listed(names: Sequence[bytes]) -> str:
    return listed([visible(os.fsdecode(name)) for name in names])


def _joined(first: Text, *others: Text) -> Text:
    """Return the texts, each on lines of its own."""
    joined = first
    for other in others:
        is_plain = isinstance(joined, str) and isinstance(other, str)
        joined = (
            f"{joined}\n{other}"
            if is_plain
            else phrase("{above}\n{below}", above=joined, below=other)
        )
    return joined
