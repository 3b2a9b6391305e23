"""Sessions outlive everything short of the disk, and are found again."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.cards import TextCard
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    StateRecord,
    ToolCall,
    ToolResult,
    User,
)
from modules.sessions import recovery
from modules.sessions import search as module
from modules.sessions.store import Sessions
from tests.campaign import examples
from utils.i18n import UserError, phrase
from utils.llm.completion import Usage

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project" / "sessions.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Sessions]:
    opened = Sessions(path, patience=0.3)
    yield opened
    opened.close()


def said(store: Sessions, *texts: str) -> str:
    session = store.create(model="deepseek-flash")
    for turn, text in enumerate(texts, 1):
        store.append(session, turn, User(text))
    return session


RECORDS: list[Record] = [
    User("请修好 parser\0 \udce9"),
    Assistant("ok", "hmm", (ToolCall("1", "read_file", '{"path": "a"}'),), 1.5),
    ToolResult("1", "read_file", "x = 1", "failed", TextCard(phrase("Read {path}", path="a"), "b")),
    Context("Notes", {"notes": "a: b", "memory": None}),
    StateRecord("focus", ["a.py"]),
]


def test_what_was_kept_comes_back_whole(store: Sessions, path: Path) -> None:
    session = store.create(model="m")
    for record in RECORDS:
        store.append(session, 1, record)
    store.close()
    again = Sessions(path)
    assert again.load(session) == [(1, record) for record in RECORDS]
    again.close()


def test_records_are_kept_together_or_not_at_all(store: Sessions) -> None:
    session = said(store, "hello")
    with pytest.raises(TypeError):
        store.append(session, 2, StateRecord("mode", "think"), StateRecord("focus", {"a"}))
    store.append(session, 2, *RECORDS)
    assert store.load(session) == [(1, User("hello")), *((2, record) for record in RECORDS)]
    assert store.info(session).turns == 2


def test_nothing_is_written_before_something_is_said(store: Sessions, path: Path) -> None:
    session = store.create(model="m")
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", session)
    assert store.load(session) == []
    store.close()
    assert store.sessions() == []


def test_the_file_is_for_its_owner_only(store: Sessions, path: Path) -> None:
    said(store, "hello")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}


def test_the_list_is_newest_first_with_title_and_turns(store: Sessions) -> None:
    first = said(store, "  fix the\nparser " + "x" * 80, "and now the tests")
    second = said(store, "second")
    silent = store.create(model="m")
    store.append(silent, 0, StateRecord("focus", []))
    listed = store.sessions()
    assert [info.id for info in listed] == [second, first]
    assert listed[1].title == "fix the parser " + "x" * 44 + "…"
    assert [info.turns for info in listed] == [1, 2]
    store.append(first, 3, User("again"))
    assert [info.id for info in store.sessions(limit=1)] == [first]


def test_what_is_found_on_opening_a_session_is_no_work_in_it(store: Sessions) -> None:
    first, second = said(store, "one"), said(store, "two")
    for record in (
        StateRecord("mode", "think"),
        StateRecord("incident", {}),
        Context("news"),
        StateRecord("notes", {}),
    ):
        store.append(first, 1, record)
    assert [info.id for info in store.sessions()] == [second, first]
    store.append(first, 1, StateRecord("rewound", {"to": 1, "key": 1}))
    assert [info.id for info in store.sessions()] == [first, second]


def test_it_is_kept_how_long_a_turn_took(store: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    session = store.create(model="m")
    clock = iter([100.0, 110.0, 112.5, 190.0, 200.0])
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: next(clock))
        store.append(session, 1, Context("news"))
        store.append(session, 1, User("hi"))
        store.append(session, 1, Assistant("hello"))
        store.append(session, 1, StateRecord("mode", "fast"))
        store.append(session, 2, User("and"))
    assert store.seconds(session) == {1: 2.5, 2: 0.0}


def test_the_time_of_a_question_is_none_of_the_turns(
    store: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = store.create(model="m")
    clock = iter([100.0, 101.0, 102.0, 150.0, 190.0, 193.0, 200.0, 300.0])
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: next(clock))
        store.append(session, 1, User("hi"))
        store.append(session, 1, Assistant("", calls=(ToolCall("c1", "git_commit", "{}"),)))
        store.append(session, 1, StateRecord("asked", "c1"))
        store.append(session, 1, StateRecord("asked", "c1"))  # again, after a restart
        store.append(session, 1, StateRecord("asked", ""))
        store.append(session, 1, Assistant("done"))
        store.append(session, 2, User("and"))
        store.append(session, 2, StateRecord("asked", "c2"))  # and not answered yet
    assert store.seconds(session) == {1: 93.0 - 88.0, 2: 0.0}


def test_a_fork_knows_its_parent(store: Sessions) -> None:
    parent = said(store, "one")
    child = store.create(model="m", parent=parent)
    assert store.info(child).parent == parent
    store.append(child, 1, User("one"))
    assert store.info(child).parent == parent
    assert store.sessions()[0].parent == parent


def test_a_session_is_found_by_the_start_or_the_end_of_its_id(store: Sessions) -> None:
    first, second = said(store, "one"), said(store, "two")
    assert store.find("") == second
    assert store.find(first) == first
    assert store.find(first[-4:]) == first
    with pytest.raises(UserError, match=f"Several sessions.*{second}, {first}"):
        store.find(first[:8])
    for wrong in ("zzz", "%", "_", "\\"):
        with pytest.raises(UserError, match="No session"):
            store.find(wrong)


def test_no_session_at_all_is_said(store: Sessions) -> None:
    with pytest.raises(UserError, match="No sessions in this folder yet"):
        store.find("")
    with pytest.raises(UserError, match="No session"):
        store.load("20200101")


@pytest.fixture(params=["index", "no index"])
def searched(
    request: pytest.FixtureRequest, store: Sessions, monkeypatch: pytest.MonkeyPatch
) -> Sessions:
    if request.param == "no index":
        monkeypatch.setattr(module, "INDEX_SQL", module.INDEX_SQL.replace("trigram", "nosuch"))
    return store


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("这个解析器有错误", "错误"),
        ("这个解析器有错误", "解析器"),
        ("这个解析器有错误", "错"),
        ("The Parser fails", "pARSER f"),
        ("the\n    parser", "the parser"),
        ("100% sure", "0% s"),
        ("100% sure", "0%"),
        ("a_b", "_"),
        ('say "hi" OR bye', '"hi" OR'),
        ("c:\\dir", "\\d"),
        ("ÉTÉ", "ét"),
        ("ÉTÉ là", "été"),
        ("it's NEAR(a b)", "NEAR(a"),
    ],
)
def test_a_search_takes_the_text_to_the_letter(searched: Sessions, text: str, wanted: str) -> None:
    session = said(searched, "other words: 1000 sure, axb, c:dir, 错的没有", text)
    found = searched.search(wanted)
    assert [(hit.session, hit.turn, hit.role) for hit in found][:1] == [(session, 2, "user")]
    assert wanted.lower() in found[0].snippet.lower()
    assert len(found) == (2 if wanted == "错" else 1)


def test_a_search_looks_at_what_people_model_and_tools_said(searched: Sessions) -> None:
    session = searched.create(model="m")
    records: list[Record] = [
        User("needle 1"),
        Assistant("needle 2", thinking="needle in the mind"),
        ToolResult("1", "t", "x" * 500 + " needle 3 " + "y" * 500),
        Context("needle 4"),
    ]
    for record in records:
        searched.append(session, 1, record)
    found = searched.search("needle")
    assert [hit.role for hit in found] == ["tool", "assistant", "user"]
    assert found[0].snippet == "…" + "x" * 59 + " needle 3 " + "y" * 57 + "…"
    searched.append(session, 2, User("needle 5"))
    assert [hit.snippet for hit in searched.search("needle", limit=1)] == ["needle 5"]
    assert searched.search("  ") == ()
    assert searched.search("absent \udce9") == []


def test_many_threads_may_append_at_once(store: Sessions) -> None:
    session = said(store, "begin")

    def write(name: int) -> None:
        for number in range(20):
            store.append(session, 1, Assistant(f"{name} {number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [record.text for _, record in store.load(session)[1:] if isinstance(record, Assistant)]
    assert sorted(texts) == sorted(f"{name} {number}" for name in range(4) for number in range(20))


WRITER = """
import sys
from pathlib import Path
from typing import Any
from core.conversation.messages import User
from modules.sessions.store import Sessions
store = Sessions(Path(sys.argv[1]), patience=60)  # on a slow disk the other has it for long
session = store.create(model="m")
for number in range(int(sys.argv[2])):
    store.append(session, number, User(f"{session} {number}"))
    print(session, number, flush=True)
"""


def writer(path: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_two_processes_write_to_one_new_file(path: Path, store: Sessions) -> None:
    writers = [writer(path, 40), writer(path, 40)]
    outputs = [process.communicate()[0] for process in writers]
    assert [process.returncode for process in writers] == [0, 0]
    for output in outputs:
        session = output.split()[0]
        assert len(store.load(session)) == 40


def test_what_was_acknowledged_survives_a_kill(path: Path, store: Sessions) -> None:
    for attempt in range(5):
        process = writer(path, 100_000)
        assert process.stdout
        acknowledged = [process.stdout.readline() for _ in range(10 + attempt)]
        process.send_signal(signal.SIGKILL)
        acknowledged += process.communicate()[0].splitlines()
        session = acknowledged[0].split()[0]
        kept = [turn for turn, _ in store.load(session)]
        whole = [line for line in acknowledged if len(line.split()) == 2]
        assert kept == list(range(len(kept)))
        assert len(kept) >= len(whole) - 1
        assert len(kept) > int(whole[-2].split()[1])


def test_a_damaged_file_is_kept_aside_and_a_fresh_one_begun(path: Path, store: Sessions) -> None:
    path.parent.mkdir()
    path.write_bytes(b"This is no database. " * 100)
    session = said(store, "hello")
    aside = path.with_name("sessions.broken-1.sqlite")
    assert aside.read_bytes() == b"This is no database. " * 100
    assert store.load(session) == [(1, User("hello"))]
    assert str(aside) in str(list(store.warnings()))
    assert store.warnings() == []
    assert str(aside) in str(list(store.status()))


def broken_inside(path: Path) -> None:
    """Damage an index of the file: SQLite reads most of it, and stumbles over the rest."""
    with closing(sqlite3.connect(path)) as connection:
        named = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_event_1'"
        (page,) = connection.execute(named).fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : (page - 1) * 4096 + 100] = b"\xff" * 100
    path.write_bytes(data)


def test_a_rescue_that_was_killed_is_done_again(
    path: Path, store: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = [said(store, f"{n} " + "x" * 3000) for n in range(5)]
    store.close()
    broken_inside(path)
    put_back, count = recovery._restore_session, iter(range(9))

    def killed(*arguments: Any) -> int:
        if next(count) == 3:
            raise KeyboardInterrupt
        return put_back(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(recovery, "_restore_session", killed)
        with pytest.raises(KeyboardInterrupt):
            store.load(sessions[0])
    store.close()
    again = Sessions(path)
    assert [len(again.load(session)) for session in sessions] == [2] * 5
    assert len(list(path.parent.glob("*broken*"))) == 1
    again.close()


def test_nobody_goes_on_in_the_file_that_was_set_aside(path: Path, store: Sessions) -> None:
    session = said(store, "one")
    other = Sessions(path)
    assert other.load(session) == [(1, User("one"))]
    store.close()
    broken_inside(path)
    store.load(session)
    other.append(session, 2, User("two"))
    assert store.load(session)[-1] == (2, User("two"))
    other.close()


def test_what_a_database_damaged_inside_still_holds_is_saved(path: Path, store: Sessions) -> None:
    session = said(store, *(f"{n} " + "x" * 3000 for n in range(40)))
    other = said(store, "short")
    store.close()
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 3 * 4096] = b"\xff" * 3 * 4096
    path.write_bytes(data)
    assert store.load(other)[0] == (1, User("short"))
    saved = store.load(session)
    incident = saved[-1][1]
    assert isinstance(incident, StateRecord)
    assert incident.name == "incident"
    assert len(saved) - 1 + incident.value["lost"] == 40
    assert len(saved) > 30
    assert [turn for turn, _ in saved] == sorted(turn for turn, _ in saved)
    assert {info.id for info in store.sessions()} == {session, other}
    assert "recovered: 2" in str(store.warnings()[0])
    store.append(session, 41, User("go on"))
    assert [hit.turn for hit in store.search("go on")] == [41]


def test_a_session_is_found_though_the_database_is_damaged_inside(
    path: Path, store: Sessions
) -> None:
    session = said(store, "one")
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        named = "SELECT rootpage FROM sqlite_master WHERE name = 'session'"
        (page,) = connection.execute(named).fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : (page - 1) * 4096 + 100] = b"\xff" * 100
    path.write_bytes(data)
    assert store.find(session[-4:]) == session


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM indexed", "UPDATE indexed SET upto = 'x'", "INSERT INTO indexed VALUES (9)"],
)
def test_a_damaged_note_of_what_is_indexed_stops_no_search(
    path: Path, store: Sessions, damage: str
) -> None:
    session = said(store, "word")
    assert store.search("word")
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(damage)
    store.append(session, 2, User("another word"))
    assert [hit.turn for hit in store.search("word")] == [2, 1]
    assert [hit.turn for hit in store.search("word")] == [2, 1]


def test_a_whole_database_is_never_put_aside(path: Path, store: Sessions) -> None:
    session = said(store, "one")
    assert store._recover() is False
    assert store.load(session) == [(1, User("one"))]
    assert [p.name for p in path.parent.iterdir() if "broken" in p.name] == []


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_happened_to_the_file_it_opens_and_goes_on(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.sqlite"
        path.write_bytes(_sample())
        wound(path, data)
        store = Sessions(path, patience=0.3)
        try:
            for info in store.sessions():
                with suppress(UserError):
                    store.load(info.id)
            store.search("word")
            session = store.create(model="m")
            store.append(session, 1, User("after all"))
            for info in store.sessions():
                store.claim(info.id)
            assert store.load(session) == [(1, User("after all"))]
            assert [hit.session for hit in store.search("after all")] == [session]
            assert store.find("") == session
        except UserError as problem:  # a version number that was hit, for one
            if "newer Onefold" not in str(problem):
                raise
        finally:
            store.close()


@cache
def _sample() -> bytes:
    """Return the bytes of a database with some sessions and an index in it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Sessions(Path(folder) / "sessions.sqlite")
        for number in range(4):
            said(store, *(f"word {number} {n} " + "y" * 700 * (n % 9) for n in range(15)))
        store.search("word")
        store.close()
        return (Path(folder) / "sessions.sqlite").read_bytes()


def wound(path: Path, data: st.DataObject) -> None:
    """Cut the file, or overwrite places in it."""
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        match data.draw(st.sampled_from(["cut", "zeros", "bytes", "drop"])):
            case "cut":
                del content[max(at, 1) :]
            case "zeros":
                length = data.draw(st.integers(1, 9000))
                content[at : at + length] = bytes(len(content[at : at + length]))
            case "bytes":
                some = data.draw(st.binary(min_size=1, max_size=50))
                content[at : at + len(some)] = some
            case "drop":
                del content[at : at + data.draw(st.integers(1, 5000))]
    path.write_bytes(content)


def test_a_file_held_by_another_program_is_said_to_be(path: Path, store: Sessions) -> None:
    session = said(store, "one")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UserError, match="locked by another program"):
        store.append(session, 2, User("two"))
    other.execute("ROLLBACK")
    other.close()
    store.append(session, 2, User("two"))
    assert [turn for turn, _ in store.load(session)] == [1, 2]


def test_a_full_disk_loses_nothing_that_was_kept(store: Sessions) -> None:
    session = said(store, "one")
    with store._database.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(UserError, match="disk is full"):
        store.append(session, 2, User("x" * 100_000))
    assert store.load(session) == [(1, User("one"))]
    with store._database.reading() as connection:
        connection.execute("PRAGMA max_page_count=100000")
    store.append(session, 2, User("two"))
    assert len(store.load(session)) == 2


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Sessions(tmp_path / "file" / "sessions.sqlite")
    with pytest.raises(UserError, match="Cannot use.*ONEFOLD_DATA_DIR"):
        said(store, "hello")
    with pytest.raises(UserError, match="Cannot use"):
        said(Sessions(Path("/proc/nowhere/sessions.sqlite")), "hello")


def test_a_read_only_database_is_said(store: Sessions) -> None:
    session = said(store, "one")
    with store._database.reading() as connection:
        connection.execute("PRAGMA query_only=1")
    with pytest.raises(UserError, match="Cannot use .*: attempt to write a readonly database"):
        store.append(session, 2, User("two"))


def test_a_newer_database_is_left_alone(path: Path, store: Sessions) -> None:
    said(store, "one")
    with store._database.writing() as connection:
        connection.execute("PRAGMA user_version=99")
    store.close()
    with pytest.raises(UserError, match="newer Onefold"):
        store.sessions()


def test_a_record_of_a_newer_onefold_is_said(store: Sessions) -> None:
    session = said(store, "one")
    with store._database.writing() as connection:
        connection.execute('UPDATE event SET data = \'{"kind": "hologram"}\'')
    with pytest.raises(UserError, match="cannot read"):
        store.load(session)


def test_a_session_runs_in_one_onefold_at_a_time(store: Sessions, path: Path) -> None:
    session = said(store, "one")
    code = (
        "import sys; from pathlib import Path; from modules.sessions.store import Sessions\n"
        "Sessions(Path(sys.argv[1])).claim(sys.argv[2]); print(flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path), session],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert other.stdout
    other.stdout.readline()
    with pytest.raises(UserError, match=rf"open in another Onefold \(process {other.pid}\)"):
        store.claim(session)
    other.kill()
    other.communicate()
    store.claim(session)
    store.claim(session)
    store.release(session)


def test_a_reused_process_number_is_no_owner(store: Sessions) -> None:
    session = said(store, "one")
    with store._database.writing() as connection:
        connection.execute("INSERT INTO runner VALUES (?, ?, '1')", (session, os.getppid()))
    store.claim(session)


@pytest.mark.parametrize("pid", [1 << 40, -1, 0, "x", b"\xff"])
def test_what_is_no_process_number_is_no_owner(store: Sessions, pid: object) -> None:
    session = said(store, "one")
    with store._database.writing() as connection:
        connection.execute("INSERT INTO runner VALUES (?, ?, '1')", (session, pid))
    store.claim(session)


def test_opening_asks_for_no_sqlite() -> None:
    code = (
        "import sys; from pathlib import Path; from modules.sessions.store import Sessions\n"
        "Sessions(Path('/nowhere/x')).create(model='m'); sys.exit('sqlite3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_later_sessions_sort_later(store: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    first = store.create(model="m")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1)
    assert store.create(model="m") > first


def test_a_fork_holds_what_was_said_up_to_a_turn(tmp_path: Path) -> None:
    store = Sessions(tmp_path / "s.sqlite")
    origin = store.create(model="m")
    for turn in (1, 2, 3):
        store.append(origin, turn, User(f"question {turn}"))
        store.append(origin, turn, Assistant(f"answer {turn}"))
    copy = store.fork(origin, 2)
    assert store.load(copy) == store.load(origin)[:4]
    assert (store.info(copy).parent, store.info(copy).turns) == (origin, 2)
    assert store.info(copy).title == "question 1 (2)"
    assert len(store.search("answer 1")) == 2
    assert store.info(store.fork(copy, 2)).title == "question 1 (3)"
    assert store.info(store.fork(origin, 0)).title == ""
    assert store.load(store.fork(origin, 0)) == []


def test_a_session_can_be_named_put_away_and_forgotten(tmp_path: Path) -> None:
    store = Sessions(tmp_path / "s.sqlite")
    kept, gone = store.create(model="m"), store.create(model="m")
    store.append(kept, 1, User("the pelican"))
    store.append(gone, 1, User("the pelican flies"))
    assert len(store.search("pelican")) == 2
    store.rename(kept, " Birds\nof prey ")
    store.archive(kept, True)
    store.delete(gone)
    assert [info.id for info in store.archived()] == [kept]
    assert store.archived()[0].title == "Birds of prey"
    assert store.sessions() == []
    assert [found.session for found in store.search("pelican")] == [kept]
    store.append(kept, 2, User("a pelican again"))
    assert len(store.search("pelican")) == 2
    with pytest.raises(UserError):
        store.rename(gone, "x")


def test_what_a_person_says_of_a_session_is_kept(path: Path, store: Sessions) -> None:
    session, other = store.create(model="m"), store.create(model="m")
    for name in (session, other):
        store.append(name, 1, User("hello"))
    store.append(session, 1, Assistant("and\nhello back", usage=Usage(cost_usd=0.25)))
    store.pin(session, True)
    store.tag(session, ["#one", " two  words ", "one", "", "三"])
    store.mark_unread(session, True)
    store.close()
    again = Sessions(path)
    info = again.info(session)
    assert (info.pinned, info.tags, info.unread) == (True, ("one", "two words", "三"), True)
    assert info.cost_usd == 0.25
    assert again.last_words([session, other]) == {session: "and hello back", other: "hello"}
    assert [pinned.id for pinned in again.pinned()] == [session]
    plain = again.info(other)
    assert (plain.pinned, plain.tags, plain.unread, plain.cost_usd) == (False, (), False, 0.0)
    copy = again.fork(session, 1)
    assert again.info(copy).cost_usd == 0.25
    again.close()


def test_what_a_person_says_of_a_session_outlives_damage(path: Path, store: Sessions) -> None:
    session = store.create(model="m")
    store.append(session, 1, Assistant("hello", usage=Usage(cost_usd=0.5)))
    store.append(session, 1, User("hello"))
    store.pin(session, True)
    store.tag(session, ["one"])
    store.close()
    data = bytearray(path.read_bytes())
    data[100:104] = b"\xff" * 4  # the list of tables
    path.write_bytes(data)
    info = store.info(session)
    assert (info.pinned, info.tags, info.archived) == (True, ("one",), False)
    assert info.cost_usd == 0.5


OLDER = """
CREATE TABLE session(
    id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', model TEXT NOT NULL, parent TEXT NOT NULL,
    created REAL NOT NULL, updated REAL NOT NULL, turns INTEGER NOT NULL DEFAULT 0);
CREATE TABLE event(
    id INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, ts REAL NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL,
    data TEXT NOT NULL, UNIQUE(session, seq));
CREATE TABLE said(
    id INTEGER PRIMARY KEY REFERENCES event(id) ON DELETE CASCADE, body TEXT NOT NULL);
CREATE TABLE indexed(upto INTEGER NOT NULL);
INSERT INTO indexed VALUES (0);
CREATE TABLE runner(session TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL);
PRAGMA user_version=1;
INSERT INTO session VALUES ('20250101-000000-abcd', 'old', 'm', '', 1.0, 2.0, 1);
INSERT INTO event VALUES (1, '20250101-000000-abcd', 1, 1.0, 1, 'user',
    '{"kind":"user","text":"from long ago"}');
INSERT INTO said VALUES (1, 'from long ago');
"""


def make_older(path: Path) -> str:
    """Make a file as an Onefold that could not archive wrote it; return the session in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLDER)
    return "20250101-000000-abcd"


def test_an_older_file_is_brought_up_to_date(path: Path, store: Sessions) -> None:
    session = make_older(path)
    assert store.load(session) == [(1, User("from long ago"))]
    assert [info.title for info in store.sessions()] == ["old"]
    assert [hit.session for hit in store.search("long ago")] == [session]
    store.archive(session, True)
    store.append(session, 2, User("now"))
    store.close()
    again = Sessions(path)
    assert [info.turns for info in again.archived()] == [2]
    again.close()


def test_an_older_file_that_is_broken_is_rescued_as_well(path: Path, store: Sessions) -> None:
    session = make_older(path)
    data = bytearray(path.read_bytes())
    data[100:104] = b"\xff" * 4  # the list of tables
    path.write_bytes(data)
    assert store.load(session)[0] == (1, User("from long ago"))
    assert [info.title for info in store.sessions()] == ["old"]


def test_an_older_file_can_be_read_where_nothing_can_be_written(path: Path) -> None:
    session = make_older(path)
    before = path.read_bytes()
    code = (
        "import sys; from pathlib import Path; from modules.sessions.store import Sessions\n"
        "store = Sessions(Path(sys.argv[1])); print(store.sessions()[0].id)"
    )
    folder = str(path.parent)
    done = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--ro-bind", folder, folder,
         sys.executable, "-c", code, str(path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == session
    assert path.read_bytes() == before


def test_a_session_in_which_only_a_line_waits_is_there(store: Sessions) -> None:
    session = store.create(model="m")
    store.append(session, 0, StateRecord("queue", [{"id": "m1", "text": "first"}]))
    assert [info.id for info in store.sessions()] == [session]
    assert store.find("") == session
    store.append(session, 0, StateRecord("queue", []))
    assert store.sessions() == []
