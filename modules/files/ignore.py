"""Files of a folder that are not ignored: by git itself in a repository, else by its rules."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from modules.files.containment import (
    ConfinedFolder,
    DirectoryItem,
    NotRegularFile,
    OutsideFolder,
    ProtectedPath,
    SymlinkInPath,
)
from utils.frozen import frozen
from utils.text.globs import without_backtracking

_GIT_SECONDS = 10.0
_MAX_RULES_BYTES = 1_000_000  # bytes of one .gitignore
GENERATED_FOLDERS = frozenset(
    {
        *("__pycache__", "__pypackages__", ".venv", "venv", ".tox", ".nox", ".eggs"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"),
        *("node_modules", "bower_components", "jspm_packages", ".pnpm-store"),
        *(".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".angular"),
        *("target", ".gradle", ".dart_tool", ".terraform", ".stack-work", ".zig-cache", ".direnv"),
    }
)
"""Names of folders that tools fill and can fill again: nobody means what is in them.

Not `build`, `dist`, `vendor` and `out`: people keep these, and their own work in them.
"""
_WHOLE_DISK = Path("/")
_KERNEL_FOLDERS = frozenset({"proc", "sys", "dev"})
"""Folders of the whole disk that hold no files: nobody looks through them."""
_SYSTEM_FOLDERS = _KERNEL_FOLDERS | {
    *("bin", "boot", "lib", "lib32", "lib64", "libx32", "lost+found", "run", "sbin", "snap", "usr"),
    *("tmp", "var"),
}
"""Folders of the whole disk that the system fills: ignored, unless they are asked for by name."""
_MAX_AT_THE_TOP = 20_000  # files of a folder of the whole disk; one with more is ignored as well
_MAX_PATH_LENGTH = 4_000  # characters of a folder's path; no program can name what lies deeper
_LIST = (
    *("ls-files", "-t", "-s", "-c", "-d", "-o", "--exclude-standard", "-z"),
    *(f"--exclude={name}/" for name in sorted(GENERATED_FOLDERS)),  # of what git does not track
)


def visible_files(folder_root: ConfinedFolder, root: Path, path: str = "") -> list[str]:
    """Return every file below the folder *path* that is not ignored, sorted; links are files too.

    A folder that is itself ignored lists its files when it is asked for by name. Nothing in a
    folder of git's is ever listed. Raises what `ConfinedFolder.scan` raises.
    """
    names = _listed_by_git(folder_root, root, path)
    if root == _WHOLE_DISK and not path:
        names = list(_walk_disk(folder_root))
    elif not names:  # no repository, or one that ignores the folder we were asked about
        names = list(_walk(folder_root, root, path))
    return sorted(
        {name for name in names if not (folder_root.hidden and folder_root.is_hidden(name))}
    )


def _listed_by_git(folder_root: ConfinedFolder, root: Path, path: str) -> list[str] | None:
    """Return the files that git lists in the folder *path*; None if it lists none."""
    from modules.files.git.repository import find_work_tree, git_output  # for lists of files only

    if root == _WHOLE_DISK and path.split("/")[0] in ("", *_SYSTEM_FOLDERS):
        return None
    tree = find_work_tree(root / path)
    if tree is None:
        return None
    try:
        with folder_root.open_folder(path) as folder_fd:
            folder_path = folder_root.proc_path(folder_fd) or root / path
            words = git_output(_LIST, folder=folder_path, tree=tree, seconds=_GIT_SECONDS)
    except OSError:
        return None
    if words is None:
        return None
    listed, repositories = _parse_listing(words)
    if "." in repositories:  # the place of a submodule that was not fetched: git looks no further
        return None
    base = f"{path}/" if path else ""
    for repository in repositories:
        listed += _inner_files(folder_root, root, repository, path)
    return [base + name for name in listed]


def _inner_files(folder_root: ConfinedFolder, root: Path, repository: str, path: str) -> list[str]:
    """Return the files of a *repository* inside the one at *path*, relative to *path*."""
    inner = f"{path}/{repository}" if path else repository
    try:
        names = visible_files(folder_root, root, inner)
    except (OSError, ProtectedPath, SymlinkInPath, OutsideFolder, NotRegularFile):
        return []
    return [name[len(path) + 1 if path else 0 :] for name in names]


def _parse_listing(records: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files and the inner repositories that git listed.

    *records* are "? path" (untracked; a folder with a "/" is a repository), "H mode id stage
    TAB path" (tracked) and "R …" (tracked, but deleted).
    """
    files: set[str] = set()
    deleted: set[str] = set()
    repositories: set[str] = set()
    for record in records:
        if record.startswith("?"):
            name = record[2:]
            (repositories if name.endswith("/") else files).add(name.rstrip("/"))
            continue
        facts, _, name = record.partition("\t")
        if facts.startswith("R"):
            deleted.add(name)
        else:
            (repositories if " 160000 " in facts else files).add(name.rstrip("/"))
    return list(files - deleted), list(repositories - deleted)


@frozen
class _Rule:
    """A line of a .gitignore; one that ends in "/**" is *only_below* the folder it names."""

    expression: re.Pattern[str]
    ignores: bool
    only_below: bool

    def matches(self, name: str, is_folder: bool) -> bool:
        """Return whether the rule means *name* itself.

        pathspec's expressions also match by a folder above *name* (the group ps_d is the "/" after
        it). That was asked about before, and a deeper "!pattern" must not count twice.
        """
        candidate = f"{name}/" if is_folder and not self.only_below else name
        return any(
            match.groupdict().get("ps_d") is None or match.start("ps_d") >= len(name)
            for match in self.expression.finditer(candidate)
        )


class _Generated:
    """The rule that leaves the generated folders out; a .gitignore can take one of them back."""

    ignores = True

    def matches(self, name: str, is_folder: bool) -> bool:
        return is_folder and name.rpartition("/")[2] in GENERATED_FOLDERS


class _Kernel:
    """The rule that leaves all folders out, of those that the kernel fills."""

    ignores = True

    def matches(self, name: str, is_folder: bool) -> bool:  # noqa: ARG002 - it is a rule's
        return is_folder


@frozen
class _Rules:
    """The rules of one folder, the last first; *base* is the length of its path with a "/"."""

    base: int
    rules: Sequence[_AnyRule]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Return whether *path* is ignored; None if these rules do not say."""
        name = path[self.base :]
        return next((rule.ignores for rule in self.rules if rule.matches(name, is_folder)), None)


def _walk_disk(folder_root: ConfinedFolder) -> Iterator[str]:
    """Yield the files of the whole disk, but for those of the system's and of too large folders."""
    for item in folder_root.scan(""):
        if not item.is_folder:
            yield item.name
        elif item.name not in (".git", *_SYSTEM_FOLDERS, *GENERATED_FOLDERS):
            try:
                files = _walk(folder_root, _WHOLE_DISK, item.name)
                found = list(islice(files, _MAX_AT_THE_TOP + 1))
            except (OSError, ProtectedPath, OutsideFolder):
                continue  # unreadable, or gone since its name was read
            if len(found) <= _MAX_AT_THE_TOP:
                yield from found


_AnyRule = _Rule | _Generated | _Kernel


def _walk(folder_root: ConfinedFolder, root: Path, path: str) -> Iterator[str]:
    """Yield the files below *path* that the .gitignore files from *path* downwards let through."""
    start = len(path) + 1 if path else 0
    initial = [_Rules(start, [*_kernel_rules(root, path), *_default_rules(folder_root, path)])]
    pending: list[tuple[str, Sequence[_Rules]]] = [(path, initial)]
    while pending:
        folder, rules = pending.pop()
        try:
            items = folder_root.scan(folder)
        except (OSError, ProtectedPath, OutsideFolder):
            if folder == path:
                raise
            continue  # unreadable, or gone since its name was read
        if folder != path and any(item.name == ".git" for item in items):
            inner = _listed_by_git(folder_root, root, folder)
            if inner is not None:
                yield from inner
                continue
        rules = _with_folder_rules(folder_root, folder, items, rules)
        for item in items:
            name = f"{folder}/{item.name}" if folder else item.name
            if item.name == ".git" or _is_ignored(name, item.is_folder, rules):
                continue
            if not item.is_folder:
                yield name
            elif len(name) < _MAX_PATH_LENGTH:
                pending.append((name, rules))


@frozen
class NearFiles:
    """Files by folder, those nearest to the top first: (name, mtime in nanoseconds) of each.

    *is_all* tells whether that is all there is; of *cut_folder* only a part was looked at.
    """

    folders: dict[str, list[tuple[str, int]]]
    is_all: bool
    cut_folder: str | None = None


def near_files(folder_root: ConfinedFolder, root: Path, limit: int) -> NearFiles:
    """Return what a look at no more than about *limit* names finds, folder by folder downwards.

    Where a folder holds only folders the first of them comes before its neighbours: else the names
    of many could take all of the look. The rules are those of `visible_files`, but for git's own.
    """
    folders: dict[str, list[tuple[str, int]]] = {}
    cut_folder: str | None = None
    pending: deque[tuple[str, Sequence[_Rules]]] = deque()
    pending.append(("", [_Rules(0, _default_rules(folder_root, ""))]))
    while pending and limit > 0:
        folder, rules = pending.popleft()
        try:
            items = folder_root.scan(folder, limit)
        except (OSError, ProtectedPath, OutsideFolder):
            continue  # unreadable, or gone since its name was read
        cut_folder = folder if len(items) == limit else None
        limit -= len(items) + 1
        rules = _with_folder_rules(folder_root, folder, items, rules)
        inner: deque[tuple[str, Sequence[_Rules]]] = deque()
        for item in items:
            name = f"{folder}/{item.name}" if folder else item.name
            if item.name == ".git" or _is_ignored(name, item.is_folder, rules):
                continue
            if not item.is_folder:
                folders.setdefault(folder, []).append((item.name, item.mtime_ns))
            elif len(name) < _MAX_PATH_LENGTH and not (
                root == _WHOLE_DISK and name in _SYSTEM_FOLDERS
            ):
                inner.append((name, rules))
        if inner and folder not in folders:
            pending.appendleft(inner.popleft())
        pending.extend(inner)
    return NearFiles(folders, not pending and cut_folder is None, cut_folder)


def ignored_folders(folder_root: ConfinedFolder, path: str, names: Iterable[str]) -> set[str]:
    """Return which of the folders *names* in the folder *path* the rules above them ignore.

    Of one that holds no file neither git nor `visible_files` says anything.
    """
    rules = [_Rules(0, _default_rules(folder_root, ""))]
    prefix = ""
    for part in path.split("/") if path else ():
        rules.append(_folder_rules(folder_root, prefix))
        if _is_ignored(prefix + part, True, rules):
            return set(names)
        prefix += f"{part}/"
    rules.append(_folder_rules(folder_root, prefix))
    return {name for name in names if _is_ignored(prefix + name, True, rules)}


def _is_ignored(path: str, is_folder: bool, rules: Sequence[_Rules]) -> bool:
    """Return the verdict of the deepest rules that have one."""
    verdicts = (rule.verdict(path, is_folder) for rule in reversed(rules))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _with_folder_rules(
    folder_root: ConfinedFolder,
    folder: str,
    items: Sequence[DirectoryItem],
    rules: Sequence[_Rules],
) -> Sequence[_Rules]:
    """Return *rules* and those of the .gitignore in *folder*; git does not follow a link there."""
    if not any(item.name == ".gitignore" and item.is_file for item in items):
        return rules
    return [*rules, _folder_rules(folder_root, f"{folder}/" if folder else "")]


def _folder_rules(folder_root: ConfinedFolder, prefix: str) -> _Rules:
    """Return the rules of the .gitignore in the folder *prefix*, "" or a path with a "/"."""
    return _Rules(len(prefix), _parse_rules(_read(folder_root, f"{prefix}.gitignore")))


def _kernel_rules(root: Path, path: str) -> Sequence[_Kernel]:
    """Return the rules on folders of the kernel's that hold where *path* is asked for."""
    is_of_kernel = root == _WHOLE_DISK and path.split("/")[0] in _KERNEL_FOLDERS
    return [_Kernel()] if is_of_kernel else []


def _default_rules(folder_root: ConfinedFolder, path: str) -> Sequence[_AnyRule]:
    """Return the rules that hold in the folder *path* before those of any .gitignore."""
    excluded = _read(folder_root, f"{path}/.git/info/exclude".removeprefix("/"))
    return [*_parse_rules(excluded), _Generated()]


def _read(folder_root: ConfinedFolder, path: str) -> bytes:
    try:
        return folder_root.read(path, _MAX_RULES_BYTES) + b"\n"
    except (OSError, ProtectedPath, OutsideFolder, NotRegularFile):
        return b""


def _bounded_pattern(rule: re.Pattern[str]) -> re.Pattern[str]:
    """Return *rule* so that nobody's file of rules can keep us busy."""
    return re.compile(without_backtracking(rule.pattern))


def _parse_rules(data: bytes) -> Sequence[_Rule]:
    """Return the rules that *data* holds, the last first; what git does not understand is none."""
    if not data.strip():
        return []
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # 30 ms: seldom needed

    rules = []
    for line in os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n"):
        line = line.removesuffix("\r")
        with suppress(ValueError, re.error):
            pattern = GitIgnoreSpecPattern(line)
            if pattern.include is not None and pattern.regex is not None:
                below = line.rstrip().endswith("/**")
                rules.append(_Rule(_bounded_pattern(pattern.regex), pattern.include, below))
    return rules[::-1]
