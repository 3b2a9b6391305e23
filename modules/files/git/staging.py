"""A commit in the making: an index of its own, so that what git has is changed at the end only.

Only plumbing touches the work tree: it never looks into the repositories inside this one.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from core.tools import ToolError
from modules.files.git.commit_selection import ALL, CommitSelection, select, submodules
from modules.files.git.git_runs import GitRuns, git_of
from utils.i18n import phrase
from utils.system.child import Until
from utils.text.clean import clean, visible

_MOST_FILES = 300
_MOST_LINES = 1_000
_LARGEST = 60_000
"""What of a commit a question shows: files, and the changed lines, in characters, of small ones."""
_LARGEST_SEARCHED = 5_000_000  # bytes of a file
_SEARCHED = 50_000_000  # bytes of all files of a commit
_DIFF = ("diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames",
         "--submodule=short", "--ignore-submodules=none")  # fmt: skip
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")

NamesIn = Callable[[str], Iterable[str]]
"""Returns the names of the secrets that a text holds."""
Secrets = Mapping[bytes, Sequence[str]]
"""The names of the secrets that a commit would be the first to hold, by file."""


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file of a commit, with the objects that hold it now and did before; `None` for none."""

    name: bytes
    mode: bytes
    new: bytes
    old_mode: bytes
    old: bytes


@dataclass(frozen=True, slots=True)
class Staging:
    """A commit of *selection*. *published* are the secrets in it, *withheld* those left out with
    their files, and *unread* the files that are too large to be looked through.
    """

    selection: CommitSelection
    published: Secrets
    withheld: Secrets
    unread: Sequence[bytes]
    _real: GitRuns
    _git: GitRuns
    _made: GitRuns
    """With the real index; with an index and objects of our own; and with that index alone."""

    def difference(self) -> str:
        """Return what the commit would bring. Raises `ToolError` if that is nothing."""
        files = self._git.run(*_DIFF, "--stat=100", f"--stat-count={_MOST_FILES}")
        if not files:
            raise ToolError(phrase("There is nothing to commit."))
        rows = self._git.run(*_DIFF, "--numstat", "-z").split(b"\0")
        lines = sum(int(n) for row in rows for n in row.split(b"\t")[:2] if n.isdigit())
        patch = b"" if lines > _MOST_LINES else self._git.run(*_DIFF, "--patch")
        whole = b"\n".join(filter(None, (files, patch))).decode(errors="replace")
        return whole if len(whole) <= _LARGEST else f"{whole[:_LARGEST]}…"

    def commit(self, message: str) -> str:
        """Commit, and return the new commit in words."""
        if not self._git.run(*_DIFF, "--name-only", "-z"):
            raise ToolError(phrase("There is nothing to commit."))
        _refuse_links(self._real)
        kept = [name for name in self.selection.present if name not in self.withheld]
        _put(self._real, kept, self.selection.gone)
        (self._real.git.folders.common / "logs").mkdir(exist_ok=True)
        given = message.encode("utf-8", "replace")
        # With nothing left to find out, git looks into no other repository.
        self._made.run("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status",
                       "--allow-empty", "--cleanup=strip", "--file=-", given=given)  # fmt: skip
        said = self._made.run("show", "--stat", "--no-ext-diff", "--no-textconv", "--no-color",
                              "--no-show-signature", "--submodule=short",
                              "--format=%h %s", "HEAD")  # fmt: skip
        return clean(said.decode(errors="replace")[:4_000])


@contextmanager
def staged(root: Path, paths: Sequence[str], names_in: NamesIn, until: Until) -> Iterator[Staging]:
    """Yield the commit of *paths* of the project *root*; nothing is changed before it is made.

    Raises `ToolError` where there is no way.
    """
    with TemporaryDirectory(prefix="onefold-") as name:
        notes = Path(name)
        real = GitRuns(git_of(root, until), notes)
        made = real.with_variables({"GIT_INDEX_FILE": f"{name}/index", **_person(real)})
        git = made.with_variables(_other_objects(real, notes))  # secrets leave no trace
        selection = select(real, paths)
        _begin(real, git, whole=ALL in paths)
        _put(git, selection.present, selection.gone)
        blobs = _blobs(git)
        found, unread = _secrets_in(git, blobs, names_in)
        withheld = {name: why for name, why in found.items() if os.fsdecode(name) not in paths}
        _withdraw(git, [blob for blob in blobs if blob.name in withheld])
        published = {name: why for name, why in found.items() if name not in withheld}
        yield Staging(selection, published, withheld, unread, real, git, made)


def _person(git: GitRuns) -> dict[str, str]:
    """Return who the commit is by, from the settings of the person or of the repository."""
    known = {"NAME": git.git.common_dir.settings.name, "EMAIL": git.git.common_dir.settings.email}
    if not all(known.values()):
        raise ToolError(
            phrase("git does not know the person: git config --global user.name, .email.")
        )
    roles = ("AUTHOR", "COMMITTER")
    return {f"GIT_{role}_{key}": value for role in roles for key, value in known.items()}


def _other_objects(git: GitRuns, notes: Path) -> dict[str, str]:
    (notes / "objects").mkdir()
    return {
        "GIT_OBJECT_DIRECTORY": f"{notes}/objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{git.git.common_dir.path}/objects",
    }


def _begin(real: GitRuns, git: GitRuns, *, whole: bool) -> None:
    """Give *git* the index of *real*, or if not *whole* what the last commit holds."""
    under_way = [name for name in _UNDER_WAY if (real.git.folders.own / name).exists()]
    if under_way and not whole:
        raise ToolError(
            phrase("A merge is under way ({name}): commit without paths.", name=under_way[0])
        )
    index = real.git.folders.own / "index"
    if os.path.lexists(index):  # else nothing was ever added
        if index.is_symlink() or not index.is_file():
            raise _is_link(index)
        shutil.copy2(index, git.notes / "index")  # its time tells git which files to read
    if not whole:
        has_commit = git.has("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        git.run("read-tree", *(("--reset", "HEAD") if has_commit else ("--empty",)))
    if inner := submodules(git):  # git would ask each for its newest commit
        given = b"".join(name + b"\0" for name in inner)
        git.run("update-index", "-z", "--skip-worktree", "--stdin", given=given)


def _put(git: GitRuns, present: Iterable[bytes], gone: Iterable[bytes]) -> None:
    """Make the index know the files *present* as they are now, and no longer those *gone*."""
    for names, how in ((gone, ("--force-remove",)), (present, ("--add", "--remove", "--replace"))):
        if given := b"".join(name + b"\0" for name in names):
            git.run("update-index", *how, "-z", "--stdin", given=given)


def _blobs(git: GitRuns) -> list[_Blob]:
    words = git.words(*_DIFF, "--raw", "--no-abbrev", "-z")
    blobs = []
    for facts, name in zip(words[::2], words[1::2], strict=True):
        old_mode, mode, old, new, _ = facts.removeprefix(b":").split(b" ")
        blobs.append(_Blob(name, mode, new, old_mode, old))
    return blobs


def _withdraw(git: GitRuns, blobs: Iterable[_Blob]) -> None:
    """Put what the last commit has into the index in the place of *blobs*."""
    given = b"".join(b"%b %b\t%b\0" % (blob.old_mode, blob.old, blob.name) for blob in blobs)
    if given:
        git.run("update-index", "-z", "--index-info", given=given)


# --- secrets ---------------------------------------------------------------------------------


def _secrets_in(
    git: GitRuns, blobs: Iterable[_Blob], names_in: NamesIn
) -> tuple[dict[bytes, Sequence[str]], list[bytes]]:
    """Return the secrets that are in *blobs* and were not before, and what is too large to tell."""
    wanted = [blob for blob in blobs if blob.mode.startswith((b"100", b"120"))]
    sizes = _sizes(git, [blob.new for blob in wanted])
    read, unread, left = list[_Blob](), list[bytes](), _SEARCHED
    for blob, size in zip(wanted, sizes, strict=True):
        if size > min(_LARGEST_SEARCHED, left):
            unread.append(blob.name)
        else:
            read.append(blob)
            left -= size
    contents = _contents(git, [blob.new for blob in read])
    suspects = {blob: names for blob, data in zip(read, contents, strict=True)
                if (names := names_of(data, names_in))}  # fmt: skip
    known = [blob for blob in suspects if blob.old.strip(b"0")]
    for blob, data in zip(known, _contents(git, [blob.old for blob in known]), strict=True):
        suspects[blob] -= names_of(data, names_in)
    return {blob.name: sorted(names) for blob, names in suspects.items() if names}, unread


def _sizes(git: GitRuns, objects: Sequence[bytes]) -> list[int]:
    given = b"".join(one + b"\n" for one in objects)
    said = git.run("cat-file", "--batch-check=%(objectsize)", given=given) if given else b""
    return [int(size) if size.isdigit() else _SEARCHED for size in said.splitlines()]


def _contents(git: GitRuns, objects: Sequence[bytes]) -> Iterator[bytes]:
    """Yield what each of *objects* holds, nothing for one that is missing."""
    given = b"".join(one + b"\n" for one in objects)
    said = git.run("cat-file", "--batch=%(objectsize)", given=given) if given else b""
    start = 0
    for _ in objects:
        end = said.index(b"\n", start)
        size = said[start:end]
        start = end + 1
        if not size.isdigit():
            yield b""
            continue
        yield said[start : start + int(size)]
        start += int(size) + 1


def names_of(data: bytes, names_in: NamesIn) -> set[str]:
    """Return the names of the secrets in *data*; of a private key, that it is one."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16" if is_wide else "utf-8", "replace")
    key = {"PRIVATE KEY"} if _PRIVATE_KEY.search(data) else set[str]()
    return {*names_in(text), *key}


# --- what git writes to ----------------------------------------------------------------------


def _refuse_links(git: GitRuns) -> None:
    """Refuse what would make git write elsewhere: a link on the way to what a commit changes."""
    folders = git.git.folders
    head = git.words("symbolic-ref", "--quiet", "HEAD", may_fail=True, end=b"\n")
    branches = [os.fsdecode(name) for name in head]  # none where HEAD is a commit itself
    names = [*branches, *(f"logs/{name}" for name in branches), "logs/HEAD", "objects/pack"]
    names += [f"objects/{number:02x}" for number in range(256)]
    for place in (folders.own, folders.common):
        ways = {way for name in names for way in (place / name, *(place / name).parents)}
        within = [way for way in ways if place in way.parents]
        linked = [path for path in (*place.iterdir(), *within) if path.is_symlink()]
        if linked:
            raise _is_link(linked[0])


def _is_link(path: Path) -> ToolError:
    return ToolError(
        phrase("{path} is a link, so git is not run here for the model.", path=visible(str(path)))
    )
