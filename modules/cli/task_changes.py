"""Sum of the changes of a whole task to the files, from those of each of its calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from core.cards import Change


class TaskChanges:
    """Adds changes up: what was created and deleted again leaves no trace, and so on."""

    def __init__(self) -> None:
        self._origins: dict[str, str | None] = {}
        """The origin of each touched path that exists now; None: it is new."""
        self._modified: set[str] = set()
        self._deleted: set[str] = set()

    def add(self, changes: Iterable[Change]) -> None:
        for change in changes:
            match change.kind:
                case "created":
                    self._create(change.path)
                case "modified":
                    self._origins.setdefault(change.path, self._origin(change.path))
                    self._modified.add(change.path)
                case "deleted":
                    self._delete(change.path)
                case "renamed":
                    self._rename(change.path, change.new_path)
                case _:
                    assert_never(change.kind)

    def _create(self, path: str) -> None:
        if path in self._deleted:  # it was there before, with other content
            self._deleted.discard(path)
            self._origins[path] = path
        else:
            self._origins[path] = None
        self._modified.add(path)

    def _delete(self, path: str) -> None:
        origin = self._origin(path)
        for gone in self._known_paths_under(path):
            self._origins.pop(gone, None)
            self._modified.discard(gone)
        if origin is not None:
            self._deleted.add(origin)

    def _rename(self, path: str, new_path: str) -> None:
        self._origins.setdefault(path, self._origin(path))
        for old in self._known_paths_under(path):
            new = new_path + old.removeprefix(path)
            self._origins[new] = self._origins.pop(old)
            if old in self._modified:
                self._modified.discard(old)
                self._modified.add(new)

    def _origin(self, path: str) -> str | None:
        """Return where *path* came from, by itself or with a folder above it; None: it is new."""
        parts = path.split("/")
        for count in range(len(parts), 0, -1):
            above = "/".join(parts[:count])
            if above in self._origins:
                origin = self._origins[above]
                return origin and origin + path[len(above) :]
        return None if path in self._origins.values() else path  # what was there has moved away

    def _known_paths_under(self, path: str) -> list[str]:
        """Return *path* and what is known of the things in it, should it be a folder."""
        inside = [other for other in self._origins if other.startswith(f"{path}/")]
        return [path, *inside] if path in self._origins else inside

    def to_json(self) -> dict[str, list[Any]]:
        """Return the sum: sorted paths, and renames as {"from", "to"}."""
        moved = {
            new: old for new, old in self._origins.items() if old and self._was_itself_renamed(new)
        }
        created = {path for path, origin in self._origins.items() if origin is None}
        return {
            "created": sorted(created),
            "modified": sorted(self._modified - created),
            "deleted": sorted(self._deleted),
            "renamed": [{"from": old, "to": new} for new, old in sorted(moved.items())],
        }

    def _was_itself_renamed(self, path: str) -> bool:
        """Return whether *path* was renamed, and not just moved along with its folder."""
        origin = self._origins[path]
        cuts = [i for i, char in enumerate(path) if char == "/"]
        moved_along = {f"{self._origins.get(path[:cut])}{path[cut:]}" for cut in cuts}
        return origin not in {None, path, *moved_along}
