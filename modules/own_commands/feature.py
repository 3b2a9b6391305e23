"""Commands of one's own, by name: the person's, and those of the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.feature import Feature, PromptCommand
from core.hooks import OffersCommands
from modules.files.project import Project
from modules.instructions.consent import AskOnce, Consents
from modules.own_commands.files import CommandFile, CommandReader
from utils.i18n import Phrase, phrase


class OwnCommands(Feature, OffersCommands):
    """The commands in the person's *own* folder and in *project*.

    Those of the project that run something are asked about once by content; *consents* keeps it.
    """

    def __init__(self, project: Project, own: Path, consents: Consents) -> None:
        self._project = project
        self._reader = CommandReader(project, own)
        self._consent = AskOnce(consents)

    def prompt_commands(self) -> Mapping[str, PromptCommand]:
        return {f"/{file.name}": self._command(file) for file in self._reader.commands()}

    def _command(self, file: CommandFile) -> PromptCommand:
        def expand(argument: str, outputs: Sequence[str]) -> str:
            from modules.own_commands.expansion import expanded, with_files  # once one is used

            text = expanded(file.body, argument, outputs)
            return with_files(text, f"{file.body} {argument}", self._project)

        def programs(argument: str) -> Sequence[str]:
            from modules.own_commands.expansion import programs_in  # once one is used

            return programs_in(file.body, argument)

        return PromptCommand(
            usage=file.usage,
            help=_help(file),
            path=file.path,
            body=file.body,
            programs=programs,
            expand=expand,
            is_confirmed=file.is_own or self._consent.is_allowed(file.digest),
            confirm=lambda: self._consent.take(file.digest, "yes"),
            model=file.model,
            tools=file.tools,
            problem=file.problem,
            is_help_only=not file.is_command,
        )


def _help(file: CommandFile) -> Phrase:
    if file.problem:
        return phrase("Cannot use {path}: {why}.", path=file.path, why=file.problem)
    if file.is_own:
        return phrase("{what} (yours)", what=file.description)
    return phrase("{what} ({path})", what=file.description, path=file.path)
