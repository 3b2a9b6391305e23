"""Runs of git for the model: a failure is a sentence that it can act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.tools import ToolError
from modules.files.git.git_guard import repository_paths
from modules.files.git.isolated_git import IsolatedGit, has_git, isolated_git
from modules.files.git.repository import REPOSITORY_ELSEWHERE, find_work_tree, outer_repository
from utils.i18n import UserError, phrase
from utils.system.child import ChildResult, OnCancel, TimedOut
from utils.text.clean import clean


@dataclass(frozen=True, slots=True)
class GitRuns:
    """Runs *git*; *scratch* is a folder for files of ours. Every method raises `ToolError`."""

    git: IsolatedGit
    scratch: Path

    @property
    def tree(self) -> Path:
        return self.git.tree

    def with_variables(self, variables: Mapping[str, str]) -> GitRuns:
        return GitRuns(self.git.with_variables(variables), self.scratch)

    def write_file(self, name: str, content: bytes) -> Path:
        """Return the path of a file with *content*."""
        path = self.scratch / name
        path.write_bytes(content)
        return path

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return what git prints."""
        answer = self._run(arguments, stdin)
        if answer.code:
            raise refusal(answer)
        return answer.output

    def split_output(
        self, *arguments: str, stdin: bytes = b"", may_fail: bool = False, end: bytes = b"\0"
    ) -> list[bytes]:
        """Return the words that git prints, each with *end* after it."""
        answer = self._run(arguments, stdin)
        if answer.code and not may_fail:
            raise refusal(answer)
        return answer.output.split(end)[:-1]

    def succeeds(self, *arguments: str) -> bool:
        """Return whether git ends well."""
        return self._run(arguments, b"").code == 0

    def _run(self, arguments: tuple[str, ...], stdin: bytes) -> ChildResult:
        try:
            return self.git.run(*arguments, stdin=stdin)
        except TimedOut:
            raise ToolError(phrase("git took too long and was stopped.")) from None
        except OSError as error:
            raise ToolError(phrase("git refused: {said}", said=str(error))) from None


def refusal(answer: ChildResult) -> ToolError:
    message = (answer.errors or answer.output).decode(errors="replace").strip()
    return ToolError(phrase("git refused: {said}", said=clean(message)[:1_000] or "?"))


def git_for(root: Path, until: OnCancel | None) -> IsolatedGit:
    """Return git for the project *root*. Raises `ToolError` where it cannot be let in."""
    if not has_git():
        raise ToolError(phrase("git is not installed."))
    try:
        git = isolated_git(root, until)
        found = repository_paths(root)
    except UserError as problem:
        raise ToolError(problem.message) from None
    except OSError as error:
        raise ToolError(phrase("git refused: {said}", said=str(error))) from None
    except TimedOut:
        raise ToolError(phrase("git took too long and was stopped.")) from None
    if not found or _is_place_for_new(root / ".git"):
        if (above := find_work_tree(root.parent)) is not None:
            raise ToolError(outer_repository(above))
        raise ToolError(phrase("The project has no git repository; git init creates one."))
    if git is None:
        raise ToolError(REPOSITORY_ELSEWHERE)
    return git


def _is_place_for_new(git: Path) -> bool:
    """Return whether *git* is the empty folder that keeps the name free while a program runs."""
    try:
        return git.is_dir() and not any(git.iterdir())
    except OSError:
        return False
