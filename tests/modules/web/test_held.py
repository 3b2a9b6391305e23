"""A session that another Onefold runs: read along here, and taken over once it is free."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from core.conversation.messages import Assistant, User
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.scripted_model import text_reply

Serve = Callable[..., AbstractContextManager[RunningServer]]
ROOT = Path(__file__).parents[3]
OWNER = """
import sys
from pathlib import Path
from core.conversation.history import INTERRUPTED
from core.conversation.messages import Assistant, StateRecord, User
from modules.sessions.store import Sessions
store, session = Sessions(Path(sys.argv[1])), sys.argv[2]
store.claim(session)
print("has it", flush=True)
for line in sys.stdin:
    line = line.strip()
    if line == "resumed":
        store.append(session, 2, StateRecord(INTERRUPTED, True))
    else:
        store.append(session, 2, User(line))
    if line == "more":
        store.append(session, 2, Assistant("over there"))
    print("said", flush=True)
"""


def begun(served: RunningServer) -> tuple[str, Path]:
    """Make a session of one turn, which nobody runs; return it and where it is kept."""
    path = DataFolder(served.data.parent.parent, served.project).sessions
    store = Sessions(path)
    session = store.create(model="m")
    store.append(session, 1, User("hi"))
    store.append(session, 1, Assistant("hello"))
    store.close()
    return session, path


@contextmanager
def run_elsewhere(path: Path, session: str) -> Iterator[Callable[[str], None]]:
    """Let another process run *session*; what is yielded makes it go on there."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(path), session],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdin
    assert owner.stdout
    assert owner.stdout.readline() == "has it\n"

    def go_on(text: str) -> None:
        assert owner.stdin
        assert owner.stdout
        owner.stdin.write(f"{text}\n")
        owner.stdin.flush()
        assert owner.stdout.readline() == "said\n"

    try:
        yield go_on
    finally:
        owner.stdin.close()
        owner.wait(TIMEOUT_SECONDS)
        owner.stdout.close()


def test_it_is_read_along_and_taken_over_when_it_is_free(serve: Serve) -> None:
    with serve(text_reply("here again")) as served, served.page() as page:
        session, path = begun(served)
        with run_elsewhere(path, session) as go_on:
            arrival = page.attach(session)
            assert [e["text"] for e in arrival["events"] if e["type"] == "TextDelta"] == ["hello"]
            held = arrival["state"]["held"]
            assert held["template"].startswith("Session {session} is open in another Onefold")
            refused = page.call("send", session=session, cmd="c1", text="mine")
            assert (refused["ok"], refused["code"]) == (False, "held")
            assert served.ask("DELETE", f"/api/sessions/{session}").json["code"] == "failed"
            go_on("more")
            again = page.attach(session, arrival["boot"], arrival["head"])
            said = [e["text"] for e in again["events"] if e["type"] == "TextDelta"]
            assert said == ["hello", "over there"]
            assert again["state"]["held"]
        assert page.call("send", session=session, cmd="c2", text="mine")["ok"]
        assert page.wait_for("TextDelta")["text"] == "here again"
        assert page.wait_for("state", running=False)["held"] is None
        store = Sessions(path)
        texts = [r.text for _, r in store.load(session) if isinstance(r, User)]
        store.close()
        assert texts == ["hi", "more", "mine"]


def test_it_works_over_there_until_its_turn_is_over_or_was_cut_short(serve: Serve) -> None:
    with serve() as served, served.page() as page:
        session, path = begun(served)
        with run_elsewhere(path, session) as go_on:
            for line, ends in (
                ("do it", ["done"]),
                ("resumed", ["done", "interrupted"]),
                ("more", ["done", "interrupted", "done"]),
            ):
                go_on(line)
                events = page.attach(session)["events"]
                assert [e["why"] for e in events if e["type"] == "TurnFinished"] == ends
