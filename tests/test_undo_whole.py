"""Going back takes all with it: files, notes, focus, todos and what was said; and back again."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.events import CommandAnswered
from modules.annotations import Annotations
from modules.checkpoints.clone import clone_history
from modules.checkpoints.undo.undo_commands import UndoCommands
from tests.assembly import House, house
from tests.modules.checkpoints.folders import look
from tests.scripted import call, run, say
from utils.i18n import UserError, phrase


def answer(here: House, line: str, *, ok: bool = True) -> CommandAnswered:
    (event,) = run(here.main, line)
    assert isinstance(event, CommandAnswered)
    assert event.ok is ok, event.card
    return event


def write(name: str, text: str, id: str) -> Any:
    return call("create_file", id=id, path=name, content=text, overwrite=True)


def todos(title: str, id: str) -> Any:
    return call("update_todos", id=id, todos=[{"title": title, "status": "pending"}])


SCRIPT = [
    write("a.txt", "one\n", "c1"),
    call("annotate_file", id="c2", path="a.txt", note="first note"),
    todos("first", "c3"),
    say("did one"),
    write("b.txt", "two\n", "c4"),
    call("annotate_file", id="c5", path="a.txt", note="second note"),
    call("annotate_file", id="c6", path="b.txt", note="on b"),
    todos("second", "c7"),
    say("did two"),
]


def picture(here: House) -> dict[str, Any]:
    """Return all that going back is about."""
    state = dict(here.main.history.state)
    state.pop("taken_back", None)
    return {
        "files": {path: entry[2] for path, entry in look(here.root).items()},
        "notes": state.get("notes"),
        "state": state,
        "said": [m["content"] for m in here.main.history.wire() if m["role"] != "system"],
    }


def shown_todos(here: House) -> list[str]:
    return [todo["title"] for todo in here.main.history.state.get("todos", [])]


def test_rewind_takes_everything_back_and_redo_brings_it_again(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT, say("ok")) as here:
        run(here.main, "do one")
        answer(here, "/focus a.txt")
        before = picture(here)
        run(here.main, "do two")
        answer(here, "/unfocus a.txt")
        after = picture(here)
        assert answer(here, "/rewind 2").effect == "session"
        assert picture(here) == before
        assert shown_todos(here) == ["first"]
        assert answer(here, "/redo").effect == "session"
        assert picture(here) == after
        answer(here, "/rewind 2")
        run(here.main, "something else")
        request = here.model.requests[-1]
        assert [m["content"] for m in request if m["role"] == "user"] == [
            "do one", "something else",
        ]  # fmt: skip
        assert "went back to this point" in str(request[-2:])
        assert here.main.history.turns == [1, 3]


def test_what_was_rewound_stays_so_after_another_start(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT) as here:
        run(here.main, "do one")
        run(here.main, "do two")
        answer(here, "/rewind 2")
        before = picture(here)
    with house(tmp_path, say("ok"), say("ok")) as here:
        here.main.resume()
        assert picture(here) == before
        run(here.main, "go on")
        run(here.main, "and on")
        told = [m["content"] for m in here.model.requests[-1] if m["role"] == "system"]
        assert sum("went back to this point" in text for text in told) == 1
        answer(here, "/redo")
        assert here.main.history.turns == [1, 2, 3, 4]
        assert (here.root / "b.txt").read_text() == "two\n"


def test_the_files_alone_or_the_talk_alone(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT) as here:
        run(here.main, "do one")
        run(here.main, "do two")
        answer(here, "/rewind 2 files")
        assert not (here.root / "b.txt").exists()
        assert here.main.history.turns == [1, 2]
        answer(here, "/redo")
        card = answer(here, "/rewind 2 talk").card
        assert isinstance(card, TextCard)
        assert str(card.title).startswith("The conversation is as before turn 2")
        assert (here.root / "b.txt").exists()
        assert here.main.history.turns == [1]
        answer(here, "/redo")
        assert here.main.history.turns == [1, 2]


def test_a_turn_without_changes_can_be_gone_back_to(tmp_path: Path) -> None:
    with house(tmp_path, say("hello"), say("again")) as here:
        run(here.main, "hi")
        run(here.main, "hi again")
        answer(here, "/rewind")
        assert here.main.history.turns == [1]
        answer(here, "/rewind 1")
        assert here.main.history.turns == []
        answer(here, "/rewind 1", ok=False)
        answer(here, "/redo")
        answer(here, "/redo")
        assert here.main.history.turns == [1, 2]


def test_the_model_is_told_once_what_was_undone(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT[:4], say("ok"), say("ok")) as here:
        run(here.main, "do one")
        answer(here, "/undo")
        run(here.main, "go on")
        run(here.main, "go on")
        told = [m["content"] for m in here.model.requests[-1] if m["role"] == "system"]
        assert sum("took back what turn 1 did" in text and "a.txt" in text for text in told) == 1


def test_a_fork_goes_on_from_the_end_of_a_turn(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT, say("elsewhere")) as here:
        run(here.main, "do one")
        run(here.main, "do two")
        first = here.main.session
        assert answer(here, "/fork 1").effect == "session"
        assert here.main.session != first
        assert here.main.history.turns == [1]
        run(here.main, "do other")
        assert "did two" not in str(here.model.requests[-1])
        answer(here, "/rewind 1 files")
        assert look(here.root).keys() == {"."}
        answer(here, "/fork 9", ok=False)


@pytest.mark.parametrize("turn", [1, 2])
def test_a_fork_can_have_its_own_files(tmp_path: Path, turn: int) -> None:
    with house(tmp_path, *SCRIPT) as here:
        (here.root / "src").mkdir()
        (here.root / "src" / "link").symlink_to("../a.txt")
        (here.root / "src" / "run").write_text("#!/bin/sh\n")
        (here.root / "src" / "run").chmod(0o755)
        run(here.main, "do one")
        was = look(here.root)
        run(here.main, "do two")
        if turn == 2:
            was = look(here.root)
        card = answer(here, f"/fork {turn} --with-files").card
        assert isinstance(card, TableCard)
        twin = Path(str(card.rows[0][1]))
        session = str(card.rows[1][1])
        assert look(twin) == was
        assert look(here.root).keys() == {".", "a.txt", "b.txt", "src", "src/link", "src/run"}
    from modules.sessions import Sessions
    from modules.storage.data_folder import DataFolder

    store = Sessions(DataFolder(tmp_path / "data", twin).sessions)
    said = [record.text for _, record in store.load(session) if record.kind == "user"]
    assert said == ["do one", "do two"][:turn]
    store.close()


def test_a_twin_whose_session_cannot_be_kept_is_not_left(tmp_path: Path) -> None:
    from modules.storage.data_folder import DataFolder

    with house(tmp_path, *SCRIPT) as here:
        run(here.main, "do one")
        twin = tmp_path / "project-fork-1"
        place = DataFolder.place(tmp_path / "data", twin)
        place.symlink_to(tmp_path / "a disk that is not there")
        answer(here, "/fork --with-files", ok=False)
        assert not twin.exists()


def test_a_twin_whose_undo_cannot_be_kept_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UserError(phrase("The disk is full."))

    with house(tmp_path, *SCRIPT) as here:
        run(here.main, "do one")
        kept = list(here.data.path.parent.iterdir())
        with monkeypatch.context() as patched:
            patched.setattr(clone_history, "_copy_contents", full)
            answer(here, "/fork --with-files", ok=False)
        assert list(here.data.path.parent.iterdir()) == kept
        card = answer(here, "/fork --with-files").card
        assert isinstance(card, TableCard)
        assert str(card.rows[0][1]) == str(tmp_path / "project-fork-1")


def test_states_that_are_too_old_are_let_go_of(tmp_path: Path) -> None:
    def count(here: House) -> int:
        with closing(sqlite3.connect(here.data.checkpoints / "checkpoints.db")) as database:
            return int(database.execute("SELECT count(*) FROM snapshot").fetchone()[0])

    made = [write("a", "one", "c1"), say("done")]
    with house(tmp_path, *made) as here:
        run(here.main, "make a")
        assert count(here) == 2
        with closing(sqlite3.connect(here.data.checkpoints / "checkpoints.db")) as database:
            database.execute("UPDATE snapshot SET used = 0")
            database.commit()
    with house(tmp_path, say("hello")) as here:
        run(here.main, "hi")
        assert count(here) == 1


def test_a_twin_has_notes_focus_todos_and_an_undo_of_its_own(tmp_path: Path) -> None:
    later = write("c.txt", "in the twin\n", "t1")
    with house(tmp_path, *SCRIPT) as here:
        (here.root / "big.bin").write_bytes(bytes(range(256)) * 8192)
        started = look(here.root)
        run(here.main, "do one")
        after_one = look(here.root)
        answer(here, "/focus a.txt")
        run(here.main, "do two")
        ours, now = look(here.root), picture(here)
        card = answer(here, "/fork 2 --with-files").card
        assert isinstance(card, TableCard)
        twin, session = Path(str(card.rows[0][1])), str(card.rows[1][1])
    twin.rename(tmp_path / "there")
    (tmp_path / "there").rename(twin)
    with house(tmp_path, later, say("ok"), root=twin) as there:
        there.main.resume(session)
        assert picture(there) == now
        assert there.main.history.state["focus"] == ["a.txt"]
        assert note_of(there, "a.txt") == "second note"
        run(there.main, "change it")
        answer(there, "/undo")
        assert look(twin) == ours
        answer(there, "/undo")  # what the origin did before the fork
        assert look(twin) == after_one
        answer(there, "/rewind 1")
        assert look(twin) == started
        assert note_of(there, "a.txt") == ""
        answer(there, "/redo")
        assert look(twin) == after_one
    with house(tmp_path) as here:
        assert look(here.root) == ours
        here.main.resume()
        answer(here, "/undo")
        assert look(here.root) == after_one


def test_a_twin_of_an_earlier_turn_has_its_notes(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT) as here:
        run(here.main, "do one")
        run(here.main, "do two")
        card = answer(here, "/fork 1 --with-files").card
        assert isinstance(card, TableCard)
        twin, session = Path(str(card.rows[0][1])), str(card.rows[1][1])
        python, main, *options = shlex.split(str(card.rows[2][1]))
        assert (python, Path(main).is_file()) == ("python3", True)
        assert options == ["--cli", "--project", str(twin), "--resume", session]
    with house(tmp_path, root=twin) as there:
        there.main.resume(session)
        assert note_of(there, "a.txt") == "first note"
        assert shown_todos(there) == ["first"]
        answer(there, "/undo")
        assert look(twin).keys() == {"."}


def note_of(here: House, path: str) -> str:
    notes = next(family for family in here.main.families if isinstance(family, Annotations))
    return notes.note(path)


def test_what_was_undone_before_other_calls_is_no_change_and_does_not_come_back(
    tmp_path: Path,
) -> None:
    script = [write("a.txt", "a\n", "c1"), say("one"), write("b.txt", "b\n", "c2"), say("two")]
    with house(tmp_path, *script) as here:
        run(here.main, "do one")
        run(here.main, "do two")
        answer(here, "/undo turn 1")
        undo = next(f for f in here.main.families if isinstance(f, UndoCommands))
        view = undo.view()
        assert view is not None
        assert [one.change.path for one in undo.review.changes(view)] == ["b.txt"]
        answer(here, "/rewind 1")
        assert look(here.root).keys() == {"."}


def test_a_rewind_names_what_the_person_did_and_not_what_an_undo_did(tmp_path: Path) -> None:
    with house(tmp_path, *SCRIPT) as here:
        run(here.main, "do one")
        run(here.main, "do two")
        answer(here, "/undo")
        (here.root / "mine.txt").write_text("mine\n")
        told = str(answer(here, "/rewind 1 files").card)
        assert "no call of this session did" in told
        assert "'paths': 'mine.txt'" in told
        answer(here, "/redo")
        assert (here.root / "mine.txt").exists()
        answer(here, "/rewind 1 talk")
        assert "the conversation" in str(answer(here, "/redo").card)


def test_that_a_file_in_focus_is_gone_is_known_after_a_new_start(tmp_path: Path) -> None:
    gone = call("delete_file", id="c2", path="a.txt")
    with house(tmp_path, SCRIPT[0], say("made"), gone, say("deleted")) as here:
        run(here.main, "make it")
        answer(here, "/focus a.txt")
        run(here.main, "delete it")
        before = picture(here)
        assert before["state"]["focus"] == []
    with house(tmp_path) as here:
        here.main.resume()
        assert picture(here) == before
