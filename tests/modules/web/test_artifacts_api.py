"""Results over HTTP: listed, declared, previewed, fetched in any version, and asked for again."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from PIL import Image

from core.conversation.messages import User
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.assembly import HermeticSettings
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.modules.web.test_held import run_elsewhere
from tests.scripted_model import ScriptedModel, call_reply, text_reply
from tests.web_assembly import assembled_server

SETTINGS = HermeticSettings(
    context_limit=128_000,
    allow_unsandboxed=True,
    known_secrets={"TOKEN": "tokentokentoken"},
)


@contextmanager
def serving(tmp_path: Path) -> Iterator[RunningServer]:
    (tmp_path / "project").mkdir(exist_ok=True)
    model = ScriptedModel()
    server, config = assembled_server(
        tmp_path, lambda: model, SETTINGS, version="0", language="", model="scripted"
    )
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        yield RunningServer(server, model, tmp_path / "project", tmp_path / "data")
    finally:
        server.stop()
        thread.join(TIMEOUT_SECONDS)
        config.store.close()
        config.project.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[RunningServer]:
    with serving(tmp_path) as running:
        yield running


def write(text: str) -> list[object]:
    return call_reply("create_file", path="a.md", content=text, overwrite=True)  # type: ignore[return-value]


def test_a_result_goes_all_the_way(served: RunningServer) -> None:
    session = served.new_session()
    served.server.registry.open(session).terminal.approval.mode = "all"
    say = f"/api/sessions/{session}/messages"
    given = call_reply("hand_over", path="a.md", kind="report", title="The answer")
    served.model.replies += [write("# One\n"), given, text_reply("Done.")]  # type: ignore[list-item]
    served.ask("POST", say, {"text": "Begin."})
    served.model.replies += [write("# Two tokentokentoken\n"), text_reply("Done.")]  # type: ignore[list-item]
    served.ask("POST", say, {"text": "Again."})
    (told,) = served.ask("GET", f"/api/artifacts?session={session}").json["artifacts"]
    everything = served.ask("GET", "/api/artifacts").json
    assert (told in everything["artifacts"], everything["held"]) == (True, [])
    assert {name: told[name] for name in ("id", "path", "kind", "title", "turn", "is_gone")} == {
        "id": f"{session}.1",
        "path": "a.md",
        "kind": "report",
        "title": "The answer",
        "turn": 1,
        "is_gone": False,
    }
    one = f"/api/artifacts/{session}.1"
    versions = served.ask("GET", one).json["versions"]
    assert len(versions) == 2
    first = served.ask("GET", f"{one}/download?version={versions[1]['number']}")
    assert (first.body, first.headers["content-disposition"]) == (
        b"# One\n",
        "attachment; filename*=UTF-8''a.md",
    )
    now = served.ask("GET", f"{one}/download").body
    assert now.startswith(b"# Two ")
    assert b"tokentoken" not in now
    look = served.ask("GET", f"{one}/preview").json
    assert look["pages"] == 0
    assert look["text"].startswith("# Two ")
    assert "tokentoken" not in look["text"]
    assert served.ask("GET", f"{one}/preview/1").status == 422
    served.model.replies += [text_reply("Made.")]
    asked = {"text": "/undo is what it should tell of", "cmd": "again"}
    assert served.ask("POST", f"{one}/regenerate", asked).status == 200
    served.ask("GET", f"/api/sessions/{session}")
    runner = served.server.registry.open(session)
    with served.page() as page:
        page.attach(session)
        while runner.is_working:
            page.wait_for("state")
    words = [one.text for _, one in runner.terminal.history.records if isinstance(one, User)]
    assert words[-1].strip() == "/undo is what it should tell of"
    (served.project / "a.md").unlink()
    assert served.ask("GET", one).json["is_gone"] is True
    assert served.ask("GET", f"{one}/download").status in (404, 422)
    assert served.ask("DELETE", one).status == 204
    assert served.ask("GET", one).status == 404


def test_a_person_declares_a_picture_and_what_is_broken_is_refused(
    served: RunningServer, tmp_path: Path
) -> None:
    session = served.new_session()
    file = io.BytesIO()
    Image.new("RGB", (30, 20), "blue").save(file, "PNG")
    (served.project / "a b.png").write_bytes(file.getvalue())
    (served.project / "bad.json").write_text(json.dumps([1])[:-1])
    body = {"session": session, "path": "a b.png", "kind": "chart", "title": "How it 'grew'"}
    told = served.ask("POST", "/api/artifacts", body)
    assert (told.status, told.json["title"], told.json["is_by_person"]) == (
        201,
        "How it 'grew'",
        True,
    )
    page = served.ask("GET", f"/api/artifacts/{told.json['id']}/preview/1")
    assert page.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(page.body)).size == (30, 20)
    assert page.headers["content-security-policy"].startswith("default-src 'none'; sandbox")
    any_file = f"/api/files/preview/1?session={session}&path="
    assert served.ask("GET", f"{any_file}a%20b.png").body == page.body
    (served.project / "a.html").write_text("<script>alert(1)</script>")
    (served.project / "out.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "secret.png").write_bytes(file.getvalue())
    for path in ("a.html", "out.png", "..%2Fsecret.png", "none.docx"):
        assert served.ask("GET", f"{any_file}{path}").status in (404, 422), path
    refused = served.ask("POST", "/api/artifacts", {"session": session, "path": "bad.json"})
    assert (refused.status, "is not JSON" in refused.json["error"]) == (422, True)
    for unknown in (f"{session}.9", session, "x.1", f"{session}.x"):
        assert served.ask("GET", f"/api/artifacts/{unknown}").status == 404, unknown
    strange = served.ask("POST", "/api/artifacts", {"session": session, "path": "../x"})
    assert strange.status == 422


def hand_over(served: RunningServer, session: str, path: str, text: str) -> dict[str, object]:
    (served.project / path).write_text(text)
    body = {"session": session, "path": path, "kind": "report", "title": path}
    told: dict[str, object] = served.ask("POST", "/api/artifacts", body).json
    return told


def test_results_of_several_sessions_are_told_each_as_its_own(served: RunningServer) -> None:
    first, second = served.new_session(), served.new_session()
    of_first = hand_over(served, first, "a.md", "# A\n")
    of_second = hand_over(served, second, "b.md", "# B\n")
    assert (of_first["id"], of_second["id"]) == (f"{first}.1", f"{second}.1")
    everything = served.ask("GET", "/api/artifacts").json
    assert everything["held"] == []
    assert sorted(one["id"] for one in everything["artifacts"]) == sorted(
        [f"{first}.1", f"{second}.1"]
    )
    for session, told in ((first, of_first), (second, of_second)):
        alone = served.ask("GET", f"/api/artifacts?session={session}").json["artifacts"]
        assert alone == [told]
    (served.project / "a.md").rename(served.project / "renamed.md")
    renamed = served.ask("GET", f"/api/artifacts/{first}.1").json
    assert (renamed["path"], renamed["former_paths"]) == ("renamed.md", ["a.md"])
    assert served.ask("GET", f"/api/artifacts/{first}.1/download").body == b"# A\n"
    assert served.ask("GET", f"/api/artifacts/{second}.1").json["path"] == "b.md"
    assert served.ask("DELETE", f"/api/artifacts/{first}.1").status == 204
    left = served.ask("GET", "/api/artifacts").json["artifacts"]
    assert [one["id"] for one in left] == [f"{second}.1"]


def test_a_session_that_another_program_has_is_named_and_the_others_are_told(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as served:
        mine, other = served.new_session(), served.new_session()
        hand_over(served, mine, "a.md", "# A\n")
        hand_over(served, other, "b.md", "# B\n")
    with serving(tmp_path) as served:
        sessions = DataFolder(served.data, served.project).sessions
        with run_elsewhere(sessions, other):
            everything = served.ask("GET", "/api/artifacts").json
            ids = sorted(one["id"] for one in everything["artifacts"])
            assert ids == sorted([f"{mine}.1", f"{other}.1"])
            assert everything["held"] == [other]
            alone = served.ask("GET", f"/api/artifacts?session={other}").json
            assert ([told["id"] for told in alone["artifacts"]], alone["held"]) == (
                [f"{other}.1"],
                [other],
            )
            one = f"/api/artifacts/{other}.1"
            assert served.ask("GET", f"{one}/download").body == b"# B\n"
            sessions_of_other = served.server.registry.open(other).terminal.sessions
            with patch.object(sessions_of_other, "refresh_read_only") as reload:
                for page in range(1, 4):
                    served.ask("GET", f"{one}/preview/{page}")
                    served.ask("GET", f"/api/files/preview/{page}?session={other}&path=a.md")
                assert reload.call_count <= 1  # the pages are of what was told
            added = {"session": other, "path": "a.md"}
            for method, path, body in (
                ("POST", f"{one}/regenerate", {}),
                ("DELETE", one, {}),
                ("POST", "/api/artifacts", added),
            ):
                refused = served.ask(method, path, body)
                assert (refused.status, refused.json["code"]) == (409, "held"), path
        free = served.ask("GET", "/api/artifacts").json
        assert (len(free["artifacts"]), free["held"]) == (2, [])
        assert served.ask("GET", f"/api/artifacts/{other}.1/download").body == b"# B\n"
        with closing(Sessions(sessions)) as store:
            assert store.holder(other) is None  # who looks takes nothing over
            assert served.ask("DELETE", f"/api/artifacts/{other}.1").status == 204
            assert store.holder(other) == os.getpid()


def test_a_result_whose_file_is_gone_keeps_its_versions_and_is_made_again(
    served: RunningServer,
) -> None:
    session = served.new_session()
    runner = served.server.registry.open(session)
    runner.terminal.approval.mode = "all"
    given = call_reply("hand_over", path="a.md", kind="report", title="The answer")
    say = f"/api/sessions/{session}/messages"

    def turn(path: str, body: dict[str, object], *replies: object) -> None:
        served.model.replies += replies  # type: ignore[arg-type]
        turns = runner.terminal.history.turn
        with served.page() as page:
            page.attach(session)
            assert served.ask("POST", path, body).status in (200, 202)
            while runner.is_working or runner.terminal.history.turn == turns:
                page.wait_for("state")

    turn(say, {"text": "Begin."}, write("# One\n"), given, text_reply("Done."))
    one = f"/api/artifacts/{session}.1"
    (served.project / "a.md").unlink()
    gone = served.ask("GET", one).json
    assert (gone["is_gone"], gone["size"], gone["title"]) == (True, 6, "The answer")
    (version,) = gone["versions"]
    kept = served.ask("GET", f"{one}/download?version={version['number']}")
    assert (kept.status, kept.body) == (200, b"# One\n")
    assert served.ask("GET", f"{one}/download?version=999").status == 422
    for path in ("download", "preview", "preview/1"):
        refused = served.ask("GET", f"{one}/{path}")
        assert (refused.status, "a.md" in refused.json["error"]) == (404, True), path
    turn(f"{one}/regenerate", {}, write("# Two\n"), given, text_reply("Done."))
    words = [one.text for _, one in runner.terminal.history.records if isinstance(one, User)]
    assert words[-1] == "Make “The answer” (a.md) again, and hand it over."
    again = served.ask("GET", one).json
    assert (again["is_gone"], again["turn"], again["number"]) == (False, 2, 1)
    assert served.ask("GET", f"{one}/download").body == b"# Two\n"
    assert [one["size"] for one in again["versions"]] == [6, 6]
