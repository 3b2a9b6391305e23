"""The check commands of a project: said in the settings or by `/check`, or found in its files."""

from __future__ import annotations

from collections.abc import Sequence

from core.cards import Card, TableCard, TextCard
from modules.checks.kept_checks import CheckCommands, KeptChecks
from modules.files.project import Project
from utils.i18n import UserError, phrase
from utils.text.clean import visible


class CheckList:
    """The checks of *project*: those that are *said* in the settings, else *kept*, else found."""

    def __init__(self, project: Project, kept: KeptChecks, said: Sequence[str]) -> None:
        self._project = project
        self._kept = kept
        self._said = tuple(said)

    def read(self, *, is_doubtful: bool = False) -> CheckCommands:
        """Return the checks there are. Raises `UserError`.

        Where the files that name them are *is_doubtful*, what was found before holds: a task does
        not choose by what it is measured.
        """
        if self._said:
            return CheckCommands(self._said, is_said=True)
        kept = self._kept.read()
        if kept and (kept.is_said or is_doubtful):
            return kept
        from modules.checks.finding import found_checks  # its patterns: for tasks that end

        found = tuple(found_checks(self._project))
        if found != (kept.commands if kept else ()):
            self._kept.keep(found, is_said=False)
        return CheckCommands(found)

    def change(self, argument: str) -> None:
        """Change them as *argument* says. Raises `UserError`."""
        verb, _, rest = argument.partition(" ")
        rest = rest.strip()
        match verb, rest:
            case "" | "list", "":
                return
            case "auto", "":
                self._refuse_said()
                self._kept.forget()
            case "set" | "add", str() if rest:
                self._refuse_said()
                before = self.read().commands if verb == "add" else ()
                self._kept.keep([*before, rest], is_said=True)
            case _:
                raise UserError(
                    phrase("Usage: /check, or /check list, set COMMAND, add COMMAND or auto.")
                )

    def card(self) -> Card:
        """Return the card that lists them. Raises `UserError`."""
        commands = self.read()
        if not commands.commands:
            return TextCard(
                phrase("Checks"),
                phrase("No checks found in the project. Set one with /check set COMMAND."),
            )
        source = phrase("set by you") if commands.is_said else phrase("found in the project")
        rows = tuple((visible(one), source) for one in commands.commands)
        return TableCard(phrase("Checks"), rows, (phrase("Command"), phrase("Source")))

    def _refuse_said(self) -> None:
        if self._said:
            raise UserError(phrase("The checks come from the setting checks; change them there."))
