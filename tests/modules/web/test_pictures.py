"""Pictures given to a session over HTTP, and sent with a message."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

from core.feature import Feature
from modules.files.project import Project
from modules.pictures.feature import Pictures
from modules.pictures.picture_store import PictureStore
from modules.storage.data_folder import DataFolder
from tests.modules.web.serving import Answer, RunningServer
from tests.picture_files import picture_file
from tests.scripted_model import text_reply
from utils.waiting import Stop

Serve = Callable[..., AbstractContextManager[RunningServer]]


def make_features(_: Project, data: DataFolder) -> list[Feature]:
    return [Pictures(PictureStore(data.pictures))]


def give(
    served: RunningServer, session: str, data: bytes, name: str = "a.png", **how: Any
) -> Answer:
    headers = {"Content-Type": "application/octet-stream"} | how.pop("headers", {})
    path = f"/api/sessions/{session}/pictures?name={quote(name)}"
    return served.ask("POST", path, data, headers, **how)


def test_a_picture_goes_with_a_message_and_is_shown_again(serve: Serve) -> None:
    with serve(text_reply("Red."), make_features=make_features) as served:
        session = served.new_session()
        given = give(served, session, picture_file(size=(40, 20)), "red ‮.png").json
        assert (given["width"], given["height"], given["format"]) == (40, 20, "PNG")
        assert "‮" not in given["name"]
        with served.page() as page:
            page.attach(session)
            page.call("send", session=session, cmd="m1", text="/what", pictures=[given["digest"]])
            begun = page.wait_for("ev", type="TurnStarted")
            page.wait_for("ev", type="TurnFinished")
        assert begun["pictures"] == [given]
        assert begun["text"] == "/what"  # a message, whatever it begins with
        assert served.model.requests[0][-1]["pictures"] == [given]
        shown = served.ask("GET", f"/api/sessions/{session}/pictures/{given['digest']}")
        assert shown.headers["content-type"] == "image/png"
        assert shown.headers["content-security-policy"].startswith("default-src 'none'; sandbox")
        assert shown.body.startswith(b"\x89PNG")
        assert len(json.dumps(begun)) < 1000  # it bears no picture, but refers to it


def test_a_picture_alone_is_a_message(serve: Serve) -> None:
    with serve(text_reply("Red."), make_features=make_features) as served:
        session = served.new_session()
        given = give(served, session, picture_file()).json
        body = {"text": "", "pictures": [given["digest"]], "stream": False}
        assert served.ask("POST", f"/api/sessions/{session}/messages", body).status == 200
        refused = served.ask("POST", f"/api/sessions/{session}/messages", {"text": " "})
        assert refused.status == 400


def test_only_the_owner_gives_and_sees_pictures(serve: Serve) -> None:
    with serve(make_features=make_features) as served:
        session = served.new_session()
        cookie = served.cookie()
        origin = {"Origin": f"http://{served.host}"}
        assert give(served, session, picture_file(), with_token=False).status == 401
        assert (
            give(served, session, picture_file(), with_token=False, headers=cookie | origin).status
            == 401
        )
        assert (
            give(served, session, picture_file(), with_token=False, headers=served.login()).status
            == 201
        )
        digest = give(served, session, picture_file()).json["digest"]
        path = f"/api/sessions/{session}/pictures/{digest}"
        assert served.ask("GET", path, with_token=False).status == 401
        assert served.ask("GET", path, with_token=False, headers=cookie).status == 200


def test_what_is_no_picture_is_refused_with_a_reason(serve: Serve) -> None:
    with serve(make_features=make_features) as served:
        session = served.new_session()
        for data, why in (
            (b"<svg/>", "no picture that can be used"),
            (picture_file()[:40], "damaged"),
        ):
            answer = give(served, session, data)
            assert answer.status >= 400
            assert why in answer.json["error"]
        for digest in ("0" * 64, "x" * 64):
            body = {"text": "See", "pictures": [digest], "stream": False}
            refused = served.ask("POST", f"/api/sessions/{session}/messages", body)
            assert refused.status == 404
            assert served.ask("GET", f"/api/sessions/{session}/pictures/{digest}").status == 404


def test_a_picture_that_waits_comes_back_with_its_text(serve: Serve) -> None:
    def hold(stop: Stop) -> None:
        stop.wait(60)

    with serve([hold], make_features=make_features) as served:
        session = served.new_session()
        given = give(served, session, picture_file()).json
        with served.page() as page:
            page.attach(session)
            page.call("send", session=session, cmd="m1", text="First")
            page.wait_for("ev", type="StepStarted")
            page.call("send", session=session, cmd="m2", text="See", pictures=[given["digest"]])
            waiting = page.wait_for(
                "state", queue=[{"id": "m2", "text": "See", "pictures": [given]}]
            )
            assert waiting["running"]
            told = page.call("queue", session=session, cmd="q", op="drop", id="m2")
            assert (told["text"], told["pictures"]) == ("See", [given])
            page.call("stop", session=session, cmd="s")
            page.wait_for("ev", type="TurnFinished")


def test_pictures_go_with_their_session(serve: Serve) -> None:
    with serve(text_reply("Red."), make_features=make_features) as served:
        session = served.new_session()
        given = give(served, session, picture_file()).json
        body = {"text": "See", "pictures": [given["digest"]]}
        served.ask("POST", f"/api/sessions/{session}/messages", body)  # streams to its end
        fork = served.ask("POST", f"/api/sessions/{session}/fork", {"turn": 1}).json["id"]
        assert served.ask("DELETE", f"/api/sessions/{session}").status == 204
        kept = [path.name for path in (served.data / "pictures").iterdir()]
        assert kept == [fork]
        assert served.ask("GET", f"/api/sessions/{fork}/pictures/{given['digest']}").status == 200
