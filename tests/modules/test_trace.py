"""The trace is whole: each span ends, lies below its turn, and holds nothing that was said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.events import Event, TurnFinished, Warned
from core.loop.turn import drive
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.modules.delegation.helper_models import PARENT, ModelOfHelpers
from tests.scripted_model import call_reply, calls_reply, text_reply
from utils.i18n import phrase
from utils.llm.completion import ModelError

ROOT = Path(__file__).parents[2]
SCRIPT = [call_reply("read_file", path="no-such"), text_reply("the answer")]


def trace_to(monkeypatch: pytest.MonkeyPatch, path: Path, **more: Any) -> None:
    changed = replace(SETTINGS, trace=str(path), operations_log=True, **more)
    monkeypatch.setattr("tests.assembly.SETTINGS", changed)


def say(made: AssembledTerminal, line: str) -> list[Event]:
    events: list[Event] = []
    drive(made.terminal.run_line(line), events.append)
    return events


def spans(path: Path) -> list[dict[str, Any]]:
    """Return the spans in *path*, their attributes as a mapping."""
    found = []
    for line in path.read_text().splitlines():
        ((scope,),) = [one["scopeSpans"] for one in json.loads(line)["resourceSpans"]]
        for span in scope["spans"]:
            values = {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}
            found.append({**span, "attributes": values})
    return found


def test_a_turn_is_a_tree_of_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spans.jsonl"
    trace_to(monkeypatch, path)
    with assembled_terminal(tmp_path, *[list(one) for one in SCRIPT]) as made:
        say(made, "what I said")
        say(made, "/status")
        session = made.terminal.session
        assert made.data.operations.read_text().count("\n") > 5  # who observed before still does
    first, call, second, turn, command = spans(path)
    names = [span["name"] for span in (first, call, second, turn, command)]
    assert names == [
        *("chat scripted", "execute_tool read_file", "chat scripted"),
        *("invoke_agent Onefold", "command /status"),
    ]
    for span in (first, call, second):
        assert (span["traceId"], span["parentSpanId"]) == (turn["traceId"], turn["spanId"])
        assert int(turn["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
        assert int(span["endTimeUnixNano"]) <= int(turn["endTimeUnixNano"])
    assert turn["attributes"]["gen_ai.conversation.id"] == session
    assert turn["attributes"]["gen_ai.usage.input_tokens"] == "200"
    assert first["attributes"]["gen_ai.usage.input_tokens"] == "100"
    assert call["attributes"]["error.type"] == "failed"
    assert call["status"] == {"code": 2}
    assert turn["status"] == {}
    assert [one["attributes"].get("gen_ai.provider.name") for one in (first, call, turn)] == [
        *("deepseek", None, "deepseek")
    ]
    text = path.read_text()
    for said in ("what I said", "the answer", "no-such"):
        assert said not in text


def test_what_helpers_do_lies_below_the_calls_that_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spans.jsonl"
    trace_to(monkeypatch, path)
    tasks = enumerate(("one", "two"), 1)
    delegates = ((f"d{n}", "delegate", json.dumps({"task": task})) for n, task in tasks)
    model = ModelOfHelpers(
        {
            PARENT: [calls_reply(*delegates), text_reply("Done.")],
            "one": [call_reply("read_file", path="no-such"), text_reply("The secret word.")],
            "two": [[ModelError("server", phrase("The server is down."))]] * 4,
        }
    )
    with assembled_terminal(tmp_path, model=model) as made:
        say(made, "what I said")
    found = {one["spanId"]: one for one in spans(path)}

    def way(span: dict[str, Any]) -> tuple[str, ...]:
        above = found.get(span["parentSpanId"])
        return (*(way(above) if above else ()), span["name"])

    turn, delegate, helper = "invoke_agent Onefold", "execute_tool delegate", "invoke_agent helper"
    assert sorted(way(one) for one in found.values()) == sorted(
        [
            *((turn,), (turn, "chat scripted"), (turn, "chat scripted")),
            *((turn, delegate), (turn, delegate)),
            *((turn, delegate, helper), (turn, delegate, helper)),
            (turn, delegate, helper, "execute_tool read_file"),
            *[(turn, delegate, helper, "chat")] * 3,
        ]
    )
    assert len({one["traceId"] for one in found.values()}) == 1
    helpers = [one for one in found.values() if one["name"] == helper]
    assert sorted(one["attributes"]["gen_ai.usage.input_tokens"] for one in helpers) == ["0", "200"]
    assert [one["status"] for one in helpers].count({"code": 2}) == 1
    assert "secret word" not in path.read_text()


def test_what_was_said_is_in_it_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spans.jsonl"
    trace_to(monkeypatch, path, trace_content=True)
    with assembled_terminal(tmp_path, *[list(one) for one in SCRIPT]) as made:
        say(made, "what I said")
    assert path.stat().st_mode & 0o777 == 0o600
    first, call, second, turn = (span["attributes"] for span in spans(path))
    asked = json.loads(first["gen_ai.input.messages"])
    assert "what I said" in [part["content"] for one in asked for part in one["parts"]]
    assert json.loads(first["gen_ai.system_instructions"])[0]["type"] == "text"
    [reply] = json.loads(first["gen_ai.output.messages"])
    assert (reply["role"], reply["finish_reason"]) == ("assistant", "tool_call")
    [part] = [one for one in reply["parts"] if one["type"] == "tool_call"]
    assert (part["name"], part["arguments"]) == ("read_file", {"path": "no-such"})
    assert json.loads(call["gen_ai.tool.call.arguments"]) == {"path": "no-such"}
    [answer] = [one for one in json.loads(second["gen_ai.input.messages"]) if one["role"] == "tool"]
    assert answer["parts"] == [
        {
            "type": "tool_call_response",
            "id": part["id"],
            "response": call["gen_ai.tool.call.result"],
        }
    ]
    assert "the answer" in second["gen_ai.output.messages"]
    assert "gen_ai.input.messages" not in turn


def test_a_file_that_takes_nothing_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace_to(monkeypatch, tmp_path)
    with assembled_terminal(tmp_path, *[list(one) for one in SCRIPT]) as made:
        warned = [event for event in say(made, "hi") if isinstance(event, Warned)]
    assert sum(f"{event.what}".startswith("Cannot write the trace ") for event in warned) == 1


@pytest.mark.parametrize("link", ["spans.jsonl", "sub"])
def test_a_link_that_a_program_left_in_the_project_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    target = tmp_path / "outside" / "spans.jsonl"
    target.parent.mkdir()
    target.write_text("mine\n")
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    trace_to(monkeypatch, folder / ("sub" if link == "sub" else "") / "spans.jsonl")
    if link == "sub":
        (folder / "sub").rmdir()
    (folder / link).symlink_to(target.parent if link == "sub" else target)
    with assembled_terminal(tmp_path, *[list(one) for one in SCRIPT]) as made:
        assert made.root == folder
        warned = [event for event in say(made, "hi") if isinstance(event, Warned)]
    assert any(f"{event.what}".startswith("Cannot write the trace ") for event in warned)
    assert target.read_text() == "mine\n"


def test_what_takes_the_place_of_the_file_meanwhile_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "project" / "spans.jsonl"
    trace_to(monkeypatch, path)
    script = [call_reply("run_command", command="rm spans.jsonl; touch spans.jsonl"), *SCRIPT[1:]]
    with assembled_terminal(tmp_path, *[list(one) for one in script]) as made:
        say(made, "hi")
    assert path.read_text() == ""


def test_a_program_hears_that_there_is_no_trace(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "--offline", "--trace", "none/a.jsonl", "-p", "hi"],
        cwd=project,
        env={**os.environ, "ONEFOLD_DATA_DIR": str(tmp_path / "data")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout
    assert done.stderr.count("\n") == 1
    assert f"Cannot write the trace {project / 'none' / 'a.jsonl'}: No such" in done.stderr


def test_a_trace_in_the_project_makes_no_receipt_outdated_and_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [call_reply("create_file", path="b.txt", content="x"), text_reply("Made.")]
    trace_to(monkeypatch, tmp_path / "project" / "t.json", checks=("true",))
    with assembled_terminal(tmp_path, *script) as made:
        (end,) = [one for one in say(made, "make b.txt") if isinstance(one, TurnFinished)]
        assert [(one.command, one.state) for one in end.receipts] == [("true", "green")]
