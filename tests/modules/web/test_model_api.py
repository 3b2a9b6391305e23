"""The model of a session and what its server takes, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.modules.web.serving import RunningServer
from tests.scripted_model import text_reply
from utils.llm.profiles.server_profile import ServerProfile

Serve = Callable[..., AbstractContextManager[RunningServer]]


def fields(told: Any) -> dict[str, tuple[str, str]]:
    return {field["name"]: (field["value"], field["usual"]) for field in told["fields"]}


def test_a_profile_is_shown_changed_and_forgotten(serve: Serve) -> None:
    with serve() as served:
        served.model.profile = ServerProfile(window=8192)
        path = f"/api/sessions/{served.new_session()}/model"
        told = served.ask("GET", path).json
        assert (told["model"], told["practice"]) == ("scripted", False)
        assert fields(told)["window"] == ("8192", "0")
        assert fields(told).keys() == ServerProfile.__dataclass_fields__.keys()
        said = {"window": "", "pictures": "yes", "max_output": 4096, "system_messages": "first"}
        told = served.ask("PATCH", path, {"fields": said}).json
        assert served.model.profile == ServerProfile(
            pictures=True, max_output=4096, system_messages="first"
        )
        assert fields(told)["pictures"] == ("yes", "no")
        told = served.ask("DELETE", f"{path}/profile").json
        assert all(value == usual for value, usual in fields(told).values())
        assert served.model.profile == ServerProfile()


def test_what_no_profile_has_changes_nothing(serve: Serve) -> None:
    with serve() as served:
        path = f"/api/sessions/{served.new_session()}/model"
        for wrong in ({"stream": "no", "wings": "2"}, {"window": "-1"}, {"thinking": "maybe"}):
            refused = served.ask("PATCH", path, {"fields": wrong})
            assert (refused.status, refused.json["code"]) == (422, "failed")
        for odd in ({"fields": {"stream": "no window=9"}}, {"model": "a b"}, {"fields": [1]}):
            assert served.ask("PATCH", path, odd).status == 400
        assert served.model.profile == ServerProfile()
        assert served.model.model == "scripted"


def test_another_model_holds_for_the_session_and_not_beside_a_turn(serve: Serve) -> None:
    with serve([lambda stop: stop.wait(60), *text_reply("x")]) as served:
        session = served.new_session()
        path = f"/api/sessions/{session}"
        assert served.ask("PATCH", f"{path}/model", {"model": "other"}).json["model"] == "other"
        assert served.ask("GET", f"{path}/models").json["models"] == []
        with served.page() as page:
            page.attach(session)
            page.call("send", session=session, cmd="1", text="go")
            page.wait_for("ev", type="StepStarted")
            refused = served.ask("PATCH", f"{path}/model", {"model": "third"})
            assert (refused.status, refused.json["code"]) == (409, "busy")
            served.ask("POST", f"{path}/stop")
            page.wait_for("ev", type="TurnFinished")
        assert served.ask("GET", f"{path}/model").json["model"] == "other"
