"""The API for programs, as its own description tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote

import pytest

from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.scripted_model import call_reply, text_reply

JSON = "application/json"
Serve = Callable[..., AbstractContextManager[RunningServer]]


def stream(
    served: RunningServer,
    method: str,
    path: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> Generator[tuple[str, Any], None, None]:
    """Yield (event, data) of an SSE answer as they come."""
    connection = HTTPConnection("127.0.0.1", served.server.port, timeout=TIMEOUT_SECONDS)
    sent = served.token | {"Content-Type": "application/json"} | (headers or {})
    connection.request(method, path, json.dumps(body) if body else None, sent)
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    name = ""
    try:
        while line := answer.readline().decode().rstrip("\n"):
            while line:
                key, _, value = line.partition(": ")
                name = value if key == "event" else name
                if key == "data":
                    yield name, json.loads(value)
                line = answer.readline().decode().rstrip("\n")
    finally:
        answer.close()
        connection.close()


def described(served: RunningServer) -> Iterator[tuple[str, str, dict[str, Any]]]:
    description = served.ask("GET", "/api/openapi.json").json
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            yield method.upper(), path, operation


def test_everything_described_can_be_asked_and_nothing_else(served: RunningServer) -> None:
    told = {
        (method, path.replace("{", "<").replace("}", ">")) for method, path, _ in described(served)
    }
    real = {
        (method, str(rule))
        for rule in served.server.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if str(rule).startswith(("/api/", "/events"))
        and str(rule) not in ("/api/docs", "/api/openapi.json")
    }
    assert told == real


def test_what_must_be_given_is_asked_for(served: RunningServer) -> None:
    for method, path, operation in described(served):
        needs_query = any(
            p["required"] and p["in"] == "query" for p in operation.get("parameters", [])
        )
        needs_body = operation.get("requestBody", {}).get("required", False)
        if needs_query or needs_body:
            answer = served.ask(method, path.replace("{id}", "x"))
            assert answer.status == 400, (method, path, answer.body)
            assert answer.json["code"] == "bad_request"


def test_every_route_on_a_session_knows_no_other(served: RunningServer) -> None:
    bodies: dict[str, Any] = {
        **{
            "fork": {"turn": 1},
            "messages": {"text": "x"},
            "stop": {},
            "work/stop": {"what": "x"},
            "work/answer": {"what": "x", "key": "x", "yes": True},
            "command": {"line": "/help"},
        },
        **{"confirm": {"call_id": "x", "yes": True}, "queue": {"op": "drop", "item": "x"}},
        **{"take-back": {"seen": 1, "path": "a"}, "accept": {"seen": 1}},
        "undo": {"what": "turn", "number": 1},
        "previews": {"job": 1, "port": 8000},
        **dict.fromkeys(("git/stage", "git/unstage", "git/discard"), {"paths": ["a"]}),
        **{"git/commit": {"message": "x"}, "git/switch": {"branch": "x"}},
    }
    queries = {
        **{"file": "?path=a&seen=1", "previews": "?job=1&port=8000"},
        **dict.fromkeys(("pictures", "skills"), "?name=a"),
        "work/question": "?what=x",
        **{"completions": "?line=/tools", "git/diff": "?path=a", "git/commit": "?commit=0123456"},
    }
    for method, path, _ in described(served):
        if "/sessions/{id}" in path:  # others have ids of another kind
            _, _, name = path.rpartition("{id}/")[2].rpartition("changes/")
            body = bodies.get(name, {"title": "x"}) if method != "GET" else None
            where = path.replace("{id}", "none") + queries.get(name, "")
            answer = served.ask(method, where, body)
            assert (answer.status, answer.json["code"]) == (404, "unknown_session"), path


def test_the_kind_of_every_answer_is_described(serve: Serve) -> None:
    def kinds(method: str, path: str) -> set[str]:
        return set(paths[path][method]["responses"]["200"]["content"])

    with serve(text_reply("one")) as served:
        paths = served.ask("GET", "/api/openapi.json").json["paths"]
    both = {"application/json", "text/event-stream"}
    assert kinds("post", "/api/sessions/{id}/messages") == both
    assert kinds("get", "/events") == {"text/event-stream"}
    for path in ("/api/sessions/{id}/export", "/api/files/raw", "/api/files/download"):
        assert kinds("get", path) == {"*/*"}
    assert kinds("get", "/api/status") == {"application/json"}


def test_what_stands_in_every_answer_is_described(serve: Serve) -> None:
    def schema(method: str, path: str) -> Any:
        answers = paths[path][method.lower()]["responses"]
        return next(iter(answers.values()))["content"]["application/json"]["schema"]

    def tell(method: str, path: str, body: Any = None, query: str = "") -> Any:
        answer = served.ask(method, path.replace("{id}", session) + query, body)
        assert answer.status < 300, (method, path, answer.body)
        described = schema(method, path)
        assert set(described["required"]) <= set(answer.json), path
        assert set(answer.json) <= set(described["properties"]), path
        return answer.json

    with serve(text_reply("one")) as served:
        paths = served.ask("GET", "/api/openapi.json").json["paths"]
        env = "/api/sessions/{id}"
        session = ""
        session = tell("POST", "/api/sessions")["id"]
        for path in ("/api/status", "/api/commands", "/api/sessions", "/api/files"):
            tell("GET", path)
        tell("POST", f"{env}/messages", {"text": "go", "stream": False})
        tell("POST", f"{env}/stop")
        tell("POST", f"{env}/confirm", {"call_id": "x", "yes": True})
        tell("POST", f"{env}/command", {"line": "/status"})
        tell("GET", env)
        tell("PATCH", env, {"title": "x"})
        tell("GET", f"{env}/transcript")
        tell("POST", f"{env}/fork", {"turn": 0})
        tell("GET", "/api/search", query="?text=go")
        tell("POST", "/api/login-links")
        tell("PUT", "/api/files/text", {"path": "a.txt", "text": "x"})
        tell("GET", "/api/files/text", query="?path=a.txt")
        tell("GET", "/api/files/list")
        tell("POST", "/api/files/upload", b"x", "?name=b.txt")
        tell("POST", "/api/files/folder", {"path": "c"})
        tell("POST", "/api/files/rename", {"path": "b.txt", "new_path": "c/b.txt"})
        tell("PUT", "/api/files/note", {"path": "a.txt", "note": "x"})
        tell("POST", "/api/files/focus", {"session": session, "path": "a.txt", "on": True})


def test_programs_are_refused_in_json(served: RunningServer) -> None:
    refused = [
        (served.ask("GET", "/api/status", with_token=False), 401, "unauthorized"),
        (served.ask("GET", "/events", headers={"Origin": "null"}), 403, "forbidden"),
        (served.ask("GET", "/api/status", headers={"Host": "evil"}), 421, "misdirected"),
        (served.ask("GET", "/api/nothing"), 404, "not_found"),
        (served.ask("DELETE", "/api/status"), 405, "bad_request"),
    ]
    for answer, status, code in refused:
        assert (answer.status, answer.json["code"]) == (status, code)
        assert answer.json["error"]
    assert "GET" in refused[-1][0].headers["allow"]


def test_the_description_is_a_page_too(served: RunningServer) -> None:
    page = served.ask("GET", "/api/docs").body.decode()
    for method, path, _ in described(served):
        assert f"{method} {path}" in page
    assert "<script" not in page
    assert "http://" not in page


def test_a_program_sends_a_message_and_hears_the_answer(serve: Serve) -> None:
    with serve(text_reply("hello", thinking="hm"), text_reply("again")) as served:
        session = served.new_session()
        heard = list(stream(served, "POST", f"/api/sessions/{session}/messages", {"text": "hi"}))
        assert {name for name, _ in heard} == {"ev"}
        assert [packet["type"] for _, packet in heard] == [
            *("TurnStarted", "StepStarted", "ThinkingDelta", "ThinkingFinished"),
            *("TextDelta", "StepFinished", "TurnFinished"),
        ]
        command = list(
            stream(served, "POST", f"/api/sessions/{session}/messages", {"text": "/help"})
        )
        assert [packet["type"] for _, packet in command] == ["CommandAnswered"]
        queued = served.ask(
            "POST", f"/api/sessions/{session}/messages", {"text": "more", "stream": False}
        )
        assert queued.json["queued"] is False


def test_a_command_that_leads_elsewhere_says_where_in_a_stream_too(serve: Serve) -> None:
    with serve(text_reply("one")) as served:
        session = served.new_session()
        path = f"/api/sessions/{session}/messages"
        list(stream(served, "POST", path, {"text": "hi"}))
        for text in ("/new", "/clear", f"/resume {session}", "/fork 1"):
            told = [
                list(stream(served, "POST", path, {"text": text, "cmd": text})) for _ in range(2)
            ]
            assert told[0] == told[1]
            ((name, packet),) = told[0]
            assert (name, packet["cmd"], packet["queued"]) == ("open", text, False)
            assert served.ask("GET", f"/api/sessions/{packet['open']}").status == 200


def test_what_runs_alone_is_not_busy_once_a_stream_has_ended(serve: Serve) -> None:
    with serve(*(text_reply("one") for _ in range(10))) as served:
        session = served.new_session()
        for _ in range(10):
            for _name, packet in stream(
                served, "POST", f"/api/sessions/{session}/messages", {"text": "hi"}
            ):
                if packet["type"] == "TurnFinished":
                    state = served.ask("GET", f"/api/sessions/{session}").json["state"]
                    assert state["running"] is False


def test_a_message_sent_again_tells_what_came_of_the_first_and_ends(serve: Serve) -> None:
    with serve(text_reply("Hello.")) as served:
        session = served.ask("POST", "/api/sessions").json["id"]
        path = f"/api/sessions/{session}/messages"
        first, again = (
            list(stream(served, "POST", path, {"text": "hi", "cmd": "c1"})) for _ in range(2)
        )
        assert first == again
        assert first[-1][1]["type"] == "TurnFinished"


def test_what_nobody_can_mean_is_refused_with_a_reason(served: RunningServer) -> None:
    session = served.ask("POST", "/api/sessions").json["id"]
    wanted: dict[float, Any] = {
        **{-5: (400, "bad_request"), 10**30: (400, "bad_request"), 0.5: (400, "bad_request")},
        **{7: (422, "failed"), 8.0: (422, "failed"), 1e300: (400, "bad_request")},
    }
    for turn, refusal in wanted.items():
        answer = served.ask("POST", f"/api/sessions/{session}/fork", {"turn": turn})
        assert (answer.status, answer.json["code"]) == refusal
    half = {"path": "a.txt", "text": "\ud800", "base": None}
    assert served.ask("PUT", "/api/files/text", half).status == 422
    for limit, status in {
        "--5": 400,
        "5-": 400,
        "٣": 400,
        str(10**15): 200,
        str(10**19): 400,
    }.items():
        assert served.ask("GET", f"/api/sessions?limit={quote(limit)}").status == status, limit


def test_half_a_character_is_no_failure_of_ours(served: RunningServer) -> None:
    session = served.new_session()
    titled = served.ask("PATCH", f"/api/sessions/{session}", {"title": "a\ud800b"})
    assert titled.json["title"] == "a\ufffdb"
    where = f"/api/sessions/{session}"
    for path, body in {
        f"{where}/queue": {"op": "drop", "item": "\udc80"},
        f"{where}/confirm": {"call_id": "\ud800", "yes": True, "arguments": {"a": ["\udfff"]}},
        f"{where}/command": {"line": "/focus \ud800"},
        "/api/files/focus": {"session": "\ud800", "path": "a", "on": True},
    }.items():
        assert served.ask("POST", path, body).status < 500, path
    with served.page() as page:
        for name in ("attach", "stop", "command"):
            told = page.call(name, session="\udc80", cmd="\ud800", line="/help")
            assert told["code"] == "unknown_session"


def test_a_browser_goes_on_where_it_was(serve: Serve) -> None:
    with serve(text_reply("one"), text_reply("two")) as served:
        session = served.new_session()
        path = f"/api/sessions/{session}/messages"
        *_, (_, last) = stream(served, "POST", path, {"text": "go"})
        *_, (_, newest) = stream(served, "POST", path, {"text": "go on"})
        came_back = {"Last-Event-ID": str(last["seq"])}
        where = f"/events?session={session}&boot={last['boot']}&after=0"
        events = stream(served, "GET", where, headers=came_back)
        _, arrival = next(events)
        events.close()
        numbers = [event["seq"] for event in arrival["events"]]
        assert numbers == list(range(last["seq"] + 1, newest["seq"] + 1))


def test_a_session_is_deleted_with_its_plan(served: RunningServer) -> None:
    session, other = served.new_session(), served.new_session()
    plans = served.data / "plans"
    plans.mkdir()
    for one in (session, other):
        (plans / f"{one}.md").write_text("# Plan")
    assert served.ask("DELETE", f"/api/sessions/{session}").status == 204
    assert [path.stem for path in plans.iterdir()] == [other]


def test_who_follows_a_session_hears_that_it_is_deleted_and_no_more(served: RunningServer) -> None:
    session, other = served.new_session(), served.new_session()
    events = stream(served, "GET", f"/events?session={session}")
    assert next(events)[0] == "attached"
    served.ask("DELETE", f"/api/sessions/{other}")
    assert served.ask("DELETE", f"/api/sessions/{session}").status == 204
    *_, last = events
    assert last == ("session", {"id": session, "deleted": True})


def test_a_program_follows_a_session_and_answers(serve: Serve) -> None:
    with serve(call_reply("wipe"), text_reply("done")) as served:
        session = served.new_session()
        events = stream(served, "GET", f"/events?session={session}")
        name, arrival = next(events)
        assert (name, arrival["mode"], arrival["head"]) == ("attached", "snapshot", 0)
        served.ask("POST", f"/api/sessions/{session}/messages", {"text": "go", "stream": False})
        numbers = []
        for name, packet in events:
            if name == "ev":
                numbers.append(packet["seq"])
            if packet.get("type") == "ApprovalAsked":
                answer = {"call_id": packet["call_id"], "yes": True}
                won = served.ask("POST", f"/api/sessions/{session}/confirm", answer)
                assert won.json == {"won": True}
            if packet.get("type") == "TurnFinished":
                break
        events.close()
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_program_stops_what_runs(serve: Serve) -> None:
    with serve([lambda stop: stop.wait(TIMEOUT_SECONDS) and None, *text_reply("never")]) as served:
        session = served.new_session()
        idle = served.ask("POST", f"/api/sessions/{session}/stop", {})
        assert idle.json == {"running": False}
        heard: list[Any] = []
        path = f"/api/sessions/{session}/messages"
        reader = threading.Thread(
            target=lambda: heard.extend(stream(served, "POST", path, {"text": "go"}))
        )
        reader.start()
        while not served.model.requests:
            pass
        assert served.ask("DELETE", f"/api/sessions/{session}").json["code"] == "busy"
        assert served.ask("POST", f"/api/sessions/{session}/stop", {}).json == {"running": True}
        reader.join(TIMEOUT_SECONDS)
        assert heard[-1][1]["why"] == "stopped"


def test_sessions_are_listed_renamed_put_away_exported_and_forgotten(serve: Serve) -> None:
    with serve(text_reply("the answer")) as served, served.page() as page:
        session = served.new_session()
        assert served.ask("GET", "/api/sessions").json == {"sessions": []}
        list(stream(served, "POST", f"/api/sessions/{session}/messages", {"text": "question"}))
        listed = served.ask("GET", "/api/sessions").json["sessions"]
        assert [(row["id"], row["title"], row["turns"]) for row in listed] == [
            (session, "question", 1)
        ]
        path = f"/api/sessions/{session}"
        assert served.ask("PATCH", path, {"title": "name"}).json["title"] == "name"
        page.wait_for("session", title="name")
        found = served.ask("GET", "/api/search?text=answer").json["found"]
        assert [one["session"] for one in found] == [session]
        markdown = served.ask("GET", f"{path}/export?format=md")
        assert "the answer" in markdown.body.decode()
        assert markdown.headers["content-disposition"].startswith("attachment")
        assert served.ask("GET", f"{path}/export?format=json").json["session"] == session
        fork = served.ask("POST", f"{path}/fork", {"turn": 0}).json
        assert (fork["parent"], fork["turns"]) == (session, 0)
        marked = served.ask("PATCH", path, {"pinned": True, "tags": ["#work", "work"]}).json
        assert (marked["pinned"], marked["tags"], marked["last"]) == (True, ["work"], "the answer")
        page.wait_for("session", pinned=True, tags=["work"])
        assert served.ask("PATCH", path, {"title": "other"}).json["pinned"]
        listed = served.ask("POST", f"{path}/command", {"line": "/sessions"}).json["card"]["rows"]
        assert [row[-1] for row in listed if row[0].startswith(session)] == ["#work"]
        assert served.ask("PATCH", path, {"archived": True}).json["archived"]
        assert served.ask("GET", "/api/sessions").json["sessions"] == []
        assert len(served.ask("GET", "/api/sessions?archived=1").json["sessions"]) == 1
        assert served.ask("DELETE", path).status == 204
        assert served.ask("GET", path).json["code"] == "unknown_session"
        page.wait_for("session", id=session, deleted=True)


def test_what_ends_while_nobody_looks_is_unread_until_somebody_does(serve: Serve) -> None:
    with serve(text_reply("the answer")) as served, served.page() as page:
        session = served.new_session()
        path = f"/api/sessions/{session}"
        served.ask("POST", f"{path}/messages", {"text": "question", "stream": False})
        assert page.wait_for("session", id=session, unread=True)["last"] == "the answer"
        assert served.ask("GET", path).json["unread"]  # which is no look at what was said
        page.attach(session)
        page.wait_for("session", id=session, unread=False)
        assert not served.ask("GET", path).json["unread"]


def test_a_login_link_can_be_asked_for(served: RunningServer) -> None:
    url = served.ask("POST", "/api/login-links", {}).json["url"]
    path = url.removeprefix(served.server.url)
    assert served.ask("GET", path, with_token=False).status == 303


@pytest.mark.parametrize(
    ("kind", "body"),
    [(JSON, b"{bad"), (JSON, b"[1]"), (JSON, b"null"), ("text/plain", b"{}"), ("", b"{}")],
)
def test_a_body_that_says_nothing_makes_no_session(
    served: RunningServer, kind: str, body: bytes
) -> None:
    before = served.ask("GET", "/api/sessions").json
    for path in ("/api/sessions", "/api/login-links"):
        answer = served.ask("POST", path, body, {"Content-Type": kind} if kind else {})
        assert (answer.status, answer.json["code"]) == (400, "bad_request")
    assert served.ask("GET", "/api/sessions").json == before
    for empty in (b"", b"{}"):
        assert served.ask("POST", "/api/sessions", empty, {"Content-Type": JSON}).status == 201


def test_an_exported_page_cannot_be_broken_out_of(serve: Serve) -> None:
    with serve(text_reply("</script><b>bold")) as served:
        path = f"/api/sessions/{served.new_session()}"
        list(stream(served, "POST", f"{path}/messages", {"text": "<b></script>"}))
        page = served.ask("GET", f"{path}/export?format=html").body.decode()
        assert "</script><b>bold" not in page
        assert "<b></script>" not in page
        assert "\\u003c/script>\\u003cb>bold" in page
