"""Pictures of a message that is typed in an attached terminal, or taken back there."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from modules.cli.attach.client import AttachClient, attach
from modules.cli.attach.http import ServerLink
from modules.cli.attach.unsent import Unsent
from modules.translator import Translator
from modules.web.http.auth import published_server_file, server_file
from tests.modules.web.serving import RunningServer
from tests.modules.web.test_pictures import give, make_features
from tests.picture_files import picture_file
from tests.scripted_model import text_reply

Serve = Callable[..., AbstractContextManager[RunningServer]]


def test_a_typed_path_gives_the_picture(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(text_reply("Red."), make_features=make_features) as served:
        server = served.server
        outside = served.project.parent / "b one.png"
        outside.write_bytes(picture_file(size=(8, 6)))
        (served.project / "a.png").write_bytes(picture_file(size=(40, 20)))
        lines = f"compare ./a.png with '{outside}'\n/focus ./a.png\n"
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        with published_server_file(
            server_file(served.data, server.port),
            server.url,
            server.authenticator.token,
            served.project,
        ):
            assert attach(served.data, server.port, Translator.of("en")) == 0
        (asked,) = served.model.requests  # the command, which names one too, is no message
        assert [(one["name"], one["width"]) for one in asked[-1]["pictures"]] == [
            ("a.png", 40),
            (str(outside), 8),
        ]


def test_a_path_that_is_no_picture_is_only_text(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(text_reply("Hm."), make_features=make_features) as served:
        server = served.server
        (served.project / "a.png").write_text("no picture")
        monkeypatch.setattr(sys, "stdin", io.StringIO("see ./a.png and ./none.png\n"))
        with published_server_file(
            server_file(served.data, server.port),
            server.url,
            server.authenticator.token,
            served.project,
        ):
            assert attach(served.data, server.port, Translator.of("en")) == 0
        (asked,) = served.model.requests
        assert not asked[-1].get("pictures")


def test_a_message_that_waited_keeps_its_pictures_when_it_is_sent_from_the_line(
    serve: Serve,
) -> None:
    running: list[Any] = [lambda stop: stop.wait(60), *text_reply("x")]
    with (
        serve(running, text_reply("Red."), make_features=make_features) as served,
        served.page() as page,
    ):
        server = served.server
        session = served.new_session()
        given = give(served, session, picture_file()).json
        page.attach(session)
        page.call("send", session=session, cmd="1", text="go")
        page.wait_for("StepStarted")
        page.call("send", session=session, cmd="2", text="and", pictures=[given["digest"]])
        page.call("stop", session=session, cmd="3")
        page.wait_for("state", paused=True)
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            twin = AttachClient(ServerLink(file, server.port), session, Translator.of("en"))
            try:
                assert twin._unsent.insert_into("", page.state) == "and"
                twin._send("and what is it?")
            finally:
                twin.close()
        begun = page.wait_for("TurnStarted", text="and what is it?")
        assert begun["pictures"] == [given]
        page.wait_for("TurnFinished")


def test_what_waits_without_pictures_has_none() -> None:
    unsent = Unsent()
    state = {"paused": True, "queue": [{"id": "1", "text": "a"}]}
    assert unsent.insert_into("", state) == "a"
    assert unsent.pictures == []
