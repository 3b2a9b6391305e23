"""File changes of a run, found by scanning the project before and after.

Git's and the ignore rules' opinion does not count here: whatever a program touched is told. Only
what is inside a `.git` is left out, but for the files there that make git run something.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.cards import Change
from modules.sandbox.filesystem.folders import list_entries

MAX_ENTRIES = 50_000
"""In a larger folder, effects are not followed: looking would take longer than most runs."""
MAX_PATH_CHARACTERS = 20_000_000
"""Of all paths together: folders in folders make these longer and longer."""

_RUNS_LATER = re.compile(
    r"(^|/)("
    r"\.git/.*|\.git|\.gitattributes|\.gitmodules|\.husky/.*|\.githooks/.*"
    r"|\.pre-commit-config\.yaml|\.?lefthook\.ya?ml"
    r"|\.vscode/(tasks|settings|launch|mcp)\.json|[^/]*\.code-workspace|\.idea/.*|\.zed/.*"
    r"|\.devcontainer/.*|\.devcontainer\.json|\.exrc|\.nvimrc|\.nvim\.lua|\.vimrc|\.dir-locals\.el"
    r"|\.gdbinit|\.lldbinit|\.pdbrc|\.Rprofile|\.mcp\.json|\.claude/.*|\.cursor/.*|\.gemini/.*"
    r"|\.envrc|\.?mise\.toml|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.cjs|\.cargo/config(\.toml)?"
    r"|\.mvn/.*|\.github/workflows/.*|\.gitlab-ci\.yml|\.circleci/.*"
    r"|[^/]*\.pth|(site|user)customize\.py|conftest\.py|pyvenv\.cfg"
    r"|bin/(activate[^/]*|python[\d.]*)"
    r")$"
)
_SAMPLE = re.compile(r"(^|/)\.git/hooks/[^/]+\.sample$")  # git offers them, and runs none
_GIT_RUNS = ("config", "config.worktree", "commondir", "hooks", "info", "HEAD")

FileStamp = tuple[int, int, int, int, int]
"""(kind and permissions, inode, size in bytes, time of change, time of any change)"""


@dataclass(frozen=True, slots=True)
class FolderState:
    """The entries of a folder by relative path, and the names of its folders.

    Of a folder that is too large to be followed it is not *is_whole*: then it has what makes
    repositories alone.
    """

    files: dict[str, FileStamp]
    folders: frozenset[str]
    unreadable: frozenset[str] = frozenset()
    """Those of the folders that could not be looked into."""
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class FileChanges:
    """*changes* in the order of their paths; *run_later* are those that something may execute
    outside of the sandbox. *are_known* is False where the folder is too large to tell.
    """

    changes: tuple[Change, ...] = ()
    run_later: tuple[str, ...] = ()
    are_known: bool = True

    def run_later_first(self) -> tuple[Change, ...]:
        """Return the changes, first what runs later: a screen shows only the first of many."""
        later = frozenset(self.run_later)

        def is_usual(change: Change) -> bool:
            path = change.new_path or change.path
            return later.isdisjoint((path, *_parents(path)))

        return tuple(sorted(self.changes, key=is_usual)) if later else self.changes


def scan_files(root: Path, unchanging: Collection[str] = ()) -> FolderState | None:
    """Return what is in *root* now, None if that is more than `MAX_ENTRIES`, too deep, or the disk.

    The folders *unchanging*, paths in it, are not looked into.
    """
    if root == Path(root.anchor):
        return None
    characters = 0
    files: dict[str, FileStamp] = {}
    folders: set[str] = set()
    unreadable: set[str] = set()
    for path, entry in _entries(os.fspath(root), unreadable, unchanging):
        if entry.is_dir(follow_symlinks=False):
            if path != ".git" or not _is_empty_folder(entry.path):  # our own mount point
                folders.add(path)
        elif status := _stat_or_none(entry):
            files[path] = (
                *(status.st_mode, status.st_ino, status.st_size),
                *(status.st_mtime_ns, status.st_ctime_ns),
            )
        characters += len(path)
        if len(files) + len(folders) > MAX_ENTRIES or characters > MAX_PATH_CHARACTERS:
            return None
    return FolderState(files, frozenset(folders), frozenset(unreadable))


def _entries(
    root: str, unreadable: set[str], unchanging: Collection[str]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what is below *root* with its path from there; add what is closed to us to
    *unreadable*."""
    pending = [""]
    while pending:
        folder = pending.pop()
        entries = list_entries(f"{root}/{folder}" if folder else root)
        if entries is None:
            unreadable.add(folder)
            continue
        if folder.endswith("/.git"):
            entries = [entry for entry in entries if entry.name in _GIT_RUNS]
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            yield path, entry
            if path in unchanging or path == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)


def _is_empty_folder(path: str) -> bool:
    """Return whether there is nothing in the folder *path*, which may be gone by now."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _stat_or_none(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def compare_scans(before: FolderState | None, after: FolderState | None) -> FileChanges:
    """Return the changes between two scans."""
    if before is None or after is None or not (before.is_whole and after.is_whole):
        return FileChanges(are_known=False)
    removed = _outside_unreadable(before.files.keys() - after.files.keys(), after.unreadable)
    added = _outside_unreadable(after.files.keys() - before.files.keys(), before.unreadable)
    renamed = _renamed(before, after, removed, added)
    changes = [Change("renamed", old, path) for old, path in renamed.items()]
    changes += [Change("deleted", path) for path in removed - renamed.keys()]
    changes += [Change("created", path) for path in added - set(renamed.values())]
    in_both = before.files.keys() & after.files.keys()
    changes += [Change("modified", p) for p in in_both if before.files[p] != after.files[p]]
    folders_added = _outside_unreadable(after.folders - before.folders, before.unreadable)
    folders_removed = _outside_unreadable(before.folders - after.folders, after.unreadable)
    changes += [Change("created", p) for p in _empty_folders(folders_added, added)]
    changes += [Change("deleted", p) for p in _empty_folders(folders_removed, removed)]
    changes += [
        Change("modified", p) for p in (after.unreadable - before.unreadable) & before.folders
    ]
    changes.sort(key=lambda change: change.path)
    return FileChanges(tuple(changes), _run_later(changes, after))


def _outside_unreadable(paths: set[str] | frozenset[str], unreadable: frozenset[str]) -> set[str]:
    """Return those of *paths* that are not below a folder that was locked: of these, who knows."""
    return {path for path in paths if not unreadable or unreadable.isdisjoint(_parents(path))}


def _renamed(
    before: FolderState, after: FolderState, removed: set[str], added: set[str]
) -> dict[str, str]:
    """Return the new path of each file that has only moved: the same inode, the same content."""
    moved = {_identity(before.files[path]): path for path in sorted(removed)}
    pairs = {}
    for path in sorted(added):
        if old := moved.pop(_identity(after.files[path]), None):
            pairs[old] = path
    return pairs


def _identity(stamp: FileStamp) -> tuple[int, ...]:
    mode, inode, size, modified, _ = stamp
    return stat.S_IFMT(mode), inode, size, modified


def _empty_folders(folders: set[str], files: set[str]) -> list[str]:
    """Return the *folders* that none of *files* or of the others makes known already."""
    implied = {parent for path in (*files, *folders) for parent in _parents(path)}
    return [folder for folder in folders if folder not in implied]


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _run_later(changes: Sequence[Change], after: FolderState) -> tuple[str, ...]:
    paths = {change.new_path or change.path for change in changes if change.kind != "deleted"}
    obeyed = (path for path in paths if _RUNS_LATER.search(path) and not _SAMPLE.search(path))
    hits = set(map(_repository_or_path, obeyed))
    hits |= {path for path in _possible_heads(paths) if is_bare_repository(path, after)}
    return tuple(sorted(hits))


def _repository_or_path(path: str) -> str:
    """Name a repository once, not each file in it."""
    head, found, rest = path.rpartition("/.git/")
    if not found or rest.startswith(("hooks/", "config")):
        return path
    return f"{head}/.git"


def _possible_heads(paths: set[str]) -> set[str]:
    """Return where the HEAD would be of repositories that have one of *paths* at their top."""
    tops = {path.rpartition("/")[0] for path in paths}
    return {f"{top}/HEAD".lstrip("/") for top in tops}


def is_bare_repository(path: str, after: FolderState) -> bool:
    """Return whether *path* is the HEAD of a folder that git would take for a repository."""
    folder, _, name = path.rpartition("/")
    beside = f"{folder}/" if folder else ""
    is_whole = {f"{beside}objects", f"{beside}refs"} <= after.folders
    return name == "HEAD" and path in after.files and is_whole
