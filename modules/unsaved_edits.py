"""Edits that the person's editor shows and has not saved: no call writes past them unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from core.tools import ToolError
from modules.files.project import Project
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

EditorText = Callable[[str], str | None]
"""Gives the text of a path of the project as the editor has it, None where it does not say."""


def unsaved_reason(
    project: Project, names: Iterable[str], editor_text: EditorText
) -> Phrase | None:
    """Return why the person is to be asked before the files *names* are changed, None for no
    reason."""
    for name in names:
        try:
            path = project.resolve(name)
            saved = project.read_text(path).text
        except ToolError:  # none on disk, or no text: the tool itself will say it
            continue
        shown = editor_text(path)
        if shown is not None and differs(saved, shown):
            return phrase(
                "Your editor shows {path} with changes that are not saved: they would stand "
                "against what is written now.",
                path=visible(path),
            )
    return None


def differs(saved: str, shown: str) -> bool:
    """Return whether an editor that shows *shown* has changed *saved*, whatever its line ends."""
    return saved.removeprefix("\ufeff").splitlines() != shown.removeprefix("\ufeff").splitlines()
