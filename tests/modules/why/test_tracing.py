"""Lines keep their origins through renames, undos, other sessions and what nobody saw."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.events import CommandAnswered
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.line_origins.origins import FileOrigins
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.why.feature import Why
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.why.four_writers import mark_of
from tests.scripted_model import Item, call_reply, run_turn, text_reply

NEXT_SESSION = "/new"


def turn(env: AssembledTerminal, *replies: list[Item]) -> None:
    env.model.replies += [*replies, text_reply("done")]
    run_turn(env.terminal, "change it")


def write(env: AssembledTerminal, text: str, path: str = "a.txt") -> None:
    turn(
        env,
        call_reply("read_file", id="r", path=path),
        call_reply("create_file", id="w", path=path, content=text, overwrite=True),
    )


def shell(env: AssembledTerminal, command: str) -> None:
    turn(env, call_reply("run_command", id="s", command=command))


def say(env: AssembledTerminal, line: str) -> None:
    (event,) = run_turn(env.terminal, line)
    assert isinstance(event, CommandAnswered)
    assert event.ok, event.card


def trace(env: AssembledTerminal, path: str = "a.txt") -> FileOrigins:
    why = env.terminal.features.find(Why)
    assert why is not None
    return why.trace(path)


def marks(env: AssembledTerminal, path: str = "a.txt") -> list[str]:
    """Return each line with who wrote it, and in which turn where that was a call."""
    found = trace(env, path)
    pairs = zip(found.lines, map(mark_of, found.origins), strict=True)
    return [f"{line}: {writer}{number or ''}" for line, (writer, number) in pairs]


def begun(env: AssembledTerminal, text: str = "one\ntwo\nthree\n") -> None:
    (env.root / "a.txt").write_text(text)
    shell(env, "touch first")


def test_lines_come_from_before_from_calls_and_from_others(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        shell(env, "echo four >> a.txt")
        with (env.root / "a.txt").open("a") as file:
            file.write("five\n")
        assert marks(env) == [
            *("one: before", "TWO: call2", "three: before", "four: call3", "five: others")
        ]


REPEATED = "def one():\n    pass\n\n\ndef two():\n    pass\n"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ({"operation": "insert", "new": "    pass\n", "start_line": 2}, [2]),
        ({"operation": "insert", "new": "    pass\n", "start_line": 3}, [3]),
        ({"operation": "insert", "new": "\n", "start_line": 3}, [3]),
        ({"operation": "insert", "new": "\n", "start_line": 5}, [5]),
        ({"operation": "append", "new": "    pass\n"}, [7]),
        ({"operation": "insert", "new": "    pass\n", "start_line": 6}, [6]),
        ({"operation": "replace", "old": "two():\n", "new": "two():\n    pass\n"}, [6]),
        ({"operation": "replace", "old": "\ndef two", "new": "\n\ndef two"}, [5]),
        (
            {"operation": "replace", "old": "    pass\n", "new": "    pass\n" * 2, "all": True},
            [3, 8],
        ),
        (
            {"operation": "replace_lines", "start_line": 3, "end_line": 4, "new": "\n\n\n"},
            [5],
        ),
    ],
)
def test_of_equal_lines_the_one_that_a_call_put_in_is_its_own(
    edit: dict[str, Any], expected: list[int], tmp_path: Path
) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env, REPEATED)
        read = call_reply("read_file", id="r", path="a.txt")
        turn(env, read, call_reply("modify_file", id="e", path="a.txt", **edit))
        origins = trace(env).origins
        new = [n for n, one in enumerate(origins, 1) if mark_of(one) == ("call", 2)]
        assert new == expected


@pytest.mark.parametrize(
    "move",
    ["mv a.txt b.txt", "mkdir -p d && mv a.txt d/b.txt && mv d e && mv e/b.txt b.txt && rmdir e"],
)
def test_lines_keep_their_origins_when_their_file_gets_another_name(
    move: str, tmp_path: Path
) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        shell(env, move)
        (env.root / "b.txt").rename(env.root / "c.txt")
        turn(env, call_reply("rename_file", id="m", path="c.txt", new_path="d.txt"))
        shell(env, "mkdir sub && mv d.txt sub/")
        (env.root / "sub").rename(env.root / "other")
        expected = ["one: before", "TWO: call2", "three: before"]
        assert marks(env, "other/d.txt") == expected
        assert trace(env, "other/d.txt").former[-1] == "a.txt"


def test_a_file_that_another_program_renames_and_edits_at_once_keeps_its_origins(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env, "one\ntwo\nthree\nfour\n")
        write(env, "one\nTWO\nthree\nfour\n")
        (env.root / "a.txt").unlink()
        (env.root / "b.txt").write_text("one\nTWO\nthree\nFOUR\n")
        (env.root / "c.txt").write_text("one\n")
        shell(env, "touch second")
        assert marks(env, "b.txt") == [
            *("one: before", "TWO: call2", "three: before", "FOUR: others")
        ]
        assert marks(env, "c.txt") == ["one: others"]


def test_an_undone_line_is_gone_and_a_redone_one_has_its_old_origin(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        say(env, "/undo")
        assert marks(env) == ["one: before", "two: before", "three: before"]
        say(env, "/redo")
        assert marks(env) == ["one: before", "TWO: call2", "three: before"]
        shell(env, "rm a.txt")
        say(env, "/undo")
        assert marks(env) == ["one: before", "TWO: call2", "three: before"]
        say(env, "/rewind 2")
        assert marks(env) == ["one: before", "two: before", "three: before"]


def test_an_undo_that_is_merged_with_later_lines_leaves_their_origins(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env, "".join(f"line {number}\n" for number in range(20)))
        shell(env, "sed -i 's/line 3$/changed 3/; /line 5$/d' a.txt")
        shell(env, "sed -i 's/line 15$/changed 15/' a.txt")
        with (env.root / "a.txt").open("a") as file:
            file.write("theirs\n")
        say(env, "/undo turn 2")
        found = marks(env)
        assert "line 3: before" in found
        assert "line 5: before" in found
        assert "changed 15: call3" in found
        assert found[-1] == "theirs: others"
        say(env, "/redo turn 2")
        found = marks(env)
        assert "changed 3: call2" in found
        assert "line 6: before" in found
        assert "changed 15: call3" in found


def test_other_sessions_of_the_project_are_told_apart(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        first = env.terminal.session
        say(env, NEXT_SESSION)
        shell(env, "sed -i s/one/ONE/ a.txt")
        found = trace(env)
        assert [origin.session for origin in found.origins] == [env.terminal.session, first, ""]


def test_the_calls_of_a_fork_are_those_of_its_origin(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        first = env.terminal.session
        write(env, "one\nTWO\nTHREE\n")
        say(env, "/fork 2")
        shell(env, "sed -i s/one/ONE/ a.txt")
        found = trace(env)
        assert [one.session for one in found.origins] == [env.terminal.session, first, first]
        assert marks(env) == ["ONE: call3", "TWO: call2", "THREE: call3"]


def test_what_the_person_writes_while_a_call_runs_is_theirs(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        undo = env.terminal.features.find(UndoCommands)
        assert undo is not None
        undo.before_call("long", 2)
        path = env.root / "a.txt"
        path.write_text("one\ntwo\nthree\nof the call\n")
        before = path.read_bytes()
        path.write_text("mine\none\ntwo\nthree\nof the call\n")
        env.terminal.features.person_wrote("a.txt", before, path.read_bytes())
        path.write_text("mine\none\ntwo\nthree\nof the call\nthe end\n")
        running = marks(env)
        undo.after_call("long", 2)
        assert marks(env) == running
        assert running[0] == "mine: person"
        assert running[-2:] == ["of the call: call2", "the end: call2"]


def test_what_the_person_writes_is_theirs_when_the_file_is_renamed_then(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        path = env.root / "a.txt"
        env.terminal.features.person_wrote("a.txt", path.read_bytes(), b"one\nmine\n")
        path.write_bytes(b"one\nmine\n")
        path.rename(env.root / "b.txt")
        shell(env, "touch second")
        assert marks(env, "b.txt") == ["one: before", "mine: person"]


def test_what_the_person_refused_leaves_no_trace(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        undo = env.terminal.features.find(UndoCommands)
        assert undo is not None
        undo.before_call("refused", 3)
        (env.root / "a.txt").write_text("four\n")
        undo.after_call("refused", 3)
        assert undo.undo_call("refused")
        assert marks(env) == ["one: before", "TWO: call2", "three: before"]


def test_a_file_that_is_no_text_has_one_origin_and_one_that_is_gone_that_of_its_end(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        shell(env, r"printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0' > a.png; printf 'x\0y' > b.bin")
        shell(env, "rm a.txt")
        for path in ("a.png", "b.bin"):
            found = trace(env, path)
            assert found.kind, path
            assert [mark_of(origin) for origin in found.origins] == [("call", 2)], path
        gone = trace(env)
        assert gone.is_gone
        assert [mark_of(origin) for origin in gone.origins] == [("call", 3)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb", "a\nb\nc\n", ["a: before", "b: before", "c: call2"]),
        ("a\r\nb\r\n", "a\nb\n", ["a: before", "b: before"]),
        ("", "a\n", ["a: call2"]),
        ("a\n", "", []),
        ("é\n", "é\nü\n", ["é: before", "ü: call2"]),
    ],
)
def test_ends_of_lines_are_no_lines(
    before: str, after: str, expected: Sequence[str], tmp_path: Path
) -> None:
    with assembled_terminal(tmp_path) as env:
        (env.root / "a.txt").write_bytes(before.encode())
        shell(env, "touch first")
        shell(env, f"printf %s {shlex.quote(after)} > a.txt")
        assert marks(env) == expected


def checkpoints(env: AssembledTerminal) -> Checkpoints:
    undo = env.terminal.features.find(UndoCommands)
    assert undo is not None
    return undo.review._checkpoints


def age(env: AssembledTerminal, days: int, snapshots: str) -> None:
    """Let the *snapshots*, a condition of SQL, be last seen so many *days* ago."""
    with checkpoints(env).objects.database.writing() as connection:
        connection.execute(f"UPDATE snapshot SET used=used-{days * 86_400.0} WHERE {snapshots}")
        connection.execute(f"UPDATE writing SET created=created-{days * 86_400.0}")


def test_lines_of_states_that_are_no_longer_kept_were_there_before(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        write(env, "one\nTWO\nTHREE\n")
        shell(env, "sed -i s/one/ONE/ a.txt")
        middle = "id=(SELECT after FROM call WHERE turn=2)"
        age(env, 30, middle)
        assert checkpoints(env).collect_garbage() == 1
        assert marks(env) == ["ONE: call4", "TWO: before", "THREE: before"]


def test_what_the_person_wrote_is_kept_as_long_as_states_are(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        path = env.root / "a.txt"
        env.terminal.features.person_wrote("a.txt", path.read_bytes(), b"mine\n")
        path.write_bytes(b"mine\n")
        path.write_bytes(b"mine\ntheirs\n")
        shell(env, "echo its >> a.txt; rm first")
        age(env, 30, "id=(SELECT before FROM call WHERE turn=1)")
        env.terminal.features.person_wrote("b.txt", None, b"new\n")
        checkpoints(env).collect_garbage()
        assert marks(env) == ["mine: before", "theirs: before", "its: call2"]
        (env.root / "b.txt").write_bytes(b"new\nlater\n")
        assert marks(env, "b.txt") == ["new: person", "later: others"]


def test_a_damaged_store_that_was_mended_tells_the_same(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
        path = env.root / "a.txt"
        text = "one\nTWO\nthree\nmine\n"
        env.terminal.features.person_wrote("a.txt", path.read_bytes(), text.encode())
        path.write_text(text)
        shell(env, "sed -i s/one/ONE/ a.txt")
        say(env, "/undo")
        expected = ["one: before", "TWO: call2", "three: before", "mine: person"]
        assert marks(env) == expected
    database = next(tmp_path.rglob("checkpoints.db"))
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(database.read_bytes())
    data[:100] = bytes(100)
    database.write_bytes(data)
    with assembled_terminal(tmp_path) as env:
        assert marks(env) == expected


def test_what_was_kept_before_lines_were_traced_tells_what_calls_wrote(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        begun(env)
        write(env, "one\nTWO\nthree\n")
    with closing(sqlite3.connect(next(tmp_path.rglob("checkpoints.db")))) as connection:
        connection.execute("DROP TABLE writing")
        connection.execute("PRAGMA user_version=3")
        connection.commit()
    with assembled_terminal(tmp_path) as env:
        assert marks(env) == ["one: before", "TWO: call2", "three: before"]
