"""A tree in a few hundred tokens: which of its files are named, and what came and went since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from posixpath import dirname, join

from modules.files.ignore import NearFiles
from utils.text.clean import visible
from utils.text.lines import with_count
from utils.text.tokens import estimate_tokens

_HEAD = "Files of the project (later you are told what comes and goes):"
_MAX_PLAIN = 40
"""Files of one folder that are named without being of any particular use."""
_NEWEST = 5
_MAX_NEWS = 20
"""Paths that are named when they came or went."""
_ENTRY_STEMS = frozenset(
    {
        *("readme", "agents", "main", "__main__", "app", "index", "cli", "manage", "server", "lib"),
        *("makefile", "pyproject", "package", "cargo", "go", "composer", "gemfile", "dockerfile"),
    }
)
"""Names, without what follows the first dot, of files where one begins to read."""


@dataclass(frozen=True)
class TreeMap:
    """The *names* of files by folder, the most useful first.

    A folder in *whole* has no other files. *folders* are all that were seen, where all were.
    *left_out* says what is not named.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    folders: tuple[str, ...] | None = None
    left_out: str = ""

    @property
    def text(self) -> str:
        """What the model reads; "" where there are no files."""
        if not self.names:
            return ""
        lines = [_folder_line(folder, names) for folder, names in self.names.items()]
        return "\n".join([_HEAD, *lines, *filter(None, [self.left_out])])

    @property
    def paths(self) -> list[str]:
        return [join(folder, name) for folder, names in self.names.items() for name in names]


def make_map(found: NearFiles, useful: Collection[str], max_tokens: int) -> TreeMap:
    """Return a map of what was *found* that takes about *max_tokens* at most.

    First come the *useful* paths, then what changed last, then where one begins to read.
    """
    names: dict[str, list[str]] = {}
    plain: dict[str, int] = {}
    tokens_left = max_tokens - estimate_tokens(_HEAD) - 30  # for what says what is left out
    for rank, folder, name in _by_use(found, useful):
        plain[folder] = plain.get(folder, 0) + rank
        if plain[folder] > _MAX_PLAIN:
            continue
        cost = estimate_tokens(f", {visible(name)}")
        cost += 0 if folder in names else estimate_tokens(f"\n{visible(folder)}/:")
        if cost <= tokens_left:
            tokens_left -= cost
            names.setdefault(folder, []).append(name)
    whole = [
        folder
        for folder in {"": (), **names}
        if folder != found.cut_folder
        and len(names.get(folder, ())) == len(found.folders.get(folder, ()))
    ]
    return TreeMap(
        {folder: tuple(shown) for folder, shown in names.items()},
        tuple(whole),
        tuple(found.folders) if found.is_all else None,
        _left_out(found, names),
    )


def came(before: TreeMap, found: NearFiles) -> list[str]:
    """Return what is there now and was not, of folders that the map names wholly, and folders."""
    new = [
        join(folder, name)
        for folder in before.whole
        if folder != found.cut_folder
        for name, _ in found.folders.get(folder, ())
        if name not in before.names.get(folder, ())
    ]
    if before.folders is None:
        return new
    known = {above for folder in ("", *before.folders) for above in _with_parents(folder)}
    added = {
        next(one for one in reversed(_with_parents(folder)) if one not in known)
        for folder in found.folders
        if folder not in known
    }
    return [*new, *(f"{folder}/" for folder in sorted(added))]


def went(before: TreeMap, found: NearFiles, is_there: Callable[[str], bool]) -> list[str]:
    """Return which files of the map are gone."""
    listed = {join(folder, name) for folder, items in found.folders.items() for name, _ in items}
    return [path for path in before.paths if path not in listed and not is_there(path)]


def news(arrived: Iterable[str], gone: Iterable[str]) -> str:
    """Return a line on what came and went, "" where nothing did."""
    parts = [("New files", list(arrived)), ("Gone", list(gone))]
    return " ".join(f"{title}: {_some(paths)}." for title, paths in parts if paths)


def _some(paths: list[str]) -> str:
    more = len(paths) - _MAX_NEWS
    shown = ", ".join(map(visible, paths[:_MAX_NEWS]))
    return f"{shown} and {more} more" if more > 0 else shown


def _by_use(found: NearFiles, useful: Collection[str]) -> list[tuple[int, str, str]]:
    """Return (1 for a plain file and 0 for a better one, its folder, its name), best first."""
    dated = [(at, join(folder, name)) for folder, one in found.folders.items() for name, at in one]
    newest = {path for _, path in sorted(dated, reverse=True)[:_NEWEST]}

    def rank(folder: str, name: str) -> int:
        path = join(folder, name)
        if path in useful:
            return 0
        if path in newest:
            return 1
        return 2 if name.casefold().partition(".")[0] in _ENTRY_STEMS else 3

    ranked = [
        (rank(folder, name), folder.count("/") + bool(folder), folder, name)
        for folder, items in found.folders.items()
        for name, _ in items
    ]
    return [(int(use == 3), folder, name) for use, _, folder, name in sorted(ranked)]


def _left_out(found: NearFiles, names: Mapping[str, list[str]]) -> str:
    count = sum(len(items) for items in found.folders.values())
    count -= sum(map(len, names.values()))
    if not count and found.is_all:
        return ""
    folders = len(found.folders.keys() - names.keys())
    text = with_count(count, "more file") + (f", {folders} folders of them" if folders else "")
    return f"({text}{'' if found.is_all else ', and what lies deeper'}: list a folder to see them.)"


def _folder_line(folder: str, names: Iterable[str]) -> str:
    listed = ", ".join(map(visible, names))
    return f"{visible(folder)}/: {listed}" if folder else listed


def _with_parents(folder: str) -> list[str]:
    """Return *folder* and those above it, the deepest first; "" is the project."""
    folders = [folder]
    while folders[-1]:
        folders.append(dirname(folders[-1]))
    return folders
