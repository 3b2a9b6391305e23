"""Git with others, for the model: as the person, with their credentials and only with a yes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from core.cards import Card, TextCard
from core.feature import Feature
from core.hooks import FlagsCalls, PreviewsCalls
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Risk, Tool, tool
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.project import Project
from utils.i18n import Phrase, Text, phrase
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.files.git.secret_scan import SecretNamesIn
    from modules.git.remote_operations import RemoteOperations

Operation = Literal["fetch", "pull", "push", "clone"]


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
        running_jobs: Callable[[], Text] = lambda: "",
    ) -> None:
        self._arguments = (project, stop, person, names_in, guard, running_jobs)

    @cached_property
    def _operations(self) -> RemoteOperations:
        from modules.git.remote_operations import RemoteOperations  # it loads git

        return RemoteOperations(*self._arguments)

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
        text, changes = self._operations.run(operation, remote, branch, path)
        return Outcome(str(text), TextCard(phrase("Git"), text), changes=changes)

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card | None:
        if tool.name != "git_remote":
            return None
        return TextCard(phrase("Git with a remote"), self._operations.intent(arguments))

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.name != "git_remote":
            return None
        if arguments["operation"] == "push":
            reason = phrase("It publishes commits as you; that cannot be taken back.")
        else:
            reason = phrase("It reaches the remote with your credentials.")
        return AlwaysAskReason(reason.template, reason.values)
