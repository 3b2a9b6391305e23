"""Installing of skills from a folder or an archive, and removing them."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from modules.skills.files import FILE, Skill, is_skill_name, parsed
from utils.i18n import UserError, phrase
from utils.text.clean import visible

MAX_FILES = 5_000
MAX_BYTES = 100_000_000
"""What one archive or folder may hold, unpacked."""
_MAX_DEPTH = 3
"""Folders between the top and a `SKILL.md`, as in an archive of a repository of skills."""
_CHUNK = 1 << 16
_BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, RuntimeError),  # encrypted, or in a way of its own
)
_LEFT_OUT = frozenset({".git", "__MACOSX", "__pycache__", ".DS_Store"})


class _Entry(NamedTuple):
    """A regular file to be copied: its path below the top, and whether it is a program."""

    path: str
    is_program: bool
    stream: IO[bytes]


_Entries = Generator[_Entry, None, None]


def install(source: Path, folder: Path, known: Collection[str]) -> list[str]:
    """Install the skills in *source*, a folder or an archive, into *folder*; return their names.

    All of them or none. Raises `UserError` where there is none, one cannot be used or is *known*
    already, or *source* holds anything but folders and files of its own.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".installing-", dir=folder) as temporary:
            top = Path(temporary) / "unpacked"
            top.mkdir()
            _copy(source, top)
            found: dict[str, Path] = {}
            for path in _skill_folders(top):
                name = _named(path, top)
                if name in known or name in found or os.path.lexists(folder / name):
                    why = phrase(
                        "The skill {name} is there already. Nothing was installed.", name=name
                    )
                    raise UserError(why)
                found[name] = path
            if not found:
                raise UserError(phrase("{path} has no {file}.", path=_shown(source), file=FILE))
            for name, path in found.items():
                path.rename(folder / name)
            return sorted(found)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            phrase("Cannot install {path}: {why}.", path=_shown(source), why=reason)
        ) from None


def remove(folder: Path) -> None:
    """Delete the skill in *folder*; where it is a link, only that. Raises `UserError`."""
    try:
        if folder.is_symlink():
            folder.unlink()
        else:
            shutil.rmtree(folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(
            phrase("Cannot remove {path}: {why}.", path=_shown(folder), why=why)
        ) from None


def _named(path: Path, top: Path) -> str:
    """Return the name of the skill in the folder *path* below *top*. Raises `UserError`."""
    shown = _shown((path / FILE).relative_to(top))
    fallback = path.name if is_skill_name(path.name) else "skill"
    try:
        return parsed(Skill(fallback, "own", "", shown), (path / FILE).read_bytes()).name
    except UserError as error:
        raise UserError(
            phrase("Cannot use {path}: {why}.", path=shown, why=error.message)
        ) from None


def _skill_folders(top: Path) -> Iterator[Path]:
    """Yield the folders that hold a `SKILL.md`, none inside of another."""
    pending = [(top, 0)]
    for path, depth in pending:
        if (path / FILE).is_file():
            yield path
        elif depth < _MAX_DEPTH:
            inner = sorted(item for item in path.iterdir() if item.is_dir())
            pending += [(item, depth + 1) for item in inner]


def _copy(source: Path, top: Path) -> None:
    """Copy what *source* holds to *top*, which is empty."""
    try:
        with ExitStack() as stack:
            entries = stack.enter_context(closing(_entries(source, stack)))
            _write(entries, top, source)
    except _BROKEN as error:
        why = visible(str(error) or type(error).__name__)
        raise UserError(
            phrase("Cannot unpack {path}: {why}.", path=_shown(source), why=why)
        ) from None


def _write(entries: Iterable[_Entry], top: Path, source: Path) -> None:
    size = 0
    for number, entry in enumerate(entries, 1):
        if _LEFT_OUT.intersection(PurePosixPath(entry.path).parts):
            continue
        target = top / _checked(entry.path, source)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while chunk := entry.stream.read(_CHUNK):
                size += len(chunk)
                _check_size(number, size, source)
                file.write(chunk)
        _check_size(number, size, source)
        target.chmod(0o755 if entry.is_program else 0o644)


def _entries(source: Path, stack: ExitStack) -> _Entries:
    if source.is_dir():
        return _of_folder(source)
    if zipfile.is_zipfile(source):
        return _of_zip(stack.enter_context(zipfile.ZipFile(source)), source)
    if tarfile.is_tarfile(source):
        return _of_tar(stack.enter_context(tarfile.open(source)), source)
    raise UserError(phrase("{path} is not a folder or an archive (zip, tar).", path=_shown(source)))


def _of_folder(source: Path) -> _Entries:
    for place, folders, names in os.walk(source):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        for name in [*(one for one in folders if Path(place, one).is_symlink()), *sorted(names)]:
            path = Path(place, name)
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise _no_file(str(path.relative_to(source)), source)
            with path.open("rb") as stream:
                is_program = bool(status.st_mode & stat.S_IXUSR)
                yield _Entry(path.relative_to(source).as_posix(), is_program, stream)


def _of_zip(archive: zipfile.ZipFile, source: Path) -> _Entries:
    for info in archive.infolist():
        mode = info.external_attr >> 16
        if info.is_dir():
            continue
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise _no_file(info.filename, source)
        with archive.open(info) as stream:
            yield _Entry(info.filename, bool(mode & stat.S_IXUSR), stream)


def _of_tar(archive: tarfile.TarFile, source: Path) -> _Entries:
    for info in archive:
        if info.isdir():
            continue
        stream = archive.extractfile(info) if info.isreg() else None
        if stream is None:
            raise _no_file(info.name, source)
        yield _Entry(info.name, bool(info.mode & stat.S_IXUSR), stream)


def _checked(path: str, source: Path) -> PurePosixPath:
    """Return *path* of an archive. Raises `UserError` where it leads out of it."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\\" in path or "\0" in path:
        raise UserError(
            phrase(
                "Cannot install {path}: {name} leads outside of it.",
                path=_shown(source),
                name=visible(path),
            )
        )
    return parts


def _check_size(number: int, size: int, source: Path) -> None:
    if number > MAX_FILES or size > MAX_BYTES:
        raise UserError(
            phrase(
                "{path} is too large: {files:,} files and {size} MB are the most.",
                path=_shown(source),
                files=MAX_FILES,
                size=MAX_BYTES // 1_000_000,
            )
        )


def _no_file(name: str, source: Path) -> UserError:
    return UserError(
        phrase(
            "Cannot install {path}: {name} in it is not a regular file.",
            path=_shown(source),
            name=visible(name),
        )
    )


def _shown(path: Path) -> str:
    return visible(str(path))
