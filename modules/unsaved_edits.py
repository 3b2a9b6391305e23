"""Edits that the person's editor shows and has not saved: no call writes past them unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.feature import Feature
from core.hooks import FlagsCalls
from core.tools import Risk, Tool, ToolError
from modules.files.project import Project
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

_CHANGING = (Risk.WRITE, Risk.DESTROY)


class UnsavedEdits(Feature, FlagsCalls):
    """Has the person asked before a file is changed that their editor shows otherwise.

    *editor_text* gives the text of a path of the project as the editor has it, None where it does
    not say; there is one where the screen is an editor.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self.editor_text: Callable[[str], str | None] | None = None

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if self.editor_text is None or tool.spec.risk not in _CHANGING:
            return None
        for argument in filter(None, ("path", tool.spec.destination)):
            name = arguments.get(argument)
            if isinstance(name, str) and (path := self._unsaved(name)):
                return phrase(
                    "Your editor shows {path} with changes that are not saved: they would stand "
                    "against what is written now.",
                    path=visible(path),
                )
        return None

    def _unsaved(self, name: str) -> str:
        """Return the path of the file *name* where the editor has it with changes, else ""."""
        try:
            path = self._project.resolve(name)
            saved = self._project.read_text(path).text
        except ToolError:  # none on disk, or no text: the tool itself will say it
            return ""
        shown = self.editor_text(path) if self.editor_text else None
        return path if shown is not None and differs(saved, shown) else ""


def differs(saved: str, shown: str) -> bool:
    """Return whether an editor that shows *shown* has changed *saved*, whatever its line ends."""
    return saved.removeprefix("\ufeff").splitlines() != shown.removeprefix("\ufeff").splitlines()
