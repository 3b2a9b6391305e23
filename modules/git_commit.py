"""Commits for the model: by git itself, outside the sandbox, so that nothing it would run runs.

Programs in the sandbox write the project's files and so could plant what git obeys. Therefore git
is told where the repository is instead of looking for it, gets no hook, no monitor, no editor, no
signing program, no configuration but the repository's own, and files that need a filter program
are refused.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Protocol

from core.cards import Card, TextCard
from core.family import Family
from core.tools import Outcome, Risk, ToolError, tool
from modules.files.repository import PROGRAMS, as_environment, without_programs
from modules.sandbox.git_guard import named_folder, readable_repository
from utils.child import Answer, TooSlow, ask_program
from utils.clean import clean
from utils.phrases import Phrase, Problem, phrase
from utils.programs import system_program
from utils.waiting import Stop

_SECONDS = 60.0
_MOST_FILES = 300
_MOST_LINES = 1_000
_LARGEST = 60_000
"""What of a commit a question shows: files, and the changed lines, in characters, of small ones."""
_OURS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.editor": "false",
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.sshCommand": "false",
    "core.askPass": "",
    "core.alternateRefsCommand": "false",
    "credential.helper": "",
    "commit.gpgSign": "false",
    "gpg.program": "false",
    "diff.external": "",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
    "maintenance.auto": "false",
    "gc.auto": "0",
}


class Folder(Protocol):
    """The project, as far as it matters here."""

    root: Path

    def normal(self, path: str) -> str: ...


class GitCommit(Family):
    """Commits what the model has made."""

    def __init__(self, project: Folder, stop: Stop) -> None:
        self._project = project
        self._stop = stop

    @tool(Risk.WRITE, phrase("Record changes in git."))
    def git_commit(
        self,
        message: str,
        paths: Annotated[list[str] | None, "files or folders; none: all changes"] = None,
    ) -> Outcome:
        """Commit changes with git (programs cannot: .git is read-only to them). No hooks run."""
        repository, chosen = self._checked(message, paths)
        repository.add(chosen)
        repository.commit(message, chosen if paths else [])
        text = clean(repository.last())
        return Outcome(f"Committed.\n{text}", TextCard(phrase("Committed"), text))

    def preview(self, tool: str, arguments: Mapping[str, Any]) -> Card | None:
        if tool != "git_commit":
            return None
        message, paths = arguments["message"], arguments.get("paths")
        repository, chosen = self._checked(message, paths)
        with repository.scratch() as scratch:
            scratch.add(chosen)
            what = scratch.difference(chosen if paths else [])
        return TextCard(phrase("Commit to git"), f"{clean(message).strip()}\n\n{clean(what)}")

    def _checked(self, message: str, paths: Sequence[str] | None) -> tuple[Repository, list[str]]:
        """Return the repository and the paths to commit. Raises `ToolError` if there is no way."""
        if not message.strip():
            raise ToolError(phrase("A commit needs a message."))
        repository = Repository(self._project.root, self._stop)
        return repository, [self._project.normal(path) or "." for path in paths or ["."]]

    def concern(self, tool: str, arguments: Mapping[str, Any]) -> Phrase | None:  # noqa: ARG002
        if tool != "git_commit":
            return None
        return phrase("It writes to .git, which checkpoints do not hold.")


class Repository:
    """The repository of the project *root*. Raises `ToolError` where git cannot be let in."""

    def __init__(self, root: Path, stop: Stop) -> None:
        self._root = root
        self._stop = stop
        self._git = system_program("git")
        if self._git is None:
            raise ToolError(phrase("git is not installed."))
        self._folder = _folder_of(root)
        self._environment = {
            **{"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": os.fspath(root / ".git")},
            **{"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"},
            **{"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_ATTR_NOSYSTEM": "1"},
            **{"GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0"},
            **{"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"},
        }
        self._environment |= self._person()
        self._environment |= self._without_programs()

    def add(self, paths: Sequence[str]) -> None:
        """Put the state of *paths* into the index."""
        changed = self._run("status", "--porcelain", "-z", "-uall", "--ignore-submodules=all",
                            "--no-renames", "--", *paths).output  # fmt: skip
        names = [entry[3:] for entry in changed.split(b"\0") if entry]
        self._refuse_filters(names)
        for name in names:
            if name.endswith(b"/") and (self._root / os.fsdecode(name) / ".git").exists():
                path = os.fsdecode(name)
                raise ToolError(phrase("{path} is a repository of its own: name paths.", path=path))
        self._run("add", "--all", "--", *paths)

    def commit(self, message: str, paths: Sequence[str]) -> None:
        """Commit the index, or of it only *paths*."""
        only = ["--only", "--", *paths] if paths else []
        self._run("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=strip",
                  "--file=-", *only, given=message.encode("utf-8", "replace"))  # fmt: skip

    @contextmanager
    def scratch(self) -> Iterator[Repository]:
        """Yield this repository with an index and objects that are gone after this."""
        index, objects = (self._place_of(name) for name in ("index", "objects"))
        with TemporaryDirectory() as folder:
            other = copy(self)
            other._environment = {
                **self._environment,
                "GIT_INDEX_FILE": f"{folder}/index",
                "GIT_OBJECT_DIRECTORY": f"{folder}/objects",
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
            }
            Path(folder, "objects").mkdir()
            with suppress(FileNotFoundError):  # nothing was ever added
                shutil.copy2(index, f"{folder}/index")  # its time tells git which files to read
            yield other

    def _place_of(self, name: str) -> Path:
        said = self._run("rev-parse", "--git-path", name).output
        return self._root / os.fsdecode(said).removesuffix("\n")

    def difference(self, paths: Sequence[str]) -> str:
        """Return what the index, or of it only *paths*, would bring into a commit."""
        plain = ("diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
        only = ["--", *paths] if paths else []
        files = self._run(*plain, "--stat=100", f"--stat-count={_MOST_FILES}", *only).output
        if not files:
            raise ToolError(phrase("There is nothing to commit."))
        rows = self._run(*plain, "--numstat", "-z", *only).output.split(b"\0")
        lines = sum(int(n) for row in rows for n in row.split(b"\t")[:2] if n.isdigit())
        patch = b"" if lines > _MOST_LINES else self._run(*plain, "--patch", *only).output
        whole = b"\n".join(filter(None, (files, patch))).decode(errors="replace")
        return whole if len(whole) <= _LARGEST else f"{whole[:_LARGEST]}…"

    def last(self) -> str:
        """Return the newest commit in words."""
        return self._run("show", "--stat", "--no-ext-diff", "--no-textconv", "--no-color",
                         "--no-show-signature", "--format=%h %s", "HEAD"
                         ).output.decode(errors="replace")[:4_000]  # fmt: skip

    def _refuse_filters(self, names: Sequence[bytes]) -> None:
        given = b"".join(name + b"\0" for name in names)
        said = self._run("check-attr", "-z", "--stdin", "filter", given=given).output.split(b"\0")
        for name, value in zip(said[::3], said[2::3], strict=False):
            if value not in (b"unspecified", b"unset"):
                raise ToolError(
                    phrase(
                        "{path} is stored by the filter program {filter}, which is not run for "
                        "the model: the person has to commit it.",
                        path=os.fsdecode(name),
                        filter=os.fsdecode(value),
                    )
                )

    def _person(self) -> dict[str, str]:
        """Return who the commit is by, from the settings of the person or of the repository."""
        home = {**self._environment, "HOME": str(Path.home())}
        del home["GIT_CONFIG_GLOBAL"]
        known = {}
        for key in ("name", "email"):
            local = self._ask(["config", "--get", f"user.{key}"], self._environment)
            everywhere = self._ask(["config", "--global", "--get", f"user.{key}"], home)
            value = (local.output or everywhere.output).decode(errors="replace").strip()
            if not value:
                raise ToolError(
                    phrase("git does not know the person: git config --global user.name, .email.")
                )
            for role in ("AUTHOR", "COMMITTER"):
                known[f"GIT_{role}_{key.upper()}"] = value
        return known

    def _without_programs(self) -> dict[str, str]:
        keys = os.fsdecode(self._ask(PROGRAMS, self._environment).output).split("\0")
        return as_environment(without_programs(keys))

    def _run(self, *arguments: str, given: bytes = b"") -> Answer:
        answer = self._ask(list(arguments), self._environment, given)
        if answer.code:
            said = (answer.errors or answer.output).decode(errors="replace").strip()
            raise ToolError(phrase("git refused: {said}", said=clean(said)[:1_000] or "?"))
        return answer

    def _ask(
        self, arguments: Sequence[str], environment: Mapping[str, str], given: bytes = b""
    ) -> Answer:
        settings = [part for name, value in _OURS.items() for part in ("-c", f"{name}={value}")]
        place = [f"--git-dir={self._folder}", f"--work-tree={self._root}"]
        try:
            return ask_program(
                [str(self._git), *place, *settings, *arguments],
                folder=self._root,
                environment=environment,
                seconds=_SECONDS,
                given=given,
                until=self._stop.calling,
            )
        except TooSlow:
            raise ToolError(phrase("git took too long and was stopped.")) from None
        except OSError as error:
            raise ToolError(phrase("git refused: {said}", said=str(error))) from None


def _folder_of(root: Path) -> Path:
    """Return the folder of the repository, if nothing leads git elsewhere from there."""
    try:
        found = readable_repository(root)
    except Problem as problem:
        raise ToolError(problem.what) from None
    git = root / ".git"
    if not found:
        raise ToolError(phrase("The project is no git repository; git init is the person's part."))
    if git.is_dir():
        folder: Path | None = git
        leads_away = os.path.lexists(git / "commondir")
    else:
        folder, leads_away = named_folder(git), len(found) < 2
    if folder is None or leads_away:
        raise ToolError(
            phrase("This .git leads to another place, so git is not run here for the model.")
        )
    return folder
