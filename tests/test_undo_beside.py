"""`/undo` takes back the last call or turn whatever it changed: notes, todos, focus, memory."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.events import CommandAnswered, Reply
from core.loop.turn import drive
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply


def answer(env: AssembledTerminal, line: str, *, ok: bool = True) -> TableCard:
    (event,) = run_turn(env.terminal, line)
    assert isinstance(event, CommandAnswered)
    assert event.ok is ok, event.card
    assert isinstance(event.card, TableCard) or not ok
    return event.card  # type: ignore[return-value]


def allow(env: AssembledTerminal, line: str) -> None:
    """Run *line* with a person who says yes: to remember something needs that."""
    drive(env.terminal.run_line(line), lambda _: Reply(yes=True))


def todos(title: str, id: str = "t") -> Any:
    return call_reply("update_todos", id=id, todos=[{"title": title, "status": "pending"}])


def note(text: str, id: str = "n", path: str = "a.txt") -> Any:
    return call_reply("annotate_file", id=id, path=path, note=text)


def picture(env: AssembledTerminal) -> dict[str, Any]:
    """Return what this is about, as the features have it."""
    states = env.terminal.features.state()
    return {name: states[name] for name in ("notes", "todos", "focus", "memory")}


CALLS = {
    "note": note("about a"),
    "todos": todos("first"),
    "focus": call_reply("focus_file", id="f", path="a.txt"),
    "memory": call_reply("remember", id="m", text="tabs, not spaces"),
}


@pytest.mark.parametrize("how", ["/undo", "/undo call"])
@pytest.mark.parametrize("what", list(CALLS))
def test_a_call_that_changed_no_file_is_taken_back(tmp_path: Path, what: str, how: str) -> None:
    replies = [text_reply("did it")] * (2 if what == "todos" else 1)
    with assembled_terminal(tmp_path, CALLS[what], *replies, text_reply("ok")) as env:
        (env.root / "a.txt").write_text("a\n")
        before = picture(env)
        allow(env, "do it")
        after = picture(env)
        assert after != before
        card = answer(env, how)
        assert "1" in str(card.title)
        assert len(card.rows) == 1
        assert picture(env) == before
        answer(env, "/redo")
        assert picture(env) == after
        answer(env, "/undo")
        answer(env, "/undo", ok=False)
        run_turn(env.terminal, "go on")
        told = str(env.model.requests[-1])
        assert "The person took back what turn 1 did beside files (undo" in told


def test_a_turn_goes_back_with_all_that_it_changed(tmp_path: Path) -> None:
    made = call_reply("create_file", id="c", path="b.txt", content="b\n")
    with assembled_terminal(
        *(tmp_path, made, note("on b", path="b.txt"), todos("x")),
        *(text_reply("done"), text_reply("done")),
    ) as env:
        (env.root / "a.txt").write_text("a\n")
        before = picture(env)
        run_turn(env.terminal, "do it")
        after = picture(env)
        rows = answer(env, "/undo").rows
        assert not (env.root / "b.txt").exists()
        assert picture(env)["todos"] == before["todos"]
        assert any("todos" in str(row[1]) for row in rows)
        answer(env, "/redo")
        assert (env.root / "b.txt").read_text() == "b\n"
        assert picture(env) == after


def test_the_last_call_is_the_one_that_came_last(tmp_path: Path) -> None:
    made = call_reply("create_file", id="c", path="b.txt", content="b\n")
    later = call_reply("create_file", id="d", path="c.txt", content="c\n")
    with assembled_terminal(
        *(tmp_path, made, todos("one"), later, note("n")),
        *(text_reply("done"), text_reply("done")),
    ) as env:
        (env.root / "a.txt").write_text("a\n")
        run_turn(env.terminal, "do it")
        answer(env, "/undo call")
        assert picture(env)["notes"] == {}
        assert (env.root / "c.txt").exists()
        answer(env, "/undo call")
        assert not (env.root / "c.txt").exists()
        assert len(picture(env)["todos"]) == 1
        answer(env, "/undo call")
        assert picture(env)["todos"] == []
        assert (env.root / "b.txt").exists()
        answer(env, "/undo call")
        assert not (env.root / "b.txt").exists()
        for _ in range(4):
            answer(env, "/redo")
        assert len(picture(env)["todos"]) == 1
        assert picture(env)["notes"] == {"a.txt": "n"}


def test_what_the_person_changed_since_stays(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, note("by the model"), text_reply("done")) as env:
        (env.root / "a.txt").write_text("a\n")
        (env.root / "b.txt").write_text("b\n")
        run_turn(env.terminal, "do it")
        run_turn(env.terminal, "/note a.txt by me")
        run_turn(env.terminal, "/note b.txt mine")
        run_turn(env.terminal, "/remember mine as well")
        answer(env, "/undo")
        assert picture(env)["notes"] == {"a.txt": "by me", "b.txt": "mine"}
        (kept,) = picture(env)["memory"]
        assert kept.endswith("] mine as well")


def test_it_outlives_a_new_start(tmp_path: Path) -> None:
    done = [text_reply("done"), text_reply("done")]
    with assembled_terminal(tmp_path, todos("one"), *done, todos("two", "u"), *done) as env:
        run_turn(env.terminal, "do it")
        run_turn(env.terminal, "do more")
        answer(env, "/undo")
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        assert [todo["title"] for todo in picture(env)["todos"]] == ["one"]
        answer(env, "/undo")
        assert picture(env)["todos"] == []
        answer(env, "/redo")
        answer(env, "/redo")
        assert [todo["title"] for todo in picture(env)["todos"]] == ["two"]


def test_a_turn_by_its_number(tmp_path: Path) -> None:
    made = call_reply("create_file", id="c", path="b.txt", content="b\n")
    with assembled_terminal(
        tmp_path, note("n"), text_reply("done"), made, text_reply("done")
    ) as env:
        (env.root / "a.txt").write_text("a\n")
        run_turn(env.terminal, "one")
        run_turn(env.terminal, "two")
        answer(env, "/undo turn 1")
        assert picture(env)["notes"] == {}
        assert (env.root / "b.txt").exists()


@pytest.mark.parametrize("line", ["/undo turn 99", "/redo turn 99", "/diff 99", "/rewind 99"])
def test_a_turn_that_never_was_is_said(tmp_path: Path, line: str) -> None:
    with assembled_terminal(
        tmp_path, call_reply("create_file", path="a", content="a\n"), text_reply("done")
    ) as env:
        run_turn(env.terminal, "do it")
        run_turn(env.terminal, "/undo")
        (event,) = run_turn(env.terminal, line)
        assert isinstance(event, CommandAnswered)
        assert not event.ok
        assert isinstance(event.card, TextCard)
        assert "No turn 99" in str(event.card.title)


@pytest.mark.parametrize("is_new_start", [False, True])
@pytest.mark.parametrize("what", ["rename", "delete"])
def test_the_focus_goes_with_undo_and_redo(tmp_path: Path, what: str, is_new_start: bool) -> None:
    does = {
        "rename": call_reply("rename_file", path="a.txt", new_path="sub/b.txt"),
        "delete": call_reply("delete_file", path="a.txt"),
    }[what]
    done = ["sub/b.txt"] if what == "rename" else []
    with ExitStack() as stack:
        env = stack.enter_context(
            assembled_terminal(tmp_path, does, text_reply("done"), text_reply("looked"))
        )

        def again() -> AssembledTerminal:
            if not is_new_start:
                return env
            stack.close()
            made = stack.enter_context(assembled_terminal(tmp_path))
            made.terminal.resume()
            return made

        (env.root / "a.txt").write_text("one\ntwo\nthree\n")
        run_turn(env.terminal, "/focus a.txt")
        run_turn(env.terminal, "do it")
        assert picture(env)["focus"] == done
        again_gone = done or ["a.txt"]  # that it is gone is told with the next task
        for line, expected in (("/undo", ["a.txt"]), ("/redo", again_gone), ("/undo", ["a.txt"])):
            env = again()
            answer(env, line)
            assert picture(env)["focus"] == expected, line
