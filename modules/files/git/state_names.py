"""Names of the files in which git keeps the state of a repository, and what is in them.

That is where the branches, HEAD, the index and the stash stand, and what of a merge, a rebase or
the like is under way. None of them is a setting: hooks, config, attributes, alternates and what
says where a repository lies are not among them. Those of the repositories of submodules are, which
lie in `modules`, and in the folder of a linked work tree for its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FILES = frozenset({
    *("HEAD", "ORIG_HEAD", "index", "packed-refs", "AUTO_MERGE", "MERGE_AUTOSTASH"),
    *("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "COMMIT_EDITMSG"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"),
    *("BISECT_ANCESTORS_OK", "BISECT_EXPECTED_REV", "BISECT_FIRST_PARENT", "BISECT_LOG"),
    *("BISECT_NAMES", "BISECT_START", "BISECT_TERMS"),
})  # fmt: skip
_WORKTREE_FILES = frozenset({"gitdir", "commondir", "locked"})
_SPARSE = "info/sparse-checkout"  # which folders are checked out: patterns, as the index has it
_TREES = ("refs", "logs")
_STEP_FOLDERS = ("rebase-merge", "rebase-apply", "sequencer")
_STEP_FILE = re.compile(r"[\w.-]{1,100}")
_NEVER = frozenset({"gpg_sign_opt"})  # an option for the program that signs
_WORKTREE = re.compile(r"worktrees/(?P<name>[^/]+)/(?P<inner>.+)")
_MODULES = "modules"
_LINKED_TREES = "worktrees"
_IN_REPOSITORY = _FILES | {
    *(*_TREES, *_STEP_FOLDERS, _MODULES, _LINKED_TREES, "objects", "hooks", "info", "branches"),
    *("remotes", "config", "config.worktree", "commondir", "gitdir", "shallow", "reftable"),
    *("description", "rr-cache", "lfs", "FETCH_HEAD", "gc.log", "gc.pid", "common", "svn"),
}
"""Names by which the folder of a submodule is known to end: a submodule whose own name has one of
these after its first `/` is not found, and left alone.
"""

_FORBIDDEN = re.compile(
    r"[\0-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|[/.]$"
    r"|^refs/(heads|tags)/-"
)
_OBJECT_ID = re.compile(rb"[0-9a-f]{40}")
_SYMBOLIC = re.compile(rb"ref: (refs/[^\n]+)")

Refs = dict[str, bytes]
"""What each ref is: an object id in hexadecimal, or `ref: ` and another name."""


def is_state_file(name: str) -> bool:
    """Return whether the file *name*, a path in a repository, is one of them."""
    submodule, own = split_submodule(name)
    if not submodule and (match := _WORKTREE.fullmatch(own)):
        inner = match["inner"]
        return inner in _WORKTREE_FILES or (inner != "packed-refs" and _is_own_state(inner))
    return _is_own_state(own)


def split_submodule(name: str) -> tuple[str, str]:
    """Return the folder of the submodule that *name*, a path in a repository, lies in, and the
    rest.

    The folder is "" for what is the repository's own, else it ends with `/`. The rest is "" for
    what leads to submodules only.
    """
    if not name.startswith((_MODULES, _LINKED_TREES)):
        return "", name
    parts = name.split("/")
    start = 2 if parts[0] == _LINKED_TREES else 0  # after the name of the work tree
    if parts[start : start + 1] != [_MODULES]:
        return "", name
    submodule = ""
    while parts[start] == _MODULES:
        # The first word is always part of a submodule's name, whatever it is.
        ends = (n for n in range(start + 2, len(parts)) if parts[n] in _IN_REPOSITORY)
        end = next(ends, None)
        if end is None:
            return submodule, ""
        start = end
        submodule = "".join(f"{part}/" for part in parts[:start])
    return submodule, "/".join(parts[start:])


def tree_of_submodule(folder: str) -> str:
    """Return the name of the linked work tree that the submodule in *folder* belongs to, a path in
    a repository; "" if it is of the main one.
    """
    top, _, rest = folder.partition("/")
    return rest.partition("/")[0] if top == _LINKED_TREES else ""


def own_name(name: str) -> str:
    """Return *name*, a path in a repository or in that of a submodule in it, within that."""
    return split_submodule(name)[1]


def is_ref(name: str) -> bool:
    """Return whether the file *name* is a ref, of a submodule too."""
    return own_name(name).startswith("refs/")


def of_shared_submodules(
    one: Mapping[str, str], other: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return both states without the submodules that only one of them has.

    One comes by a clone and goes with all that was in it: that is nothing to undo.
    """

    def is_shared(name: str) -> bool:
        head = f"{split_submodule(name)[0]}HEAD"
        return head == "HEAD" or (head in one and head in other)

    first = {name: content for name, content in one.items() if is_shared(name)}
    return first, {name: content for name, content in other.items() if is_shared(name)}


def _is_own_state(name: str) -> bool:
    top, _, rest = name.partition("/")
    if name.endswith(".lock") or not rest:
        return name in _FILES
    if name == _SPARSE:
        return True
    if top in _STEP_FOLDERS:
        return _STEP_FILE.fullmatch(rest) is not None and rest not in _NEVER
    return top in _TREES


def is_of_remote(name: str) -> bool:
    """Return whether the file or ref *name* says what others have: no undo changes that."""
    return own_name(name).startswith(("refs/remotes/", "logs/refs/remotes/"))


def may_hold_state(folder: str) -> bool:
    """Return whether a file in *folder*, a path in a repository, may be one of them."""
    name = split_submodule(folder)[1]
    if not name:
        return True
    parts = name.split("/")
    if parts[0] == _LINKED_TREES and name == folder:
        parts = parts[2:]
        if not parts:
            return True
    return parts[0] in _TREES or (len(parts) == 1 and parts[0] in (*_STEP_FOLDERS, "info"))


def is_ref_name(name: str) -> bool:
    """Return whether git takes *name* for that of a ref (`git check-ref-format`), and no option."""
    return name.startswith("refs/") and len(name) < 4096 and _FORBIDDEN.search(name) is None


def is_object_id(text: bytes) -> bool:
    return _OBJECT_ID.fullmatch(text) is not None


def symbolic_target(value: bytes) -> str | None:
    """Return the ref that the symbolic ref *value* leads to; None if it is none."""
    match = _SYMBOLIC.fullmatch(value)
    return match[1].decode("utf-8", "surrogateescape") if match else None


def parse_packed_refs(content: bytes) -> Refs:
    """Return the refs in a `packed-refs` file. Raises `ValueError` for what git does not write."""
    refs: Refs = {}
    for line in content.splitlines():
        if line.startswith((b"#", b"^")) or not line:
            continue
        value, space, name = line.partition(b" ")
        if not space or not is_object_id(value) or not name.startswith(b"refs/"):
            raise ValueError(f"no line of packed refs: {line[:100]!r}")
        refs[name.decode("utf-8", "surrogateescape")] = value
    return refs


def without_packed_refs(content: bytes, names: Mapping[str, object]) -> bytes:
    """Return the `packed-refs` file *content* without the refs *names*."""
    kept: list[bytes] = []
    is_dropped = False
    for line in content.splitlines(keepends=True):
        if not line.startswith(b"^"):  # what a tag leads to stands in the line after it
            name = line.rstrip(b"\n").partition(b" ")[2].decode("utf-8", "surrogateescape")
            is_dropped = not line.startswith(b"#") and name in names
        if not is_dropped:
            kept.append(line)
    return b"".join(kept)
