"""What stands below an answer in an editor: its sources, and what was run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.conversation.citations import Citation
from core.events import TurnFinished
from modules.acp.updates.turn_end import end_text
from modules.translator import Translator
from tests.modules.acp.client import RecordingClient, project_in, say, started
from tests.own_loop import run_in_own_loop
from tests.simulator import Call, Say, Simulator
from tests.tavily_double import TavilyDouble

SOURCES = [
    ("https://a.org/x_(y)", "On *tea* [1]"),
    ("https://b.org/", "B"),
]


def found(path: str, body: dict[str, Any]) -> tuple[int, dict[str, object]]:
    results = [{"url": url, "title": title, "content": "of it"} for url, title in SOURCES]
    return 200, {"results": results}


def test_sources_stand_below_the_answer_and_in_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script: list[Any] = [Call("web_search", query="tea"), Say("Tea is hot [1][2], not cold [9].")]
    project = project_in(tmp_path)
    below = (
        "\n\n- \\[1\\] [On \\*tea\\* \\[1\\]](<https://a.org/x_(y)>)\n- \\[2\\] "
        "[B](<https://b.org/>)\n- \\[9\\]: source not read\n"
    )

    async def play() -> None:
        client = RecordingClient()
        async with started(tmp_path, client, url=server.url) as (connection, _):
            session = (await connection.new_session(str(project))).session_id
            await say(connection, session, "Is tea hot?")
            assert client.text(session).endswith(f"not cold [9].{below}")
            client.updates.clear()
            await connection.load_session(cwd=str(project), session_id=session)
            assert client.text(session).endswith(f"not cold [9].{below}")

    with TavilyDouble(found) as web, Simulator(script) as server:
        monkeypatch.setenv("TAVILY_API_KEY", "tvly-x")
        monkeypatch.setenv("TAVILY_BASE_URL", web.base_url)
        run_in_own_loop(play())


def test_what_was_run_stands_below_an_answer_that_claims_it(tmp_path: Path) -> None:
    check = "python3 -m unittest"
    script: list[Any] = [Call("run_command", command=check), Say("All tests pass.")]
    project = project_in(tmp_path)
    (project / "test_it.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"
    )

    async def play() -> None:
        client = RecordingClient()
        async with started(tmp_path, client, url=server.url) as (connection, _):
            session = (await connection.new_session(str(project))).session_id
            await say(connection, session, "Run the tests")
            assert "\n- ✓ python3 -m unittest passed (exit code 0)\n" in client.text(session)

    with Simulator(script) as server:
        run_in_own_loop(play())


def test_an_address_that_is_no_page_of_the_web_is_no_link() -> None:
    event = TurnFinished("done", citations=(Citation(1, "javascript:alert(1)", "Click\nme"),))
    assert end_text(event, Translator.of("en")) == "\n\n- \\[1\\] Click me\n"
