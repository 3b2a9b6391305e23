"""Git over HTTP: shown and changed for who is logged in, and not while a turn runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.assembly import HermeticSettings
from tests.modules.git.person.repositories import commit_file, make_repository, run_git
from tests.modules.web.serving import TIMEOUT_SECONDS, Answer, RunningServer
from tests.scripted_model import ScriptedModel, text_reply
from tests.served_model import FixedModel
from tests.web_assembly import assembled_server
from utils.waiting import Stop

SETTINGS = HermeticSettings(context_limit=128_000, allow_unsandboxed=True)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[RunningServer]:
    root = make_repository(tmp_path / "project")
    commit_file(root, "a.txt", "one\n", "Begin")
    model = ScriptedModel()
    server, config = assembled_server(
        tmp_path, lambda: model, SETTINGS, version="0", language="", model=FixedModel()
    )
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        yield RunningServer(server, model, root, tmp_path / "data")
    finally:
        server.stop()
        thread.join(TIMEOUT_SECONDS)
        config.store.close()
        config.project.close()


class Git:
    """The routes of git of a new session of *served*."""

    def __init__(self, served: RunningServer) -> None:
        self._served = served
        self.path = f"/api/sessions/{served.new_session()}/git"

    def get(self, what: str = "") -> Answer:
        return self._served.ask("GET", self.path + what)

    def do(self, what: str, **body: object) -> Answer:
        return self._served.ask("POST", f"{self.path}/{what}", body)


def test_a_change_goes_all_the_way_into_a_commit(served: RunningServer) -> None:
    git = Git(served)
    (served.project / "a.txt").write_text("two\n")
    answer = git.get().json
    assert answer["state"]["branch"] == "main"
    assert [(one["letter"], one["path"]) for one in answer["state"]["unstaged"]["files"]] == [
        ("M", "a.txt")
    ]
    assert [one["name"] for one in answer["branches"]] == ["main"]
    diff = git.get("/diff?path=a.txt").json["diff"]
    assert [one["diff"] for one in diff["hunks"]] == ["@@ -1 +1 @@\n-one\n+two\n"]
    assert git.do("stage", paths=["a.txt"], hunk=diff["hunks"][0]["id"]).status == 200
    assert git.get("/diff?path=a.txt&staged=1").json["diff"]["hunks"] == diff["hunks"]
    card = git.do("commit", message="Change it").json["card"]
    assert card["title"]["template"] == "Committed"
    log = git.get("/log").json
    assert [(one["subject"], one["agent"]) for one in log["commits"]] == [
        ("Change it", None),
        ("Begin", None),
    ]
    shown = git.get(f"/commit?commit={log['commits'][0]['id']}").json
    assert [(one["path"], len(one["hunks"])) for one in shown["files"]] == [("a.txt", 1)]
    refused = git.do("commit", message="Again")
    assert (refused.status, refused.json["error"]) == (422, "There is nothing to commit.")


def test_what_is_done_once_is_done_once(served: RunningServer) -> None:
    git = Git(served)
    first = git.do("switch", branch="side", create=True, cmd="one")
    again = git.do("switch", branch="side", create=True, cmd="one")
    assert (first.status, again.status, first.json) == (200, 200, again.json)
    assert git.do("switch", branch="side", create=True).status == 422


def test_secrets_have_a_code_of_their_own(served: RunningServer) -> None:
    git = Git(served)
    key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
    (served.project / "key.pem").write_text(key)
    git.do("stage", paths=["key.pem"])
    refused = git.do("commit", message="Keep it")
    assert (refused.status, refused.json["code"]) == (409, "secrets")
    assert git.do("commit", message="Keep it", publish=True).status == 200


def test_nothing_is_changed_while_a_turn_runs(served: RunningServer) -> None:
    git, runs, may_end = Git(served), threading.Event(), threading.Event()

    def wait(_stop: Stop) -> None:
        runs.set()
        may_end.wait(TIMEOUT_SECONDS)

    served.model.replies = [[wait, *text_reply("Done.")]]
    message = git.path.removesuffix("git") + "messages"
    served.ask("POST", message, {"text": "go", "stream": False})
    assert runs.wait(TIMEOUT_SECONDS)
    (served.project / "a.txt").write_text("two\n")
    try:
        for what, body in (
            ("stage", {"paths": []}),
            ("discard", {"paths": ["a.txt"]}),
            ("commit", {"message": "Change it"}),
            ("switch", {"branch": "side", "create": True}),
            ("suggest", {}),
        ):
            refused = git.do(what, **body)
            assert (refused.status, refused.json["code"]) == (409, "busy"), what
        assert git.get().json["state"]["unstaged"]["files"]
    finally:
        may_end.set()
    assert run_git("diff", "--cached", at=served.project) == ""


def test_only_who_is_logged_in_may_ask(served: RunningServer) -> None:
    git = Git(served)
    assert served.ask("GET", git.path, with_token=False).status == 401
    # Any port of this host gets the cookie, and anybody can say the origin.
    cookie = served.cookie() | {"Origin": f"http://{served.host}"}
    body: dict[str, object] = {"paths": []}
    for what in ("stage", "discard"):
        path = f"{git.path}/{what}"
        assert served.ask("POST", path, body, headers=cookie, with_token=False).status == 401
    own = served.login()
    assert (
        served.ask("POST", f"{git.path}/stage", body, headers=own, with_token=False).status == 200
    )


def test_a_wrong_request_is_refused(served: RunningServer) -> None:
    git = Git(served)
    assert git.do("stage", paths=["a", "b"], hunk="x").status == 400
    assert git.do("discard", paths=[]).status == 400
    assert git.do("stage", paths=["../b"]).status == 422
    assert git.get("/commit?commit=--output=x").status == 422
    assert git.get("/diff?path=../../etc/passwd").json.get("diff", {}).get("hunks", []) == []
