"""Files of skills: where they lie, what one says of itself, and what it holds.

The format is that of agentskills.io: a folder with a `SKILL.md`, whose front matter has its name
and what it is for.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol
from unicodedata import normalize

from core.tools import ToolError
from modules.files.project import BinaryFile, Project
from utils.frozen import frozen
from utils.i18n import Text, UserError, phrase
from utils.text.clean import visible, visible_text

PROJECT_FOLDERS = (".agents/skills", ".opencode/skills", ".claude/skills")
"""Where a project may have them; of one name the first counts."""
OWN_FOLDERS = (".agents/skills", ".claude/skills")
"""Where the person may have them, in their home; the first is where they are installed."""
BUILT_IN = Path(__file__).resolve().parents[2] / "prompts" / "skills"
FILE = "SKILL.md"
MAX_SKILLS = 60
_MAX_BYTES = 256_000
_MAX_LISTED = 200  # files of one skill
_MAX_DEPTH = 4
_TOOL = re.compile(r"[\w-]+(?=[\s,(]|$)(?:\([^)]*\))?")
_NAME = re.compile(r"[\w][\w.-]{0,63}")

Origin = Literal["project", "own", "built-in"]
Stamp = tuple[int, int, int, int]
Listing = Callable[[str], Sequence[tuple[str, bool]]]


class DocumentTexts(Protocol):
    """Gives the text of what is no text but a document: a PDF, slides, a sheet."""

    def read_text(self, name: str, data: bytes) -> str | None:
        """Return the text of the file *name* of the bytes *data*, None if it is no document."""


@frozen
class Skill:
    """A skill in the folder *path*: of the project, relative to it, or absolute.

    *shown* is that path as it is said to a person. *tools* are those that its `allowed-tools`
    name: that gives it no leave. *problem* is why it cannot be used.
    """

    name: str
    origin: Origin
    path: str
    shown: str
    description: str = ""
    body: str = ""
    problem: Text = ""
    tools: tuple[str, ...] = ()


class SkillReader:
    """Reads the skills of *project*, of the person's *home*, and ours in the folder *built_in*.

    A file that did not change is read once.
    """

    def __init__(
        self,
        project: Project,
        home: Path | None,
        built_in: Path,
        documents: Callable[[], DocumentTexts] | None = None,
    ) -> None:
        """*documents* are asked for at the first file that is no text."""
        self._documents = documents
        self._project = project
        self._own = [home / folder for folder in OWN_FOLDERS] if home else []
        self._built_in = built_in
        self._cache: dict[str, tuple[Stamp, Skill]] = {}

    def skills(self) -> dict[str, Skill]:
        """Return all there are by name, the project's first; of one name the first counts.

        Where there are more than `MAX_SKILLS`, the last are left out.
        """
        found: dict[str, Skill] = {}
        for skill in islice(self._found(), MAX_SKILLS):
            found.setdefault(skill.name, skill)
        return found

    def read(self, skill: Skill, path: str) -> str:
        """Return the text of the file *path* of *skill*, also that of a document.

        Raises `ToolError`, also for what is outside the skill's folder.
        """
        with self._opened(skill) as (folder, base):
            name = folder.normalize(f"{base}/{path}" if base else path)
            if base and not name.startswith(f"{base}/"):
                raise ToolError(phrase("{path!r} is not a file of this skill.", path=path))
            try:
                return folder.read_text(name).text
            except BinaryFile:
                return self._document_text(folder, name)

    def _document_text(self, folder: Project, name: str) -> str:
        data = folder.read_bytes(name)
        text = self._documents().read_text(visible(name), data) if self._documents else None
        return folder.decode_text(name, data).text if text is None else f"{text}\n"

    def files(self, skill: Skill) -> list[str]:
        """Return the paths of the files of *skill* but for `SKILL.md`, in order.

        Where there are very many, the last are left out.
        """
        with self._opened(skill) as (folder, base):
            return list(islice(_files_in(folder, base), _MAX_LISTED))

    @contextmanager
    def _opened(self, skill: Skill) -> Iterator[tuple[Project, str]]:
        """Yield a folder that nothing leaves, and the path of *skill* in it."""
        if skill.origin == "project":
            yield self._project, skill.path
            return
        try:
            folder = Project(Path(skill.path))
        except UserError as error:
            raise ToolError(error.message) from None
        try:
            yield folder, ""
        finally:
            folder.close()

    # --- finding ---------------------------------------------------------------------------------

    def _found(self) -> Iterator[Skill]:
        for folder in PROJECT_FOLDERS:
            for name in _skill_names(self._project.list_names, folder):
                yield from self._in_project(f"{folder}/{name}", name)
        for own in self._own:
            yield from self._in_folder(own, "own")
        yield from self._in_folder(self._built_in, "built-in")

    def _in_project(self, path: str, name: str) -> Iterator[Skill]:
        file = f"{path}/{FILE}"
        try:
            status = self._project.stat(file)
        except ToolError:
            return
        if status is not None and stat.S_ISREG(status.st_mode):  # a link was not seen by anybody
            skill = Skill(name, "project", path, visible(path))
            yield self._skill(skill, status, lambda: self._project.read_bytes(file, _MAX_BYTES))

    def _in_folder(self, root: Path, origin: Origin) -> Iterator[Skill]:
        def names_in(folder: str) -> Sequence[tuple[str, bool]]:
            with os.scandir(folder) as items:
                return [(item.name, item.is_dir()) for item in items]

        for name in _skill_names(names_in, str(root)):
            file = root / name / FILE
            if file.is_file():
                skill = Skill(name, origin, str(root / name), visible(str(root / name)))
                yield self._skill(skill, file.stat(), lambda file=file: _read(file))  # type: ignore[misc]

    def _skill(self, skill: Skill, status: os.stat_result, read: Callable[[], bytes]) -> Skill:
        stamp = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        cached = self._cache.get(skill.path)
        if cached and cached[0] == stamp:
            return cached[1]
        try:
            skill = parsed(skill, read())
        except (ToolError, UserError) as error:
            skill = replace(skill, problem=error.message)
        except OSError as error:
            why = phrase("cannot read it: {why}", why=error.strerror or str(error))
            skill = replace(skill, problem=why)
        self._cache[skill.path] = (stamp, skill)
        return skill


def parsed(skill: Skill, data: bytes) -> Skill:
    """Return *skill* with what *data*, its `SKILL.md`, says. Raises `UserError`."""
    if len(data) > _MAX_BYTES:
        raise UserError(phrase("it is too long for a skill"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(phrase("it is not in UTF-8")) from None
    from modules.own_commands.front_matter import split_front_matter  # for who has skills

    # The model is told nothing that a reader would not see.
    values, body = split_front_matter(visible_text(text))
    if not body.strip():
        raise UserError(phrase("it is empty below its front matter"))
    name, description = values.get("name", ""), values.get("description", "")
    if not isinstance(description, str) or not description.strip():
        raise UserError(phrase("its front matter has no description"))
    is_name = isinstance(name, str) and is_skill_name(name)
    return replace(
        skill,
        name=str(name) if is_name else skill.name,
        description=visible(" ".join(description.split())),
        body=body,
        tools=_tool_names(values.get("allowed-tools", "")),
    )


def _tool_names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of tools in *value*, in either way of writing lists of them."""
    words = _TOOL.findall(value if isinstance(value, str) else " ".join(value))
    return tuple(dict.fromkeys(words))


def is_skill_name(name: str) -> bool:
    """Return whether *name* can be a skill's: what it shows is all that it is."""
    return bool(_NAME.fullmatch(name)) and visible_text(name) == normalize("NFKC", name) == name


def _read(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_MAX_BYTES + 1)


def _skill_names(names_in: Listing, folder: str) -> list[str]:
    """Return the names of the folders in *folder* that can be skills, in order."""
    try:
        items = names_in(folder)
    except (OSError, ToolError):  # it is not there, or is no folder of ours to read
        return []
    return sorted(name for name, is_folder in items if is_folder and is_skill_name(name))


def _files_in(folder: Project, base: str) -> Iterator[str]:
    pending = [(base, 1)]
    for path, depth in pending:
        for name, is_folder in sorted(folder.list_names(path)):
            inner = f"{path}/{name}" if path else name
            if is_folder and depth < _MAX_DEPTH and len(pending) < _MAX_LISTED:
                pending.append((inner, depth + 1))
            elif not is_folder and (shown := inner.removeprefix(f"{base}/")) != FILE:
                yield shown
