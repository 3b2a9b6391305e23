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
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.checkpoints.folders import folder_state
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import UserError, phrase


def answer(env: AssembledTerminal, line: str, *, ok: bool = True) -> CommandAnswered:
    (event,) = run_turn(env.terminal, line)
    assert isinstance(event, CommandAnswered)
    assert event.ok is ok, event.card
    return event


def write(name: str, text: str, id: str) -> Any:
    return call_reply("create_file", id=id, path=name, content=text, overwrite=True)


def todos(title: str, id: str) -> Any:
    return call_reply("update_todos", id=id, todos=[{"title": title, "status": "pending"}])


SCRIPT = [
    write("a.txt", "one\n", "c1"),
    call_reply("annotate_file", id="c2", path="a.txt", note="first note"),
    todos("first", "c3"),
    text_reply("did one"),
    text_reply("did one, that is all"),
    write("b.txt", "two\n", "c4"),
    call_reply("annotate_file", id="c5", path="a.txt", note="second note"),
    call_reply("annotate_file", id="c6", path="b.txt", note="on b"),
    todos("second", "c7"),
    text_reply("did two"),
    text_reply("did two, that is all"),
]


def picture(env: AssembledTerminal) -> dict[str, Any]:
    """Return all that going back is about."""
    state = dict(env.terminal.history.state)
    state.pop("taken_back", None)
    return {
        "files": {path: entry[2] for path, entry in folder_state(env.root).items()},
        "notes": state.get("notes"),
        "state": state,
        "said": [m["content"] for m in env.terminal.history.messages() if m["role"] != "system"],
    }


def shown_todos(env: AssembledTerminal) -> list[str]:
    return [todo["title"] for todo in env.terminal.history.state.get("todos", [])]


def test_rewind_takes_everything_back_and_redo_brings_it_again(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT, text_reply("ok")) as env:
        run_turn(env.terminal, "do one")
        answer(env, "/focus a.txt")
        before = picture(env)
        run_turn(env.terminal, "do two")
        answer(env, "/unfocus a.txt")
        after = picture(env)
        assert answer(env, "/rewind 2").effect == "session"
        assert picture(env) == before
        assert shown_todos(env) == ["first"]
        assert answer(env, "/redo").effect == "session"
        assert picture(env) == after
        answer(env, "/rewind 2")
        run_turn(env.terminal, "something else")
        request = env.model.requests[-1]
        assert [m["content"] for m in request if m["role"] == "user"] == [
            "do one", "something else",
        ]  # fmt: skip
        assert "went back to this point" in str(request[-2:])
        assert env.terminal.history.turns == [1, 3]


def test_what_was_rewound_stays_so_after_another_start(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT) as env:
        run_turn(env.terminal, "do one")
        run_turn(env.terminal, "do two")
        answer(env, "/rewind 2")
        before = picture(env)
    with assembled_terminal(tmp_path, text_reply("ok"), text_reply("ok")) as env:
        env.terminal.resume()
        assert picture(env) == before
        run_turn(env.terminal, "go on")
        run_turn(env.terminal, "and on")
        told = [m["content"] for m in env.model.requests[-1] if m["role"] == "system"]
        assert sum("went back to this point" in text for text in told) == 1
        answer(env, "/redo")
        assert env.terminal.history.turns == [1, 2, 3, 4]
        assert (env.root / "b.txt").read_text() == "two\n"


def test_the_files_alone_or_the_talk_alone(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT) as env:
        run_turn(env.terminal, "do one")
        run_turn(env.terminal, "do two")
        answer(env, "/rewind 2 files")
        assert not (env.root / "b.txt").exists()
        assert env.terminal.history.turns == [1, 2]
        answer(env, "/redo")
        card = answer(env, "/rewind 2 talk").card
        assert isinstance(card, TextCard)
        assert str(card.title).startswith("The conversation is back at the start of turn 2")
        assert (env.root / "b.txt").exists()
        assert env.terminal.history.turns == [1]
        answer(env, "/redo")
        assert env.terminal.history.turns == [1, 2]


def test_a_turn_without_changes_can_be_gone_back_to(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("hello"), text_reply("again")) as env:
        run_turn(env.terminal, "hi")
        run_turn(env.terminal, "hi again")
        answer(env, "/rewind")
        assert env.terminal.history.turns == [1]
        answer(env, "/rewind 1")
        assert env.terminal.history.turns == []
        answer(env, "/rewind 1", ok=False)
        answer(env, "/redo")
        answer(env, "/redo")
        assert env.terminal.history.turns == [1, 2]


def test_the_model_is_told_once_what_was_undone(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT[:5], text_reply("ok"), text_reply("ok")) as env:
        run_turn(env.terminal, "do one")
        answer(env, "/undo")
        run_turn(env.terminal, "go on")
        run_turn(env.terminal, "go on")
        told = [m["content"] for m in env.model.requests[-1] if m["role"] == "system"]
        assert sum("took back what turn 1 did" in text and "a.txt" in text for text in told) == 1


def test_a_fork_goes_on_from_the_end_of_a_turn(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT, text_reply("elsewhere")) as env:
        run_turn(env.terminal, "do one")
        run_turn(env.terminal, "do two")
        first = env.terminal.session
        assert answer(env, "/fork 1").effect == "session"
        assert env.terminal.session != first
        assert env.terminal.history.turns == [1]
        run_turn(env.terminal, "do other")
        assert "did two" not in str(env.model.requests[-1])
        answer(env, "/rewind 1 files")
        assert folder_state(env.root).keys() == {"."}
        answer(env, "/fork 9", ok=False)


@pytest.mark.parametrize("turn", [1, 2])
def test_a_fork_can_have_its_own_files(tmp_path: Path, turn: int) -> None:
    with assembled_terminal(tmp_path, *SCRIPT) as env:
        (env.root / "src").mkdir()
        (env.root / "src" / "link").symlink_to("../a.txt")
        (env.root / "src" / "run").write_text("#!/bin/sh\n")
        (env.root / "src" / "run").chmod(0o755)
        run_turn(env.terminal, "do one")
        was = folder_state(env.root)
        run_turn(env.terminal, "do two")
        if turn == 2:
            was = folder_state(env.root)
        card = answer(env, f"/fork {turn} --with-files").card
        assert isinstance(card, TableCard)
        twin = Path(str(card.rows[0][1]))
        session = str(card.rows[1][1])
        assert folder_state(twin) == was
        assert folder_state(env.root).keys() == {
            ".",
            "a.txt",
            "b.txt",
            "src",
            "src/link",
            "src/run",
        }
    from modules.sessions.store import Sessions
    from modules.storage.data_folder import DataFolder

    store = Sessions(DataFolder(tmp_path / "data", twin).sessions)
    said = [record.text for _, record in store.load(session) if record.kind == "user"]
    assert said == ["do one", "do two"][:turn]
    store.close()


def test_a_twin_whose_session_cannot_be_kept_is_not_left(tmp_path: Path) -> None:
    from modules.storage.data_folder import DataFolder

    with assembled_terminal(tmp_path, *SCRIPT) as env:
        run_turn(env.terminal, "do one")
        twin = tmp_path / "project-fork-1"
        place = DataFolder.path_for(tmp_path / "data", twin)
        place.symlink_to(tmp_path / "a disk that is not there")
        answer(env, "/fork --with-files", ok=False)
        assert not twin.exists()


def test_a_twin_whose_undo_cannot_be_kept_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UserError(phrase("The disk is full."))

    with assembled_terminal(tmp_path, *SCRIPT) as env:
        run_turn(env.terminal, "do one")
        kept = list(env.data.path.parent.iterdir())
        with monkeypatch.context() as patched:
            patched.setattr(clone_history, "copy_contents", full)
            answer(env, "/fork --with-files", ok=False)
        assert list(env.data.path.parent.iterdir()) == kept
        card = answer(env, "/fork --with-files").card
        assert isinstance(card, TableCard)
        assert str(card.rows[0][1]) == str(tmp_path / "project-fork-1")


def test_states_that_are_too_old_are_let_go_of(tmp_path: Path) -> None:
    def count(env: AssembledTerminal) -> int:
        with closing(sqlite3.connect(env.data.checkpoints / "checkpoints.db")) as database:
            return int(database.execute("SELECT count(*) FROM snapshot").fetchone()[0])

    made = [write("a", "one", "c1"), text_reply("done")]
    with assembled_terminal(tmp_path, *made) as env:
        run_turn(env.terminal, "make a")
        assert count(env) == 2
        with closing(sqlite3.connect(env.data.checkpoints / "checkpoints.db")) as database:
            database.execute("UPDATE snapshot SET used = 0")
            database.commit()
    with assembled_terminal(tmp_path, text_reply("hello")) as env:
        run_turn(env.terminal, "hi")
        assert count(env) == 1


def test_a_twin_has_notes_focus_todos_and_an_undo_of_its_own(tmp_path: Path) -> None:
    later = write("c.txt", "in the twin\n", "t1")
    with assembled_terminal(tmp_path, *SCRIPT) as env:
        (env.root / "big.bin").write_bytes(bytes(range(256)) * 8192)
        started = folder_state(env.root)
        run_turn(env.terminal, "do one")
        after_one = folder_state(env.root)
        answer(env, "/focus a.txt")
        run_turn(env.terminal, "do two")
        ours, now = folder_state(env.root), picture(env)
        card = answer(env, "/fork 2 --with-files").card
        assert isinstance(card, TableCard)
        twin, session = Path(str(card.rows[0][1])), str(card.rows[1][1])
    twin.rename(tmp_path / "there")
    (tmp_path / "there").rename(twin)
    done = [text_reply("ok"), text_reply("that is all")]
    with assembled_terminal(tmp_path, later, *done, root=twin) as there:
        there.terminal.resume(session)
        assert picture(there) == now
        assert there.terminal.history.state["focus"] == ["a.txt"]
        assert note_of(there, "a.txt") == "second note"
        run_turn(there.terminal, "change it")
        answer(there, "/undo")
        assert folder_state(twin) == ours
        answer(there, "/undo")  # what the origin did before the fork
        assert folder_state(twin) == after_one
        answer(there, "/rewind 1")
        assert folder_state(twin) == started
        assert note_of(there, "a.txt") == ""
        answer(there, "/redo")
        assert folder_state(twin) == after_one
    with assembled_terminal(tmp_path) as env:
        assert folder_state(env.root) == ours
        env.terminal.resume()
        answer(env, "/undo")
        assert folder_state(env.root) == after_one


def test_a_twin_of_an_earlier_turn_has_its_notes(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT) as env:
        run_turn(env.terminal, "do one")
        run_turn(env.terminal, "do two")
        card = answer(env, "/fork 1 --with-files").card
        assert isinstance(card, TableCard)
        twin, session = Path(str(card.rows[0][1])), str(card.rows[1][1])
        python, main, *options = shlex.split(str(card.rows[2][1]))
        assert (python, Path(main).is_file()) == ("python3", True)
        assert options == ["--cli", "--project", str(twin), "--resume", session]
    with assembled_terminal(tmp_path, root=twin) as there:
        there.terminal.resume(session)
        assert note_of(there, "a.txt") == "first note"
        assert shown_todos(there) == ["first"]
        answer(there, "/undo")
        assert folder_state(twin).keys() == {"."}


def note_of(env: AssembledTerminal, path: str) -> str:
    notes = next(family for family in env.terminal.features if isinstance(family, Annotations))
    return notes.note(path)


def test_what_was_undone_before_other_calls_is_no_change_and_does_not_come_back(
    tmp_path: Path,
) -> None:
    script = [
        write("a.txt", "a\n", "c1"),
        text_reply("one"),
        write("b.txt", "b\n", "c2"),
        text_reply("two"),
    ]
    with assembled_terminal(tmp_path, *script) as env:
        run_turn(env.terminal, "do one")
        run_turn(env.terminal, "do two")
        answer(env, "/undo turn 1")
        undo = next(f for f in env.terminal.features if isinstance(f, UndoCommands))
        view = undo.review_view()
        assert view is not None
        assert [one.change.path for one in undo.review.changes(view)] == ["b.txt"]
        answer(env, "/rewind 1")
        assert folder_state(env.root).keys() == {"."}


def test_a_rewind_names_what_the_person_did_and_not_what_an_undo_did(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *SCRIPT) as env:
        run_turn(env.terminal, "do one")
        run_turn(env.terminal, "do two")
        answer(env, "/undo")
        (env.root / "mine.txt").write_text("mine\n")
        told = str(answer(env, "/rewind 1 files").card)
        assert "changes made outside this session" in told
        assert "'paths': 'mine.txt'" in told
        answer(env, "/redo")
        assert (env.root / "mine.txt").exists()
        answer(env, "/rewind 1 talk")
        assert "the conversation" in str(answer(env, "/redo").card)


def test_that_a_file_in_focus_is_gone_is_known_after_a_new_start(tmp_path: Path) -> None:
    gone = call_reply("delete_file", id="c2", path="a.txt")
    with assembled_terminal(
        tmp_path, SCRIPT[0], text_reply("made"), gone, text_reply("deleted")
    ) as env:
        run_turn(env.terminal, "make it")
        answer(env, "/focus a.txt")
        run_turn(env.terminal, "delete it")
        before = picture(env)
        assert before["state"]["focus"] == []
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        assert picture(env) == before
