"""The plan is shown as it is, and comes back with the session."""

from __future__ import annotations

import json

import pytest

from core.cards import Todo, TodoCard
from core.conversation.messages import ToolCall
from core.tools import Tool, ToolError
from modules.todos import TodoItem, Todos
from modules.translator import Translator


def test_an_update_replaces_the_list_and_is_shown() -> None:
    todos = Todos()
    todos.update_todos([{"title": "old", "status": "pending"}])
    outcome = todos.update_todos(
        [{"title": " 读文件 ", "status": "completed"}, {"title": "b", "status": "in_progress"}]
    )
    assert outcome.card == TodoCard((Todo("读文件", "completed"), Todo("b", "in_progress")))
    assert outcome.text == "Noted: 1 of 2 done."
    assert [str(value) for _, value in todos.status()] == ["1 of 2 done"]


def test_the_list_belongs_to_the_session() -> None:
    todos, again = Todos(), Todos()
    todos.update_todos([{"title": "a", "status": "pending"}])
    again.restore(json.loads(json.dumps(todos.state())))
    assert again.state() == todos.state() == {"todos": [{"title": "a", "status": "pending"}]}
    again.restore({})
    assert list(again.status()) == []


def test_a_todo_without_title_or_with_another_status_is_refused() -> None:
    todos = Todos()
    with pytest.raises(ToolError, match="needs a title"):
        todos.update_todos([{"title": " ", "status": "pending"}])
    call = ToolCall("1", "update_todos", '{"todos": [{"title": "a", "status": "maybe"}]}')
    with pytest.raises(ToolError, match=r"todos\[0\].status must be one of"):
        Tool.of(todos.update_todos).arguments(call)


def test_it_touches_nothing() -> None:
    assert Tool.of(Todos().update_todos).spec.touches_nothing


def test_what_is_taken_back_is_said_in_plain_words() -> None:
    todos = Todos()
    todos.update_todos([{"title": "a", "status": "pending"}])
    first = todos.state()["todos"]
    todos.update_todos([])
    assert [str(said) for said in todos.undo_change(first, [])] == ["the todos (1, unchanged)"]
    assert [str(said) for said in todos.undo_change([], first)] == ["the todos (none, unchanged)"]


def test_done_is_a_status_and_what_is_left_is_named_at_the_end() -> None:
    todos = Todos()
    assert todos.unfinished_work() is None
    titles = ["a", "b", "c", "d", "e"]
    todos.update_todos([{"title": "z", "status": "done"}])
    assert todos.unfinished_work() is None
    pending: list[TodoItem] = [{"title": title, "status": "pending"} for title in titles]
    todos.update_todos([{"title": "z", "status": "done"}, *pending])
    left = todos.unfinished_work()
    assert left is not None
    assert str(left) == "Still to do: a; b; c; and 2 more"
    assert Translator.of("zh").render(left) == "尚未完成：a；b；c；另有 2 项"
