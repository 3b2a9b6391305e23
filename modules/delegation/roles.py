"""Roles of helpers: files with front matter, in the common format, of the person or the project."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.events import PersonQuestion, Reply
from core.tools import ToolError
from modules.files.project import Project
from modules.instructions.consent import AskOnce, Consents
from utils.frozen import frozen
from utils.i18n import Phrase, phrase
from utils.text.nearest import nearest_name

if TYPE_CHECKING:
    from modules.own_commands.files import CommandFile, CommandReader

PROJECT_FOLDERS = (".agents/agents", "agents", ".claude/agents")
"""Where a project may have them; of one name the first counts."""
_MAX_SHOWN = 1_500  # characters of a role in the question about it


@frozen
class Role:
    """What a helper is told that has the role: *text*. *tools* are all it may use, () for any;
    *model* is the one it wants, "" or "inherit" for the usual one."""

    name: str
    text: str
    tools: tuple[str, ...] = ()
    model: str = ""


class Roles:
    """The roles in the person's *own* folder and in *project*.

    Those of the project are asked about, once by content; *consents* keeps the answer.
    """

    def __init__(self, project: Project, own: Path, consents: Consents) -> None:
        self._project = project
        self._own = own
        self._consent = AskOnce(consents)

    def files(self) -> Sequence[CommandFile]:
        """Return those that can be used, in the order of their names."""
        return [one for one in self.all_files() if not one.problem]

    def all_files(self) -> Sequence[CommandFile]:
        """Return all in the order of their names, also those with a problem."""
        return sorted(self._reader.commands(), key=lambda one: one.name)

    @cached_property
    def _reader(self) -> CommandReader:
        from modules.own_commands.files import CommandReader  # for who has helpers

        return CommandReader(self._project, self._own, folders=PROJECT_FOLDERS, kind="role")

    def find(self, name: str) -> CommandFile:
        """Return the file of the role *name*. Raises `ToolError` that names those there are."""
        files = {one.name: one for one in self.all_files()}
        if file := files.get(name):
            if file.problem:
                raise ToolError(
                    phrase("Cannot use {path}: {why}.", path=file.path, why=file.problem)
                )
            return file
        usable = [one.name for one in files.values() if not one.problem]
        raise ToolError(_no_role(name, nearest_name(name, usable), ", ".join(usable)), "not_found")

    def role(
        self, name: str, *, asks_nothing: bool
    ) -> Generator[PersonQuestion, Reply | None, Role]:
        """Return the role *name*, once the person has agreed to one of the project's.

        Raises `ToolError` where they do not.
        """
        file = self.find(name)
        if not (file.is_own or asks_nothing or self._consent.is_allowed(file.digest)):
            yes = phrase("Yes")
            question = phrase(
                "Use the role {name} of this project ({path})? It tells a helper:\n{text}",
                name=file.name,
                path=file.path,
                text=_beginning(file.body),
            )
            reply = yield PersonQuestion(question, (yes, phrase("No")))
            if reply is None or not reply.yes or reply.text != str(yes):
                raise ToolError(
                    phrase(
                        "The person has not agreed to the role {name!r}. Do without.", name=name
                    ),
                    "refused",
                )
            self._consent.take(file.digest, "yes")
        return Role(file.name, file.body.strip(), file.tools, file.model)


def _no_role(name: str, near: str | None, names: str) -> Phrase:
    if not names:
        return phrase("There is no role {name!r}, and no other.", name=name)
    there = phrase("There are: {names}.", names=names)
    if near:
        return phrase(
            "There is no role {name!r}. Did you mean {near!r}? {there}",
            name=name,
            near=near,
            there=there,
        )
    return phrase("There is no role {name!r}. {there}", name=name, there=there)


def _beginning(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
