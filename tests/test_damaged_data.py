"""Whatever happens to a file in the data folder, Onefold opens, says so and goes on."""

from __future__ import annotations

import atexit
import random
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.events import CommandAnswered, ToolFinished, Warned
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.campaign import examples
from tests.modules.checkpoints.folders import folder_state
from tests.scripted_model import Item, call_reply, run_turn, text_reply

LINES = (
    "/status",
    "/sessions",
    "/history",
    "/note",
    "/memory",
    "/diff",
    "/search one",
    "/undo",
    "/redo",
    "/rewind 2 files",
    "/redo",
    "/rewind 1",
    "/diff 1",
    "/undo call",
)


@cache
def sample() -> Path:
    """Return a folder with a project and the data of a session of some turns; not to be changed."""
    base = Path(tempfile.mkdtemp(prefix="onefold-test-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    with assembled_terminal(base, *script(), text_reply("ok")) as env:
        (env.root / "old").mkdir()
        for number in range(120):
            (env.root / "old" / f"{number}.txt").write_text(f"old {number}\n" * number)
        (env.root / "old" / "large").write_bytes(random.Random(1).randbytes(1 << 20) + b"end")
        for line in ("one", "two", "three"):
            run_turn(env.terminal, line)
        run_turn(env.terminal, "/remember tabs")
        run_turn(env.terminal, "/search one")
    return base


def script() -> Iterator[list[Item]]:
    for turn in "123":
        name = f"file{turn}.txt"
        yield call_reply("create_file", id=f"a{turn}", path=name, content=f"content {turn}\n" * 50)
        yield call_reply(
            "rename_file", id=f"b{turn}", path=f"old/{turn}.txt", new_path=f"new{turn}.txt"
        )
        yield call_reply("delete_file", id=f"d{turn}", path=f"old/1{turn}.txt")
        yield call_reply("annotate_file", id=f"c{turn}", path=name, note=f"note {turn}")
        yield text_reply(f"did {turn}")


@contextmanager
def copied() -> Iterator[Path]:
    """Give a copy of the sample whose paths are those of the original as far as data knows."""
    with tempfile.TemporaryDirectory(prefix="onefold-test-") as folder:
        base = Path(folder)
        shutil.copytree(sample(), base, dirs_exist_ok=True, symlinks=True)
        (old,) = (base / "data" / "projects").iterdir()
        with assembled_terminal(base):
            pass  # makes the data folder that belongs to this path
        new = next(path for path in old.parent.iterdir() if path != old)
        shutil.rmtree(new)
        old.rename(new)
        yield base


def is_own_file(path: Path) -> bool:
    """Return whether it is a file with something in it, and no link: those of `/etc` lead away."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_size > 0 and status.st_nlink == 1


def wound(path: Path, chance: random.Random) -> None:
    """Cut the file, or overwrite places in it, or turn bits over."""
    content = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(content))
        match chance.choice(["cut", "zeros", "bytes", "drop", "bits"]):
            case "cut":
                del content[max(at, 1) :]
            case "zeros":
                length = min(chance.randint(1, 9000), len(content) - at)
                content[at : at + length] = bytes(length)
            case "bytes":
                content[at : at + 40] = chance.randbytes(min(40, len(content) - at))
            case "drop":
                del content[at : at + chance.randint(1, 5000)]
            case "bits":
                for _ in range(20):
                    if content:
                        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def goes_on(env: AssembledTerminal) -> None:
    """Check that a call is held and can be taken back, to the byte."""
    before = folder_state(env.root)
    events = run_turn(env.terminal, "go on")
    assert [e.state for e in events if isinstance(e, ToolFinished)] == ["done"]
    assert (env.root / "later.txt").read_text() == "later\n"
    (undone,) = run_turn(env.terminal, "/undo call")
    assert isinstance(undone, CommandAnswered)
    assert undone.ok, undone.card
    assert folder_state(env.root) == before


def replies() -> list[list[Item]]:
    return [
        call_reply("create_file", id="z", path="later.txt", content="later\n"),
        text_reply("ok"),
    ]


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), lines=st.lists(st.sampled_from(LINES), max_size=5))
def test_a_damaged_file_stops_nothing(seed: int, lines: list[str]) -> None:
    chance = random.Random(seed)
    with copied() as base:
        kept = [path for path in sorted((base / "data").rglob("*")) if is_own_file(path)]
        stores = [path for path in kept if path.name == "checkpoints.db"]
        for path in chance.choice([stores, stores, [chance.choice(kept)], kept]):
            wound(path, chance)
        with assembled_terminal(base, *replies()) as env:
            for line in ["/resume", *lines]:
                assert isinstance(run_turn(env.terminal, line)[0], CommandAnswered)
            (env.root / "later.txt").unlink(missing_ok=True)
            goes_on(env)


@pytest.mark.parametrize("what", ["cut", "empty", "nonsense", "inside"])
def test_a_damaged_store_is_kept_aside_and_said(what: str) -> None:
    with copied() as base:
        (path,) = (base / "data").rglob("checkpoints.db")
        content = path.read_bytes()
        damaged = {
            "cut": content[: len(content) // 2],
            "empty": b"\0" * 5000,
            "nonsense": b"no database at all " * 300,
            "inside": content[:20_000] + bytes(9000) + content[29_000:],
        }[what]
        path.write_bytes(damaged)
        with assembled_terminal(base, *replies()) as env:
            env.terminal.resume()
            told = [str(e.what) for e in run_turn(env.terminal, "go on") if isinstance(e, Warned)]
            assert [text for text in told if "checkpoint store was damaged" in text]
            assert path.with_name("checkpoints.broken-1.db").read_bytes() == damaged
            run_turn(env.terminal, "/undo")
            assert not (env.root / "later.txt").exists()


def test_what_a_damaged_store_still_holds_can_be_gone_back_to() -> None:
    with copied() as base:
        (path,) = (base / "data").rglob("checkpoints.db")
        content = bytearray(path.read_bytes())
        content[18:20] = b"\xff\xff"  # SQLite refuses the file; all rows are there
        path.write_bytes(content)
        with assembled_terminal(base) as env:
            env.terminal.resume()
            (answer,) = run_turn(env.terminal, "/rewind 1 files")
            assert isinstance(answer, CommandAnswered)
            assert answer.ok
            assert sorted(p.name for p in env.root.iterdir()) == ["old"]
            for number in range(120):
                expected = f"old {number}\n" * number
                assert (env.root / "old" / f"{number}.txt").read_text() == expected


def change(base: Path, name: str, statement: str) -> None:
    """Change the database *name* behind Onefold's back."""
    (path,) = (base / "data").rglob(name)
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("checkpoints.db", "UPDATE snapshot SET root=CAST(x'5bff' AS TEXT) WHERE id=1"),
        ("checkpoints.db", "UPDATE call SET call_id=CAST(x'61ff' AS TEXT) WHERE id=2"),
        ("checkpoints.db", "UPDATE object SET data='a text' WHERE id%2"),
        ("sessions.sqlite", "UPDATE event SET data=CAST(x'7bff' AS TEXT) WHERE seq=3"),
    ],
)
def test_damage_that_sqlite_does_not_see_is_rescued_as_well(name: str, statement: str) -> None:
    with copied() as base:
        change(base, name, statement)
        with assembled_terminal(base, *replies()) as env:
            env.terminal.resume()
            for line in ("/diff 1", "/redo", "/status", "/undo list"):
                assert isinstance(run_turn(env.terminal, line)[0], CommandAnswered)
            goes_on(env)


@pytest.mark.parametrize("what", ["newer", "folder"])
def test_the_status_is_told_though_the_store_cannot_be_used(what: str) -> None:
    with copied() as base:
        if what == "newer":
            change(base, "checkpoints.db", "PRAGMA user_version=99")
        else:
            (path,) = (base / "data").rglob("checkpoints.db")
            path.unlink()
            path.mkdir()
        with assembled_terminal(base) as env:
            (told,) = run_turn(env.terminal, "/status")
            assert isinstance(told, CommandAnswered)
            assert told.ok
            assert ("newer Onefold" if what == "newer" else "Is a directory") in str(told.card)


def test_notes_nested_without_end_are_set_aside() -> None:
    with copied() as base:
        (path,) = (base / "data").rglob("notes.json")
        path.write_text("[" * 100_000)
        with assembled_terminal(base) as env:
            (told,) = run_turn(env.terminal, "/note")
            assert isinstance(told, CommandAnswered)
            assert told.ok
            assert path.with_name("notes.json.broken-1").exists()


def test_a_lock_that_leads_in_a_circle_is_said() -> None:
    with copied() as base:
        (path,) = (base / "data").rglob("work")
        path.unlink()
        path.symlink_to(path.name)
        with assembled_terminal(base) as env:
            env.terminal.resume()
            (told,) = run_turn(env.terminal, "/undo")
            assert isinstance(told, CommandAnswered)
            assert "symbolic links" in str(told.card)
