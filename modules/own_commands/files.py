"""Files of commands: where they lie, what they are called, and what one says."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

from core.tools import ToolError
from modules.files.project import Project
from modules.instructions.consent import content_digest
from utils.frozen import frozen
from utils.i18n import Text, UserError, phrase
from utils.text.clean import visible, visible_text

if TYPE_CHECKING:
    from modules.own_commands.front_matter import Value

PROJECT_FOLDERS = (
    ".agents/commands",
    ".opencode/commands",
    ".opencode/command",
    ".claude/commands",
)
"""Where a project may have them; of one name the first counts."""
_SUFFIX = ".md"
_NAME = re.compile(r"[\w][\w.-]*")
_NOT_A_NAME = phrase("only letters, digits, “-”, “_” and “.” can be in its name")
_MAX_DEPTH = 4
_MAX_FILES = 200
_MAX_BYTES = 256_000
_MAX_DESCRIPTION = 120

Stamp = tuple[int, int, int, int]
Listing = Callable[[str], Sequence[tuple[str, bool]]]


@frozen
class CommandFile:
    """A command in the file *path*; *problem* says why it cannot be used.

    Not *is_command*: a link of the project, and a file with a name that none can have. One
    that *is_own* lies in the person's folder, any other in the project. *tools* are the only ones
    that its task may use, () for all.
    """

    name: str
    path: str
    is_own: bool
    body: str = ""
    description: str = ""
    hint: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    digest: str = ""
    problem: Text = ""
    is_command: bool = True

    @property
    def usage(self) -> str:
        return visible(f"/{self.name} {self.hint}".rstrip())


class CommandReader:
    """Reads the commands in *folders* of *project*, and those in the person's *own* folder.

    A file that did not change is read once. A *kind* of "role" is what helpers are told: its front
    matter has a description, and may have its name.
    """

    def __init__(
        self,
        project: Project,
        own: Path,
        *,
        folders: Sequence[str] = PROJECT_FOLDERS,
        kind: Literal["command", "role"] = "command",
    ) -> None:
        self._project = project
        self._own = own
        self._folders = folders
        self._kind = kind
        self._cache: dict[str, tuple[Stamp, CommandFile]] = {}

    def commands(self) -> list[CommandFile]:
        """Return all there are, the person's first, and then what is none; of one name the first
        counts."""
        found: dict[str, CommandFile] = {}
        files = islice(chain(self._own_commands(), self._project_commands()), _MAX_FILES)
        for command in sorted(files, key=lambda file: not file.is_command):
            found.setdefault(command.name, command)
        return list(found.values())

    def _own_commands(self) -> Iterator[CommandFile]:
        def names_in(folder: str) -> Sequence[tuple[str, bool]]:
            with os.scandir(self._own / folder) as items:
                return [(item.name, item.is_dir()) for item in items]

        for relative in _found(names_in, ""):
            path = self._own / relative
            stamp = _stamp(path.stat() if path.exists() else path.lstat())  # a link to nothing
            yield self._command(relative, str(path), stamp, path.read_bytes, is_own=True)

    def _project_commands(self) -> Iterator[CommandFile]:
        for folder in self._folders:
            for path in _found(self._project.list_names, folder):
                status = self._project.stat(path)
                if status is None:
                    continue
                relative = path.removeprefix(f"{folder}/")
                if stat.S_ISLNK(status.st_mode):  # where it leads is not what was asked about
                    why = phrase("it is a link")
                    yield CommandFile(
                        _name(relative), visible(path), False, problem=why, is_command=False
                    )
                    continue
                yield self._command(
                    relative,
                    path,
                    _stamp(status),
                    lambda path=path: self._project.read_bytes(path, _MAX_BYTES),  # type: ignore[misc]
                )

    def _command(
        self,
        relative: str,
        path: str,
        stamp: Stamp,
        read: Callable[[], bytes],
        *,
        is_own: bool = False,
    ) -> CommandFile:
        cached = self._cache.get(path)
        if cached and cached[0] == stamp:
            return cached[1]
        command = CommandFile(_name(relative), visible(path), is_own)
        try:
            command = _parsed(command, read(), self._kind)
        except (ToolError, UserError) as error:
            command = replace(command, problem=error.message)
        except OSError as error:
            why = phrase("cannot read it: {why}", why=error.strerror or str(error))
            command = replace(command, problem=why)
        if not all(map(_is_name, command.name.split(":"))):
            command = replace(command, problem=_NOT_A_NAME, is_command=False)
        self._cache[path] = (stamp, command)
        return command


def _found(names_in: Listing, folder: str) -> Iterator[str]:
    """Yield the paths of the files of commands in *folder* and below it, in order.

    Where there are too many folders, the last are left out.
    """
    pending = [(folder, 1)]
    for folder, depth in pending:
        try:
            items = sorted(names_in(folder))
        except (OSError, ToolError):  # it is not there, or is no folder of ours to read
            continue
        for name, is_folder in items:
            if name.startswith("."):  # what other programs keep there
                continue
            path = f"{folder}/{name}" if folder else name
            if is_folder and depth < _MAX_DEPTH and len(pending) < _MAX_FILES:
                pending.append((path, depth + 1))
            elif not is_folder and name.endswith(_SUFFIX):
                yield path


def _name(relative: str) -> str:
    """Return the name of the command in the file *relative*, with nothing in it unseen."""
    return visible_text(relative.removesuffix(_SUFFIX).replace("/", ":"))


def _is_name(name: str) -> bool:
    """Return whether *name* can be that of a command: what it shows is all that it is."""
    return bool(_NAME.fullmatch(name)) and visible_text(name) == normalize("NFKC", name) == name


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _parsed(command: CommandFile, data: bytes, kind: str) -> CommandFile:
    if len(data) > _MAX_BYTES:
        raise UserError(phrase("it is too long for a command"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(phrase("it is not in UTF-8")) from None
    from modules.own_commands.front_matter import split_front_matter  # for who has commands

    # What others wrote is said to the model with nothing in it that a reader would not see.
    values, body = split_front_matter(text if command.is_own else visible_text(text))
    if not body.strip():
        raise UserError(phrase("it is empty below its front matter"))
    name = command.name
    if kind == "role":
        if not values.get("description"):
            raise UserError(phrase("its front matter has no description"))
        said = _one(values.get("name", ""))
        name = said if _is_name(said) else name
    description = _one(values.get("description", "")) or body.strip().split("\n")[0].lstrip("# ")
    return CommandFile(
        *(name, command.path, command.is_own, body),
        description=visible(description[:_MAX_DESCRIPTION]),
        hint=_one(values.get("argument-hint", values.get("arguments", ""))),
        model=_one(values.get("model", "")),
        tools=_many(values.get("tools", ())),
        digest=content_digest(kind, data),
    )


def _one(value: Value) -> str:
    """Return *value* as one line; a list is one as it is written, as in `[file] [line]`."""
    return value if isinstance(value, str) else f"[{', '.join(value)}]"


def _many(value: Value) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(re.split(r"[\s,]+", value.strip("[] "))) if value.strip("[] ") else ()
