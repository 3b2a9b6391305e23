"""Staging of a commit in an index of its own, so that git's own data changes at the end only.

Only plumbing touches the work tree: it never looks into the repositories inside this one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from core.tools import ToolError
from modules.files.git.commit_selection import ALL, CommitSelection, select, submodules
from modules.files.git.git_runs import GitRuns, git_for
from modules.files.git.secret_scan import (
    SecretNamesIn,
    Secrets,
    format_secrets,
    new_keys,
    read_objects,
    secret_names_of,
)
from utils.i18n import phrase
from utils.system.child import OnCancel
from utils.text.clean import clean, visible

_MAX_FILES = 300
_MAX_LINES = 1_000
_MAX_DIFF_LENGTH = 60_000
"""Most of a commit that a question shows: files, and the changed lines, in characters, of each."""
_DIFF = ("diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames",
         "--submodule=short", "--ignore-submodules=none")  # fmt: skip
_MERGE_STATE_FILES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file of a commit, with the objects that hold it now and did before; `None` for none."""

    name: bytes
    mode: bytes
    object_id: bytes
    old_mode: bytes
    old_object_id: bytes


@dataclass(frozen=True, slots=True)
class Staging:
    """A commit of *selection*. *published* are the secrets in it, *withheld* those left out with
    their files, and *unscanned* the files that are too large to be looked through.
    """

    selection: CommitSelection
    published: Secrets
    withheld: Secrets
    unscanned: Sequence[bytes]
    _real_git: GitRuns
    _private_git: GitRuns
    _commit_git: GitRuns
    """With the real index; with an index and objects of our own; and with that index alone."""
    _names_in: SecretNamesIn
    _changed_later: list[_Blob] = field(default_factory=list)
    """What hooks have made of files since the selection."""

    @property
    def git(self) -> GitRuns:
        return self._real_git

    def names(self) -> list[bytes]:
        """Return the names of the files of the commit."""
        return self._private_git.split_output(*_DIFF, "--name-only", "-z")

    def patch_without(self, names: Collection[bytes]) -> bytes:
        """Return the diff of the commit but for the files *names*; of very many the first."""
        kept = [os.fsdecode(name) for name in self.names() if name not in names][:_MAX_FILES]
        return self._private_git.run(*_DIFF, "--patch", "--", *kept) if kept else b""

    def diff(self) -> str:
        """Return the diff of the commit. Raises `ToolError` if that is empty."""
        files = self._private_git.run(*_DIFF, "--stat=100", f"--stat-count={_MAX_FILES}")
        if not files:
            raise ToolError(phrase("There is nothing to commit."))
        rows = self._private_git.run(*_DIFF, "--numstat", "-z").split(b"\0")
        lines = sum(int(n) for row in rows for n in row.split(b"\t")[:2] if n.isdigit())
        patch = b"" if lines > _MAX_LINES else self._private_git.run(*_DIFF, "--patch")
        whole = b"\n".join(filter(None, (files, patch))).decode(errors="replace")
        return whole if len(whole) <= _MAX_DIFF_LENGTH else f"{whole[:_MAX_DIFF_LENGTH]}…"

    def tree(self) -> str:
        """Return the tree of the commit, which is whole in the repository then."""
        if not self._private_git.run(*_DIFF, "--name-only", "-z"):
            raise ToolError(phrase("There is nothing to commit."))
        refuse_links(self._real_git)
        tree = self._private_git.run("write-tree").decode().strip()
        head = self._real_git.split_output("rev-parse", "-q", "--verify", "HEAD^{commit}",
                                           may_fail=True, end=b"\n")  # fmt: skip
        wanted = [tree, *(f"^{one.decode()}" for one in head)]
        pack = self._private_git.run("pack-objects", "-q", "--revs", "--stdout",
                                     stdin="\n".join([*wanted, ""]).encode())  # fmt: skip
        self._real_git.run("unpack-objects", "-q", stdin=pack)
        return tree

    def take_tree(self, tree: str) -> list[bytes]:
        """Commit *tree*, which is in the repository; return the names of what it changes.

        Raises `ToolError` if it is not there, or holds a secret that the selection did not.
        """
        before = self._private_git.run("write-tree").decode().strip()
        if not self._real_git.succeeds("cat-file", "-e", f"{tree}^{{tree}}"):
            raise ToolError(phrase("What the hooks changed cannot be taken over."))
        options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames")
        changed = _parsed(self._private_git.split_output("diff-tree", *options, before, tree, "--"))
        self._private_git.run("read-tree", tree)
        _skip_submodules(self._private_git)
        found, _ = _secrets_in(self._private_git, _blobs(self._private_git), self._names_in)
        if new := {name: why for name, why in found.items() if name not in self.published}:
            raise ToolError(
                phrase("The hooks added secrets: {secrets}", secrets=format_secrets(new))
            )
        self._changed_later.extend(changed)
        return [blob.name for blob in changed]

    def commit(self, message: str) -> str:
        """Commit, and return the new commit in words."""
        is_merge = (self._real_git.git.folders.git_dir / "MERGE_HEAD").exists()
        if not is_merge and not self._private_git.run(*_DIFF, "--name-only", "-z"):
            raise ToolError(phrase("There is nothing to commit."))
        refuse_links(self._real_git)
        kept = [name for name in self.selection.present if name not in self.withheld]
        _update_index(self._real_git, kept, self.selection.deleted)
        self._take_changed_later()
        (self._real_git.git.folders.common_dir / "logs").mkdir(exist_ok=True)
        stdin = message.encode("utf-8", "replace")
        # With nothing left to find out, git looks into no other repository.
        self._commit_git.run("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status",
                             "--allow-empty", "--cleanup=whitespace", "--file=-",
                             stdin=stdin)  # fmt: skip
        summary = self._commit_git.run("show", "--stat", "--no-ext-diff", "--no-textconv",
                              "--no-color", "--no-show-signature", "--submodule=short",
                              "--format=%h %s", "HEAD", "--")  # fmt: skip
        return clean(summary.decode(errors="replace")[:4_000])

    def _take_changed_later(self) -> None:
        """Have the index know what hooks have made, but no other change of those files."""
        if self._changed_later:
            rows = [(blob.mode, blob.object_id, blob.name) for blob in self._changed_later]
            _put_into_index(self._real_git, rows)
            self._real_git.succeeds("update-index", "-q", "--refresh")


@contextmanager
def staging(
    root: Path, paths: Sequence[str], secret_names_in: SecretNamesIn, until: OnCancel
) -> Iterator[Staging]:
    """Yield the commit of *paths* of the project *root*; nothing is changed before it is made.

    Raises `ToolError` where there is no way.
    """
    with TemporaryDirectory(prefix="onefold-") as scratch_path:
        scratch = Path(scratch_path)
        real_git = GitRuns(git_for(root, until), scratch)
        commit_git = real_git.with_variables(
            {"GIT_INDEX_FILE": f"{scratch_path}/index", **identity_variables(real_git)}
        )
        private_git = commit_git.with_variables(
            _private_objects(real_git, scratch)
        )  # secrets leave no trace
        selection = select(real_git, paths)
        _prepare_index(real_git, private_git, whole=ALL in paths)
        _update_index(private_git, selection.present, selection.deleted)
        blobs = _blobs(private_git)
        found, unscanned = _secrets_in(private_git, blobs, secret_names_in)
        withheld = {
            scratch_path: secret_names
            for scratch_path, secret_names in found.items()
            if os.fsdecode(scratch_path) not in paths
        }
        _reset_to_head(private_git, [blob for blob in blobs if blob.name in withheld])
        published = {
            scratch_path: secret_names
            for scratch_path, secret_names in found.items()
            if scratch_path not in withheld
        }
        yield Staging(
            selection, published, withheld, unscanned, real_git, private_git, commit_git,
            secret_names_in,
        )  # fmt: skip


@contextmanager
def staged(root: Path, secret_names_in: SecretNamesIn) -> Iterator[Staging]:
    """Yield the commit of what is in the index of the project *root* as it stands.

    Nothing is left out: all secrets in it are among those it would publish. Raises `ToolError`.
    """
    with TemporaryDirectory(prefix="onefold-") as scratch_path:
        scratch = Path(scratch_path)
        real_git = GitRuns(git_for(root, None), scratch)
        commit_git = real_git.with_variables(
            {"GIT_INDEX_FILE": f"{scratch_path}/index", **identity_variables(real_git)}
        )
        private_git = commit_git.with_variables(_private_objects(real_git, scratch))
        _prepare_index(real_git, private_git, whole=True)
        published, unscanned = _secrets_in(private_git, _blobs(private_git), secret_names_in)
        yield Staging(
            CommitSelection((), (), (), ()), published, {}, unscanned,
            real_git, private_git, commit_git, secret_names_in,
        )  # fmt: skip


def identity_variables(git: GitRuns) -> dict[str, str]:
    """Return the author and committer, from the config of the person or of the repository."""
    identity = {"NAME": git.git.common_dir.config.name, "EMAIL": git.git.common_dir.config.email}
    if not all(identity.values()):
        raise ToolError(
            phrase("git does not know the person: git config --global user.name, .email.")
        )
    roles = ("AUTHOR", "COMMITTER")
    return {f"GIT_{role}_{key}": value for role in roles for key, value in identity.items()}


def _private_objects(git: GitRuns, scratch: Path) -> dict[str, str]:
    (scratch / "objects").mkdir()
    return {
        "GIT_OBJECT_DIRECTORY": f"{scratch}/objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{git.git.common_dir.path}/objects",
    }


def _prepare_index(real: GitRuns, git: GitRuns, *, whole: bool) -> None:
    """Give *git* the index of *real*, or if not *whole* what the last commit holds."""
    under_way = [name for name in _MERGE_STATE_FILES if (real.git.folders.git_dir / name).exists()]
    if under_way and not whole:
        raise ToolError(
            phrase("A merge is under way ({name}): commit without paths.", name=under_way[0])
        )
    index = real.git.folders.git_dir / "index"
    if os.path.lexists(index):  # else nothing was ever added
        if index.is_symlink() or not index.is_file():
            raise _link_error(index)
        shutil.copy2(index, git.scratch / "index")  # its time tells git which files to read
    if not whole:
        has_commit = git.succeeds("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        git.run("read-tree", *(("--reset", "HEAD") if has_commit else ("--empty",)))
    _skip_submodules(git)


def _skip_submodules(git: GitRuns) -> None:
    if inner := submodules(git):  # git would ask each for its newest commit
        stdin = b"".join(name + b"\0" for name in inner)
        git.run("update-index", "-z", "--skip-worktree", "--stdin", stdin=stdin)


def _update_index(git: GitRuns, present: Iterable[bytes], deleted: Iterable[bytes]) -> None:
    """Make the index know the files *present* as they are now, and no longer those *deleted*."""
    for names, options in (
        (deleted, ("--force-remove",)),
        (present, ("--add", "--remove", "--replace")),
    ):
        if stdin := b"".join(name + b"\0" for name in names):
            git.run("update-index", *options, "-z", "--stdin", stdin=stdin)


def _blobs(git: GitRuns) -> list[_Blob]:
    return _parsed(git.split_output(*_DIFF, "--raw", "--no-abbrev", "-z"))


def _parsed(words: Sequence[bytes]) -> list[_Blob]:
    """Return what *words*, of a raw diff, say."""
    blobs = []
    for facts, name in zip(words[::2], words[1::2], strict=True):
        old_mode, mode, old, new, _ = facts.removeprefix(b":").split(b" ")
        blobs.append(_Blob(name, mode, new, old_mode, old))
    return blobs


def _reset_to_head(git: GitRuns, blobs: Iterable[_Blob]) -> None:
    """Put what the last commit has into the index in the place of *blobs*."""
    _put_into_index(git, [(blob.old_mode, blob.old_object_id, blob.name) for blob in blobs])


def _put_into_index(git: GitRuns, rows: Iterable[tuple[bytes, bytes, bytes]]) -> None:
    """Put *rows* of a mode, an object and a name into the index; mode 0 takes the file out."""
    if stdin := b"".join(b"%b %b\t%b\0" % row for row in rows):
        git.run("update-index", "--replace", "-z", "--index-info", stdin=stdin)


def _secrets_in(
    git: GitRuns, blobs: Iterable[_Blob], secret_names_in: SecretNamesIn
) -> tuple[dict[bytes, Sequence[str]], list[bytes]]:
    """Return the secrets that are new in *blobs*, and the files too large to be scanned."""
    files = [blob for blob in blobs if blob.mode.startswith((b"100", b"120"))]
    contents, too_large = read_objects(git, [blob.object_id for blob in files])
    scanned = [blob for blob in files if blob.object_id not in too_large]
    unscanned = [blob.name for blob in files if blob.object_id in too_large]
    suspects = {
        blob: names
        for blob in scanned
        if (names := secret_names_of(contents[blob.object_id], secret_names_in))
    }
    changed = [blob for blob in suspects if blob.old_object_id.strip(b"0")]
    before, _ = read_objects(git, [blob.old_object_id for blob in changed])
    for blob in changed:
        suspects[blob] -= secret_names_of(before.get(blob.old_object_id, b""), secret_names_in)
    merged = [name for name in _MERGE_STATE_FILES if (git.git.folders.git_dir / name).exists()]
    keys = new_keys(git, contents, secret_names_in, ["HEAD", *merged])
    for blob in scanned:
        suspects[blob] = suspects.get(blob, set()) | keys[blob.object_id]
    return {blob.name: sorted(names) for blob, names in suspects.items() if names}, unscanned


# --- what git writes to ----------------------------------------------------------------------


def refuse_links(git: GitRuns, refs: Iterable[str] = ()) -> None:
    """Refuse what would make git write elsewhere: a link on the way to what a commit changes, or
    to one of *refs* that is to be written.
    """
    folders = git.git.folders
    head = git.split_output("symbolic-ref", "--quiet", "HEAD", may_fail=True, end=b"\n")
    branches = [*map(os.fsdecode, head), *refs]  # of a HEAD that is a commit itself none
    names = [*branches, *(f"logs/{name}" for name in branches), "logs/HEAD", "objects/pack"]
    names += [f"objects/{number:02x}" for number in range(256)]
    for root in (folders.git_dir, folders.common_dir):
        paths = {
            path_on_the_way
            for name in names
            for path_on_the_way in (root / name, *(root / name).parents)
        }
        within = [path_on_the_way for path_on_the_way in paths if root in path_on_the_way.parents]
        linked = [path for path in (*root.iterdir(), *within) if path.is_symlink()]
        if linked:
            raise _link_error(linked[0])


def _link_error(path: Path) -> ToolError:
    return ToolError(
        phrase("{path} is a link, so git is not run here for the model.", path=visible(str(path)))
    )
