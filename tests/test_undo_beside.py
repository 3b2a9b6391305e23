"""`/undo` takes back the last call or turn whatever it changed: notes, todos, focus, memory."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.events import CommandAnswered, Reply
from core.loop.turn import drive
from tests.assembly import House, house
from tests.scripted import call, run, say


def answer(here: House, line: str, *, ok: bool = True) -> TableCard:
    (event,) = run(here.main, line)
    assert isinstance(event, CommandAnswered)
    assert event.ok is ok, event.card
    assert isinstance(event.card, TableCard) or not ok
    return event.card  # type: ignore[return-value]


def allow(here: House, line: str) -> None:
    """Run *line* with a person who says yes: to remember something needs that."""
    drive(here.main.ask(line), lambda _: Reply(yes=True))


def todos(title: str, id: str = "t") -> Any:
    return call("update_todos", id=id, todos=[{"title": title, "status": "pending"}])


def note(text: str, id: str = "n", path: str = "a.txt") -> Any:
    return call("annotate_file", id=id, path=path, note=text)


def picture(here: House) -> dict[str, Any]:
    """Return what this is about, as the families have it."""
    states = here.main.features.state()
    return {name: states[name] for name in ("notes", "todos", "focus", "memory")}


CALLS = {
    "note": note("about a"),
    "todos": todos("first"),
    "focus": call("focus_file", id="f", path="a.txt"),
    "memory": call("remember", id="m", text="tabs, not spaces"),
}


@pytest.mark.parametrize("how", ["/undo", "/undo call"])
@pytest.mark.parametrize("what", list(CALLS))
def test_a_call_that_changed_no_file_is_taken_back(tmp_path: Path, what: str, how: str) -> None:
    with house(tmp_path, CALLS[what], say("did it"), say("ok")) as here:
        (here.root / "a.txt").write_text("a\n")
        before = picture(here)
        allow(here, "do it")
        after = picture(here)
        assert after != before
        card = answer(here, how)
        assert "1" in str(card.title)
        assert len(card.rows) == 1
        assert picture(here) == before
        answer(here, "/redo")
        assert picture(here) == after
        answer(here, "/undo")
        answer(here, "/undo", ok=False)
        run(here.main, "go on")
        told = str(here.model.requests[-1])
        assert "The person took back what turn 1 did beside files (undo" in told


def test_a_turn_goes_back_with_all_that_it_changed(tmp_path: Path) -> None:
    made = call("create_file", id="c", path="b.txt", content="b\n")
    with house(tmp_path, made, note("on b", path="b.txt"), todos("x"), say("done")) as here:
        (here.root / "a.txt").write_text("a\n")
        before = picture(here)
        run(here.main, "do it")
        after = picture(here)
        rows = answer(here, "/undo").rows
        assert not (here.root / "b.txt").exists()
        assert picture(here)["todos"] == before["todos"]
        assert any("todos" in str(row[1]) for row in rows)
        answer(here, "/redo")
        assert (here.root / "b.txt").read_text() == "b\n"
        assert picture(here) == after


def test_the_last_call_is_the_one_that_came_last(tmp_path: Path) -> None:
    made = call("create_file", id="c", path="b.txt", content="b\n")
    later = call("create_file", id="d", path="c.txt", content="c\n")
    with house(tmp_path, made, todos("one"), later, note("n"), say("done")) as here:
        (here.root / "a.txt").write_text("a\n")
        run(here.main, "do it")
        answer(here, "/undo call")
        assert picture(here)["notes"] == {}
        assert (here.root / "c.txt").exists()
        answer(here, "/undo call")
        assert not (here.root / "c.txt").exists()
        assert len(picture(here)["todos"]) == 1
        answer(here, "/undo call")
        assert picture(here)["todos"] == []
        assert (here.root / "b.txt").exists()
        answer(here, "/undo call")
        assert not (here.root / "b.txt").exists()
        for _ in range(4):
            answer(here, "/redo")
        assert len(picture(here)["todos"]) == 1
        assert picture(here)["notes"] == {"a.txt": "n"}


def test_what_the_person_changed_since_stays(tmp_path: Path) -> None:
    with house(tmp_path, note("by the model"), say("done")) as here:
        (here.root / "a.txt").write_text("a\n")
        (here.root / "b.txt").write_text("b\n")
        run(here.main, "do it")
        run(here.main, "/note a.txt by me")
        run(here.main, "/note b.txt mine")
        run(here.main, "/remember mine as well")
        answer(here, "/undo")
        assert picture(here)["notes"] == {"a.txt": "by me", "b.txt": "mine"}
        assert picture(here)["memory"] == ["mine as well"]


def test_it_outlives_a_new_start(tmp_path: Path) -> None:
    with house(tmp_path, todos("one"), say("done"), todos("two", "u"), say("done")) as here:
        run(here.main, "do it")
        run(here.main, "do more")
        answer(here, "/undo")
    with house(tmp_path) as here:
        here.main.resume()
        assert [todo["title"] for todo in picture(here)["todos"]] == ["one"]
        answer(here, "/undo")
        assert picture(here)["todos"] == []
        answer(here, "/redo")
        answer(here, "/redo")
        assert [todo["title"] for todo in picture(here)["todos"]] == ["two"]


def test_a_turn_by_its_number(tmp_path: Path) -> None:
    made = call("create_file", id="c", path="b.txt", content="b\n")
    with house(tmp_path, note("n"), say("done"), made, say("done")) as here:
        (here.root / "a.txt").write_text("a\n")
        run(here.main, "one")
        run(here.main, "two")
        answer(here, "/undo turn 1")
        assert picture(here)["notes"] == {}
        assert (here.root / "b.txt").exists()


@pytest.mark.parametrize("line", ["/undo turn 99", "/redo turn 99", "/diff 99", "/rewind 99"])
def test_a_turn_that_never_was_is_said(tmp_path: Path, line: str) -> None:
    with house(tmp_path, call("create_file", path="a", content="a\n"), say("done")) as here:
        run(here.main, "do it")
        run(here.main, "/undo")
        (event,) = run(here.main, line)
        assert isinstance(event, CommandAnswered)
        assert not event.ok
        assert isinstance(event.card, TextCard)
        assert "There is no turn 99" in str(event.card.title)


@pytest.mark.parametrize("is_new_start", [False, True])
@pytest.mark.parametrize("what", ["rename", "delete"])
def test_the_focus_goes_with_undo_and_redo(tmp_path: Path, what: str, is_new_start: bool) -> None:
    does = {
        "rename": call("rename_file", path="a.txt", new_path="sub/b.txt"),
        "delete": call("delete_file", path="a.txt"),
    }[what]
    done = ["sub/b.txt"] if what == "rename" else []
    with ExitStack() as stack:
        here = stack.enter_context(house(tmp_path, does, say("done"), say("looked")))

        def again() -> House:
            if not is_new_start:
                return here
            stack.close()
            made = stack.enter_context(house(tmp_path))
            made.main.resume()
            return made

        (here.root / "a.txt").write_text("one\ntwo\nthree\n")
        run(here.main, "/focus a.txt")
        run(here.main, "do it")
        assert picture(here)["focus"] == done
        again_gone = done or ["a.txt"]  # that it is gone is told with the next task
        for line, expected in (("/undo", ["a.txt"]), ("/redo", again_gone), ("/undo", ["a.txt"])):
            here = again()
            answer(here, line)
            assert picture(here)["focus"] == expected, line
