"""A server is looked at once for what it says of the model, beside the task and in silence."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any, cast

import pytest

from tests.utils.client_helpers import client_of, stream_once
from tests.utils.llm.quirk_server import (
    Answer,
    QuirkServer,
    ReceivedRequest,
    Respond,
    default_response,
    quirk_server,
)
from tests.utils.llm.test_quirks import client_at
from utils.llm.account import ANTHROPIC_ACCOUNT
from utils.llm.anthropic_api.anthropic import AnthropicMessages
from utils.llm.prices import PriceList
from utils.llm.profiles.server_profile import ProfilesInMemory, ServerProfile

MODEL = "deepseek-flash"


def saying(pages: dict[str, Any]) -> Respond:
    def look(asked: ReceivedRequest) -> Answer:
        if asked.path not in pages:
            return Answer(404, b"nothing here")
        return Answer(body=json.dumps(pages[asked.path]).encode())

    return look


def probed(look: Respond | None, times: int = 1) -> tuple[dict[str, Any], QuirkServer]:
    """Ask a server *times*; return what is known of it then."""
    with quirk_server(default_response, look) as server:
        client = client_at(server.url)
        for _ in range(times):
            stream_once(client)
            for thread in threading.enumerate():
                if thread.name == "probe":
                    thread.join()
        changes = client.profile.changes
        client.close()
    return changes, server


def row(**said: Any) -> dict[str, Any]:
    return {"/v1/models": {"data": [{"id": "other", "max_model_len": 1}, {"id": MODEL, **said}]}}


SAID: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "vLLM": (row(max_model_len=8192), {"window": 8192}),
    "Groq": (
        row(context_window=131072, max_completion_tokens=32768),
        {"window": 131072, "max_output": 32768},
    ),
    "OpenRouter": (
        row(
            context_length=200000,
            architecture={"input_modalities": ["text", "image"]},
            top_provider={"context_length": 100000, "max_completion_tokens": None},
        ),
        {"window": 100000, "pictures": True},
    ),
    "llama.cpp": (
        {
            **row(meta={"n_ctx_train": 131072}),
            "/props": {
                "default_generation_settings": {"n_ctx": 4096},
                "modalities": {"vision": True},
            },
        },
        {"window": 4096, "pictures": True},
    ),
    "LM Studio": (
        {
            **row(),
            "/api/v0/models": {
                "data": [
                    {
                        "id": MODEL,
                        "type": "vlm",
                        "max_context_length": 32768,
                        "loaded_context_length": 4096,
                    }
                ]
            },
        },
        {"window": 4096, "pictures": True},
    ),
    "Ollama, loaded": (
        {
            **row(),
            "/api/show": {"capabilities": ["completion", "tools"], "parameters": ""},
            "/api/ps": {"models": [{"name": MODEL, "context_length": 4096}]},
        },
        {"window": 4096},
    ),
    "Ollama, by its file": (
        {**row(), "/api/ps": {"models": []}, "/api/show": {"parameters": "num_ctx    16384"}},
        {"window": 16384},
    ),
    "nothing": (row(), {}),
    "nonsense": (
        {"/v1/models": [1, {"id": MODEL, "max_model_len": "many", "meta": 3}], "/props": "no"},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("server", SAID)
def test_what_a_server_says_of_the_model_is_known_after_the_first_reply(server: str) -> None:
    pages, known = SAID[server]
    assert probed(saying(pages))[0] == {**known, "probed": True}


@pytest.mark.parametrize("status", [404, 500, 501])
def test_a_server_that_says_nothing_is_looked_at_once(status: int) -> None:
    changes, server = probed(lambda _: Answer(status, b"<html>"), times=3)
    assert changes == {"probed": True}
    paths = [asked.path for asked in server.other_requests]
    assert len(paths) == len(set(paths))
    assert {asked.method for asked in server.other_requests} == {"GET"}


def test_what_a_refusal_taught_stays() -> None:
    known = ProfilesInMemory()
    with quirk_server(default_response, saying(row(max_model_len=9000))) as server:
        known.save(server.url, MODEL, {"window": 4096, "thinking": False})
        client = client_at(server.url, profiles=known)
        stream_once(client)
        for thread in threading.enumerate():
            if thread.name == "probe":
                thread.join()
        assert client.profile == ServerProfile(window=4096, thinking=False, probed=True)
        client.close()


def test_a_model_of_deepseek_and_the_practice_model_are_not_looked_at() -> None:
    with quirk_server() as server, client_of(server.url) as client:
        stream_once(client)
        client.may_probe = False
        client._prices = PriceList({})
        stream_once(client)
        assert not any(thread.name == "probe" for thread in threading.enumerate())
        assert server.other_requests == []


def test_a_model_that_was_said_to_see_and_does_not_is_shown_no_more_pictures() -> None:
    known = ProfilesInMemory()
    known.save("http://here/v1", MODEL, {"pictures": True, "probed": True})
    client = client_at("http://here/v1", profiles=known)
    client._known.learn(MODEL, replace(client.profile, pictures=False))
    assert client.profile == ServerProfile(probed=True)


def test_anthropics_api_is_not_looked_at() -> None:
    for api, is_looked_at in [(AnthropicMessages(ANTHROPIC_ACCOUNT), False), (None, True)]:
        client = client_at("http://here", api=api)
        client._known._probe = lambda *_: None  # type: ignore[method-assign]
        client._probe_once(cast(Any, None))
        assert client._known._is_probing.locked() == is_looked_at


def test_a_client_that_is_closed_meanwhile_looks_another_time() -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def look(asked: ReceivedRequest) -> Answer:
        is_asked.set()
        may_answer.wait(60)
        return Answer(404)

    with quirk_server(default_response, look) as server:
        client = client_at(server.url)
        stream_once(client)
        assert is_asked.wait(60)
        (thread,) = [one for one in threading.enumerate() if one.name == "probe"]
        client.close()
        may_answer.set()
        thread.join()
        assert client.profile == ServerProfile()


def test_what_the_person_said_wins_over_what_the_server_says() -> None:
    page = {**row(max_model_len=9000), "/props": {"modalities": {"vision": True}}}
    with quirk_server(default_response, saying(page)) as server:
        client = client_at(server.url)
        client.set_profile({"window": 0, "pictures": False})
        stream_once(client)
        for thread in threading.enumerate():
            if thread.name == "probe":
                thread.join()
        assert client.profile == ServerProfile(probed=True)
        client.close()
