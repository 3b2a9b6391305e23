"""The model's plan for a task, kept where the person sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, Literal, TypedDict

from core.cards import DiffCard, RunCard, Todo, TodoCard
from core.conversation.messages import Assistant, Context, Record, ToolResult
from core.conversation.result_texts import ROLLED_BACK_PREFIX
from core.feature import Feature, Section, SessionHandle
from core.hooks import (
    AsksAtEnd,
    BindsToSession,
    KeepsState,
    MarksProgress,
    PreparesContext,
    PreparesTurns,
    ProvidesContext,
    ProvidesStatus,
    RemembersWork,
)
from core.tool_spec import OtherNames
from core.tools import Outcome, Risk, ToolError, tool
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain


class TodoItem(TypedDict):
    title: str
    status: Literal["pending", "in_progress", "completed", "done"]


MAX_NAMED = 3
"""Todos that are named to the person at the end of a task."""
STEPS_BETWEEN = 6
"""Replies of the model after which open todos are told again."""
SECTION = "todos"
"""The section of context that the open todos are."""
_QUESTION_START = "Your list has open todos:"
NOT_DONE = (
    f"{_QUESTION_START}\n{{todos}}\nIs the task done? Do what is left and can be done; update "
    "the list where a todo is done or not needed any more. Then give the person your whole answer "
    "anew. You are asked once."
)


class Todos(
    Feature,
    BindsToSession,
    PreparesTurns,
    PreparesContext,
    ProvidesContext,
    ProvidesStatus,
    KeepsState,
    MarksProgress,
    RemembersWork,
    AsksAtEnd,
):
    """One list for the session; every update replaces it whole.

    What of it is open stands at the end of what the model reads where it changed: as the model's
    own call, or told where that is not the last word. After `STEPS_BETWEEN` steps it is told again.
    """

    def __init__(self) -> None:
        self._todos: tuple[Todo, ...] = ()
        self._session_handle: SessionHandle | None = None
        self._new_call_todos: tuple[Todo, ...] | None = None
        """The list of a call since the last request."""
        self._known_todos: tuple[Todo, ...] | None = None
        """That of a call whose answer ends the request to be sent, or that leaves none open."""

    @tool(
        Risk.WRITE,
        phrase("Keep the to-do list."),
        verb=phrase("Plan"),
        icon="plan",
        subject="",
        state="todos",
        touches_nothing=True,
        other_names=(
            OtherNames(
                "todo write, todowrite, write todos, update todo list, update plan",
                item_names={"content": "title", "step": "title", "task": "title"}
                | {"title": "title", "status": "status"},
            ),
        ),
    )
    def update_todos(self, todos: list[TodoItem]) -> Outcome:
        """Show the person your plan for a task of three steps or more: the whole list each time."""
        if any(not item["title"].strip() for item in todos):
            raise ToolError(phrase("Every todo needs a title; the list was not changed."))
        self._todos = self._new_call_todos = tuple(map(_to_todo, todos))
        return Outcome(f"Noted: {self._done_count} of {len(todos)} done.", TodoCard(self._todos))

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def on_turn_start(self) -> None:
        self._new_call_todos = None  # older turns may give way without what is told in this one

    def before_request(self) -> None:
        is_known = self._new_call_todos is not None and (
            self._is_call_last() or not self._open_lines()
        )
        self._known_todos = self._new_call_todos if is_known else None
        self._new_call_todos = None

    def _is_call_last(self) -> bool:
        """Return whether nothing stands behind the call of the list: it is read at the end."""
        last = next(self._task_records(), None)
        return isinstance(last, ToolResult) and last.name == Todos.update_todos.__name__

    def context(self) -> Iterable[Section]:
        is_known = self._known_todos == self._todos
        if not self._todos and not is_known:
            return []
        text = self._open_text()
        if is_known:
            return [Section(SECTION, text, telling="known")]
        return [Section(SECTION, text, telling="again" if text and self._is_due() else "changed")]

    def _open_text(self) -> str:
        """Return the open todos as the model reads them, "" where there are none."""
        if self._session_handle is None or not (lines := self._open_lines()):
            return ""
        head = f"Your open todos ({self._done_count} of {len(self._todos)} done):"
        return self._session_handle.redact("\n".join([head, *lines]))

    def _open_lines(self) -> list[str]:
        return [f"- [{todo.status}] {todo.title}" for todo in self._todos if _is_open(todo)]

    def _is_due(self) -> bool:
        """Return whether the model replied so often since the todos last stood before it."""
        if self._session_handle is None:
            return False
        count = 0
        for _, record in reversed(self._session_handle.history.records):
            if isinstance(record, Context) and (SECTION in record.sections or _asks(record)):
                return False
            count += isinstance(record, Assistant)
            if count == STEPS_BETWEEN:
                return True
        return False

    def question_at_end(self) -> str:
        """Ask about what is open, where the task kept the list, changed files or ran something.

        Not where the person has rolled it back.
        """
        if self._session_handle is None or not (lines := self._open_lines()):
            return ""
        has_worked = False
        for record in self._task_records():
            match record:
                case ToolResult(text=text) if text.startswith(ROLLED_BACK_PREFIX):
                    return ""
                case ToolResult(state="done", card=DiffCard() | RunCard() | TodoCard()):
                    has_worked = True
                case Context() if _asks(record):
                    return ""
        question = NOT_DONE.format(todos="\n".join(lines))
        return self._session_handle.redact(question) if has_worked else ""

    def _task_records(self) -> Iterator[Record]:
        """Yield what was said and done in the task so far, newest first."""
        if self._session_handle is not None:
            history = self._session_handle.history
            newest = takewhile(lambda one: one[0] == history.turn, reversed(history.records))
            yield from (record for _, record in newest)

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
            return [phrase("the todos (none, unchanged)")]
        return [phrase("the todos ({count}, unchanged)", count=len(self._todos))]

    def state_fingerprint(self) -> str:
        return repr(self._todos) if self._todos else ""

    def compaction_notes(self) -> str:
        """Return what is done; the section of context, with what is not, is told again."""
        done = [todo.title for todo in self._todos if not _is_open(todo)]
        return (
            "\n".join(["Todos that are done:", *(f"- {title}" for title in done)]) if done else ""
        )

    def unfinished_work(self) -> Phrase | None:
        titles = [todo.title for todo in self._todos if _is_open(todo)]
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
        return sum(not _is_open(todo) for todo in self._todos)


def _asks(context: Context) -> bool:
    return context.text.startswith(_QUESTION_START)


def _is_open(todo: Todo) -> bool:
    return todo.status != "completed"


def _to_todo(item: TodoItem) -> Todo:
    status = item["status"]
    return Todo(item["title"].strip(), "completed" if status == "done" else status)
