"""Contents of Git LFS over the network: what commits name, sent and brought by git-lfs itself.

The person's own git-lfs runs in the repository of `Transport`, so that neither `.lfsconfig` nor the
config of the project's repository is read. Only what is what it is called goes out or comes in.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git.lfs import (
    FILTER,
    MAX_POINTER,
    OBJECTS,
    Pointer,
    copy_objects,
    is_pointer_file,
    object_path,
    pointer_in,
    read_object,
)
from modules.files.git.secret_scan import (
    MAX_FILE,
    MAX_TOTAL,
    SecretNamesIn,
    Secrets,
    read_objects,
    secret_names_of,
    unknown_keys,
)
from modules.files.git_remotes.remote_transport import Transport
from utils.i18n import phrase

_SMUDGE = """\
name=$(sed -n 's/^oid sha256:\\([0-9a-f]*\\)$/\\1/p')
rest=${name#??}
exec cat "$1/${name%"$rest"}/${rest%"${rest#??}"}/$name"
"""
_CLEAN = """\
import hashlib, sys
most = int(sys.argv[1])
data = sys.stdin.buffer.read(most + 1)
if data.startswith(b"version https://git-lfs.github.com/spec/v1\\n") and len(data) <= most:
    sys.stdout.buffer.write(data)
    sys.exit()
digest, size = hashlib.sha256(), 0
while data:
    digest.update(data)
    size += len(data)
    data = sys.stdin.buffer.read(1 << 20)
if size:
    print("version https://git-lfs.github.com/spec/v1")
    print(f"oid sha256:{digest.hexdigest()}")
    print(f"size {size}")
"""


@dataclass(frozen=True, slots=True)
class PointerFile:
    """The file *path* of a commit, whose blob *object_id* is *pointer*."""

    path: bytes
    object_id: bytes
    pointer: Pointer


def pointer_files(git: GitRuns, commit: str) -> list[PointerFile]:
    """Return the files of *commit* that Git LFS stores; none where it has no attributes."""
    rows = git.split_output("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    files = [(facts.split(), path) for facts, _, path in (row.partition(b"\t") for row in rows)]
    if not any(path.rpartition(b"/")[2] == b".gitattributes" for _, path in files):
        return []
    blobs = {path: facts[2] for facts, path in files
             if facts[0].startswith(b"100") and int(facts[3]) <= MAX_POINTER}  # fmt: skip
    pointers = _pointers(git, sorted({*blobs.values()}))
    return [
        PointerFile(path, object_id, pointers[object_id])
        for path, object_id in blobs.items()
        if object_id in pointers
    ]


def pointers_in_commits(git: GitRuns, span: Sequence[str]) -> list[PointerFile]:
    """Return the pointers that the commits in *span*, of `git rev-list`, add, each once."""
    rows = git.run("rev-list", "--objects", *span).splitlines()
    paths = {object_id: path for object_id, _, path in (row.partition(b" ") for row in rows)}
    stdin = b"".join(object_id + b"\n" for object_id in paths)
    facts = git.run("cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=stdin)
    kinds = (row.split() for row in facts.splitlines())
    small = [object_id for object_id, (kind, size) in zip(paths, kinds, strict=True)
             if kind == b"blob" and int(size) <= MAX_POINTER]  # fmt: skip
    found = _pointers(git, small)
    return [PointerFile(paths[one], one, pointer) for one, pointer in found.items()]


def _pointers(git: GitRuns, object_ids: Sequence[bytes]) -> dict[bytes, Pointer]:
    contents, _ = read_objects(git, object_ids)
    found = {object_id: pointer_in(data) for object_id, data in contents.items()}
    return {object_id: pointer for object_id, pointer in found.items() if pointer}


def is_here(git: GitRuns, pointer: Pointer) -> bool:
    return object_path(git.git.folders.common_dir, pointer.name).is_file()


def secrets_in_contents(
    git: GitRuns, files: Iterable[PointerFile], secret_names_in: SecretNamesIn
) -> tuple[Secrets, int]:
    """Return the secrets in the contents of *files*, and how many are too large to be searched."""
    found: dict[bytes, Sequence[str]] = {}
    too_large, remaining = 0, MAX_TOTAL
    for file in files:
        data = read_object(git.git.folders.common_dir, file.pointer, min(MAX_FILE, remaining))
        if data is None:
            too_large += 1
            continue
        remaining -= len(data)
        keys = unknown_keys(data, secret_names_in).values()
        if names := {*secret_names_of(data, secret_names_in), *keys}:
            found[file.path] = sorted(names)
    return found, too_large


class LfsTransfer:
    """Exchanges contents with the remote at *address* through *transport*, for *git*."""

    def __init__(self, git: GitRuns, transport: Transport, address: str) -> None:
        self._git = git
        self._transport = transport
        self._program = shutil.which("git-lfs", path=transport.search_path)
        self._repository = transport.folder
        self._address = address

    @property
    def is_installed(self) -> bool:
        return self._program is not None

    def send(self, pointers: Iterable[Pointer]) -> None:
        """Upload the contents of *pointers*, which are here. Raises `ToolError`."""
        names = sorted({pointer.name for pointer in pointers})
        wrong = copy_objects(names, self._git.git.folders.common_dir, self._repository)
        if wrong:
            message = phrase(
                "The content {name} in .git/lfs is damaged: it is not pushed.", name=wrong[0][:10]
            )
            raise ToolError(message)
        self._run("push", "--object-id", "origin", *names)

    def bring(self, files: Sequence[PointerFile]) -> list[Pointer]:
        """Download the contents of *files* into the repository of *git*; return those that came.

        Raises `ToolError`.
        """
        index = {"GIT_INDEX_FILE": os.fspath(self._repository / "index")}
        paths = {file.object_id: file.path for file in files}
        taken = {path: object_id for object_id, path in paths.items()}  # one of several versions
        rows = b"".join(
            b"100644 %b\t%b\0" % (one, path if taken[path] == one else path + b"." + one)
            for one, path in paths.items()
        )
        run = self._transport.run
        run("update-index", "-z", "--index-info", stdin=rows, variables=index)
        tree = run("write-tree", variables=index).decode().strip()
        nobody = {f"GIT_{role}_{key}": "x" for role in ("AUTHOR", "COMMITTER")
                  for key in ("NAME", "EMAIL")}  # fmt: skip
        commit = run("commit-tree", tree, variables=nobody).decode().strip()
        try:
            self._run("fetch", "origin", commit)
        finally:  # also what came before it failed
            wanted = {file.pointer.name: file.pointer for file in files}
            copy_objects(sorted(wanted), self._repository, self._git.git.folders.common_dir)
        return [pointer for pointer in wanted.values() if is_here(self._git, pointer)]

    def _run(self, *arguments: str) -> None:
        address = {"remote.origin.url": self._address}
        self._transport.run(*arguments, program=self._program, variables=_as_variables(address))


def check_out(git: GitRuns, files: Iterable[PointerFile]) -> list[bytes]:
    """Put the contents that are here in the place of those of *files* that are pointers still.

    Returns the names of these. Git writes them, and reads nothing but the contents.
    """
    found = [file for file in files if is_here(git, file.pointer) and _is_pointer(git, file.path)]
    if not found:
        return []
    modes = _modes(git)
    found = [file for file in found if modes.get(file.path, b"").endswith(file.object_id)]
    rows = b"".join(b"%b\t%b\0" % (modes[file.path], file.path) for file in found)
    git.run("update-index", "-z", "--index-info", stdin=rows)  # git else sees nothing to write
    names = [file.path for file in found]
    stdin = b"".join(name + b"\0" for name in names)
    filtered = with_filter(git, contents=True)
    filtered.run("checkout-index", "-f", "-u", "-q", "-z", "--stdin", stdin=stdin)
    for name in names:
        _make_older(git.tree / os.fsdecode(name))
    filtered.succeeds("update-index", "-q", "--refresh")
    return names


def with_filter(git: GitRuns, *, contents: bool = False) -> GitRuns:
    """Return *git* with a filter of ours for the files of Git LFS: no program of theirs is run.

    It compares files with their pointers; with *contents* it also writes these, which must be here.
    """
    clean = os.fspath(git.write_file("lfs-clean", _CLEAN.encode()))
    command = shlex.join([sys.executable, "-I", "-S", clean, str(MAX_POINTER)])
    settings = {f"filter.{FILTER}.clean": command}
    if contents:
        objects = os.fspath(git.git.folders.common_dir / OBJECTS)
        smudge = os.fspath(git.write_file("lfs-smudge", _SMUDGE.encode()))
        settings[f"filter.{FILTER}.smudge"] = shlex.join(["sh", smudge, objects])
        settings[f"filter.{FILTER}.required"] = "true"
    return git.with_variables(_as_variables(settings))


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which git has *settings*."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _make_older(path: Path) -> None:
    """Have *path* be older than the index: git else reads it again, and runs no filter then."""
    with suppress(OSError):
        time = path.lstat().st_mtime_ns - 2_000_000_000
        os.utime(path, ns=(time, time), follow_symlinks=False)


def _is_pointer(git: GitRuns, name: bytes) -> bool:
    """Return whether the file *name* is a pointer, and no link leads to it."""
    path = git.tree / os.fsdecode(name)
    return path.parent.resolve() == path.parent and is_pointer_file(path)


def _modes(git: GitRuns) -> dict[bytes, bytes]:
    """Return the mode and the object of each file in the index, as `--index-info` takes them."""
    rows = git.split_output("ls-files", "--stage", "-z")
    facts = (row.partition(b"\t") for row in rows)
    return {path: b" ".join(words.split()[:2]) for words, _, path in facts}
