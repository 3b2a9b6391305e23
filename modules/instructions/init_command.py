"""`/init`: writes an AGENTS.md from what is found in the project, and confirms those that are."""

from __future__ import annotations

from typing import Literal

from core.cards import Card, Change, DiffCard, TableCard, TextCard
from core.conversation.messages import ShellResult
from core.events import CommandAnswered
from core.feature import Feature, SessionHandle, command, name_of
from core.hooks import BindsToSession, RecordsCalls
from modules.files.project import Project
from modules.instructions.feature import Instructions
from modules.instructions.files import AGENTS_FILE
from utils.i18n import UserError, phrase
from utils.text.line_diff import text_diff


class Init(Feature, BindsToSession):
    """The command `/init`; *recorder* makes what it writes undoable."""

    def __init__(
        self, project: Project, instructions: Instructions, recorder: RecordsCalls
    ) -> None:
        self._project = project
        self._instructions = instructions
        self._recorder = recorder
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    @command(
        "/init [follow|replace]",
        "Write a short AGENTS.md; “follow” approves the existing ones.",
        changes_files=True,
    )
    def init(self, argument: str) -> Card | CommandAnswered:
        if argument == "follow":
            return self._follow()
        if argument not in ("", "replace"):
            raise UserError(phrase("Usage: /init, /init replace or /init follow."))
        from modules.instructions.draft import draft  # every start loads this file

        text = draft(self._project)
        is_there = self._project.stat(AGENTS_FILE) is not None
        before = self._project.read_text(AGENTS_FILE).text if is_there else ""
        other = "" if is_there else self._instructions.path_in_project()
        if argument == "replace" or not (is_there or other):
            return self._write(f"{name_of(self.init)} {argument}".strip(), text, before)
        note = phrase("The file already exists and was not changed; /init replace writes this.")
        if other:
            note = phrase(
                "Not written: the model follows {path}, and beside AGENTS.md it would not. "
                "/init replace writes this.",
                path=other,
            )
        diff = text_diff(before, text)
        return DiffCard(AGENTS_FILE, diff.diff, diff.added, diff.removed, note)

    def _follow(self) -> Card:
        paths = self._instructions.confirm_all()
        if not paths:
            return TextCard(phrase("All instructions are already followed."))
        title = phrase("The model now follows them.")
        return TableCard(title, tuple((path,) for path in paths))

    def _write(self, line: str, text: str, before: str) -> CommandAnswered:
        """Write the file in a turn of its own, to be undone like one."""
        handle = self._session_handle
        turn = handle.begin_turn(line) if handle else 0
        call_id = f"init-{turn}"
        self._recorder.before_call(call_id, turn)
        try:
            self._project.write_bytes(AGENTS_FILE, text.encode())
        finally:
            self._recorder.after_call(call_id, turn)
        self._instructions.confirm(AGENTS_FILE)
        diff = text_diff(before, text)
        note = phrase("The model follows it starting with the next message. /undo removes it.")
        card = DiffCard(AGENTS_FILE, diff.diff, diff.added, diff.removed, note)
        if handle:
            handle.record(ShellResult(call_id, line, "", "done", card, 0.0, is_private=True))
        kind: Literal["created", "modified"] = "modified" if before else "created"
        return CommandAnswered(name_of(self.init), card, changes=(Change(kind, AGENTS_FILE),))
