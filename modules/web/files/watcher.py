"""Notices what others do to the folders, files and notes that somebody is looking at.

A look a second at what is on some screen costs less than watching a hundred thousand files, and
works on every file system.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from core.tools import ToolError
from modules.files.project import Project
from modules.web.files.stat_cache import Stamp, stamp_of
from modules.web.files.tree_listing import TreeListing
from modules.web.sessions.notifier import Tell

EVERY = 1.0
"""Seconds between two looks."""
MOST = 500
"""Folders, and files, that one client may want to hear of."""


class FolderWatcher:
    """Tells when a folder's names, a file's content or a note changed; runs its own thread."""

    def __init__(self, project: Project, listing: TreeListing, tell: Tell) -> None:
        self._project = project
        self._listing = listing
        self._tell = tell
        self._folders: dict[str, tuple[str, ...]] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._seen: dict[str, Stamp] = {}
        self._noted: Mapping[str, str] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def want(self, client: str, folders: list[str], files: list[str]) -> None:
        """Replace what *client* wants to hear of."""
        self._folders[client] = tuple(folders[:MOST])
        self._files[client] = tuple(files[:MOST])

    def forget(self, client: str) -> None:
        self._folders.pop(client, None)
        self._files.pop(client, None)

    def _run(self) -> None:
        while not self._over.wait(EVERY):
            self.look()

    def look(self) -> None:
        """Look once, and tell what is not as it was at the last look or listing."""
        folders = {path for wanted in list(self._folders.values()) for path in wanted}
        files = {path for wanted in list(self._files.values()) for path in wanted}
        rules = {f"{folder}/.gitignore".lstrip("/") for folder in folders}
        now = {path: self._stamp(path) for path in folders | files | rules}
        changed = {path for path in now if self._before(path, now[path]) != now[path]}
        changed |= self._listing.stamps.take_doubtful() & now.keys()
        self._seen = now
        is_noted = self._is_noted_otherwise()
        if changed or is_noted:
            self._listing.outdated()
            touched = {"*"} if is_noted or changed & rules else changed & folders
            self._tell("files", "", _told(touched, changed & files))

    def _is_noted_otherwise(self) -> bool:
        """Return whether the notes are others than at the last look."""
        before, self._noted = self._noted, self._listing.notes()
        return before is not None and before != self._noted

    def _before(self, path: str, now: Stamp) -> Stamp:
        """Return the state in which *path* was last seen; as it is *now* if it never was."""
        return self._seen.get(path) or self._listing.stamps.told(path) or now

    def _stamp(self, path: str) -> Stamp:
        try:
            return stamp_of(self._project.stat(self._project.normal(path)))
        except ToolError:
            return stamp_of(None)


def _told(folders: Iterable[str], files: Iterable[str]) -> dict[str, Any]:
    changes = [{"kind": "modified", "path": path, "new_path": ""} for path in sorted(files)]
    return {"by": "outside", "folders": sorted(folders), "paths": changes}
