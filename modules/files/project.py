"""The one folder that Onefold works in: every file of it is reached through here."""

from __future__ import annotations

import copy
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import EllipsisType
from typing import BinaryIO

from core.tools import ToolError
from modules.files import path_errors
from modules.files.containment import (
    ContentChanged,
    DirectoryItem,
    NotRegularFile,
    OutsideFolder,
    ProtectedPath,
    SymlinkInPath,
    is_repository,
)
from modules.files.editing.long_text import (
    MAX_BYTES,
    LongText,
    NotLineByLine,
    TooFar,
    read_from_line,
)
from modules.files.editing.text_file import NotText, TextFile
from modules.files.ignore import NearFiles, ignored_folders, near_files, visible_files
from modules.files.own_code import OwnCode
from modules.files.writable import MAX_NEW_FOLDERS, TooManyFolders, WritableFolder
from utils.i18n import UserError, phrase
from utils.text.clean import visible
from utils.text.git_names import is_git_name, is_in_git

__all__ = ["ContentChanged", "DirectoryItem", "MissingPath", "Project"]

_MAX_BYTES = 20_000_000


class MissingPath(ToolError):
    """Path at which there is nothing."""

    code = "not_found"


class BinaryFile(ToolError):
    """File that is no text."""


class TooLarge(ToolError):
    """File of more bytes than are wanted."""


class Project:
    """The folder *root*. Paths are relative, '/'-separated str ('' is the root).

    Bytes of a name that are not UTF-8 stand in it by surrogateescape. A path may also be given as
    `utils.text.clean.visible` shows it. Whatever goes wrong with a path raises `ToolError`.

    *hidden* are folders that the agent must not see even when they lie inside, and *own_code* is
    what Onefold itself is loaded from, which nothing here changes.
    """

    def __init__(
        self,
        root: Path,
        *,
        hidden: Iterable[Path] = (),
        own_code: OwnCode | None = None,
        may_be_whole_disk: bool = False,
    ) -> None:
        """Raises `UserError` if *root* is missing, no folder or unreadable, or the whole disk where
        it may not be that.
        """
        self.root = Path(os.path.realpath(root))
        shown_root = os.path.abspath(root)  # noqa: PTH100 - links stay
        self._roots = (str(self.root).rstrip("/"), shown_root.rstrip("/"))
        self.own_code = own_code or OwnCode()
        shown = visible(str(root))
        if self.is_whole_disk and not may_be_whole_disk:
            raise UserError(phrase("The project cannot be the whole disk. Choose a folder."))
        try:
            own_paths = (*self.own_code.paths, *self.own_code.links)
            self._folder = WritableFolder(self.root, hidden=hidden, own_paths=own_paths)
        except FileNotFoundError:
            raise UserError(
                phrase("The project folder {path} does not exist.", path=shown)
            ) from None
        except NotADirectoryError:
            raise UserError(phrase("The project {path} is not a folder.", path=shown)) from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError(
                phrase("Cannot read the project folder {path}: {why}.", path=shown, why=reason)
            ) from None
        self.name = visible(self.root.name) or "/"

    @property
    def is_whole_disk(self) -> bool:
        """Whether it is `/`, with the system in it: undo does not hold that."""
        return self.root == Path(self.root.anchor)

    def close(self) -> None:
        self._folder.close()

    def open_root(self) -> int:
        """Return a descriptor, the caller's own, of the folder, whatever has its name by now."""
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder.descriptor)

    @property
    def hidden(self) -> list[str]:
        """The folders inside that the agent must not see."""
        return self._folder.hidden

    # Paths

    def normalize(self, path: str) -> str:
        """Return *path* without '.', '..' and doubled '/', relative to the root."""
        if "\0" in path:
            raise ToolError(phrase("A path cannot hold a NUL character."))
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise ToolError(phrase("{path} is not a valid path.", path=visible(path))) from None
        parts: list[str] = []
        for part in self._relative(path).split("/"):
            if part == ".." and not parts:
                raise ToolError(path_errors.outside(path))
            if part == "..":
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return self._unescape_shown("/".join(parts))

    def resolve(self, path: str) -> str:
        """Return *path* made normal as a model means it: relative, and not to the folder above.

        Small models put the project's own name in front. Where nothing in the project has that
        name, it is left out, if there is something at the rest.
        """
        name = self.normalize(path)
        first, _, rest = name.partition("/")
        if first != self.name or self.stat(first) is not None:
            return name
        return rest if not rest or self.stat(rest) is not None else name

    def _relative(self, path: str) -> str:
        if not path.startswith("/"):
            return path
        absolute = os.path.normpath(path)
        for root in self._roots:
            if absolute == root or absolute.startswith(f"{root}/"):
                return absolute[len(root) :]
        raise ToolError(path_errors.outside(path))

    def _unescape_shown(self, path: str) -> str:
        r"""Return the path that *path* shows with escapes (`a\x1b.txt`), if only that exists."""
        if "\\" not in path or self.stat(path) is not None:
            return path
        try:
            unescaped = _ESCAPE.sub(lambda found: _unescape(found[0]), path)
            os.fsencode(unescaped)
        except (ValueError, UnicodeError):
            return path
        return unescaped if "\0" not in unescaped and self.stat(unescaped) is not None else path

    def is_git_path(self, path: str) -> bool:
        """Return whether *path* is in a folder of git's, by its name."""
        return any(is_git_name(part) for part in path.split("/"))

    def is_in_repository(self, path: str) -> bool:
        """Return whether *path* is a repository of git's, whatever its name, or in one."""
        if is_in_git(path):
            return True
        with self._folder.open_folder("") as root:
            parts = path.split("/")
            return any(
                is_repository(root, "/".join(parts[:count])) for count in range(len(parts) + 1)
            )

    def with_git_writable(self) -> Project:
        """Return the same folder for a call that the person let write to git's own files."""
        other = copy.copy(self)
        other._folder = self._folder.with_git_writable()
        return other

    # Reading

    def read_bytes(self, path: str, limit: int = _MAX_BYTES) -> bytes:
        """Return the content of a regular file, refused when larger than *limit* bytes."""
        with self._explained(path), self._folder.open_file(path) as file:
            size = os.fstat(file).st_size
            data = b"" if size > limit else self._read(file, limit)
        if max(size, len(data)) > limit:
            raise TooLarge(path_errors.too_large(path, max(size, len(data))))
        return data

    def _read(self, file: int, limit: int) -> bytes:
        with os.fdopen(os.dup(file), "rb") as stream:
            return stream.read(limit + 1)

    @contextmanager
    def open_stream(self, path: str) -> Iterator[BinaryIO]:
        """Yield the content of the regular file *path*, however large, to be read by part."""
        with (
            self._explained(path),
            self._folder.open_file(path) as file,
            os.fdopen(os.dup(file), "rb") as stream,
        ):
            yield stream

    def read_text(self, path: str) -> TextFile:
        """Return the text file *path*. What is no text is refused with what it is instead."""
        return self.decode_text(path, self.read_bytes(path))

    def decode_text(self, path: str, data: bytes) -> TextFile:
        """Return *data*, the content of *path*, as text."""
        try:
            return TextFile.decode(data)
        except NotText as error:
            raise BinaryFile(path_errors.not_text(path, error, len(data))) from None

    @contextmanager
    def read_lines(self, path: str) -> Iterator[LongText | None]:
        """Yield the lines of the text file *path*; None if it is not too large for `read_text`."""
        with self._explained(path), self._folder.open_file(path) as file:
            size = os.fstat(file).st_size
            if size <= _MAX_BYTES:
                yield None
                return
            with os.fdopen(os.dup(file), "rb") as stream:
                yield self._lines(path, stream, size)

    @contextmanager
    def read_from(
        self, path: str, line: int
    ) -> Iterator[tuple[TextFile, Iterator[str], int] | None]:
        """Yield the form of a text file too long for `read_lines`, its lines from *line*, its size.

        None if it is not too long.
        """
        with self._explained(path), self._folder.open_file(path) as file:
            size = os.fstat(file).st_size
            if size <= MAX_BYTES:
                yield None
                return
            with os.fdopen(os.dup(file), "rb") as stream:
                try:
                    form, lines = read_from_line(stream, line)
                except NotText as error:
                    raise BinaryFile(path_errors.not_text(path, error, size)) from None
                except (NotLineByLine, TooFar):
                    raise ToolError(path_errors.too_large(path, size)) from None
                yield form, lines, size

    def _lines(self, path: str, stream: BinaryIO, size: int) -> LongText:
        if size > MAX_BYTES:
            raise ToolError(path_errors.too_long(path, size))
        try:
            return LongText.scan(stream)
        except NotText as error:
            raise BinaryFile(path_errors.not_text(path, error, size)) from None
        except NotLineByLine:
            raise ToolError(path_errors.too_large(path, size)) from None

    def stat(self, path: str) -> os.stat_result | None:
        """Return the state of *path* itself, a last link not followed; None if it is missing."""
        with self._explained(path):
            try:
                return self._folder.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def entries(self, path: str) -> Sequence[DirectoryItem]:
        """Return what is in the folder *path*, by name, ignored or not."""
        with self._explained(path):
            return self._folder.scan(path)

    def list_names(self, path: str) -> Sequence[tuple[str, bool]]:
        """Return the names in the folder *path*, in no order, and whether each is a folder."""
        with self._explained(path):
            return self._folder.list_names(path)

    def files(self, path: str = "") -> list[str]:
        """Return all files below the folder *path* that no rule ignores, sorted; links too.

        They may be gone, or be no regular files, when they are looked at.
        """
        status = self.stat(path)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            return [path]
        with self._explained(path):
            return visible_files(self._folder, self.root, path)

    def near_files(self, limit: int) -> NearFiles:
        """Return the files nearest to the top that a look at about *limit* names finds."""
        return near_files(self._folder, self.root, limit)

    def ignored_folders(self, path: str, names: Iterable[str]) -> set[str]:
        """Return which of the folders *names* in *path*, which hold no file, a rule ignores."""
        with self._explained(path):
            return ignored_folders(self._folder, path, names)

    # Writing

    def write_bytes(
        self,
        path: str,
        data: bytes,
        *,
        make_folders: bool = False,
        expected: bytes | EllipsisType | None = ...,
    ) -> None:
        """Replace the file *path* by *data* atomically, its mode kept; links are refused.

        With *expected* only if it still holds that, or None, if it does not exist; else it raises
        `containment.Changed`.
        """
        with self._explained(path):
            folders = self._folder.with_folders(path.rpartition("/")[0])
            try:
                with folders if make_folders else nullcontext():
                    self._folder.write(path, data, expected)
            except FileExistsError:
                raise ContentChanged from None

    def rename(self, path: str, new_path: str) -> None:
        """Move a file or folder, its new folders made; nothing is ever replaced."""
        with self._explained(path, new_path):
            if new_path.startswith(f"{path}/"):  # before a folder is made for nothing
                raise OSError(errno.EINVAL, "into itself")
        folders = self._folder.with_folders(new_path.rpartition("/")[0])
        with self._explained(new_path), folders, self._explained(path, new_path):
            self._folder.rename(path, new_path)

    def move_in(self, folder: Path, path: str) -> None:
        """Move *folder* of ours, from outside, to *path*, its folders made; it must not exist."""
        with self._explained(path), self._folder.with_folders(path.rpartition("/")[0]):
            self._folder.move_in(folder, path)

    def copy_in(self, source: int, path: str, *, replaces: bool = False) -> None:
        """Make *path*, its folders too, a copy of the open file *source*; unless that *replaces*
        what is there, it must not exist.
        """
        with self._explained(path), self._folder.with_folders(path.rpartition("/")[0]):
            self._folder.copy_in(source, path, replaces=replaces)

    def copy_unnamed(self, source: int, most: int) -> int | None:
        """Return a copy of the open file *source* that has no name; see `WritableFolder`."""
        with self._explained(""):
            return self._folder.copy_unnamed(source, most)

    def delete_file(self, path: str) -> None:
        """Delete a file or a link."""
        with self._explained(path):
            self._folder.unlink(path)

    def delete_folder(self, path: str, *, recursive: bool) -> None:
        """Delete the folder *path*; unless *recursive* it must be empty."""
        if recursive and (repository := self._repository_in(path)):
            raise ToolError(
                phrase("{path} is the memory of git; I do not delete it.", path=visible(repository))
            )
        with self._explained(path):
            self._folder.remove_folder(path, recursive=recursive)

    def make_folder(self, path: str) -> None:
        """Make the folder *path* and those above it; it may exist."""
        with self._explained(path):
            self._folder.make_folders(path)

    def _repository_in(self, path: str) -> str:
        """Return the first folder of git's at or below *path*, "" if there is none."""
        pending = [path]
        while pending:
            folder = pending.pop()
            for item in self.entries(folder):
                name = f"{folder}/{item.name}"
                if is_git_name(item.name):
                    return name
                if item.is_folder:
                    pending.append(name)
        return ""

    @contextmanager
    def _explained(self, path: str, new_path: str = "") -> Iterator[None]:
        """Turn every failure at a path into a sentence about it."""
        shown = visible(path) or "."
        try:
            yield
        except OutsideFolder:
            is_root = phrase("{path} is a folder, not a file.", path=shown)
            raise ToolError(path_errors.outside(path) if path else is_root) from None
        except ProtectedPath:
            raise ToolError(
                phrase(
                    "{path} is out of bounds: it belongs to git or to Onefold itself.", path=shown
                )
            ) from None
        except SymlinkInPath as link:
            target = visible(link.target)
            raise ToolError(
                phrase(
                    "{path} is or goes through a link to {target}; links are not written through.",
                    path=shown,
                    target=target,
                )
            ) from None
        except TooManyFolders:
            raise ToolError(
                phrase(
                    "{path} needs too many new folders; {n} at most.", path=shown, n=MAX_NEW_FOLDERS
                )
            ) from None
        except NotRegularFile:
            raise ToolError(
                phrase("{path} is a device, pipe or socket, not a file.", path=shown)
            ) from None
        except FileNotFoundError:
            raise MissingPath(phrase("There is no {path}.", path=shown)) from None
        except OSError as error:
            raise ToolError(path_errors.os_error(error, shown, visible(new_path))) from None


_ESCAPE = re.compile(r"\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


def _unescape(escape: str) -> str:
    return escape.encode("ascii").decode("unicode_escape")
