"""The tree of a folder as the model reads it and as people see it."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from core.cards import TreeCard, TreeEntry
from core.tools import ToolError
from modules.files.project import DirectoryItem, Project
from utils.i18n import Text
from utils.text.clean import visible
from utils.text.lines import format_size, with_count

_MAX_LINES = 400
_MAX_PER_FOLDER = 100


@dataclass
class FolderListing:
    """Listing of a folder in the making: *lines* for the model, *entries* for people."""

    project: Project
    notes: Callable[[str], Text]
    depth: int
    visible_files: frozenset[str]
    counts: Counter[str]
    lines: list[str] = field(default_factory=list)
    entries: list[TreeEntry] = field(default_factory=list)
    left_out: int = 0

    @classmethod
    def of(
        cls, project: Project, path: str, depth: int, notes: Callable[[str], Text]
    ) -> FolderListing:
        """Return the tree of the folder *path*, *depth* levels deep."""
        files = project.files(path)
        listing = cls(project, notes, depth, frozenset(files), _counts(files))
        listing._add_folder(path, 1)
        return listing

    def card(self, path: str) -> TreeCard:
        return TreeCard(visible(path) or ".", tuple(self.entries), self.left_out)

    def _add_folder(self, path: str, level: int) -> None:
        try:
            items = [item for item in self.project.entries(path) if item.name != ".git"]
        except ToolError:
            if level == 1:  # what was asked for; of the rest it is enough to say so
                raise
            self._add_line("… not readable", level)
            return
        # One string a name: comparing tuples of very many would hold up every other thread.
        items.sort(key=lambda i: f"{'10'[i.is_folder]}{i.name.casefold()}\0{i.name}")
        base = f"{path}/" if path else ""
        shown = ignored = 0
        for item in items:
            name = base + item.name
            if not item.is_folder and name not in self.visible_files:
                ignored += 1
            elif shown < _MAX_PER_FOLDER and len(self.lines) < _MAX_LINES:
                shown += 1
                self._add_item(item, name, level)
            else:
                self.left_out += self.counts[name] if item.is_folder else 1
        hidden = len(items) - shown - ignored
        if hidden:
            self._add_line(f"… {hidden} more here", level)
        if ignored:
            self._add_line(f"… {ignored} ignored files", level)

    def _add_item(self, item: DirectoryItem, path: str, level: int) -> None:
        name = visible(item.name)
        note = self.notes(path)
        if not item.is_folder:
            self.entries.append(TreeEntry(visible(path), level, item.size, note))
            self._add_line(f"{name}  {_size_or_kind(item)}{f'  # {note}' if note else ''}", level)
            return
        count = self.counts[path]
        if count:
            self.entries.append(TreeEntry(visible(path), level, None, note))
        if count and level < self.depth:
            self._add_line(f"{name}/", level)
            self._add_folder(path, level + 1)
        elif count:
            self._add_line(f"{name}/  ({with_count(count, 'file')})", level)
        else:
            self._add_line(f"{name}/  ({self._empty_reason(path)})", level)

    def _add_line(self, text: str, level: int) -> None:
        self.lines.append("  " * (level - 1) + text)

    def _empty_reason(self, path: str) -> str:
        """Return why no file below the folder *path* is shown."""
        try:
            return "ignored" if self._holds_files(path) else "empty"
        except ToolError:
            return "not readable"

    def _holds_files(self, path: str) -> bool:
        """Return whether anything but empty folders is below *path*."""
        pending = [path]
        while pending:
            folder = pending.pop()
            for item in self.project.entries(folder):
                if not item.is_folder:
                    return True
                pending.append(f"{folder}/{item.name}")
        return False


def _counts(files: list[str]) -> Counter[str]:
    """Return how many of *files* each folder holds, at any depth."""
    counts: Counter[str] = Counter()
    for name in files:
        while "/" in name:
            name = name.rpartition("/")[0]
            counts[name] += 1
    return counts


def _size_or_kind(item: DirectoryItem) -> str:
    if item.is_file:
        return format_size(item.size)
    return "(link)" if stat.S_ISLNK(item.mode) else "(device, pipe or socket)"
