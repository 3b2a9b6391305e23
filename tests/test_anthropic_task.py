"""The product on Anthropic's wire: real tasks, real sessions, two providers in one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.anthropic_simulator import (
    AnthropicSimulator,
    ErrorResponse,
    Reply,
    call,
    reply,
    text,
    thinking,
)
from tests.anthropic_simulator.validation import signature_of
from tests.simulator import Call, Say, Simulator

ROOT = Path(__file__).parents[1]
KEY = "sk-ant-0123456789"


def onefold(
    tmp_path: Path, *argv: str, key: str = KEY, piped: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    project = tmp_path / "demo"
    project.mkdir(exist_ok=True)
    (project / "a.txt").write_text("one\n")
    (project / "b.txt").write_text("two\n")
    environment = {
        **os.environ,
        "ONEFOLD_DATA_DIR": str(tmp_path / "data"),
        "ANTHROPIC_API_KEY": key,
        "LC_ALL": "C.UTF-8",
        **more,
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *argv],
        cwd=project,
        env=environment,
        input=piped,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def think_and_read(body: Any) -> Reply:  # noqa: ARG001 - the same for any
    return reply(
        thinking("I should read both.", signature_of("I should read both."), 0),
        text("I read them.", 1),
        call("toolu_a", "read_file", '{"path": "a.txt"}', 2),
        call("toolu_b", "read_file", '{"path": "b.txt"}', 3),
        stop="tool_use",
    )


def test_a_task_thinks_calls_in_parallel_and_is_counted(tmp_path: Path) -> None:
    script: list[Any] = [think_and_read, reply(text("One and two."))]
    with AnthropicSimulator(script) as server:
        run = onefold(
            tmp_path,
            *("-p", "Read both.", "--think", "--model", "anthropic/claude-opus-5-5"),
            *("--output", "json"),
            ANTHROPIC_BASE_URL=server.url,
        )
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert "One and two." in json.dumps(said)
    last = server.bodies[-1]
    answers = [b for b in last["messages"][-1]["content"] if b["type"] == "tool_result"]
    assert [answer["tool_use_id"] for answer in answers] == ["toolu_a", "toolu_b"]
    assert last["messages"][-2]["content"][0]["signature"] == signature_of("I should read both.")
    assert [body["model"] for body in server.bodies] == ["claude-opus-5-5"] * 2
    assert server.cache_hits[1] > 0


def test_a_task_that_begins_with_a_mention_thinks_as_usual(tmp_path: Path) -> None:
    with AnthropicSimulator([reply(text("One."))]) as server, Simulator([Say("One.")]) as other:
        there = {"ANTHROPIC_BASE_URL": server.url, "DEEPSEEK_BASE_URL": other.url}
        for model in ("anthropic/claude-opus-5-5", "deepseek-flash"):
            run = onefold(
                tmp_path,
                *("-p", "@a.txt What is in it?", "--think", "--model", model),
                **there,
                DEEPSEEK_API_KEY="sk-test",
            )
            assert run.returncode == 0, run.stderr
    [body] = server.bodies
    plain = dict(other.requests[0].body)
    assert body["thinking"]["type"] != "disabled"
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert plain["messages"][0]["role"] == "system"
    assert {message["role"] for message in plain["messages"][1:]} <= {"user", "system"}
    for sent in (body, plain):
        told = json.dumps(sent["messages"])
        assert told.count("1\\u2502one") == 1
        assert told.count("@a.txt What is in it?") == 1


def test_what_is_piped_in_names_no_files(tmp_path: Path) -> None:
    with Simulator([Say("Two.")]) as server:
        run = onefold(
            tmp_path,
            *("-p", "Compare @a.txt with this", "--model", "deepseek-flash"),
            piped="see @b.txt",
            DEEPSEEK_BASE_URL=server.url,
            DEEPSEEK_API_KEY="sk-test",
        )
    assert run.returncode == 0, run.stderr
    told = json.dumps(server.requests[0].messages)
    assert "see @b.txt" in told
    assert told.count("1\\u2502one") == 1
    assert "1\\u2502two" not in told


def test_a_session_goes_from_one_provider_to_another_and_back(tmp_path: Path) -> None:
    deepseek: list[Any] = [Call("read_file", path="b.txt"), Say("Two.")]
    claude: list[Any] = [think_and_read, reply(text("Both.")), reply(text("Again."))]
    with AnthropicSimulator(claude) as server, Simulator(deepseek) as other:
        where = {
            "ANTHROPIC_BASE_URL": server.url,
            "DEEPSEEK_BASE_URL": other.url,
            "DEEPSEEK_API_KEY": "sk-test",
        }
        there = ("--model", "anthropic/claude-sonnet-5-5")
        first = onefold(tmp_path, "-p", "Read.", "--think", *there, "--output", "json", **where)
        session = json.loads(first.stdout)["session"]
        again = ("--resume", session, "-p")
        second = onefold(tmp_path, *again, "And b?", "--model", "deepseek-flash", **where)
        third = onefold(tmp_path, *again, "And now?", *there, **where)
    for run in (first, second, third):
        assert run.returncode == 0, run.stderr
    assert "Both." in first.stdout
    assert "Two." in second.stdout
    assert "Again." in third.stdout


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    run = onefold(tmp_path, "-p", "Hi.", "--model", "anthropic/claude-opus-5-5", key="")
    assert run.returncode != 0
    assert "ANTHROPIC_API_KEY" in run.stderr


def test_a_refused_key_is_told_without_the_key(tmp_path: Path) -> None:
    with AnthropicSimulator(
        [ErrorResponse(401, "authentication_error", f"invalid key {KEY}x")]
    ) as server:
        run = onefold(
            tmp_path,
            *("-p", "Hi.", "--model", "anthropic/claude-opus-5-5"),
            key=f"{KEY}x",
            ANTHROPIC_BASE_URL=server.url,
        )
    assert run.returncode != 0
    assert "ANTHROPIC_API_KEY" in run.stderr
    assert f"{KEY}x" not in run.stdout + run.stderr


@pytest.mark.parametrize("api", ["anthropic", "chat-completions"])
def test_a_provider_of_the_persons_own_is_named_in_the_settings(tmp_path: Path, api: str) -> None:
    (tmp_path / "data").mkdir()
    with AnthropicSimulator([reply(text("Yes."))]) as server, Simulator([Say("Yes.")]) as other:
        url = server.url if api == "anthropic" else other.url
        (tmp_path / "data" / "config.toml").write_text(
            f'[providers.mine]\nbase_url = "{url}"\napi_key = "{KEY}"\napi = "{api}"\n'
        )
        run = onefold(tmp_path, "-p", "Hi.", "--model", "mine/deepseek-flash", key="")
    assert run.returncode == 0, run.stderr
    assert "Yes." in run.stdout


def test_a_prompt_that_is_too_long_is_summed_up_once_and_asked_again(tmp_path: Path) -> None:
    long = ErrorResponse(
        400, "invalid_request_error", "prompt is too long: 190000 tokens > 180000 maximum"
    )
    words = "A long story. " * 200
    told = [reply(text(words)), reply(text(words))]
    script: list[Any] = [*told, long, reply(text("A digest.")), reply(text("The end."))]
    there = ("--model", "anthropic/claude-opus-5-5")
    with AnthropicSimulator(script) as server:
        base = {"ANTHROPIC_BASE_URL": server.url}
        first = onefold(tmp_path, "-p", "Tell one.", *there, "--output", "json", **base)
        again = ("--resume", json.loads(first.stdout)["session"], "-p")
        onefold(tmp_path, *again, "Another.", *there, **base)
        last = onefold(tmp_path, *again, "And its end?", *there, **base)
    assert server.is_finished, last.stdout + last.stderr
    assert last.returncode == 0, last.stderr
    assert "The end." in last.stdout
    assert "A digest." in json.dumps(server.bodies[-1])
    assert words not in json.dumps(server.bodies[-1]["messages"][0])
