"""The states of one file in their order, whatever it was called, and who made each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from modules.checkpoints.line_origins.timeline import State
from modules.checkpoints.snapshot.diff import Rename, lookup, renamed_path
from modules.checkpoints.store.object_store import DamagedObject
from utils.i18n import UserError

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

NOT_HELD = "?"
"""In the place of a digest: nobody knows what the file held."""
_LEAST_ALIKE = 0.5
"""Of the lines: a file that got another name and another content at once has more in common."""
_MOST_COMPARED = 100
"""Files that are gone, of which a new one may be one."""
_MAX_BYTES = 1_000_000  # of a file that is compared


@dataclass(frozen=True, slots=True)
class FileState:
    """The file at *path* in a *state* of the folder: the *digest* of what it held, "" for none.

    The target of a link stands there as it is, behind "→".
    """

    state: State
    path: str
    digest: str


class FileStates:
    """Follows files back through the *states* of a folder, with *checkpoints*."""

    def __init__(self, checkpoints: Checkpoints, states: Sequence[State]) -> None:
        self._checkpoints = checkpoints
        self._states = states
        self._digests: dict[tuple[int, str], str] = {}

    def of(self, path: str) -> list[FileState]:
        """Return the states of the file that is at *path* last, oldest first; equal ones too."""
        found: list[FileState] = []
        between: list[State] = []  # of one file, since the snapshot that is looked at next
        later = 0
        for state in reversed(self._states):
            if state.path:
                between.append(state)
                continue
            names = {path}
            if later and later != state.snapshot:
                path = self.path_before(path, state.snapshot, later, between)
            later = state.snapshot
            found += _of_file(between, names | {path})
            between.clear()
            found.append(FileState(state, path, self._digest_at(state.snapshot, path)))
        return [*found, *_of_file(between, {path})][::-1]

    def path_before(
        self, path: str, snapshot: int, later: int, between: Sequence[State] = ()
    ) -> str:
        """Return what *path*, in the snapshot *later*, was called in the one before that.

        States *between* tell it of a file that was changed first and got its new name then.
        """
        now = self._digest_at(later, path)
        if not now or self._digest_at(snapshot, path):
            return path
        for state in between:
            if state.digest == now and self._digest_at(snapshot, state.path):
                return state.path
        gone: list[str] = []
        with suppress(UserError):
            for change in reversed(self._checkpoints.diff(snapshot, later)):
                if change.kind == "renamed":
                    path = renamed_path(path, Rename(change.new_path, change.path))
                elif change.kind == "deleted":
                    gone.append(change.path)
        if not self._digest_at(snapshot, path):
            return self._most_alike(now, snapshot, gone) or path
        return path

    def _most_alike(self, content: str, snapshot: int, paths: Iterable[str]) -> str:
        """Return which of *paths* held most of the lines of *content*, "" for none."""
        lines = self._counted_lines(content)
        best, most = "", _LEAST_ALIKE
        for path in islice(sorted(paths), _MOST_COMPARED):
            other = self._counted_lines(self._digest_at(snapshot, path))
            alike = (lines & other).total() / max(lines.total(), other.total(), 1)
            if alike > most:
                best, most = path, alike
        return best

    def _counted_lines(self, digest: str) -> Counter[bytes]:
        """Return the lines of a content that say something; none of what cannot be read."""
        if digest in ("", NOT_HELD) or digest.startswith("→"):
            return Counter()
        try:
            data = self._checkpoints.objects.read(digest)
        except DamagedObject:
            return Counter()
        if len(data) > _MAX_BYTES:
            return Counter()
        return Counter(line for one in data.split(b"\n") if len(line := one.strip()) > 1)

    def _digest_at(self, snapshot: int, path: str) -> str:
        key = snapshot, path
        if key not in self._digests:
            self._digests[key] = self._look_up(snapshot, path)
        return self._digests[key]

    def _look_up(self, snapshot: int, path: str) -> str:
        try:
            root = self._checkpoints.root_of(snapshot)
            entry = lookup(self._checkpoints.objects, root, path)
        except (DamagedObject, UserError):
            return NOT_HELD
        if entry is None or entry.is_folder or entry.is_node:
            return ""
        if entry.not_stored_reason:
            return NOT_HELD
        return f"→{entry.content}" if entry.is_link else entry.content


def _of_file(states: Sequence[State], names: Set[str]) -> list[FileState]:
    """Return those of *states* that are of a file which had one of *names* meanwhile."""
    return [FileState(one, one.path, one.digest) for one in states if one.path in names]
