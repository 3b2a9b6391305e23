"""Baseline of the files that git obeys in a repository, taken before a run, to restore after it.

That is what makes git run a command, or look or write elsewhere: settings, hooks, attributes,
remotes, alternates, links, and what may be run while a rebase and its like are under way.
"""

from __future__ import annotations

import base64
import itertools
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modules.sandbox.filesystem.held_folder import Content, HeldFolder
from modules.sandbox.git.harmless_lines import (
    NEW_REPOSITORY_LINES,
    PROJECT_REPOSITORY_LINES,
    STATE_FILE_LINES,
    without_harmful_lines,
)

_FILES = (
    *("config", "config.worktree", "commondir", "gitdir"),
    *("objects/info/alternates", "objects/info/http-alternates"),
)
_NOT_OBEYED = frozenset({"info/refs"})  # of `git gc`: a list of refs for servers of files
_FOLDERS = ("hooks", "info", "remotes", "branches")
_LINKS_BELOW = ("refs", "logs", "rr-cache", "rebase-merge", "rebase-apply", "sequencer")
_LINKS_IN = ("", "objects", "objects/info")
_MAX_LINK_CANDIDATES = 50_000  # files and folders, for links
_MAX_BYTES = 1_000_000  # bytes; a larger file is not kept
_HEAD = re.compile(r"refs/[^.][^\0]*")

Identity = tuple[int, int]
"""(device, inode)"""


@dataclass(eq=False, slots=True)
class Baseline:
    """Baseline of the files that git obeys in *folder*, which it takes for a repository.

    *fingerprint* tells which folder it was, or what a file held; None if nothing. *real_path* is
    its path without links. *modes* are those of its folders, *kept* the files that are put back as
    they were, *state* those whose lines are looked at, *links* where links led.
    """

    folder: Path
    fingerprint: Identity | Content | None
    real_path: str
    modes: dict[str, int]
    files: dict[str, Content]
    state_files: dict[str, bytes]
    links: dict[str, bytes]
    is_new: bool = False
    """Whether a run has made it, as ordinary work may: then nothing was there before."""
    new_lines: Mapping[str, re.Pattern[bytes]] = field(default_factory=dict)
    """Lines that do no harm in the files of a new one."""

    @classmethod
    def take(cls, folder: Path) -> Baseline:
        """Take the baseline of *folder*."""
        baseline = cls(folder, _fingerprint(folder), os.path.realpath(folder), {}, {}, {}, {})
        with suppress(OSError), HeldFolder.open(folder) as held:
            baseline.modes = {
                name: stat.S_IMODE(status.st_mode)
                for name in ("", *_FOLDERS)
                if (status := held.status(name)) and stat.S_ISDIR(status.st_mode)
            }
            baseline.files = {
                name: content
                for name in _baseline_names(held)
                if (content := held.content(name, _MAX_BYTES)) is not None
            }
            baseline.state_files = {
                name: content[1]
                for name in STATE_FILE_LINES
                if (content := held.content(name, _MAX_BYTES)) and content[0] >= 0
            }
            baseline.links = dict(_redirecting_links(held))
        return baseline

    @classmethod
    def take_new(cls, folder: Path, *, is_project: bool = False) -> Baseline:
        """Return that of a *folder* that a run has made, the project's repository or another."""
        real = os.path.realpath(folder)
        lines = PROJECT_REPOSITORY_LINES if is_project else NEW_REPOSITORY_LINES
        return cls(folder, _fingerprint(folder), real, {}, {}, {}, {}, True, lines)

    @property
    def identity(self) -> Identity | None:
        """Device and inode of what was a folder; None if it was not."""
        fingerprint = self.fingerprint
        return fingerprint if fingerprint and not isinstance(fingerprint[1], bytes) else None

    @property
    def content(self) -> Content | None:
        """Content of what was a file; None if it was not."""
        fingerprint = self.fingerprint
        return fingerprint if fingerprint and isinstance(fingerprint[1], bytes) else None

    def is_same(self) -> bool:
        """Return whether the folder is the one it was, no link leading to it."""
        is_here = os.path.realpath(self.folder) == self.real_path
        return is_here and _fingerprint(self.folder) == self.fingerprint

    def is_parent_there(self) -> bool:
        """Return whether what it was in is there, no link leading to it."""
        parent = self.folder.parent
        return parent.is_dir() and os.path.realpath(parent) == os.path.dirname(self.real_path)  # noqa: PTH120

    def move_to(self, folder: Path) -> None:
        """Follow a move of it to *folder*."""
        self.folder, self.real_path = folder, os.path.realpath(folder)

    def is_remade(self) -> None:
        """Take what is in its place for it from now on."""
        self.fingerprint = _fingerprint(self.folder)

    def write_file(self) -> None:
        """Write the file that it was."""
        if self.content and self.content[0] >= 0:
            with HeldFolder.open(self.folder.parent) as above:
                above.write(self.folder.name, self.content)

    def restore(self) -> tuple[list[str], list[str]]:
        """Make it what it was; return the names put back, and those of which lines were left out.

        Both are paths in it. A folder to which a link leads by now is left as it is, for others
        may run meanwhile.
        """
        try:
            with HeldFolder.open(self.folder) as held:
                return self._restore(held)
        except OSError:
            if is_folder(self.folder) and os.path.realpath(self.folder) == os.fspath(self.folder):
                raise
            return [], []

    def _restore(self, held: HeldFolder) -> tuple[list[str], list[str]]:
        changed = list(self._restore_links(held))
        for name, mode in self.modes.items():
            status = held.status(name)
            is_there = status is not None and stat.S_ISDIR(status.st_mode)
            if status and is_there and stat.S_IMODE(status.st_mode) != mode:
                held.change_mode(name, mode)
        for name in _FOLDERS:
            if held.status(name) and not held.is_folder(name):
                held.remove(name)
        names = dict.fromkeys((*self.files, *_baseline_names(held)))
        partly = {**STATE_FILE_LINES, **self.new_lines}
        changed_files = [
            name for name in names if not self._is_unchanged(held, name) and name not in partly
        ]
        for name in changed_files:
            self._restore_file(held, name)
        return [*changed, *changed_files], [
            name for name in partly if self._remove_harmful_lines(held, name, partly[name])
        ]

    def _is_unchanged(self, held: HeldFolder, name: str) -> bool:
        if self.is_new and name.startswith("hooks/") and name.endswith(".sample"):
            return True
        return name in self.files and self.files[name] == held.content(name, _MAX_BYTES)

    def _restore_file(self, held: HeldFolder, name: str) -> None:
        original = self.files.get(name)
        if original is not None and original[0] < 0:
            return  # it was no plain file: there is no telling how to make it again
        if original is None or held.is_folder(name):
            held.remove(name)
        if original is not None:
            held.write(name, original)

    def _remove_harmful_lines(
        self, held: HeldFolder, name: str, harmless: re.Pattern[bytes]
    ) -> bool:
        """Leave out what a run put into the file *name* and is not *harmless*; return whether."""
        before = self.state_files.get(name, b"")
        content = held.content(name, _MAX_BYTES)
        if content is None:
            return False
        if content[0] < 0:  # none that git writes, or a huge one
            self._restore_file(held, name)
            return True
        if (reduced := without_harmful_lines(content[1], before, harmless)) == content[1]:
            return False
        held.write(name, (content[0], reduced))
        return True

    def _restore_links(self, held: HeldFolder) -> Iterator[str]:
        """Take away the links that came, and have those that changed lead where they led."""
        for name, target in list(_redirecting_links(held)):
            is_head = name == "HEAD" and _HEAD.fullmatch(os.fsdecode(target))
            if self.links.get(name) == target or (is_head and b".." not in target):
                continue
            held.remove(name)
            if name in self.links:
                held.link(name, self.links[name])
            if name.partition("/")[0] not in _FOLDERS and name not in self.files:
                yield name

    def as_json(self) -> dict[str, Any]:
        """Return it as values for a file; see `from_json`."""
        return {
            "folder": os.fspath(self.folder),
            "mark": _as_json(self.content) or self.identity,
            "real": self.real_path,
            "modes": self.modes,
            "kept": {name: _as_json(content) for name, content in self.files.items()},
            "state": {name: _encoded(content) for name, content in self.state_files.items()},
            "links": {name: _encoded(target) for name, target in self.links.items()},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], devices: dict[int, int]) -> Baseline:
        """Return what `as_json` returned; *devices* are those that have another number by now.

        Raises `ValueError`, `KeyError` or `TypeError` for anything else.
        """
        return cls(
            Path(data["folder"]),
            _mark_from_json(data["mark"], devices),
            str(data["real"]),
            {name: int(mode) for name, mode in data["modes"].items()},
            {name: _content_from_json(content) for name, content in data["kept"].items()},
            {name: _decoded(content) for name, content in data["state"].items()},
            {name: _decoded(target) for name, target in data["links"].items()},
        )


def _baseline_names(held: HeldFolder) -> Iterator[str]:
    """Yield what there is in *held* of the files that are kept as a whole."""
    yield from (name for name in _FILES if held.status(name))
    for folder in _FOLDERS:
        names = (f"{folder}/{entry.name}" for entry in held.entries(folder))
        yield from (name for name in names if name not in _NOT_OBEYED)


def _redirecting_links(held: HeldFolder) -> Iterator[tuple[str, bytes]]:
    """Yield the links in *held* by which git would read or write elsewhere; where they lead."""
    for name, entry in itertools.islice(_link_candidates(held), _MAX_LINK_CANDIDATES):
        if entry.is_symlink() and (content := held.content(name, _MAX_BYTES)):
            yield name, content[1]


def _link_candidates(held: HeldFolder) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield entries with their names in *held*."""
    for folder in _LINKS_IN:
        yield from ((f"{folder}/{one.name}".lstrip("/"), one) for one in held.entries(folder))
    pending = list(_LINKS_BELOW)
    while pending:
        folder = pending.pop()
        for entry in held.entries(folder):
            yield f"{folder}/{entry.name}", entry
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{folder}/{entry.name}")


def is_folder(path: Path) -> bool:
    """Return whether *path* is a folder itself, as far as can be seen."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def children(folder: Path) -> list[Path]:
    """Return what is in *folder*; nothing where a program has locked it, or made it too deep."""
    try:
        return sorted(folder.iterdir()) if is_folder(folder) else []
    except OSError:
        return []


def _fingerprint(git: Path) -> Identity | Content | None:
    """Return what tells *git* from another: of a folder which it is, of a file what is in it."""
    with suppress(OSError), HeldFolder.open(git.parent) as above:
        if (status := above.status(git.name)) and stat.S_ISDIR(status.st_mode):
            return status.st_dev, status.st_ino
        return above.content(git.name, _MAX_BYTES)
    return None


def _as_json(content: Content | None) -> list[int | str] | None:
    return [content[0], _encoded(content[1])] if content else None


def _content_from_json(data: list[Any]) -> Content:
    mode, content = data
    return int(mode), _decoded(content)


def _mark_from_json(data: list[Any] | None, devices: dict[int, int]) -> Identity | Content | None:
    if data is None or isinstance(data[1], str):
        return None if data is None else _content_from_json(data)
    device, inode = map(int, data)
    return devices.get(device, device), inode


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
