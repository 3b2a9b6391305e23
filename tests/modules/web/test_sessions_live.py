"""Sessions over Socket.IO: streaming, asking, stopping, queueing, coming back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from core.conversation.transcript import Packet
from core.feature import Feature
from modules.files.project import Project
from modules.secrets.redactor import Secrets
from modules.storage.data_folder import DataFolder
from modules.web.sessions import page_redaction
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.scripted_model import call_reply, text_reply
from utils.llm.completion import Delta
from utils.waiting import Stop

Serve = Callable[..., AbstractContextManager[RunningServer]]


def held(gate: threading.Event) -> Callable[[Stop], None]:
    def wait(_: Stop) -> None:
        assert gate.wait(TIMEOUT_SECONDS)

    return wait


def until_stopped(stop: Stop) -> None:
    assert stop.wait(TIMEOUT_SECONDS)


def types(events: list[Packet]) -> list[str]:
    return [event["type"] for event in events]


def text(events: list[Packet]) -> str:
    return "".join(e["text"] for e in events if e["type"] == "TextDelta")


def test_a_message_is_answered_in_every_tab(serve: Serve) -> None:
    with serve(text_reply("hello")) as served, served.page() as one, served.page() as two:
        session = served.new_session()
        for page in (one, two):
            assert page.attach(session)["mode"] == "snapshot"
        assert one.call("send", session=session, cmd="c1", text="hi") == {
            "ok": True,
            "queued": False,
        }
        started = two.wait_for("TurnStarted")
        assert (started["text"], started["seq"], started["cmd"]) == ("hi", 1, "c1")
        assert two.wait_for("TextDelta")["text"] == "hello"
        assert two.wait_for("TurnFinished")["why"] == "done"
        assert not two.wait_for("state", running=False)["queue"]
        assert one.wait_for("TurnFinished")["boot"] == started["boot"]


def test_a_message_sent_twice_is_taken_once(serve: Serve) -> None:
    with serve(text_reply("one"), text_reply("two")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        first = page.call("send", session=session, cmd="c1", text="hi")
        assert page.call("send", session=session, cmd="c1", text="hi") == first
        page.wait_for("state", running=False)
        assert len(served.model.requests) == 1


def test_the_first_answer_wins_and_the_others_see_it(serve: Serve) -> None:
    with (
        serve(call_reply("wipe"), text_reply("ok")) as served,
        served.page() as one,
        served.page() as two,
    ):
        session = served.new_session()
        one.attach(session)
        two.attach(session)
        one.call("send", session=session, cmd="c1", text="go")
        asked = two.wait_for("ApprovalAsked")
        assert asked["call_id"] in one.wait_for("state", asked=[asked["call_id"]])["asked"]
        yes = {"session": session, "call_id": asked["call_id"], "yes": True}
        assert two.call("answer", cmd="a1", **yes) == {"ok": True, "won": True}
        assert two.call("answer", cmd="a1", **yes) == {"ok": True, "won": True}
        assert one.call("answer", cmd="a2", **yes) == {"ok": True, "won": False}
        assert one.wait_for("state", asked=[])["running"]
        assert two.wait_for("ToolFinished")["state"] == "done"  # before that state, or after it


def test_a_reload_finds_the_question_and_the_answer_so_far(serve: Serve) -> None:
    replies = [call_reply("wipe", thinking="hm"), text_reply("ok")]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="go")
        page.wait_for("state", asked=["c1"])
        with served.page() as late:
            arrival = late.attach(session)
            assert types(arrival["events"]) == [
                *("TurnStarted", "StepStarted", "ThinkingDelta", "ThinkingFinished"),
                *("StepFinished", "ToolStarted", "ApprovalAsked"),
            ]
            assert arrival["state"]["asked"] == ["c1"]
            late.call("answer", session=session, cmd="a", call_id="c1", yes=False, reason="no")
            assert late.wait_for("ToolFinished")["state"] == "refused"
            late.wait_for("state", running=False)
            again = late.attach(session, arrival["boot"], arrival["head"])
            assert again["mode"] == "replay"
            assert [e["seq"] for e in again["events"]] == list(
                range(arrival["head"] + 1, again["head"] + 1)
            )


def test_stop_ends_the_turn_and_holds_the_queue(serve: Serve) -> None:
    gate = threading.Event()
    replies = [[Delta("begun"), held(gate), *text_reply("never")], text_reply("second")]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        assert page.call("send", session=session, cmd="c2", text="two")["queued"]
        assert page.call("stop", session=session, cmd="s1")["running"]
        gate.set()
        assert page.wait_for("TurnFinished")["why"] == "stopped"
        state = page.wait_for("state", running=False)
        assert (state["paused"], state["queue"]) == (True, [{"id": "c2", "text": "two"}])
        page.call("queue", session=session, cmd="q1", op="now", id="c2")
        assert page.wait_for("TurnStarted")["text"] == "two"
        assert page.wait_for("TurnFinished")["why"] == "done"


def test_queued_messages_can_be_moved_and_taken_back(serve: Serve) -> None:
    gate = threading.Event()
    replies = [
        [Delta("begun"), held(gate), *text_reply("one")[1:]],
        text_reply("two"),
        text_reply("three"),
    ]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        for name in ("two", "three", "four"):
            page.call("send", session=session, cmd=name, text=name)
        page.call("queue", session=session, cmd="q1", op="move", id="three", to=0)
        back = page.call("queue", session=session, cmd="q2", op="drop", id="four")
        assert back == {"ok": True, "text": "four"}
        gone = page.call("queue", session=session, cmd="q3", op="drop", id="four")
        assert (gone["ok"], gone["code"]) == (False, "not_found")
        gate.set()
        texts = [page.wait_for("TurnStarted")["text"] for _ in range(2)]
        assert texts == ["three", "two"]
        page.wait_for("state", running=False)


def test_send_now_interrupts(serve: Serve) -> None:
    gate = threading.Event()
    replies = [[Delta("begun"), held(gate), *text_reply("never")], text_reply("urgent")]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        page.call("send", session=session, cmd="c2", text="now!", now=True)
        gate.set()
        assert page.wait_for("TurnFinished")["why"] == "stopped"
        assert page.wait_for("TurnStarted")["text"] == "now!"
        page.wait_for("state", running=False)


def test_a_message_sent_while_it_stops_goes_on(serve: Serve) -> None:
    gate = threading.Event()
    replies = [
        [Delta("begun"), held(gate), *text_reply("never")],
        text_reply("instead"),
        text_reply("waited"),
    ]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        assert page.call("send", session=session, cmd="c2", text="two")["queued"]
        assert page.call("stop", session=session, cmd="s1")["running"]
        assert page.wait_for("state", stopping=True)["running"]
        assert page.call("send", session=session, cmd="c3", text="three")["queued"]
        gate.set()
        assert page.wait_for("TurnFinished")["why"] == "stopped"
        page.wait_for("state", queue=[], running=False)
    said = [request[-1]["content"] for request in served.model.requests]
    assert said == ["one", "three", "two"]


def test_what_is_queued_and_wanted_now_stops_what_runs(serve: Serve) -> None:
    gate = threading.Event()
    replies = [
        [Delta("begun"), held(gate), *text_reply("never")],
        text_reply("three"),
        text_reply("two"),
    ]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        for name in ("two", "three"):
            assert page.call("send", session=session, cmd=name, text=name)["queued"]
        answer = page.call("queue", session=session, cmd="q1", op="now", id="three")
        assert answer == {"ok": True, "text": "three"}
        gate.set()
        assert page.wait_for("TurnFinished")["why"] == "stopped"
        assert [page.wait_for("TurnStarted")["text"] for _ in range(2)] == ["three", "two"]
        page.wait_for("state", running=False)


def test_what_looks_runs_beside_a_turn_and_what_changes_waits(serve: Serve) -> None:
    gate = threading.Event()
    with serve([Delta("begun"), held(gate), *text_reply("x")[1:]]) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        page.call("send", session=session, cmd="c2", text="/status")
        answered = page.wait_for("CommandAnswered")
        assert (answered["command"], answered["cmd"]) == ("/status", "c2")
        (served.project / "a.txt").write_text("content")
        focus = page.call("command", session=session, cmd="c3", line="/focus a.txt")
        assert focus["done"]
        while not page.wait_for("state")["focus"]:
            pass
        assert page.state["focus"][0]["path"] == "a.txt"
        assert page.call("command", session=session, cmd="c4", line="/compact")["code"] == "busy"
        gate.set()
        page.wait_for("state", running=False)


def test_a_server_restart_keeps_the_talk_and_the_queue(serve: Serve) -> None:
    replies = [
        call_reply("look", thinking="hm"),
        [Delta("second"), until_stopped, *text_reply("x")],
    ]
    with ExitStack() as stack:
        served = stack.enter_context(serve(*replies))
        page = stack.enter_context(served.page())
        session = served.new_session()
        before = page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        page.call("send", session=session, cmd="c2", text="two")
        port = served.server.port
    with serve(text_reply("again"), text_reply("last"), port=port) as served, served.page() as page:
        after = page.attach(session, before["boot"], 3)
        assert after["mode"] == "snapshot"
        assert after["boot"] != before["boot"]
        assert types(after["events"])[0] == "TurnStarted"
        assert after["events"][-1]["why"] == "stopped"
        assert after["state"]["queue"] == [{"id": "c2", "text": "two"}]
        # What was sent before is not taken again, whoever missed the answer.
        page.call("send", session=session, cmd="c1", text="one")
        page.call("send", session=session, cmd="c3", text="three")
        assert [page.wait_for("TurnStarted")["text"] for _ in range(2)] == ["two", "three"]
        page.wait_for("state", running=False)


def test_a_server_restart_keeps_an_open_question(serve: Serve) -> None:
    """Its turn goes on, and what was queued comes after it."""
    with serve(call_reply("wipe")) as served, served.page() as page:
        session = served.new_session()
        boot = page.attach(session)["boot"]
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("state", asked=["c1"])
        page.call("send", session=session, cmd="c2", text="two")
    for _ in range(2):  # one of the restarts finds nobody who answers
        with serve() as served, served.page() as page:
            page.attach(session, boot, 3)
            page.wait_for("state", asked=["c1"])
    with serve(text_reply("wiped"), text_reply("again")) as served, served.page() as page:
        assert page.attach(session, boot, 3)["state"]["running"]
        page.wait_for("state", asked=["c1"])
        assert types(page.attach(session)["events"]) == [
            "TurnStarted", "StepStarted", "StepFinished", "ToolStarted", "ApprovalAsked",
        ]  # fmt: skip
        assert page.call("answer", session=session, call_id="c1", cmd="a", yes=True)["ok"]
        assert page.wait_for("ToolFinished")["state"] == "done"
        assert page.wait_for("TurnFinished")["why"] == "done"
        assert page.wait_for("TurnStarted")["text"] == "two"
        page.wait_for("state", running=False)
        events = page.attach(session)["events"]
        assert types(events).count("TurnStarted") == types(events).count("TurnFinished") == 2
        assert types(events).count("ToolFinished") == 1


def test_a_question_that_a_restart_kept_can_be_stopped(serve: Serve) -> None:
    with serve(call_reply("wipe")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("state", asked=["c1"])
    with serve() as served, served.page() as page:
        page.attach(session)
        page.wait_for("state", asked=["c1"])
        assert page.call("stop", session=session, cmd="s")["ok"]
        assert page.wait_for("TurnFinished")["why"] == "stopped"
        page.wait_for("state", running=False, asked=[])
    with serve() as served, served.page() as page:
        assert not page.attach(session)["state"]["running"]


def test_a_server_restart_keeps_how_long_a_turn_took(serve: Serve) -> None:
    with serve(text_reply("one")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("state", running=False, queue=[], turn=1)
    with serve() as served, served.page() as page:
        *_, end = page.attach(session)["events"]
    assert end["type"] == "TurnFinished"
    assert end["seconds"] > 0


SECRET = "correct-horse-battery-staple"


def secrets(project: Project, data: DataFolder) -> list[Feature]:
    return [Secrets(project.root, {}, data.shows_secrets)]


def test_what_becomes_a_secret_later_shows_nowhere_any_more(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_redaction, "REFRESH_SECONDS", 0.0)
    with serve(text_reply(f"You said {SECRET}."), make_features=secrets) as served:
        session = served.new_session()
        path = f"/api/sessions/{session}"
        with served.page() as page:
            page.attach(session)
            page.call("send", session=session, cmd="c1", text=f"Try {SECRET} please")
            page.wait_for("state", running=False, queue=[])
            (served.project / ".env").write_text(f"TOKEN={SECRET}\n")
            shown: list[Any] = [page.attach(session)]
        paths = [f"{path}/transcript", path, "/api/sessions", f"/s/{session}"]
        paths += [f"{path}/export?format={kind}" for kind in ("md", "json", "html")]
        paths += ["/api/search?text=please"]
        shown += [served.ask("GET", each).body.decode() for each in paths]
    for told in map(str, shown):
        assert SECRET not in told
        assert "SECRET:TOKEN" in told


def test_an_unknown_session_is_said_to_be_unknown(served: RunningServer) -> None:
    with served.page() as page:
        answer = page.call("attach", session="20200101-000000-dead")
        assert (answer["ok"], answer["code"]) == (False, "unknown_session")
        assert page.call("send", session="x", cmd="c", text="hi")["code"] == "unknown_session"
        assert page.call("send", session=3, cmd="c", text="hi")["code"] == "bad_request"
        assert page.call("attach")["code"] == "bad_request"


def test_commands_that_lead_elsewhere_say_where(serve: Serve) -> None:
    with serve(text_reply("one"), text_reply("two")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        for name in ("one", "two"):
            page.call("send", session=session, cmd=name, text=name)
            page.wait_for("TurnFinished")
        page.wait_for("state", running=False)
        fork = page.call("send", session=session, cmd="f", text="/fork 1")["open"]
        arrival = page.attach(fork)
        assert [e["text"] for e in arrival["events"] if e["type"] == "TurnStarted"] == ["one"]
        assert text(arrival["events"]) == "one"
        new = page.call("send", session=session, cmd="n", text="/new")["open"]
        assert page.attach(new)["events"] == []
        back = page.call("send", session=new, cmd="r", text=f"/resume {session}")
        assert back["open"] == session
        beside = page.call("command", session=session, cmd="b", line="/new")
        assert beside["code"] == "bad_request"


def test_only_what_leaves_the_talk_alone_runs_beside_a_turn(serve: Serve) -> None:
    gate = threading.Event()
    with serve([Delta("begun"), held(gate), *text_reply("done")]) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="go")
        page.wait_for("TextDelta")
        for number, name in enumerate(("/think", "/status", "/cost", "/help", "/focus")):
            sent = page.call("send", session=session, cmd=f"s{number}", text=name)
            assert sent == {"ok": True, "queued": False}
            answered = page.wait_for("CommandAnswered")
            assert (answered["command"], answered["ok"]) == (name, True)
            if name == "/think":
                assert "with the next task" in answered["card"]["body"]["template"]
        for number, name in enumerate(("/compact", "/undo", "/rewind 1")):
            refused = page.call("command", session=session, cmd=f"r{number}", line=name)
            assert refused["error"] == f"{name.split()[0]} has to wait: a task is running."
        gate.set()
        page.wait_for("state", running=False)
        assert page.state["mode"] == "think"
