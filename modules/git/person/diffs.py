"""Diffs for the person: by file and by hunk, each bounded, with why where there is none to show."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git_remotes.branches import commit_of
from modules.files.project import Project
from modules.git.person.status import tree_of
from utils.i18n import Text, phrase
from utils.text.clean import clean, visible

MAX_FILE = 5_000_000  # bytes of a file that is compared
MAX_DIFF = 300_000  # bytes of a file's diff that is shown
MAX_TOTAL = 1_500_000  # bytes of the diffs of a commit
MAX_FILES_OF_COMMIT = 300
PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short",
         "--src-prefix=a/", "--dst-prefix=b/", "--full-index")  # fmt: skip
_RAW = ("--raw", "-z", "--no-abbrev", "--no-renames")
_OTHER_KIND = phrase("The file became something else, such as a link.")
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_BEGINNING = re.compile(rb"^diff --git ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileHunk:
    """A hunk: its *diff*, the lines of it that are new and gone, and an *id* of its content."""

    id: str
    diff: str
    added: int
    removed: int
    raw: bytes = field(repr=False, default=b"")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The diff of the file *path*; *note* says why there are no hunks, or not all of them.

    *is_divisible* tells whether a hunk of it can be staged by itself. *header* is what git writes
    above the hunks.
    """

    path: str
    shown: str
    hunks: tuple[FileHunk, ...]
    note: Text = ""
    is_divisible: bool = False
    header: bytes = field(repr=False, default=b"")

    def hunk(self, hunk_id: str) -> FileHunk:
        """Return the hunk *hunk_id*. Raises `ToolError` where the file has it no more."""
        for one in self.hunks:
            if one.id == hunk_id:
                return one
        raise ToolError(phrase("This change is no longer there. Look at the file again."))


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of *data* as git counts them: each ends with LF, the last may lack it."""
    return list(io.BytesIO(data))


def file_diff(git: GitRuns, project: Project, path: str, *, is_staged: bool) -> FileDiff:
    """Return how *path* of *project*, a normal one, differs: staged, from the last commit; else
    from the index. Raises `ToolError`.
    """
    tree = tree_of(git, commit_of(git, "HEAD")) if is_staged else ""
    if note := _too_large(_bytes_read(git, path, tree)):
        return FileDiff(path, visible(path), (), note)
    if is_staged:
        patch = git.run("diff-index", "--cached", "-p", *PLAIN, tree, "--", path)
    else:
        patch = git.run("diff-files", "-p", *PLAIN, "--ignore-submodules=all", "--", path)
        if not patch and not git.split_output("ls-files", "-z", "--", path):
            return _new_file(project, path)
    return parse_patch(path, patch)


def commit_diffs(git: GitRuns, commit: str) -> tuple[list[FileDiff], int]:
    """Return what *commit* changed, against its first parent, and how many files are left out."""
    words = git.run("rev-list", "--max-count=1", "--parents", commit, "--").decode().split()
    before = tree_of(git, words[1] if len(words) > 1 else "")
    rows = git.split_output("diff-tree", "-r", *_RAW, before, commit, "--")
    names = rows[1::2]
    folders = _folders_of(names)
    sizes = _sizes(git, rows[: 2 * MAX_FILES_OF_COMMIT : 2])
    diffs: list[FileDiff] = []
    size = 0
    for name, largest in zip(names, sizes, strict=False):
        path = os.fsdecode(name)
        if size > MAX_TOTAL:
            break
        if note := _OTHER_KIND if name in folders else _too_large(largest):
            diffs.append(FileDiff(path, visible(path), (), note))
            continue
        patch = git.run("diff-tree", "-p", *PLAIN, before, commit, "--", path)
        size += min(len(patch), MAX_DIFF)
        diffs.append(parse_patch(path, patch))
    return diffs, len(names) - len(diffs)


def parse_patch(path: str, patch: bytes) -> FileDiff:
    """Return the diff of one file that *patch*, of git, has of *path*."""
    starts = [match.start() for match in _HUNK.finditer(patch)]
    files = len(_BEGINNING.findall(patch))
    header = patch[: starts[0]] if starts else patch
    cuts = [*starts, len(patch)]
    raw = [patch[start:end] for start, end in zip(cuts, cuts[1:], strict=False)]
    shown, size = [], 0
    for one in raw if files == 1 else ():
        size += len(one)
        if size > MAX_DIFF:
            break
        shown.append(_hunk(one))
    note: Text = ""
    if files > 1:
        note = _OTHER_KIND
    elif not raw:
        note = _reason(header)
    elif len(shown) < len(raw):
        note = phrase("The diff is too long: {n:,} more changes are not shown.",
                      n=len(raw) - len(shown))  # fmt: skip
    is_modified = not re.search(rb"^(new|deleted|old) (file )?mode ", header, re.MULTILINE)
    return FileDiff(path, visible(path), tuple(shown), note, is_modified and files == 1, header)


def _hunk(raw: bytes) -> FileHunk:
    lines = raw.split(b"\n")[1:]
    return FileHunk(
        hashlib.sha256(raw).hexdigest()[:20],
        clean(raw.decode("utf-8", "replace")),
        sum(line.startswith(b"+") for line in lines),
        sum(line.startswith(b"-") for line in lines),
        raw,
    )


def _reason(header: bytes) -> Text:
    if b"\nBinary files " in header or b"\nGIT binary patch" in header:
        return phrase("A binary file: its content is not shown.")
    if re.search(rb"^(old|new) mode ", header, re.MULTILINE):
        return phrase("Only the mode of the file changed.")
    if re.search(rb"^(new|deleted) file mode ", header, re.MULTILINE):
        return phrase("The file is empty.")
    return phrase("No changes left here. Look again.")


def _too_large(size: int) -> Text:
    """Return why a file of *size* bytes is not compared, "" where it is."""
    if size <= MAX_FILE:
        return ""
    return phrase("Too large to show: {n:,} MB.", n=size // 1_000_000)


def _bytes_read(git: GitRuns, path: str, tree: str) -> int:
    """Return how large that is which a diff of *path* reads: against *tree*, "" for none.

    Files below a *path* that is, or was, a folder are in its diff as well.
    """
    if tree:
        raw = git.split_output("diff-index", "--cached", *_RAW, tree, "--", path)[::2]
        return sum(_sizes(git, raw))
    rows = git.split_output("ls-files", "-s", "-z", "--", path)
    found = dict[bytes, int]()  # in conflict a file has several
    for row, size in zip(rows, _object_sizes(git, [row.split(b" ")[1] for row in rows]),
                         strict=True):  # fmt: skip
        name = row.partition(b"\t")[2]
        found[name] = max(size, found.get(name, 0))
    return max(_size(git, path), sum(found.values()))


def _folders_of(names: Sequence[bytes]) -> set[bytes]:
    """Return the folders that the files *names* lie in."""
    found = set[bytes]()
    for one in names:
        name = one
        while (name := name.rpartition(b"/")[0]) and name not in found:
            found.add(name)
    return found


def _sizes(git: GitRuns, raw: Sequence[bytes]) -> list[int]:
    """Return of each row of a *raw* diff the size of the larger file."""
    pairs = [row.split(b" ")[2:4] for row in raw]
    sizes = _object_sizes(git, [one for pair in pairs for one in pair])
    return [max(pair) for pair in zip(sizes[::2], sizes[1::2], strict=True)]


def _object_sizes(git: GitRuns, object_ids: Sequence[bytes]) -> list[int]:
    """Return the sizes of *object_ids*, 0 for one that is not here, such as a submodule's."""
    stdin = b"".join(one + b"\n" for one in object_ids)
    told = git.run("cat-file", "--batch-check=%(objectsize)", stdin=stdin) if stdin else b""
    return [int(size) if size.isdigit() else 0 for size in told.splitlines()]


def _size(git: GitRuns, path: str) -> int:
    try:
        status = (git.tree / path).lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _new_file(project: Project, path: str) -> FileDiff:
    """Return the diff of a file that git does not know: all of it is new."""
    shown, status = visible(path), project.stat(path)
    if status is None:
        return FileDiff(path, shown, (), phrase("{path} does not exist.", path=shown))
    if stat.S_ISDIR(status.st_mode):
        return FileDiff(path, shown, (), phrase("A repository of its own: git keeps it apart."))
    if not stat.S_ISREG(status.st_mode):
        return FileDiff(path, shown, (), phrase("A link, or nothing that has lines."))
    data = project.read_bytes(path, MAX_FILE)
    if b"\0" in data[:8_000]:
        return FileDiff(path, shown, (), phrase("A binary file: its content is not shown."))
    if not data:
        return FileDiff(path, shown, (), phrase("The file is empty."))
    return FileDiff(path, shown, *_all_new(lines_of(data)))


def _all_new(lines: Sequence[bytes]) -> tuple[tuple[FileHunk, ...], Text]:
    kept, size = 0, 0
    while kept < len(lines) and size <= MAX_DIFF:
        size += len(lines[kept])
        kept += 1
    more = len(lines) - kept
    body = b"".join(b"+" + line for line in lines[:kept])
    if not body.endswith(b"\n"):
        body += b"\n\\ No newline at end of file\n"
    note = phrase("The file is too long: {n:,} more lines are not shown.", n=more) if more else ""
    return (_hunk(b"@@ -0,0 +1,%d @@\n" % kept + body),), note
