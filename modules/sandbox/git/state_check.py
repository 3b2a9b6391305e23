"""Check of what a run has done to the state of a repository, before any of it is taken over.

Git on the person's side reads these files later. Each must be what git itself writes there, and
nothing that it would run, take for an option, or follow to another place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from modules.files.git.index_file import BadIndex, read_index
from modules.files.git.state_changes import GitStateChange
from modules.files.git.state_names import is_object_id, is_ref_name, symbolic_target
from modules.sandbox.git.harmless_lines import STATE_FILE_LINES, without_harmful_lines
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

_MAX_BYTES = 16 << 20  # bytes of a file that is no log and no index
_MAX_LOG_BYTES = 256 << 20  # bytes
_ZERO = "0" * 40
_ID_LINES = re.compile(rb"([0-9a-f]{40}\n?)*")
_ID_FILES = frozenset({
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE"),
    *("ORIG_HEAD", "MERGE_AUTOSTASH", "BISECT_EXPECTED_REV"),
    *("rebase-merge/onto", "rebase-merge/orig-head", "rebase-merge/stopped-sha"),
    *("rebase-merge/squash-onto", "rebase-merge/amend", "rebase-merge/autostash"),
    *("rebase-apply/onto", "rebase-apply/orig-head", "rebase-apply/original-commit"),
    *("rebase-apply/autostash", "sequencer/head"),
})  # fmt: skip
_LINE_FILES = {
    "BISECT_START": re.compile(rb"[0-9A-Za-z_][^\0-\x20~^:?*\[\\]*\n?"),
    "BISECT_TERMS": re.compile(rb"([A-Za-z][\w-]*\n){2}"),
    "MERGE_MODE": re.compile(rb"(no-ff)?\n?"),
    "rebase-merge/head-name": re.compile(rb"(refs/heads/[^\0-\x20~^:?*\[\\]+|detached HEAD)\n?"),
    "rebase-apply/head-name": re.compile(rb"(refs/heads/[^\0-\x20~^:?*\[\\]+|detached HEAD)\n?"),
}
_LOG_LINE = re.compile(
    rb"(?P<old>[0-9a-f]{40}) (?P<new>[0-9a-f]{40}) [^\n<>]*<[^\n<>]*> \d+ [+-]\d{4}(\t[^\n]*)?"
)
_WORKTREE = re.compile(r"(worktrees/[^/]+/)?(.+)")
_NOT_KEPT_BY_GIT = frozenset({"ORIG_HEAD", "AUTO_MERGE"})
"""Names of what `git prune` may take away all the same, as `git gc` does then."""


class StateRefused(Exception):
    """A refusal to take over what a run has done; *why* says it for people and the model."""

    def __init__(self, why: Phrase) -> None:
        super().__init__(str(why))
        self.why = why


@dataclass
class NamedObjects:
    """Ids of objects that a state names: *commits* where nothing else may be, *tips* of all kinds
    with what they lead to, and *others*, which are only to be there.
    """

    commits: set[str] = field(default_factory=set)
    tips: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)

    @property
    def all(self) -> Sequence[str]:
        return sorted((self.commits | self.tips | self.others) - {_ZERO})


_REPLACED = "refs/replace/"
_TRUSTED_REFS = ("refs/remotes/", _REPLACED)
"""Refs by which people judge what a push sends, and what is in a commit."""


def check_changes(changes: Iterable[GitStateChange], *, is_clone: bool = False) -> NamedObjects:
    """Return the objects that *changes* of a repository name, all checked.

    One that *is_clone* came with what others have. Raises `StateRefused`.
    """
    refused = (_REPLACED,) if is_clone else _TRUSTED_REFS
    objects = NamedObjects()
    for change in changes:
        if change.new is None:
            if change.name == "HEAD":
                raise StateRefused(phrase("HEAD is gone"))
        elif change.is_ref:
            _check_ref(change.name, change.new, objects, refused)
        else:
            _check_file(change.name, change.old or b"", change.new, objects)
    return objects


def _check_ref(
    name: str,
    value: bytes,
    objects: NamedObjects,
    refused: tuple[str, ...] = _TRUSTED_REFS,
) -> None:
    if not is_ref_name(name):
        raise StateRefused(phrase("{name} is no name of a ref", name=visible(name)))
    if name.startswith(refused):
        raise StateRefused(
            phrase("{name} says what others have, or shows another history", name=visible(name))
        )
    if is_object_id(value):
        (objects.commits if name.startswith("refs/heads/") else objects.tips).add(value.decode())
    elif not is_ref_name(symbolic_target(value) or ""):
        raise StateRefused(phrase("{name} is not what git writes", name=visible(name)))


def _check_file(name: str, old: bytes, new: bytes, objects: NamedObjects) -> None:
    match = _WORKTREE.fullmatch(name)
    inner = match[2] if match else name
    if inner == "index":
        _check_index(name, old, new, objects)
    elif inner.startswith("logs/"):
        _check_log(name, inner, old, new, objects)
    elif len(new) > _MAX_BYTES:
        raise StateRefused(phrase("{name} is too large", name=visible(name)))
    elif inner == "HEAD":
        _check_head(name, new, objects)
    elif inner.startswith("refs/"):
        _check_ref(inner, new.strip(), objects)
    elif not _is_harmless(inner, old, new):
        raise StateRefused(
            phrase(
                "{name} says what git would run or do later; finish that within one run, without "
                "exec, or do it without",
                name=visible(name),
            )
        )
    elif inner in _ID_FILES and inner not in _NOT_KEPT_BY_GIT:
        objects.others |= {line.decode() for line in new.split()}


def _is_harmless(inner: str, old: bytes, new: bytes) -> bool:
    if inner in _ID_FILES:
        return _ID_LINES.fullmatch(new) is not None
    if pattern := _LINE_FILES.get(inner):
        return pattern.fullmatch(new) is not None and b".." not in new
    if harmless := STATE_FILE_LINES.get(inner):
        return without_harmful_lines(new, old, harmless) == new
    return True


def _check_head(name: str, new: bytes, objects: NamedObjects) -> None:
    value = new.strip()
    if is_object_id(value):
        objects.commits.add(value.decode())
        return
    target = symbolic_target(value) or ""
    if not (target.startswith("refs/heads/") and is_ref_name(target)):
        raise StateRefused(phrase("{name} is not what git writes", name=visible(name)))


def _check_log(name: str, inner: str, old: bytes, new: bytes, objects: NamedObjects) -> None:
    ref = inner.removeprefix("logs/")
    if ref != "HEAD" and not is_ref_name(ref):
        raise StateRefused(phrase("{name} is no name of a ref", name=visible(name)))
    if len(new) > _MAX_LOG_BYTES:
        raise StateRefused(phrase("{name} is too large", name=visible(name)))
    known = frozenset(old.split(b"\n"))
    for line in new.split(b"\n"):
        if not line or line in known:
            continue
        if (match := _LOG_LINE.fullmatch(line)) is None:
            raise StateRefused(phrase("{name} is not what git writes", name=visible(name)))
        objects.others |= {match["old"].decode(), match["new"].decode()}


def _check_index(name: str, old: bytes, new: bytes, objects: NamedObjects) -> None:
    try:
        entries = read_index(new, with_caches=False)
    except BadIndex as error:
        raise StateRefused(
            phrase("{name} is not what git writes ({why})", name=visible(name), why=str(error))
        ) from None
    try:
        known = {entry.object_id for entry in read_index(old)} if old else set()
    except BadIndex:
        known = set()
    ids = {entry.object_id for entry in entries if not entry.is_submodule}
    objects.others |= ids - known


def object_ids(changes: Iterable[GitStateChange]) -> Iterator[str]:
    """Yield the objects that refs and HEAD are after *changes*."""
    for change in changes:
        value = (change.new or b"").strip()
        if (change.is_ref or change.name == "HEAD") and is_object_id(value):
            yield value.decode()
