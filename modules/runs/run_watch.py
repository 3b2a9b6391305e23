"""The folder of the project while programs work in it: what changed, and its repositories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from modules.files.own_code import OwnCode
from utils.i18n import Phrase

if TYPE_CHECKING:
    from modules.sandbox.git.repository_search import RepositorySearch
    from modules.sandbox.late_sandbox import LateSandbox
    from modules.sandbox.run.file_changes import FileChanges, FolderState

_MAX_GUARDED = 200  # repositories inside the project
_MAX_WATCHED = 200  # of those that programs made; of more, each run may change what is taken out


class RunWatch:
    """Tells what programs of *sandbox* changed below *root*; keeps inner repositories harmless."""

    def __init__(self, root: Path, own_code: OwnCode, sandbox: LateSandbox) -> None:
        self._root, self._own_code = root, own_code
        self._sandbox = sandbox
        self._has_guarded = False
        self._guarded: list[str] = []
        self._first_repositories = self._unwatched = frozenset[str]()
        self._search: RepositorySearch | None = None

    def begin(self) -> FolderState | None:
        """Return the state of the folder before a program works in it, its repositories guarded."""
        before = self.scan()
        self._guard(before)
        return before

    def end(
        self, before: FolderState | None, *, is_outside: bool = False
    ) -> tuple[FileChanges, Sequence[Phrase]]:
        """Return what changed since, and what was taken out of new repositories for our safety.

        Of what ran outside the sandbox (*is_outside*) nothing is taken out: a person allowed it.
        """
        from modules.sandbox.run.file_changes import compare_scans  # for runs only

        after, notes = self.scan(), list[Phrase]()
        if not is_outside and (notes := self._disarm(before, after)):
            after = self.scan()
        return compare_scans(before, after), notes

    def disarm(self, before: FolderState | None) -> Sequence[Phrase]:
        """Take out of the repositories made since *before* what git would run on our side."""
        return self._disarm(before, self.scan())

    @contextmanager
    def disarming_failed(self, before: FolderState | None) -> Iterator[None]:
        """Do `disarm` where the block fails: a program may have begun all the same."""
        try:
            yield
        except BaseException:
            self.disarm(before)
            raise

    def scan(self) -> FolderState | None:
        """Return what is in the project now; None where even its repositories are not found.

        Of a project that is too large to be followed it is these alone.
        """
        from modules.sandbox.run.file_changes import scan_files  # for runs only

        return scan_files(self._root, self._own_code.paths) or self._look_for_repositories()

    def _look_for_repositories(self) -> FolderState | None:
        from modules.sandbox.git.repository_search import RepositorySearch  # for large projects

        if self._root == Path(self._root.anchor):
            return None
        self._search = self._search or RepositorySearch(self._root, self._own_code.paths)
        return self._search.look()

    def guard(self, folder: str) -> None:
        """Keep the repository in *folder* of the project as well, which is not a program's own."""
        self._guarded.append(f"{folder}/.git")
        self._sandbox.get().protect(self._guarded)

    def _guard(self, state: FolderState | None) -> None:
        """Keep the repositories inside the project, those that were there before we ran anything.

        Undo never holds what is in a `.git`; one that a program made itself is its own to change,
        but for what git would run on the person's side.
        """
        from modules.sandbox.git.inner_repositories import inner_repositories  # for runs only

        if state is None:
            return
        inner = inner_repositories(self._root, state)
        if not self._has_guarded:
            self._has_guarded = True
            self._first_repositories = inner
            found = sorted(path for path in state.folders if path.endswith("/.git"))
            self._guarded += found[:_MAX_GUARDED]
            self._sandbox.get().protect(self._guarded)
        first = self._first_repositories
        others = sorted(inner - {*self._guarded}, key=lambda path: (path not in first, path))
        self._sandbox.get().watch(others[:_MAX_WATCHED])
        self._unwatched = frozenset(others[_MAX_WATCHED:]) - first

    def _disarm(self, before: FolderState | None, after: FolderState | None) -> list[Phrase]:
        """Take out of the repositories that a run has made what git would run on our side."""
        from modules.sandbox.git.inner_repositories import inner_repositories  # for runs only

        if self._sandbox.is_for_agent or before is None or after is None:
            return []
        known = inner_repositories(self._root, before) - self._unwatched
        new = inner_repositories(self._root, after) - known - {*self._guarded}
        return self._sandbox.get().disarm(new)
