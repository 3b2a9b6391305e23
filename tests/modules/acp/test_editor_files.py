"""Edits in an editor that offers its files: its buffers follow, and nothing unsaved is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.schema import ClientCapabilities, FileSystemCapabilities

from tests.modules.acp.client import RecordingClient, project_in, save_as_given, say, started
from tests.own_loop import run_in_own_loop
from tests.simulator import Call, Say, Simulator

FILES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))


def change(path: str, old: str, new: str) -> Call:
    return Call("modify_file", path=path, operation="replace", old=old, new=new)


def play(base: Path, client: RecordingClient, script: list[Any], *lines: str) -> list[str]:
    """Have *client* say each of *lines*; return the results of the calls in the last request."""

    async def played(url: str) -> None:
        async with started(base, client, url=url, capabilities=FILES) as (connection, _):
            session = (await connection.new_session(str(base / "project"))).session_id
            for line in lines:
                await say(connection, session, line)

    with Simulator(script) as server:
        run_in_own_loop(played(server.url))
        messages = server.requests[-1].body["messages"]
    return [one["content"] for one in messages if one["role"] == "tool"]


def test_an_edit_reaches_the_editor_but_never_what_it_has_unsaved(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    (project / "crlf.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (project / "typed.txt").write_text("saved\n")
    (project / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    client = RecordingClient()
    client.buffers = {
        str(project / "a.txt"): "one\ntwo\n",
        str(project / "crlf.txt"): "one\ntwo\n",
        str(project / "typed.txt"): "saved, and typed\n",
    }
    calls = (
        change("a.txt", "two", "three"),
        change("crlf.txt", "two", "three"),
        change("typed.txt", "saved", "written"),
        change("latin.txt", "caf\xe9", "th\xe9"),
        Call("create_file", path="new/b.txt", content="b\n"),
    )
    play(tmp_path, client, [calls, Say("Done."), Say("Bye.")], "Change them", "/undo")
    assert client.writes == [
        (str(project / "a.txt"), "one\nthree\n"),
        (str(project / "crlf.txt"), "\ufeffone\r\nthree\r\n"),
        (str(project / "new/b.txt"), "b\n"),
    ]
    assert len(client.questions) == 1  # about what is typed, and answered with yes
    assert client.buffers[str(project / "typed.txt")] == "saved, and typed\n"
    assert (project / "a.txt").read_text() == "one\ntwo\n"
    assert (project / "crlf.txt").read_bytes() == b"\xef\xbb\xbfone\r\ntwo\r\n"
    assert not (project / "new").exists()


async def refuse(path: str, content: str) -> str:
    raise RequestError.internal_error()


async def never_answer(path: str, content: str) -> str:
    await asyncio.Event().wait()
    return content


async def save_formatted(path: str, content: str) -> str:
    Path(path).write_text(content.upper())
    return content.upper()


@pytest.mark.parametrize(
    ("save", "asked", "told"),
    [(refuse, 2, False), (never_answer, 1, False), (save_formatted, 1, True)],
)
def test_what_an_editor_makes_of_an_edit_is_known(
    tmp_path: Path, save: Any, asked: int, told: bool
) -> None:
    project = project_in(tmp_path)
    client = RecordingClient(save=save)
    steps = [change("a.txt", "one", "1"), change("a.txt", "two", "2")]
    first, second = play(tmp_path, client, [*steps, Say("Done.")], "Change it")
    assert len(client.writes) == asked
    assert ("changed when the editor saved it" in first) == told
    assert second.startswith("Changed") != told  # it is to be read again before
    assert (project / "a.txt").read_text() == ("1\nTWO\n" if told else "1\n2\n")


def test_an_editor_writes_nothing_while_a_program_might_move_its_path(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    client = RecordingClient()
    job = Call("run_command", command="sleep 600", background=True)
    play(tmp_path, client, [job, change("a.txt", "two", "three"), Say("Done.")], "Go")
    assert client.writes == []
    assert (project / "a.txt").read_text() == "one\nthree\n"


def test_no_turn_of_another_session_there_begins_while_an_editor_writes(tmp_path: Path) -> None:
    project_in(tmp_path)
    ends: list[str] = []

    async def played(url: str) -> None:
        async def save(path: str, content: str) -> str:
            asked = asyncio.create_task(say(connection, other, "/status"))
            while not asked.done():  # a command is never cancelled once it has begun
                await connection.cancel(other)
                await asyncio.wait({asked}, timeout=0.05)
            ends.append(asked.result().stop_reason)
            return await save_as_given(path, content)

        client = RecordingClient(save=save)
        async with started(tmp_path, client, url=url, capabilities=FILES) as (connection, _):
            one, other = [
                (await connection.new_session(str(tmp_path / "project"))).session_id
                for _ in range(2)
            ]
            await say(connection, one, "Change it")
            ends.append((await say(connection, other, "/status")).stop_reason)
        assert len(client.writes) == 1

    with Simulator([change("a.txt", "two", "three"), Say("Done.")]) as server:
        run_in_own_loop(played(server.url))
    assert ends == ["cancelled", "end_turn"]
