"""Previews of calls on files, as cards, without doing any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.cards import Card, DiffCard, TextCard
from core.loop.approval_flow import format_arguments
from core.tools import ToolError
from modules.files.editing.edit_operations import EditRequest, apply_edit, refuse_placeholders
from modules.files.editing.text_file import NotText, TextFile
from modules.files.project import Project
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.line_diff import text_diff

_MAX_LINES = 4_000
"""Lines of a difference that a question shows: nobody should say yes to what they cannot see."""
_MAX_DEPTH = 8


class FilePreviews:
    """Previews of what the file tools would make of the *project* as it is now."""

    def __init__(
        self,
        project: Project,
        notes: Callable[[str], Text],
        exists_already: Callable[[str], Phrase],
    ) -> None:
        """*exists_already* says that there is a file where a new one was wanted."""
        self._project = project
        self._notes = notes
        self._exists_already = exists_already

    def card(self, intent: Callable[..., Card], arguments: Mapping[str, Any]) -> Card:
        """Return what a call with *arguments* would do, as *intent* shows it, a method of ours.

        Of one that would fail, why.
        """
        try:
            return intent(**arguments)
        except ToolError as error:
            title = phrase("This would fail: {why}", why=error.message)
            return TextCard(title, format_arguments(arguments))

    def create_file(self, path: str, content: str, overwrite: bool = False) -> Card:
        name = self._project.resolve(path)
        is_there = self._project.stat(name) is not None
        if is_there and not overwrite:
            raise ToolError(self._exists_already(visible(name)))
        before = self._project.read_text(name).text if is_there else ""
        if is_there:
            is_shorter = content.count("\n") < before.count("\n")
            refuse_placeholders(content, before, is_shorter=is_shorter)
        note = phrase("Replaces the whole file.") if is_there else phrase("A new file.")
        return _diff_card(visible(name), before, content.replace("\r\n", "\n"), note)

    def modify_file(self, path: str, **asked: Any) -> Card:
        name = self._project.resolve(path)
        before = self._project.read_text(name).text
        done = apply_edit(before, EditRequest(**asked), name)
        return _diff_card(visible(name), before, done.text, done.tolerated or "")

    def rename_file(self, path: str, new_path: str) -> Card:
        old, new = visible(self._project.resolve(path)), visible(self._project.resolve(new_path))
        note = phrase("Renamed to {path}; the content stays the same.", path=new)
        return DiffCard(old, f"@@ -1 +1 @@\n-{old}\n+{new}", 0, 0, note)

    def delete_file(self, path: str) -> Card:
        name = self._project.resolve(path)
        data = self._project.read_bytes(name)
        try:
            text = TextFile.decode(data).text
        except NotText as error:
            what = phrase("{path} will be deleted.", path=visible(name))
            return TextCard(what, _binary_description(error.kind, len(data)))
        return _diff_card(visible(name), text, "", phrase("The file will be deleted."))

    def delete_folder(self, path: str, recursive: bool = False) -> Card:  # noqa: ARG002
        from modules.files.listing import FolderListing  # for calls only

        name = self._project.resolve(path)
        return FolderListing.of(self._project, name, _MAX_DEPTH, self._notes).card(name)


def _binary_description(kind: Text, count: int) -> Phrase:
    if count == 1:
        return phrase("Not text: {kind}, 1 byte", kind=kind)
    return phrase("Not text: {kind}, {n:,} bytes", kind=kind, n=count)


def _diff_card(name: str, before: str, after: str, note: Text) -> DiffCard:
    change = text_diff(before, after)
    return DiffCard(name, change.truncated(_MAX_LINES), change.added, change.removed, note)
