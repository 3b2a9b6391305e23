"""`mcp` through the SDK's own client, in both revisions: tools, questions, undo, cancel, tasks."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import ElicitResult, InputRequiredResult

from tests.modules.acp.test_task import PNG
from tests.modules.mcp_server.client import (
    HANG_SECONDS,
    MODES,
    ROOT,
    Mode,
    Person,
    accept,
    call,
    connected,
    environment,
    pictures_of,
    project_in,
    text_of,
)
from tests.own_loop import run_in_own_loop
from tests.simulator import Call, Say, Simulator

OWN = ["undo", "redo", "undo_list", "diff", "do_task"]


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_listed_called_and_taken_back(tmp_path: Path, mode: Mode) -> None:
    project = project_in(tmp_path)
    (project / "p.png").write_bytes(PNG)
    (project / ".env").write_text("API_KEY=sk-abcdefghijklmnopqrstuvwx123456\n")
    (project / "long.txt").write_text("".join(f"line {n}\n" for n in range(20_000)))

    async def play() -> None:
        async with connected(tmp_path, mode=mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools)[:3] == ["list_files", "read_file", "find_files"]
            assert list(tools)[-5:] == OWN
            assert {"ask_person", "update_todos", "remember", "focus_file"} & set(tools) == set()
            hints = {
                name: (note.read_only_hint, note.destructive_hint, note.open_world_hint)
                for name, tool in tools.items()
                if (note := tool.annotations)
            }
            assert hints["read_file"] == (True, False, False)
            assert hints["modify_file"] == (False, False, False)
            assert hints["delete_file"] == (False, True, False)
            assert hints["run_command"] == (False, True, True)
            assert tools["read_file"].input_schema["required"] == ["path"]
            await use(client)

    async def use(client: Client) -> None:
        made = await call(client, "create_file", path="b.txt", content="x\n")
        assert (made.is_error, text_of(made)) == (False, "Created b.txt (1 line).")
        ran = await call(client, "run_command", command="cat b.txt; rm a.txt")
        assert "exit code 0" in text_of(ran)
        assert not (project / "a.txt").exists()
        assert "2     2     a.txt" in text_of(await call(client, "undo_list"))
        assert not (await call(client, "undo")).is_error
        assert (project / "a.txt").read_text() == "one\ntwo\n"
        assert "b.txt" in text_of(await call(client, "diff"))
        assert (await call(client, "diff", path="../../etc/passwd")).is_error
        assert not (await call(client, "undo", turn=1)).is_error
        assert not (project / "b.txt").exists()
        assert not (await call(client, "redo")).is_error
        assert (project / "b.txt").exists()
        assert pictures_of(await call(client, "read_file", path="p.png")) == ["image/png"]
        hidden = text_of(await call(client, "read_file", path=".env"))
        assert "sk-abcdefgh" not in hidden
        assert "SECRET" in hidden
        cut = text_of(await call(client, "run_command", command="cat long.txt"))
        [part] = set(re.findall(r"@output/\d+", cut))
        later = await call(client, "read_file", path=part, start_line=9_000)
        assert "line 8999" in text_of(later)

    run_in_own_loop(play())


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("nope", {}, "There is no tool 'nope'. There are: list_files"),
    ("ask_person", {"question": "Who?"}, "There is no tool 'ask_person'"),
    ("read_file", {"path": "../x"}, "This call failed: "),
    ("read_file", {"path": "/etc/passwd"}, "This call failed: "),
    ("read_file", {"path": ["a"]}, "read_file.path must be of type string"),
    ("read_file", {}, "read_file needs 'path'"),
    ("undo", {"turn": "last"}, "undo.turn must be of type integer"),
    ("undo", {"turn": 99}, "No turn 99"),
    ("do_task", {"task": "  "}, "The task is empty"),
    ("do_task", {"task": "Go"}, "No API key"),
]


def test_what_cannot_be_done_is_said_in_one_sentence(tmp_path: Path) -> None:
    project = project_in(tmp_path)

    async def play() -> None:
        async with connected(tmp_path) as client:
            for name, arguments, expected in WRONG:
                result = await call(client, name, **arguments)
                assert expected in text_of(result), (name, arguments)
                assert result.is_error, (name, arguments)

    run_in_own_loop(play())
    assert (project / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("mode", MODES)
def test_what_must_be_asked_is_asked_in_a_form_with_all_of_it(tmp_path: Path, mode: Mode) -> None:
    project = project_in(tmp_path)
    person = Person(
        [
            accept(answer="no", reason="not now"),
            ElicitResult(action="decline"),
            ElicitResult(action="cancel"),
            accept(answer="certainly"),
            accept(),
            accept(answer="yes"),
            accept(answer="always in this session"),
            accept(answer="no"),
        ]
    )

    async def play() -> None:
        async with connected(tmp_path, "--approve", "ask", mode=mode, person=person) as client:

            async def run(number: int) -> str:
                command = f"echo {number} >> ran.txt\necho second line"
                return text_of(await call(client, "run_command", command=command))

            assert "said no: not now" in await run(0)
            for number in range(1, 5):
                assert "exit code" not in await run(number)
            assert "exit code 0" in await run(5)
            assert "exit code 0" in await run(6)
            assert "exit code 0" in await run(6)  # it was allowed for good
            assert (await call(client, "undo")).is_error  # the last answer is no

    run_in_own_loop(play())
    assert (project / "ran.txt").read_text() == "5\n6\n6\n"
    first = person.questions[0]
    assert "echo 0 >> ran.txt\necho second line" in first.message
    assert "You asked to be asked" in first.message
    options = first.requested_schema["properties"]["answer"]["enum"]
    assert options == ["yes", "no", "always in this session", "always in this project"]
    assert person.answers == []


def test_a_client_that_cannot_ask_is_told_what_to_do(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    outside = {"command": "touch outside.txt", "where": "outside"}

    async def play() -> None:
        async with connected(tmp_path, "--approve", "ask") as client:
            for name, arguments in (
                ("create_file", {"path": "b.txt", "content": "x"}),
                ("undo", {}),
            ):
                refused = await call(client, name, **arguments)
                assert refused.is_error
                assert '"--approve all"' in text_of(refused)
        person = Person([accept(answer="yes")])
        async with connected(tmp_path, "--approve", "all", person=person) as client:
            assert not (await call(client, "create_file", path="c.txt", content="x")).is_error
            assert "allow_outside" in text_of(await call(client, "run_command", **outside))
        async with connected(tmp_path, "--approve", "read-only") as client:
            assert "read-only" in text_of(await call(client, "undo"))
            assert not (await call(client, "read_file", path="a.txt")).is_error

    run_in_own_loop(play())
    assert sorted(path.name for path in project.iterdir()) == ["a.txt", "c.txt"]


def test_calls_run_in_order_and_a_cancelled_one_ends(tmp_path: Path) -> None:
    project = project_in(tmp_path)

    async def play() -> None:
        begun = asyncio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if message == "begun":
                begun.set()

        async with connected(tmp_path) as client:
            lines = [
                call(client, "run_command", command=f"echo {number} >> order.txt")
                for number in range(8)
            ]
            answers = await asyncio.gather(*lines)
            assert not any(answer.is_error for answer in answers)
            running = asyncio.create_task(
                client.call_tool(
                    "run_command",
                    {"command": "echo begun; sleep 300"},
                    progress_callback=on_progress,
                )
            )
            await asyncio.wait_for(begun.wait(), HANG_SECONDS)
            never = asyncio.create_task(call(client, "create_file", path="never.txt", content="x"))
            behind = asyncio.create_task(call(client, "create_file", path="b.txt", content="x"))
            await client.list_tools()  # by its answer they have been sent
            never.cancel()
            running.cancel()
            assert not (await behind).is_error
            assert "never.txt" not in text_of(await call(client, "list_files"))

    run_in_own_loop(play())
    assert (project / "order.txt").read_text().split() == [str(number) for number in range(8)]
    assert (project / "b.txt").exists()


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_task_is_done_asked_about_and_taken_back(tmp_path: Path, mode: Mode) -> None:
    script: list[Any] = [
        Call("create_file", path="b.txt", content="x\n"),
        Call("ask_person", question="Which?", choices=["red", "blue"]),
        Call("create_file", path="c.txt", content="y\n"),
        Say("Made b.txt."),
        Say("Hello."),
    ]
    project = project_in(tmp_path)
    person = Person([accept(answer="yes"), accept(answer="blue"), accept(answer="no")])

    async def play() -> None:
        shown: list[str | None] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            shown.append(message)

        options = ("--approve", "ask")
        async with connected(tmp_path, *options, mode=mode, person=person, url=url) as client:
            task = {"task": "/make b.txt", "think": True}
            done = await client.call_tool("do_task", task, progress_callback=on_progress)
            assert done.structured_content["answer"] == "Made b.txt."
            assert done.structured_content["status"] == "refused"
            assert done.structured_content["error_code"] == "refused"
            assert done.structured_content["files"]["created"] == ["b.txt"]
            assert "Files created: b.txt" in text_of(done)
            assert "Create b.txt" in shown
            person.answers.append(accept(answer="yes"))
            assert not (await call(client, "undo")).is_error
            assert not (project / "b.txt").exists()
            fresh = await call(client, "do_task", task="Hello", new_session=True)
            assert not fresh.is_error
            assert fresh.structured_content["session"] != done.structured_content["session"]

    with Simulator(script) as server:
        url = server.url
        run_in_own_loop(play())
        messages = server.requests[0].body["messages"]
        results = [one["content"] for one in server.requests[3].body["messages"]]
    assert [question.message.partition("\n")[0] for question in person.questions[:2]] == [
        "Create b.txt",
        "Ask Which?",
    ]
    assert messages[-1]["content"].strip() == "/make b.txt"
    assert "The person answers: blue" in results


def test_a_terminal_works_in_the_session_while_the_client_is_there(tmp_path: Path) -> None:
    project = project_in(tmp_path)

    def onefold(*words: str) -> str:
        command = [sys.executable, str(ROOT / "main.py"), "--project", str(project), *words]
        done = subprocess.run(
            command,
            env=environment(tmp_path),
            capture_output=True,
            check=True,
            timeout=HANG_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout.decode()

    async def play() -> None:
        async with connected(tmp_path) as client:
            await call(client, "create_file", path="b.txt", content="x\n")
            listed = await asyncio.to_thread(onefold, "-p", "/sessions")
            assert "mcp: Create b.txt" in listed
            await asyncio.to_thread(onefold, "--resume", "-p", "/undo")
            assert not (project / "b.txt").exists()
            assert "No changes" in text_of(await call(client, "diff"))
            task = ("--offline", "--resume", "-p", "make d.txt with hello")
            await asyncio.to_thread(onefold, *task)
            await call(client, "create_file", path="c.txt", content="x\n")
            rows = text_of(await call(client, "undo_list")).splitlines()[2:]
            assert [row.split()[1:3] for row in rows if "undone" not in row] == [
                ["2", "d.txt"],
                ["3", "c.txt"],
            ]
            listed = await asyncio.to_thread(onefold, "-p", "/sessions")
            assert listed.count("mcp: ") == 1

    run_in_own_loop(play())


def test_a_yes_is_for_the_call_that_was_asked_about_alone(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    asked, other = {"path": "b.txt", "content": "x"}, {"path": "c.txt", "content": "x"}

    async def play() -> None:
        person = Person([])
        options = ("--approve", "ask")
        async with connected(tmp_path, *options, mode="2026-07-28", person=person) as client:
            question = await client.session.call_tool(
                "create_file", asked, allow_input_required=True
            )
            assert isinstance(question, InputRequiredResult)
            [key] = question.input_requests or {}
            for arguments, state in ((asked, "made up"), (other, question.request_state)):
                with pytest.raises(MCPError, match="requestState is of no call"):
                    await client.session.call_tool(
                        "create_file",
                        arguments,
                        input_responses={key: accept(answer="yes")},
                        request_state=state,
                    )
            assert not (await call(client, "list_files")).is_error

    run_in_own_loop(play())
    assert sorted(path.name for path in project.iterdir()) == ["a.txt"]
