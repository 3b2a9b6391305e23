"""The changes of a session over HTTP: shown, accepted, taken back; by hunk, file, call, turn."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pytest

from core.feature import Feature
from modules.annotations import Annotations
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.file_manager import FileManager
from modules.files.project import Project
from modules.history_tool import HistoryTool
from modules.outputs import Outputs
from modules.storage.data_folder import DataFolder
from modules.web.http.auth import published_server_file, server_file
from tests.modules.cli.terminal import CHECKOUT, PYTHON, Terminal
from tests.modules.cli.terminal import terminal as terminal  # the fixture
from tests.modules.web.serving import TIMEOUT_SECONDS, Answer, Page, RunningServer
from tests.scripted_model import call_reply, text_reply
from utils.waiting import Stop

Serve = Callable[..., AbstractContextManager[RunningServer]]
OLD = "".join(f"line {number}\n" for number in range(1, 41))
NEW = OLD.replace("line 3\n", "three\n").replace("line 38\n", "38\n")


def make_features(project: Project, data: DataFolder) -> Sequence[Feature]:
    points = Checkpoints(
        project.root, data.checkpoints, file_cap=100_000, total_cap=10**8, keep_days=7
    )
    notes, past = Annotations(project, data.notes), HistoryTool()
    files = FileManager(project, Outputs(data.outputs), notes.note, {"@history": past.read})
    return [
        UndoCommands(project, LateCheckpoints(lambda: points, data.checkpoints)),
        files,
        notes,
        past,
    ]


class Talk:
    """A session that changed files: f by call 1 and 2 (turns 1 and 2), and made g by call 3."""

    def __init__(self, served: RunningServer, page: Page) -> None:
        self.served = served
        self.page = page
        self.session = served.new_session()
        page.attach(self.session)
        for turn in (1, 2):
            page.call("send", session=self.session, cmd=f"t{turn}", text="go")
            page.wait_for("TurnFinished")
            page.wait_for("state", running=False)

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        return self.served.ask(method, f"/api/sessions/{self.session}/changes{path}", body)

    def shown(self, turn: int = 0) -> Any:
        return self.ask("GET", f"?turn={turn}").json

    def file(self, path: str, turn: int = 0) -> Any:
        return next(file for file in self.shown(turn)["files"] if file["path"] == path)

    def part(self, path: str, hunk: int) -> dict[str, Any]:
        answer = self.shown()
        old = next(file["old"] for file in answer["files"] if file["path"] == path)
        return {"seen": answer["seen"], "path": path, "hunk": hunk, "old": old}

    def text(self, name: str = "f") -> str:
        return (self.served.project / name).read_text()


REPLIES = [
    call_reply(
        "modify_file", id="c1", path="f", operation="replace", old="line 3\n", new="three\n"
    ),
    text_reply("one"),
    call_reply("modify_file", id="c2", path="f", operation="replace", old="line 38\n", new="38\n"),
    call_reply("create_file", id="c3", path="g", content="new\n"),
    text_reply("two"),
]


@pytest.fixture
def talk(serve: Serve) -> Iterator[Talk]:
    with serve(*REPLIES, make_features=make_features) as served, served.page() as page:
        (served.project / "f").write_text(OLD)
        yield Talk(served, page)


def test_what_changed_is_shown_by_hunk(talk: Talk) -> None:
    shown = talk.shown()
    assert shown["turns"] == [1, 2]
    assert [(f["path"], f["kind"], len(f["hunks"])) for f in shown["files"]] == [
        ("f", "modified", 2),
        ("g", "created", 1),
    ]
    assert shown["files"][0]["hunks"][0] == {
        "diff": "@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+three\n line 4\n line 5\n line 6",
        "added": 1,
        "removed": 1,
    }
    assert len(talk.file("f", turn=2)["hunks"]) == 1
    one = talk.ask("GET", f"/file?path=f&seen={shown['seen']}").json
    assert one == shown["files"][0]
    assert talk.ask("GET", f"/file?path=h&seen={shown['seen']}").status == 404


def whose(talk: Talk, turn: int = 0) -> dict[str, bool]:
    return {file["path"]: file["is_own"] for file in talk.shown(turn)["files"]}


def test_what_others_did_is_told_from_what_the_session_did(talk: Talk) -> None:
    root = talk.served.project
    assert whose(talk) == {"f": True, "g": True}
    (root / "a").write_text("by hand\n")
    other = talk.served.ask("PUT", "/api/files/text", {"path": "b", "text": "at the page\n"})
    assert other.status == 200
    shown = talk.shown()
    told = [(file["path"], file["is_own"]) for file in shown["files"]]
    assert told == [("f", True), ("g", True), ("a", False), ("b", False)]
    one = talk.ask("GET", f"/file?path=a&seen={shown['seen']}").json
    assert one["is_own"] is False


def test_all_that_is_accepted_is_what_the_session_did_unless_said(talk: Talk) -> None:
    (talk.served.project / "a").write_text("by hand\n")
    told = talk.ask("POST", "/accept", {"seen": talk.shown()["seen"]})
    assert told.status == 200
    assert whose(talk) == {"a": False}
    talk.ask("POST", "/accept", {"seen": talk.shown()["seen"], "others": True})
    assert whose(talk) == {}


def test_what_an_undone_call_had_changed_is_of_others_when_they_change_it(talk: Talk) -> None:
    talk.ask("POST", "/undo", {"what": "turn", "number": 2})
    assert whose(talk) == {"f": True}
    (talk.served.project / "g").write_text("by hand\n")
    assert whose(talk) == {"f": True, "g": False}
    assert whose(talk, 2) == {"g": False}


def test_a_change_of_another_session_is_not_of_this_one(talk: Talk) -> None:
    served, page = talk.served, talk.page
    served.model.replies += [
        call_reply("create_file", id="c9", path="theirs", content="x"),
        text_reply("done"),
    ]
    other = served.new_session()
    page.attach(other)
    page.call("send", session=other, cmd="t9", text="go")
    page.wait_for("TurnFinished", session=other)
    page.wait_for("state", session=other, running=False)
    assert whose(talk) == {"f": True, "g": True, "theirs": False}
    told = served.ask("GET", f"/api/sessions/{other}/changes").json["files"]
    assert [(file["path"], file["is_own"]) for file in told] == [("theirs", True)]


@pytest.mark.parametrize("hunk", [-2, -99])
def test_a_hunk_before_the_first_is_none_and_not_the_whole_file(talk: Talk, hunk: int) -> None:
    for deed in ("take-back", "accept"):
        assert talk.ask("POST", f"/{deed}", talk.part("f", hunk)).status == 400
    assert talk.text() == NEW
    assert len(talk.file("f")["hunks"]) == 2


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_a_number_that_nothing_can_hold_is_refused(talk: Talk, number: int) -> None:
    asked = [
        ("take-back", {**talk.part("f", 0), "seen": number}),
        ("accept", {**talk.part("f", 0), "turn": number}),
        ("undo", {"what": "turn", "number": number}),
    ]
    assert [talk.ask("POST", f"/{deed}", body).status for deed, body in asked] == [400, 400, 400]


def test_a_hunk_is_taken_back_and_every_screen_hears_of_it(talk: Talk) -> None:
    with talk.served.page() as other:
        revision = other.attach(talk.session)["state"]["changes"]
        answer = talk.ask("POST", "/take-back", talk.part("f", 0))
        assert answer.status == 200
        assert talk.text() == NEW.replace("three\n", "line 3\n")
        heard = other.wait_for("CommandAnswered")
        assert (heard["command"], heard["ok"], heard["card"]["rows"][0][1]) == ("/undo", True, "f")
        assert other.wait_for("state", running=False)["changes"] > revision
        other.call("send", session=talk.session, cmd="r", text="/redo")
        other.wait_for("CommandAnswered", command="/redo")
    assert talk.text() == NEW


def test_the_same_command_twice_is_done_once(talk: Talk) -> None:
    body = {**talk.part("f", 0), "cmd": "once"}
    first = talk.ask("POST", "/take-back", body)
    assert talk.ask("POST", "/take-back", body).json == first.json
    assert first.status == 200


def test_what_is_accepted_stays_so_over_a_restart(serve: Serve) -> None:
    with serve(*REPLIES, make_features=make_features) as served, served.page() as page:
        (served.project / "f").write_text(OLD)
        talk = Talk(served, page)
        assert talk.ask("POST", "/accept", talk.part("f", 1)).status == 200
        assert talk.ask("POST", "/accept", talk.part("g", -1)).status == 200
        assert len(talk.file("f")["hunks"]) == 1
    with serve(make_features=make_features) as served:
        path = f"/api/sessions/{talk.session}/changes"
        (file,) = served.ask("GET", path).json["files"]
        assert (file["path"], len(file["hunks"])) == ("f", 1)
        seen = served.ask("GET", path).json["seen"]
        served.ask("POST", f"{path}/accept", {"seen": seen})
        answer = served.ask("GET", path).json
        assert (answer["files"], answer["has_accepted"]) == ([], True)
        assert served.ask("DELETE", f"{path}/accepted").status == 200
        assert len(served.ask("GET", path).json["files"]) == 2


def test_any_call_and_turn_is_undone_and_redone(talk: Talk) -> None:
    calls = talk.ask("GET", "/calls").json["calls"]
    assert [(c["call_id"], c["number"], c["turn"], c["files"], c["undone"]) for c in calls] == [
        ("c1", 1, 1, 1, False),
        ("c2", 2, 2, 1, False),
        ("c3", 3, 2, 1, False),
    ]
    assert talk.ask("POST", "/undo", {"what": "call", "number": 1}).status == 200
    assert talk.text() == NEW.replace("three\n", "line 3\n")
    refused = talk.ask("POST", "/undo", {"what": "call", "number": 1})
    assert (refused.status, refused.json["code"]) == (422, "failed")
    assert "/redo call 1" in refused.json["error"]
    assert talk.ask("POST", "/undo", {"what": "turn", "number": 2}).status == 200
    assert talk.text() == OLD
    calls = talk.ask("GET", "/calls?since=2").json["calls"]
    assert [c["undone"] for c in calls] == [True, True]
    for number in (2, 1):
        body = {"what": "turn", "number": number, "again": True}
        assert talk.ask("POST", "/undo", body).status == 200
    assert talk.text() == NEW
    assert talk.ask("POST", "/undo", {}).status == 200
    assert not (talk.served.project / "g").exists()
    assert talk.shown()["can_redo"]
    assert talk.ask("POST", "/undo", {"again": True}).status == 200
    assert talk.text("g") == "new\n"


def test_the_marks_outlive_the_server(serve: Serve) -> None:
    with serve(*REPLIES, make_features=make_features) as served, served.page() as page:
        (served.project / "f").write_text(OLD)
        talk = Talk(served, page)
        talk.ask("POST", "/undo", {"what": "call", "number": 3})
    with serve(make_features=make_features) as served:
        path = f"/api/sessions/{talk.session}/changes"
        calls = served.ask("GET", f"{path}/calls").json["calls"]
        assert [c["undone"] for c in calls] == [False, False, True]
        again = {"what": "call", "number": 3, "again": True}
        assert served.ask("POST", f"{path}/undo", again).status == 200
        assert (served.project / "g").read_text() == "new\n"


def test_nothing_is_taken_back_while_a_task_runs(serve: Serve) -> None:
    gate = threading.Event()

    def wait(_: Stop) -> None:
        assert gate.wait(TIMEOUT_SECONDS)

    with serve(
        *REPLIES, [*text_reply("long")[:-1], wait, *text_reply("end")], make_features=make_features
    ) as served:
        (served.project / "f").write_text(OLD)
        with served.page() as page:
            talk = Talk(served, page)
            part = talk.part("f", 0)
            page.call("send", session=talk.session, cmd="long", text="go")
            page.wait_for("TurnStarted", turn=3)
            for path, body in (("/take-back", part), ("/undo", {"what": "call", "number": 1})):
                refused = talk.ask("POST", path, body)
                assert (refused.status, refused.json["code"]) == (409, "busy")
                assert refused.json["error"] == "A task is running. Wait for it, or stop it."
            assert talk.ask("POST", "/accept", part).status == 200
            gate.set()
            page.wait_for("state", running=False)
            assert talk.text() == NEW


def test_a_message_sent_while_something_is_taken_back_waits_for_that(serve: Serve) -> None:
    with (
        serve(*REPLIES, text_reply("three"), make_features=make_features) as served,
        served.page() as page,
    ):
        (served.project / "f").write_text(OLD)
        talk = Talk(served, page)
        (points,) = [
            family._checkpoints
            for family in served.server.registry.open(talk.session).terminal.features
            if isinstance(family, UndoCommands)
        ]
        undoing = threading.Thread(target=talk.ask, args=("POST", "/undo", {}))
        with points.objects.locked():
            undoing.start()
            while not served.server.registry.open(talk.session).is_working:
                undoing.join(0.01)
            sent = page.call("send", session=talk.session, cmd="t3", text="go")
            assert sent["queued"]
        page.wait_for("CommandAnswered", command="/undo")
        page.wait_for("TurnStarted", turn=3)
        page.wait_for("state", running=False)
        undoing.join(TIMEOUT_SECONDS)


def test_the_model_hears_what_was_taken_back(serve: Serve) -> None:
    with (
        serve(*REPLIES, text_reply("three"), make_features=make_features) as served,
        served.page() as page,
    ):
        (served.project / "f").write_text(OLD)
        talk = Talk(served, page)
        talk.ask("POST", "/take-back", talk.part("f", 0))
        talk.ask("POST", "/undo", {"what": "call", "number": 3})
        page.call("send", session=talk.session, cmd="t3", text="go")
        page.wait_for("TurnStarted", turn=3)
        page.wait_for("state", running=False)
        told = [m["content"] for m in served.model.requests[-1] if m["role"] == "system"]
        assert told[-1].split("\n") == [
            "The person took back a part of what had changed in f (undo 1).",
            "The person took back what one call of turn 2 did to files (undo 2): g. "
            "Look before you change them again.",
        ]


def test_a_file_that_changed_meanwhile_is_merged_or_kept(talk: Talk) -> None:
    part = talk.part("f", 0)
    (talk.served.project / "f").write_text(NEW.replace("three\n", "mine\n"))
    card = talk.ask("POST", "/take-back", part).json["card"]
    assert card["rows"][-1][0]["template"] == "both kept"
    assert talk.text() == NEW.replace("three\n", "mine\n")
    assert talk.text("f.undo-conflict") == NEW.replace("three\n", "line 3\n")


def test_bad_requests_are_refused(talk: Talk) -> None:
    assert talk.ask("POST", "/undo", {"what": "all", "number": 1}).status == 400
    assert talk.ask("POST", "/undo", {"what": "call", "number": -1}).status == 400
    assert talk.ask("POST", "/accept", {"seen": 10**9, "path": "f"}).status == 422
    assert talk.ask("POST", "/take-back", {"seen": 1, "path": "../x"}).status == 422
    assert talk.ask("GET", "/file?path=../x&seen=1").status == 422


def test_there_may_be_no_checkpoints(served: RunningServer) -> None:
    session = served.new_session()
    answer = served.ask("GET", f"/api/sessions/{session}/changes")
    assert (answer.status, answer.json["code"]) == (415, "unsupported")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_shows_what_the_page_takes_back(
    talk: Talk, terminal: Terminal
) -> None:
    server = talk.served.server
    file = server_file(talk.served.data, server.port)
    script = (
        "from pathlib import Path; from modules.cli.attach.client import attach; "
        "from modules.translator import Translator; "
        f"attach(Path('{talk.served.data}'), {server.port}, Translator.of('en'))"
    )
    with published_server_file(file, server.url, server.authenticator.token, talk.served.project):
        terminal.tmux(
            *("new-session", "-d", "-x", "90", "-y", "30"),
            f'cd {CHECKOUT} && {PYTHON} -c "{script}"; cat',
        )
        terminal.wait_for_text("two")
        terminal.wait_for_text("›")
        talk.ask("POST", "/undo", {"what": "call", "number": 1})
        terminal.wait_for_text("Undid call 1 (turn 1); /redo restores it")
        terminal.press("/redo call 1", "Enter")
        terminal.wait_for_text("Restored call 1 (turn 1)")
    assert talk.text() == NEW


@pytest.mark.parametrize("name", [b"a\xe2\x80\xaeb", b"\xff\xfe", b"<img src=x>", b"back\\slash"])
def test_hostile_names_are_shown_as_escapes_and_found_again(talk: Talk, name: bytes) -> None:
    path = talk.served.project / os.fsdecode(name)
    path.write_text("mine")
    (shown,) = [f["path"] for f in talk.shown()["files"] if f["path"] not in ("f", "g")]
    assert shown.isprintable()
    seen = talk.shown()["seen"]
    assert talk.ask("POST", "/take-back", {"seen": seen, "path": shown}).status == 200
    assert not path.exists()
