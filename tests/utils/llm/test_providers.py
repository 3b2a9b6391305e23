from __future__ import annotations

import json
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
from utils.llm.account import ANTHROPIC_ACCOUNT, DEEPSEEK_ACCOUNT
from utils.llm.apis import api_of
from utils.llm.late_client import LateClient
from utils.llm.provider import Provider, split_model_name, usable
from utils.llm.providers import ModelClient
from utils.llm.served_model import ModelChoice, is_same_server, provider_at

CLAUDE = Provider(
    name="anthropic",
    base_url="http://127.0.0.1:9",
    key="sk-ant-0123456789",
    account=ANTHROPIC_ACCOUNT,
    api="anthropic",
)
KEYLESS = replace(CLAUDE, key="")


def opened(one: Provider, name: str) -> ApiClient:
    return ApiClient(one.base_url, one.key, model=name, api=api_of(one))


@contextmanager
def client_of(usual: Simulator, provider: Provider, model: str) -> Iterator[ModelClient]:
    first = ApiClient(usual.url, "sk-test", model="deepseek-flash")
    client = ModelClient(
        LateClient(lambda: first), model, usable([provider], is_strict=True), opened
    )
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


DEEPSEEK = Provider(
    name="deepseek", base_url="https://a.test/v1", key="sk-a", account=DEEPSEEK_ACCOUNT
)


def client_at(base_url: str, name: str, *providers: Provider) -> ModelClient:
    """A client whose usual server is at *base_url*; nothing is sent."""
    settings = replace(DEEPSEEK, base_url=base_url)
    named = {provider.name: provider for provider in providers}
    default = LateClient(lambda: ApiClient(base_url, "sk-a", model=name))
    return ModelClient(default, name, named, opened, settings)


MINE = replace(DEEPSEEK, name="mine", base_url="http://10.0.0.1:8000/v1", key="sk-mine")


@pytest.mark.parametrize(
    ("begun", "later", "called"),
    [
        (("https://a.test", "m"), ("https://a.test/v1/", "other"), "m"),
        (("https://a.test", "m"), ("https://b.test", "other"), "a.test/m"),
        (("https://a.test", "m", MINE), ("https://b.test", "other", MINE), "a.test/m"),
        (("https://a.test", "mine/m", MINE), ("https://b.test", "other", MINE), "mine/m"),
        (("https://a.test", "mine/m", MINE), ("https://a.test", "other"), "10.0.0.1:8000/m"),
        (("https://a.test", "mine/m", MINE), (MINE.base_url, "other"), "m"),
        ((MINE.base_url, "m"), ("https://a.test", "other", MINE), "mine/m"),
        (("https://a.test", "mine/m"), ("https://a.test", "x", MINE), "deepseek/mine/m"),
    ],
)
def test_a_session_goes_on_with_its_model_at_its_server(
    begun: tuple[Any, ...], later: tuple[Any, ...], called: str
) -> None:
    first = client_at(*begun)
    assert first.choice is not None
    client = client_at(*later)
    client.use(ModelChoice.from_state(json.loads(json.dumps(first.choice.to_state()))))
    assert client.choice is not None
    assert (client.model, client.choice.name) == (called, first.choice.name)
    assert is_same_server(client.choice.server, first.choice.server)
    again = client_at(*later)
    again.use(client.choice)
    assert again.model == called


def test_a_key_goes_to_the_host_it_was_meant_for_alone() -> None:
    assert provider_at("https://a.test/deployments/old", [DEEPSEEK]).key == "sk-a"
    for other in ("https://b.test", "http://a.test/v1", "https://a.test:8443/v1"):
        assert provider_at(other, [DEEPSEEK, MINE]).key == ""


def test_a_login_in_an_address_is_not_kept() -> None:
    choice = client_at("https://me:secret@a.test:8443/v1?x=1", "m").choice
    assert choice == ModelChoice("m", "https://a.test:8443/v1?x=1", "")


def test_a_name_alone_as_older_sessions_have_it_is_one_of_the_usual_server() -> None:
    client = client_at("https://a.test", "m")
    client.use(ModelChoice.from_state("other"))
    assert client.choice == ModelChoice("other", "https://a.test", "")


@pytest.mark.parametrize(
    ("usual", "called", "told"),
    [("http://127.0.0.1:9", "new", True), ("https://a.test", "127.0.0.1:1/old", False)],
)
def test_a_session_of_a_server_that_left_this_machine_never_leaves_the_machine(
    usual: str, called: str, told: bool
) -> None:
    client = client_at(usual, "new")
    client.use(ModelChoice("old", "http://127.0.0.1:1/v1"))
    assert client.model == called
    notice = next(client.stream([USER], [], think=False, stop=InstantStop()), None) if told else ""
    assert ("127.0.0.1:1/v1" in str(notice)) == told


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
