"""Quarantine of the objects that a run has made, from which only whole ones are taken over.

Git's own quarantine (of `git receive-pack`) is the model. Of what a program left in its folder of
objects, only files with the names of objects and of packs are looked at; git packs them anew, and
unpacks that pack into the repository, working out every name again and checking every object and
that all it names is there. Indexes, alternates and whatever else says where objects are do not
count.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit
from utils.i18n import Phrase, phrase
from utils.system.child import ChildResult, TimedOut
from utils.text.clean import clean

_LOOSE_FOLDER, _LOOSE_FILE = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{38}")
_PACK = re.compile(r"pack-[0-9a-f]{40}\.pack")
_MAX_FILES = 200_000
_MAX_BYTES = 2 << 30
_MAX_WHOLE_BYTES = 64 << 20  # bytes of a folder's, commit's or tag's object
_MAX_INFLATED_BYTES = 8 << 30  # bytes of all objects, as they are when read
_UNPACKED = 500
"""Objects up to which they become files of their own; more stay a pack, as in `receive-pack`."""
_MAX_UNPACKED_BYTES = 32 << 20  # bytes of a pack that is unpacked
_SECONDS = 300.0


class ObjectsRefused(Exception):
    """The objects of a run cannot be taken over; *why* says it for people and the model."""

    def __init__(self, why: Phrase) -> None:
        super().__init__(str(why))
        self.why = why


@dataclass(frozen=True, slots=True)
class ObjectQuarantine:
    """Objects in *source*, a folder that a program could write to, for the repository of *git*.

    *scratch* is an empty folder on the same file system; nobody else uses it. Everything raises
    `ObjectsRefused`.
    """

    git: IsolatedGit
    source: Path
    scratch: Path

    def take_over(self) -> None:
        """Put all objects of the source into the repository, checked; none if one is not whole."""
        self._collect()
        names = self._checked_names()
        if not names:
            return
        prefix = self.scratch / "taken"
        self._run(self._private(), "pack-objects", "-q", "--window=0", os.fspath(prefix),
                  stdin=names)  # fmt: skip
        for pack in sorted(self.scratch.glob("taken-*.pack")):
            self._migrate(pack, names.count(b"\n"))

    def _checked_names(self) -> bytes:
        """Return the names of the collected objects, a line each, once none is too large for git.

        Git reads all but files whole into memory.
        """
        found = self._run(
            self._private(), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)",
            "--batch-all-objects", "--unordered",
        ).output.splitlines()  # fmt: skip
        rows = [line.split() for line in found]
        if any(kind != b"blob" and int(size) > _MAX_WHOLE_BYTES for _, kind, size in rows):
            raise ObjectsRefused(phrase("it made too many objects, or too large ones"))
        if sum(int(size) for _, _, size in rows) > _MAX_INFLATED_BYTES:
            raise ObjectsRefused(phrase("it made too many objects, or too large ones"))
        return b"".join(name + b"\n" for name, _, _ in rows)

    def check_tips(self, tips: Iterable[str]) -> None:
        """Refuse what is not there with all that it leads to, of the commits and tags *tips*."""
        if stdin := "".join(f"{tip}\n" for tip in tips).encode():
            self._run(
                self.git, "rev-list", "--objects", "--quiet", "--stdin", "--not", "--all",
                stdin=stdin,
            )  # fmt: skip

    def kinds_of(self, ids: Sequence[str]) -> list[str]:
        """Return the kind of each object of *ids*, "missing" where there is none."""
        if not ids:
            return []
        stdin = "".join(f"{one}\n" for one in ids).encode()
        output = self._run(self.git, "cat-file", "--batch-check=%(objecttype)", stdin=stdin).output
        return [line.rpartition(" ")[2] for line in output.decode().splitlines()]

    def _private(self) -> IsolatedGit:
        """Return git that knows the collected objects and no others."""
        return self.git.with_variables({"GIT_OBJECT_DIRECTORY": f"{self.scratch}/objects"})

    def _collect(self) -> None:
        """Move what has the name of an object or a pack to the scratch folder."""
        target = self.scratch / "objects"
        (target / "pack").mkdir(parents=True)
        total = 0
        for number, (name, size) in enumerate(_object_files(self.source)):
            total += size
            if number >= _MAX_FILES or total > _MAX_BYTES:
                raise ObjectsRefused(phrase("it made too many objects, or too large ones"))
            (target / name).parent.mkdir(exist_ok=True)
            (self.source / name).rename(target / name)
        for pack in sorted((target / "pack").glob("*.pack")):
            self._run(self._private(), "index-pack", os.fspath(pack))

    def _migrate(self, pack: Path, count: int) -> None:
        if count <= _UNPACKED and pack.stat().st_size <= _MAX_UNPACKED_BYTES:
            self._run(self.git, "unpack-objects", "-q", "--strict", stdin=pack.read_bytes())
            return
        self._run(self.git, "index-pack", "--strict", os.fspath(pack))
        folder = self.git.folders.common_dir / "objects/pack"
        folder.mkdir(exist_ok=True)
        name = pack.name.replace("taken-", "pack-")
        for path in (pack, pack.with_suffix(".idx")):  # the index last: it makes the pack known
            _copy_new(path, folder / f"{name.removesuffix('.pack')}{path.suffix}")

    def _run(self, git: IsolatedGit, *arguments: str, stdin: bytes = b"") -> ChildResult:
        try:
            answer = git.run(*arguments, stdin=stdin, seconds=_SECONDS)
        except TimedOut:
            raise ObjectsRefused(phrase("git took too long to check its objects")) from None
        except OSError as error:
            raise ObjectsRefused(phrase("git refused: {said}", said=str(error))) from None
        if answer.code:
            said = clean(answer.errors.decode(errors="replace").strip())[:300] or "?"
            raise ObjectsRefused(phrase("its objects are not whole ({said})", said=said))
        return answer


def _object_files(source: Path) -> Iterator[tuple[str, int]]:
    """Yield the names of the plain files below *source* that may be objects or packs; sizes too."""
    for folder in _plain(source, _LOOSE_FOLDER, stat.S_ISDIR):
        for name, size in _plain(source / folder[0], _LOOSE_FILE, stat.S_ISREG):
            yield f"{folder[0]}/{name}", size
    for _ in _plain(source, re.compile("pack"), stat.S_ISDIR):
        for name, size in _plain(source / "pack", _PACK, stat.S_ISREG):
            yield f"pack/{name}", size


def _plain(
    folder: Path, pattern: re.Pattern[str], is_kind: Callable[[int], bool]
) -> list[tuple[str, int]]:
    """Return the entries of *folder* called *pattern* that are of a kind, with their sizes."""
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if pattern.fullmatch(entry.name)]
            statuses = [(entry.name, entry.stat(follow_symlinks=False)) for entry in found]
    except OSError as error:
        raise ObjectsRefused(phrase("its objects cannot be read ({why})", why=str(error))) from None
    return sorted((name, s.st_size) for name, s in statuses if is_kind(s.st_mode))


def _copy_new(source: Path, target: Path) -> None:
    """Make *target* a copy of *source*, read-only as git's objects are; all of it or nothing."""
    if target.exists():
        return
    temporary = target.with_name(f"tmp_{target.name}")
    with source.open("rb") as file, temporary.open("wb") as out:
        while chunk := file.read(1 << 20):
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    temporary.chmod(0o444)
    temporary.rename(target)
