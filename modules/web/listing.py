"""The files as the page's tree shows them, one folder at a time, quick for a hundred thousand."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.tools import ToolError
from modules.annotations import Annotations
from modules.project import Item, Project
from modules.web.badges import badges
from modules.web.refusal import explained
from utils.clean import visible

FRESH = 2.0
"""Seconds for which what was found out about all files is taken to be true."""
GLOW = 10.0
"""Seconds for which a file counts as just written by the agent."""
MOST = 200_000
"""Files in the flat list."""


@dataclass(frozen=True)
class Survey:
    """What is known of all files at once: those that no rule ignores, and git's letters."""

    files: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    letters: Mapping[str, str] = field(default_factory=dict)
    changed_folders: frozenset[str] = frozenset()
    taken: float = float("-inf")

    @classmethod
    def of(cls, project: Project) -> Survey:
        taken = time.monotonic()
        files = project.files()
        letters = badges(project.root)
        return cls(tuple(files), frozenset(files), _above(files), letters, _above(letters), taken)


def _above(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder that one of *paths* is in."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


class Listing:
    """Lists the folders of *project*. May be used from any thread; may block."""

    def __init__(self, project: Project, notes: Annotations) -> None:
        self._project = project
        self._notes = notes
        self._survey = Survey()
        self._lock = threading.Lock()
        self._written: dict[str, float] = {}

    def outdated(self) -> None:
        """Forget what was found out about all files: something changed."""
        self._survey = Survey()

    def written(self, paths: Iterable[str]) -> None:
        """Take note that the agent just wrote *paths*."""
        now = time.monotonic()
        self._written = {p: at for p, at in self._written.items() if now - at < GLOW}
        self._written |= dict.fromkeys(paths, now)

    def files(self) -> tuple[list[str], int]:
        """Return the paths of all files that no rule ignores, and how many were left out."""
        files = self._known().files
        return [visible(path) for path in files[:MOST]], max(len(files) - MOST, 0)

    def folder(self, path: str, focus: Iterable[str] = ()) -> dict[str, Any]:
        """Return what is in the folder *path*. Raises `Refused`."""
        with explained():
            path = self._project.normal(path)
            items = self._project.entries(path)
            survey = self._known()
            notes = self._notes.all_notes()
        told = _Told(survey, notes, frozenset(focus), self._written)
        entries = [
            self._entry(f"{path}/{item.name}" if path else item.name, item, told)
            for item in items
            if not self._project.is_protected(item.name)
        ]
        entries.sort(key=lambda e: (e["kind"] != "folder", e["name"].casefold(), e["name"]))
        return {"path": visible(path), "entries": entries}

    def _known(self) -> Survey:
        """Return what is known of all files, found out anew when it is not `FRESH`."""
        with self._lock:
            if time.monotonic() - self._survey.taken > FRESH:
                self._survey = Survey.of(self._project)
            return self._survey

    def _entry(self, path: str, item: Item, told: _Told) -> dict[str, Any]:
        written = told.written.get(path)
        return {
            "name": visible(item.name),
            "kind": _kind(item.mode),
            "size": item.size,
            "modified": item.modified / 1e9,
            "ignored": self._is_ignored(path, item, told.survey),
            "git": told.letter(path, is_folder=item.is_folder),
            "note": told.notes.get(path, ""),
            "focus": path in told.focus,
            "written": None if written is None else round(time.monotonic() - written, 1),
        }

    def _is_ignored(self, path: str, item: Item, survey: Survey) -> bool:
        if not item.is_folder:
            return path not in survey.known
        return path not in survey.folders and not self._is_empty(path)

    def _is_empty(self, path: str) -> bool:
        """Return whether there is nothing in the folder; no rule needs to ignore that."""
        try:
            return not self._project.entries(path)
        except ToolError:
            return False


@dataclass(frozen=True)
class _Told:
    """What there is to tell about the entries of one folder."""

    survey: Survey
    notes: Mapping[str, str]
    focus: frozenset[str]
    written: Mapping[str, float]

    def letter(self, path: str, *, is_folder: bool) -> str:
        if is_folder:
            return "M" if path in self.survey.changed_folders else ""
        return self.survey.letters.get(path, "")


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "other"
