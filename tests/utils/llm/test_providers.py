from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from config import load
from tests.anthropic_simulator import AnthropicSimulator, reply, text
from tests.simulator import Say, Simulator
from tests.utils.client_helpers import USER, InstantStop, collect_stream
from utils.api_client import ApiClient, ModelError
from utils.i18n import UserError
from utils.llm.account import ANTHROPIC_ACCOUNT
from utils.llm.apis import api_of
from utils.llm.provider import Provider, split_model_name, usable
from utils.llm.providers import ModelClient

CLAUDE = Provider(
    name="anthropic",
    base_url="http://127.0.0.1:9",
    key="sk-ant-0123456789",
    account=ANTHROPIC_ACCOUNT,
    api="anthropic",
)
KEYLESS = replace(CLAUDE, key="")


@contextmanager
def client_of(usual: Simulator, provider: Provider, model: str) -> Iterator[ModelClient]:
    def opened(one: Provider, name: str) -> ApiClient:
        return ApiClient(one.base_url, one.key, model=name, api=api_of(one))

    first = ApiClient(usual.url, "sk-test", model="deepseek-flash")
    client = ModelClient(first, model, usable([provider], is_strict=True), opened)
    try:
        yield client
    finally:
        client.close()


def said(client: ModelClient) -> str:
    return collect_stream(
        client.stream([USER], [], think=False, stop=InstantStop())
    ).completion.text


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("deepseek-flash", None, "deepseek-flash"),
        ("deepseek/deepseek-flash", None, "deepseek-flash"),
        ("anthropic/claude-x", "anthropic", "claude-x"),
        ("deepseek/anthropic/claude-x", None, "anthropic/claude-x"),
        ("meta-llama/llama", None, "meta-llama/llama"),
        ("anthropic/", None, "anthropic/"),
    ],
)
def test_a_name_says_whose_the_model_is(name: str, provider: str | None, model: str) -> None:
    found, rest = split_model_name(name, usable([CLAUDE], is_strict=True))
    assert (found and found.name, rest) == (provider, model)


def test_another_server_keeps_its_names_where_a_provider_has_no_key() -> None:
    assert usable([KEYLESS], is_strict=False) == {}
    assert usable([KEYLESS], is_strict=True) == {"anthropic": KEYLESS}


def test_the_model_is_changed_between_providers_in_one_conversation() -> None:
    with (
        Simulator([Say("One."), Say("Three.")]) as usual,
        AnthropicSimulator([reply(text("Two."))]) as server,
        client_of(usual, replace(CLAUDE, base_url=server.url), "deepseek-flash") as client,
    ):
        one = said(client)
        client.model = "anthropic/claude-opus-5-5"
        two, window = said(client), client.profile.window
        client.model = "deepseek-flash"
        three = said(client)
    assert (one, two, three, window) == ("One.", "Two.", "Three.", 1_000_000)


def test_each_conversation_has_a_model_of_its_own() -> None:
    with Simulator() as usual, client_of(usual, CLAUDE, "deepseek-flash") as client:
        other = client.for_other_conversation()
        other.model = "anthropic/claude-opus-5-5"
        assert client.model == "deepseek-flash"
        other.close()


def test_all_servers_with_a_key_list_their_models() -> None:
    rows = [{"id": "claude-opus-5-5"}]
    with (
        Simulator() as usual,
        AnthropicSimulator(models=rows) as server,
        client_of(usual, replace(CLAUDE, base_url=server.url), "deepseek-flash") as client,
    ):
        everything = list(client.models())
        assert everything[-1] == "anthropic/claude-opus-5-5"
        assert everything[:-1] == list(client.models("deepseek-flash"))
        assert client.models("anthropic/whatever") == ["anthropic/claude-opus-5-5"]
        assert client.model == "deepseek-flash"


def test_a_provider_without_a_key_says_which_one_it_wants() -> None:
    with Simulator() as usual, client_of(usual, KEYLESS, "anthropic/claude-opus-5-5") as client:
        client.warm()
        assert client.models("anthropic/claude-opus-5-5") == []
        with pytest.raises(ModelError, match="ANTHROPIC_API_KEY"):
            said(client)


def test_the_settings_name_providers_and_keep_their_keys_secret(tmp_path: Any) -> None:
    table = '[providers.mine]\nbase_url = "http://a/v1/"\napi_key = "sk-mine-123456"\n'
    (tmp_path / "config.toml").write_text(table)
    environment = {"ONEFOLD_DATA_DIR": str(tmp_path), "ANTHROPIC_API_KEY": "sk-ant-abcdefg"}
    settings = load(environment=environment, dotenv=tmp_path / ".env")
    mine = settings.all_providers[-1]
    assert (mine.name, mine.base_url, mine.key) == ("mine", "http://a/v1", "sk-mine-123456")
    keys = {"sk-mine-123456", "sk-ant-abcdefg"}
    assert keys <= set(settings.api_keys)
    assert keys <= set(settings.secrets.values())
    assert not any(key in repr(settings) + repr(settings.all_providers) for key in keys)


@pytest.mark.parametrize(
    "line",
    ['base_url = "no address"', 'key = "sk-secret"', 'base_url = "http://a"\napi = "other"'],
)
def test_a_bad_provider_is_refused_without_showing_its_key(tmp_path: Any, line: str) -> None:
    (tmp_path / "config.toml").write_text(f'[providers.mine]\napi_key = "sk-mine-123456"\n{line}\n')
    environment = {"ONEFOLD_DATA_DIR": str(tmp_path)}
    with pytest.raises(UserError) as caught:
        load(environment=environment, dotenv=tmp_path / ".env")
    assert "sk-mine-123456" not in str(caught.value)
