"""Notices what others do to the folders, files and notes that somebody is looking at.

A look a second at what is on some screen costs less than watching a hundred thousand files, and
works on every file system.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

from core.tools import ToolError
from modules.files.project import Project
from modules.web.files.stat_cache import MTIME_GRAIN_NS, Stamp, stamp_of
from modules.web.files.tree_listing import TreeListing
from modules.web.sessions.notifier import Publish
from utils.text.clean import visible

POLL_SECONDS = 1.0
"""Seconds between two looks."""
MAX_WATCHED = 500
"""Folders, and files, that one client may want to hear of."""


class FolderWatcher:
    """Tells when a folder's names, a file's content or a note changed; runs its own thread."""

    def __init__(self, project: Project, listing: TreeListing, publish: Publish) -> None:
        self._project = project
        self._listing = listing
        self._publish = publish
        self._folders: dict[str, tuple[str, ...]] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._last_stamps: dict[str, Stamp] = {}
        self._swept: dict[str, Stamp | int] = {}  # the time from which on, until it was seen
        self._swept_count = 0
        self._last_notes = listing.notes()  # as of now: a page may list, and note, before a poll
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        self._thread.join()

    def watch(self, client: str, folders: list[str], files: list[str]) -> None:
        """Replace what *client* wants to hear of."""
        self._folders[client] = tuple(folders[:MAX_WATCHED])
        self._files[client] = tuple(files[:MAX_WATCHED])

    def sweep(self, files: Iterable[str]) -> None:
        """Look at *files* as well, `MAX_WATCHED` of them with each poll, while anybody watches."""
        before, now = self._swept, time.time_ns()
        self._swept = {path: before.get(path, now) for path in files}

    def unwatch(self, client: str) -> None:
        self._folders.pop(client, None)
        self._files.pop(client, None)

    def _run(self) -> None:
        while not self._stopped.wait(POLL_SECONDS):
            self.poll()

    def poll(self) -> None:
        """Poll once; publish what differs from the last poll or listing."""
        folders = {path for paths in list(self._folders.values()) for path in paths}
        files = {path for paths in list(self._files.values()) for path in paths}
        rules = {f"{folder}/.gitignore".lstrip("/") for folder in folders}
        now = {path: self._stamp(path) for path in folders | files | rules}
        changed = {path for path in now if self._last_stamp(path, now[path]) != now[path]}
        changed |= self._listing.stat_cache.pop_doubtful() & now.keys()
        self._last_stamps = now
        has_new_notes = self._notes_changed()
        swept = self._changed_in_sweep() if folders or files else set()
        if changed or has_new_notes or swept:
            self._listing.mark_stale()
            changed_folders = {"*"} if has_new_notes or changed & rules else changed & folders
            self._publish("files", "", _files_packet(changed_folders, changed & files | swept))

    def _changed_in_sweep(self) -> set[str]:
        """Return what changed of the next of the files that are swept."""
        swept, changed = self._swept, set[str]()
        first = self._swept_count % max(len(swept), 1)
        self._swept_count = first + MAX_WATCHED
        for path in [*swept][first : first + MAX_WATCHED]:
            before, now = swept[path], self._stamp(path)
            if isinstance(before, int):
                is_other = now[1] > before - MTIME_GRAIN_NS or now == stamp_of(None)
            else:
                is_other = now != before
            swept[path] = now
            if is_other:
                changed.add(visible(path))
        return changed

    def _notes_changed(self) -> bool:
        """Return whether the notes are others than at the last look."""
        before, self._last_notes = self._last_notes, self._listing.notes()
        return before != self._last_notes

    def _last_stamp(self, path: str, now: Stamp) -> Stamp:
        """Return the state in which *path* was last seen; as it is *now* if it never was."""
        return self._last_stamps.get(path) or self._listing.stat_cache.last(path) or now

    def _stamp(self, path: str) -> Stamp:
        try:
            return stamp_of(self._project.stat(self._project.normalize(path)))
        except ToolError:
            return stamp_of(None)


def _files_packet(folders: Iterable[str], files: Iterable[str]) -> dict[str, Any]:
    changes = [{"kind": "modified", "path": path, "new_path": ""} for path in sorted(files)]
    return {"by": "outside", "folders": sorted(folders), "paths": changes}
