"""The model's plan for a task, kept where the person sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypedDict

from core.cards import Todo, TodoCard
from core.feature import Feature
from core.hooks import KeepsState, MarksProgress, ProvidesStatus, RemembersWork
from core.tools import Outcome, Risk, ToolError, tool
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain


class TodoItem(TypedDict):
    title: str
    status: Literal["pending", "in_progress", "completed", "done"]


MAX_NAMED = 3
"""Todos that are named at the end of a task."""


class Todos(Feature, ProvidesStatus, KeepsState, MarksProgress, RemembersWork):
    """One list for the session; every update replaces it whole."""

    def __init__(self) -> None:
        self._todos: tuple[Todo, ...] = ()

    @tool(
        Risk.WRITE,
        phrase("Keep the list of what is to be done."),
        verb=phrase("Plan"),
        icon="plan",
        subject="",
        state="todos",
        touches_nothing=True,
    )
    def update_todos(self, todos: list[TodoItem]) -> Outcome:
        """Show the person your plan for a task of three steps or more: the whole list each time."""
        if any(not item["title"].strip() for item in todos):
            raise ToolError(phrase("Every todo needs a title; the list was not changed."))
        self._todos = tuple(map(_to_todo, todos))
        return Outcome(f"Noted: {self._done_count} of {len(todos)} done.", TodoCard(self._todos))

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        if not self._todos:
            return []
        summary = phrase("{done} of {count} done", done=self._done_count, count=len(self._todos))
        return [(phrase("Todos"), summary)]

    def state(self) -> dict[str, Any]:
        return {"todos": to_plain(self._todos)}

    def restore(self, state: dict[str, Any]) -> None:
        self._todos = from_plain(tuple[Todo, ...], state.get("todos", []))

    def undo_change(self, before: Any, after: Any) -> list[Phrase]:
        """Make the list what it was *before*, unless it was replaced after *after*."""
        if self.state()["todos"] != (after or []):
            return []
        self.restore({"todos": before or []})
        if not self._todos:
            return [phrase("the todos (none, as before)")]
        return [phrase("the todos ({count}, as before)", count=len(self._todos))]

    def state_fingerprint(self) -> str:
        return repr(self._todos) if self._todos else ""

    def compaction_notes(self) -> str:
        """Return the list, unless all of it is done."""
        if self._done_count == len(self._todos):
            return ""
        lines = [f"- [{todo.status}] {todo.title}" for todo in self._todos]
        return "\n".join(["Your todos:", *lines])

    def unfinished_work(self) -> Phrase | None:
        titles = [todo.title for todo in self._todos if todo.status != "completed"]
        if not titles:
            return None
        listed: Text = visible(titles[0])
        for title in titles[1:MAX_NAMED]:
            listed = phrase("{todos}; {todo}", todos=listed, todo=visible(title))
        others = len(titles) - MAX_NAMED
        if others > 0:
            return phrase("Still to do: {todos}; and {n} more", todos=listed, n=others)
        return phrase("Still to do: {todos}", todos=listed)

    @property
    def _done_count(self) -> int:
        return sum(todo.status == "completed" for todo in self._todos)


def _to_todo(item: TodoItem) -> Todo:
    status = item["status"]
    return Todo(item["title"].strip(), "completed" if status == "done" else status)
