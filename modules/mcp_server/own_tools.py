"""The tools that only clients have: whole tasks, and undo, which a person types elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from core.cards import TextCard
from core.events import CommandAnswered
from core.feature import name_of
from core.tool_spec import ToolSpec
from core.tools import Outcome, Risk, Tool, ToolError
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.cli.render.cards.plain_cards import card_text
from modules.translator import Translator
from utils.i18n import phrase

client_tool = ToolSpec
"""Marks a tool that only clients have: no model of ours is offered it."""
RunCommand = Callable[[str], CommandAnswered]
RunTask = Callable[[str, str | None, bool | None, bool], Outcome]
"""Runs a task, by which model, thinking or not, in a new session or not. Raises `UserError`."""


class OwnTools:
    """*run_command* does a slash command, *run_task* a whole task."""

    def __init__(self, run_command: RunCommand, run_task: RunTask) -> None:
        self._run_command = run_command
        self._run_task = run_task
        self._english = Translator("en", {})

    def all(self) -> list[Tool]:
        """Return them in the order in which a client sees them."""
        methods = (self.undo, self.redo, self.undo_list, self.diff, self.do_task)
        return [Tool.of(method) for method in methods]

    @property
    def task_name(self) -> str:
        return self.do_task.__name__

    @client_tool(Risk.WRITE, phrase("Undo the changes of a call or task."))
    def undo(self, turn: Annotated[int | None, "its number; default: the last"] = None) -> Outcome:
        """Take back what the last call or task did to the files. Redo takes the undo back."""
        return self._command(UndoCommands.undo, _turn(turn))

    @client_tool(Risk.WRITE, phrase("Redo what was undone."))
    def redo(self, turn: Annotated[int | None, "its number; default: the last"] = None) -> Outcome:
        """Take back the last undo, or make the changes of a turn again."""
        return self._command(UndoCommands.redo, _turn(turn))

    @client_tool(Risk.READ, phrase("List what can be undone."))
    def undo_list(self) -> Outcome:
        """List the calls that changed files, with the numbers of their turns."""
        return self._command(UndoCommands.undo, "list")

    @client_tool(Risk.READ, phrase("Show what changed in the files."))
    def diff(
        self,
        turn: Annotated[int | None, "default: the whole session"] = None,
        path: Annotated[str | None, "one file, line by line"] = None,
    ) -> Outcome:
        """Show what changed in the files since before a turn."""
        words = [str(turn)] if turn is not None else []
        return self._command(UndoCommands.diff, " ".join([*words, *([path] if path else [])]))

    @client_tool(Risk.RUN, phrase("Let Onefold's own agent do a whole task."))
    def do_task(
        self,
        task: str,
        model: Annotated[str | None, "name; default: as configured"] = None,
        think: Annotated[bool | None, "think first; default: as configured"] = None,
        new_session: bool = False,
    ) -> Outcome:
        """Let Onefold's own agent do a whole task in the project, with its own model.

        It knows what was done in this session before, unless new_session is set.
        """
        if not task.strip():
            raise ToolError("The task is empty; say what is to be done.")
        return self._run_task(task, model, think, new_session)

    def _command(self, method: Callable[..., object], argument: str) -> Outcome:
        """Return what the slash command *method* answers."""
        command = name_of(method)
        answer = self._run_command(f"{command} {argument}".rstrip())
        text = card_text(answer.card, self._english) if answer.card else command
        return Outcome(text, answer.card or TextCard(command), ok=answer.ok)


def _turn(number: int | None) -> str:
    return "" if number is None else f"turn {number}"
