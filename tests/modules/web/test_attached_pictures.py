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
from modules.web.http.auth import announced, server_file
from tests.drawings import drawn
from tests.modules.web.serving import Served
from tests.modules.web.test_pictures import give, more
from tests.scripted import say

Serve = Callable[..., AbstractContextManager[Served]]


def test_a_typed_path_gives_the_picture(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(say("Red."), more=more) as served:
        server = served.server
        outside = served.project.parent / "b one.png"
        outside.write_bytes(drawn(size=(8, 6)))
        (served.project / "a.png").write_bytes(drawn(size=(40, 20)))
        lines = f"compare ./a.png with '{outside}'\n/focus ./a.png\n"
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        with announced(
            server_file(served.data, server.port), server.url, server.access.token, served.project
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
    with serve(say("Hm."), more=more) as served:
        server = served.server
        (served.project / "a.png").write_text("no picture")
        monkeypatch.setattr(sys, "stdin", io.StringIO("see ./a.png and ./none.png\n"))
        with announced(
            server_file(served.data, server.port), server.url, server.access.token, served.project
        ):
            assert attach(served.data, server.port, Translator.of("en")) == 0
        (asked,) = served.model.requests
        assert not asked[-1].get("pictures")


def test_a_message_that_waited_keeps_its_pictures_when_it_is_sent_from_the_line(
    serve: Serve,
) -> None:
    running: list[Any] = [lambda stop: stop.wait(60), *say("x")]
    with serve(running, say("Red."), more=more) as served, served.page() as page:
        server = served.server
        session = served.new_session()
        given = give(served, session, drawn()).json
        page.attach(session)
        page.call("send", session=session, cmd="1", text="go")
        page.wait_for("StepStarted")
        page.call("send", session=session, cmd="2", text="and", pictures=[given["digest"]])
        page.call("stop", session=session, cmd="3")
        page.wait_for("state", paused=True)
        file = server_file(served.data, server.port)
        with announced(file, server.url, server.access.token, served.project):
            twin = AttachClient(ServerLink(file, server.port), session, Translator.of("en"))
            try:
                assert twin._unsent.put_into("", page.state) == "and"
                twin._send("and what is it?")
            finally:
                twin.close()
        begun = page.wait_for("TurnStarted", text="and what is it?")
        assert begun["pictures"] == [given]
        page.wait_for("TurnFinished")


def test_what_waits_without_pictures_has_none() -> None:
    unsent = Unsent()
    state = {"paused": True, "queue": [{"id": "1", "text": "a"}]}
    assert unsent.put_into("", state) == "a"
    assert unsent.pictures == []
