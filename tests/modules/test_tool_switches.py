"""Tools that are switched off are absent from requests, in every session of the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.events import CommandAnswered, Event, Informed, Warned
from core.feature import Feature
from core.loop.turn import drive
from core.tool_switches import ToolSwitches
from core.tool_texts import TOOLS_PLACE, definitions_text, fill_template, protocol_named
from core.tools import OWN_SOURCE, Outcome, Risk, Toolbox, tool
from modules.prompts import prompt, system_prompt
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, text_reply
from tests.simulator import Call, Say, Simulator
from tests.utils.client_helpers import client_of
from utils.i18n import UserError, phrase


def say(made: AssembledTerminal, line: str) -> list[Event]:
    events: list[Event] = []
    drive(made.terminal.run_line(line), lambda event: events.append(event))
    return events


def answer(made: AssembledTerminal, line: str) -> CommandAnswered:
    (event,) = say(made, line)
    assert isinstance(event, CommandAnswered)
    return event


def told(made: AssembledTerminal, line: str) -> str:
    card = answer(made, line).card
    assert isinstance(card, TextCard)
    return f"{card.title} {card.body}"


def states(made: AssembledTerminal) -> dict[str, str]:
    card = answer(made, "/tools").card
    assert isinstance(card, TableCard)
    return {str(row[0]): str(row[1]) for row in card.rows}


def usual_states(made: AssembledTerminal) -> dict[str, str]:
    """Return those of the tools that are listed unless somebody switches them off."""
    specs = made.terminal.tools.specs
    return {name: state for name, state in states(made).items() if specs[name].is_listed}


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def test_what_is_off_is_absent_from_the_request_and_its_old_calls_are_valid(tmp_path: Path) -> None:
    script: list[Any] = [
        Call("list_files"),
        Say("1"),
        Call("list_files"),
        Say("2"),
        Say("3"),
        Say("4"),
    ]
    with (
        Simulator(script) as server,
        client_of(server) as client,
        assembled_terminal(tmp_path, model=client) as made,
    ):
        say(made, "look")
        everything = names(server.requests[0].body)
        assert "not cached" in told(made, "/tools list_files off")
        say(made, "look again")
        assert names(server.requests[2].body) == [n for n in everything if n != "list_files"]
        results = [m for m in server.requests[3].body["messages"] if m["role"] == "tool"]
        assert "'list_files' is switched off in this project" in results[-1]["content"]
        told(made, "/tools off")
        say(made, "and now")
        assert "tools" not in server.requests[4].body
        assert "tool_choice" not in server.requests[4].body
        assert any("tool_calls" in m for m in server.requests[4].body["messages"])
        told(made, "/tools on")
        say(made, "go on")
        assert names(server.requests[5].body) == [n for n in everything if n != "list_files"]
        told(made, "/tools list_files on")
        assert names({"tools": made.terminal.tools.wire}) == everything


def test_switches_are_the_projects_and_reach_every_session(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("1"), text_reply("2"), text_reply("3")) as made:
        say(made, "hello")
        same_list = made.terminal.tools.wire
        say(made, "again")
        assert made.terminal.tools.wire is same_list
        with assembled_terminal(tmp_path) as other:
            told(other, "/tools remember off")
        (news,) = [one for one in say(made, "now") if isinstance(one, Informed)]
        assert "which is not cached" in str(news.what)
        assert states(made)["remember"] == "off"
        session = made.terminal.session
    with assembled_terminal(tmp_path, text_reply("4")) as later:
        later.terminal.resume(session)
        assert states(later)["remember"] == "off"
        assert not [one for one in say(later, "hi") if isinstance(one, Informed)]


def test_new_tools_are_as_the_default_says_and_known_ones_stay(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        told(made, "/tools jobs off")
        told(made, "/tools new off")
        before = usual_states(made)
        switches = made.terminal.tools.switches
        assert not switches.allows("mcp_search")
        assert before["jobs"] == "off"
        assert before["read_file"] == "on"
        assert switches.allows("web_search"), "a tool of ours that has no key yet is none of them"
        told(made, "/tools new on")
        assert usual_states(made) == before
        assert made.terminal.tools.switches.allows("mcp_search")


class Weather(Feature):
    @tool(Risk.READ, phrase("x"), is_listed=False)
    def forecast(self) -> Outcome:
        """Tell the weather."""
        return Outcome("Rain.", TextCard("Rain.", ""))


def test_a_tool_that_is_not_listed_runs_when_it_is_called_and_costs_nothing_before(
    tmp_path: Path,
) -> None:
    script = [call_reply("forecast"), text_reply("wet")]
    with assembled_terminal(tmp_path, *script, *script, more_features=[Weather()]) as made:
        usual = names({"tools": made.terminal.tools.wire})
        assert "forecast" not in usual
        assert states(made)["forecast"] == "not listed"
        assert "Tools on" not in str(answer(made, "/status").card)
        say(made, "go out?")
        assert made.model.requests[-1][-1]["content"] == "Rain."
        told(made, "/tools new off")
        told(made, "/tools new on")
        assert states(made)["forecast"] == "not listed", "others were decided about, it was not"
        assert "not cached" in told(made, "/tools forecast on")
        assert names({"tools": made.terminal.tools.wire}) == [*usual, "forecast"]
        told(made, "/tools forecast off")
        assert names({"tools": made.terminal.tools.wire}) == usual
        say(made, "and now?")
        assert "is switched off" in made.model.requests[-1][-1]["content"]


def test_what_is_wanted_is_listed_unless_it_is_off() -> None:
    tools = Toolbox.of([Weather()])
    assert not tools.want(["else"])
    assert tools.want(["forecast"])
    assert [tool.name for tool in tools] == ["forecast"]
    assert tools.switch(ToolSwitches().with_tool("forecast", False))
    assert list(tools) == []
    assert not tools.want([])
    assert tools.switch(ToolSwitches(is_on=False)) is False
    assert not tools.want(["forecast"])


def test_a_tool_is_shown_with_all_that_counts(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        told(made, "/tools create_file off")
        card = answer(made, "/tools create_file").card
        assert isinstance(card, TableCard)
        rows = {str(key).strip(): str(value) for key, value in card.rows}
        exact = json.loads(rows["exact text"])[0]["function"]
        assert exact["name"] == "create_file"
        assert (rows["switch"], rows["risk"], rows["source"]) == ("off", "writes", OWN_SOURCE)
        assert int(rows["tokens"]) > 20
        assert "required" in rows["content"]
        assert "create_file" not in told(made, "/tools text")
        assert told(made, "/tools text native").endswith(definitions_text(made.terminal.tools))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("/tools creat_file", "Did you mean create_file?"),
        ("/tools creat_file off", "Did you mean create_file?"),
        ("/tools create_file of", "Usage: /tools NAME on"),
        ("/tools new", "Usage: /tools NAME on"),
        ("/tools a b on", "Usage: /tools NAME on"),
        ("/tools text klingon", "Unknown protocol klingon. Available: native"),
    ],
)
def test_a_mistake_says_what_to_do(tmp_path: Path, line: str, reason: str) -> None:
    with assembled_terminal(tmp_path) as made:
        answered = answer(made, line)
        assert not answered.ok
        assert isinstance(answered.card, TextCard)
        assert reason in str(answered.card.title)
        assert not made.data.tool_switches.exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"on": 1}', '{"tools": {"jobs": "off"}}'])
def test_switches_that_cannot_be_read_allow_nothing_until_all_are_on(
    tmp_path: Path, text: str
) -> None:
    with assembled_terminal(tmp_path) as made:
        made.data.tool_switches.write_text(text)
    with assembled_terminal(tmp_path, text_reply("hi")) as made:
        assert list(made.terminal.tools) == []
        (warned,) = [one for one in say(made, "hello") if isinstance(one, Warned)]
        assert "“/tools on” resets it" in str(warned.what)
        assert not answer(made, "/tools jobs on").ok
        told(made, "/tools on")
        assert set(usual_states(made).values()) == {"on"}


def test_a_template_of_ones_own_is_filled_with_the_tools_that_are_on(tmp_path: Path) -> None:
    template = tmp_path / "system.md"
    assert system_prompt(template) == prompt("system")
    template.write_text(f"Be brief.\n\nTools:\n{TOOLS_PLACE}\n\nEnd.\n")
    with assembled_terminal(tmp_path, call_reply("list_files"), text_reply("ok")) as made:
        made.terminal.system_prompt = system_prompt(template)
        told(made, "/tools jobs off")
        say(made, "look")
        first, second = (request[0]["content"] for request in made.model.requests)
        assert first == second
        listed = first.partition("Tools:\n")[2].partition("\n\nEnd.")[0]
        assert json.loads(listed) == made.terminal.tools.wire
        assert TOOLS_PLACE not in first
        assert '"jobs"' not in first
        tools = made.terminal.tools
        filled = fill_template(template.read_text(), tools, "vcp")
        system = {"role": "system", "content": filled}
        assert protocol_named("vcp").request([system], tools.wire) == ([system], ())
    template.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        system_prompt(template)
