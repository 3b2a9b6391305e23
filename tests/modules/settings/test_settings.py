"""`/settings`: what holds, where it comes from, and what is kept for the next start."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from config import Settings, load, parse_setting
from core.cards import TableCard, TextCard
from modules.settings.feature import SettingsCommand
from modules.settings.live import LiveSettings
from modules.settings.meanings import GROUPS
from tests.simulator import Say, Simulator
from tests.tavily_double import TavilyDouble
from tests.utils.llm.quirk_server import (
    Answer,
    QuirkServer,
    ReceivedRequest,
    Respond,
    default_response,
    error_response,
    quirk_server,
)
from utils.i18n import UserError

KEPT = '# mine\nmodel = "x"  # why\n\n[models."a b"]\nwindow = 9000\n'


def command(folder: Path, toml: str = "", **environment: str) -> SettingsCommand:
    if toml:
        (folder / "config.toml").write_text(toml, encoding="utf-8")
    environment |= {"ONEFOLD_DATA_DIR": str(folder)}
    settings = load(environment=environment, dotenv=folder / ".env")
    return SettingsCommand(LiveSettings(settings), parse_setting)


def told(command: SettingsCommand, argument: str = "") -> dict[str, tuple[str, ...]]:
    card = command.settings(argument)
    assert isinstance(card, TableCard)
    return {str(name): tuple(map(str, rest)) for name, *rest in card.rows}


def said(command: SettingsCommand, argument: str) -> str:
    card = command.settings(argument)
    assert isinstance(card, TextCard)
    return f"{card.title} {card.body}".strip()


def again(folder: Path) -> Settings:
    return load(environment={"ONEFOLD_DATA_DIR": str(folder)}, dotenv=folder / ".env")


def test_every_setting_stands_in_one_group() -> None:
    named = [name for _, meanings in GROUPS for name, _ in meanings]
    settings = {setting.name for setting in fields(Settings)} - {"data_dir", "sources"}
    assert len(named) == len(set(named))
    assert set(named) == settings


def test_each_default_is_told_as_a_text_that_means_it(tmp_path: Path) -> None:
    defaults = Settings()
    for setting in command(tmp_path).kept.all():
        if not setting.is_table and not setting.is_secret:
            again = parse_setting(setting.name, setting.value, "here")
            assert again == getattr(defaults, setting.name), setting.name
            assert setting.default == setting.value


def test_they_are_listed_with_their_sources(tmp_path: Path) -> None:
    rows = told(command(tmp_path, KEPT, ONEFOLD_RETRIES="3"))
    assert rows["model"] == ("x", str(tmp_path / "config.toml"))
    assert rows["retries"] == ("3", "ONEFOLD_RETRIES in the environment")
    assert rows["mode"] == ("fast", "default")
    assert rows["models"] == ("a b", str(tmp_path / "config.toml"))
    one = told(command(tmp_path), "step_limit")
    assert one["Value"] == one["Default"] == ("100",)
    assert "from 0 to 100000" in one["Allowed values"][0]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("step_limit", "50", 50),
        ("task_budget", "0.05", 0.05),
        ("hide_secrets", "no", False),
        ("verify", "true", "true"),
        ("network_hosts", "a.example .b.example", ("a.example", ".b.example")),
        ("show_folders", "/opt:/srv", (Path("/opt"), Path("/srv"))),
        ("checks", "pytest -q", ("pytest -q",)),
        ("lang", "zh", "zh"),
    ],
)
def test_what_is_kept_holds_from_the_next_start_on(
    tmp_path: Path, name: str, text: str, value: object
) -> None:
    settings = command(tmp_path, KEPT)
    shown = said(settings, f"{name} {text}")
    assert shown.startswith(f"{name} = ")
    assert shown.endswith("after a restart.")
    assert getattr(again(tmp_path), name) == value
    text = (tmp_path / "config.toml").read_text(encoding="utf-8")
    assert text.startswith('# mine\nmodel = "x"  # why\n')
    assert text.endswith('\n[models."a b"]\nwindow = 9000\n')
    assert (tmp_path / "config.toml").stat().st_mode & 0o777 == 0o600
    assert told(settings, name)["Source"] == ("default",)
    assert told(settings, name)["After a restart"]
    assert "default restored" in said(settings, f"reset {name}")
    assert (tmp_path / "config.toml").read_text(encoding="utf-8") == KEPT


def test_what_wins_over_the_file_is_said(tmp_path: Path) -> None:
    settings = command(tmp_path, ONEFOLD_RETRIES="3")
    assert "ONEFOLD_RETRIES in the environment overrides" in said(settings, "retries 9")
    assert again(tmp_path).retries == 9


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("memory_mb 3", ["memory_mb", "3", "from 64"]),
        ("step_limt 3", ["step_limt", "Did you mean step_limit?"]),
        ("reset nothing", ["Unknown setting nothing"]),
        ("models x", ["models is a table", "config.toml"]),
        ("reset prices", ["prices is a table"]),
        ("data_dir /tmp", ["Unknown setting data_dir"]),
        ("deepseek_api_key sk-1", ["would stay in the history", "config.toml"]),
    ],
)
def test_what_cannot_be_kept_changes_nothing(
    tmp_path: Path, argument: str, words: list[str]
) -> None:
    settings = command(tmp_path, KEPT)
    with pytest.raises(UserError) as problem:
        settings.settings(argument)
    for word in words:
        assert word in str(problem.value)
    assert (tmp_path / "config.toml").read_text(encoding="utf-8") == KEPT


def test_no_key_and_no_login_is_told(tmp_path: Path) -> None:
    toml = 'openai_api_key = "sk-file"\ndeepseek_base_url = "https://me:pw@example.org/v1"\n'
    settings = command(tmp_path, toml, TAVILY_API_KEY="tvly-env")
    settings.kept.keep("deepseek_api_key", "sk-kept")
    assert again(tmp_path).deepseek_api_key == "sk-kept"
    everything = f"{settings.settings('')} {settings.kept.all()}"
    for secret in ("sk-file", "sk-kept", "tvly-env", "pw@"):
        assert secret not in everything
    rows = told(settings)
    assert rows["openai_api_key"][0] == rows["tavily_api_key"][0] == "set"
    assert rows["anthropic_api_key"][0] == "not set"
    assert rows["deepseek_base_url"][0] == "https://example.org/v1"


def test_a_file_that_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    settings = command(tmp_path)
    (tmp_path / "config.toml").write_text("model = \n")
    for argument in ("", "step_limit 3", "reset step_limit"):
        with pytest.raises(UserError, match=r"Cannot read .*config.toml"):
            settings.settings(argument)
    assert (tmp_path / "config.toml").read_text() == "model = \n"


def test_names_and_values_complete(tmp_path: Path) -> None:
    settings = command(tmp_path)
    assert {"model", "reset"} <= set(settings.next_words([]))
    assert settings.next_words(["mode"]) == ["fast", "think"]
    assert "mode" in settings.next_words(["reset"])
    assert settings.next_words(["nothing"]) == settings.next_words(["mode", "fast"]) == []


def test_a_saved_key_is_tested_by_a_real_request(tmp_path: Path) -> None:
    with Simulator([Say("ok"), Say("ok")], api_key="sk-right-one", is_validated=False) as server:
        settings = command(tmp_path, f'deepseek_base_url = "{server.url}"\n')
        settings.kept.keep("deepseek_api_key", "sk-wrong-one")
        with pytest.raises(UserError, match="DEEPSEEK_API_KEY") as refused:
            settings.settings("test deepseek_api_key")
        assert "sk-wrong" not in str(refused.value)
        settings.kept.keep("deepseek_api_key", "sk-right-one")
        assert "answered in" in said(settings, "test deepseek_api_key")
        assert "answered in" in said(settings, "test model")
        assert server.requests[-1].body["max_tokens"] <= 64
    with pytest.raises(UserError, match="127.0.0.1"):
        settings.settings("test deepseek_base_url")


def listed(*names: str, is_open: bool = False) -> Respond:
    """Return what lists models, where not *is_open* to the right key alone."""
    body = json.dumps({"data": [{"id": name} for name in names]}).encode()

    def look(asked: ReceivedRequest) -> Answer:
        if asked.path != "/v1/models":
            return error_response("Not Found", 404)
        if is_open or asked.headers.get("authorization") == "Bearer sk-right-one":
            return Answer(body=body, headers={"Content-Type": "application/json"})
        return error_response("Incorrect API key provided", 401)

    return look


def other_provider(folder: Path, server: QuirkServer, key: str) -> SettingsCommand:
    toml = f'openai_base_url = "{server.url}"\nopenai_api_key = "{key}"\n'
    return command(folder, toml)


def test_the_key_of_another_provider_is_proven_by_its_list(tmp_path: Path) -> None:
    refuse = lambda _asked: error_response("Incorrect API key provided", 401)  # noqa: E731
    with quirk_server(refuse, listed("text-embedding-3", "deepseek-flash")) as server:
        settings = other_provider(tmp_path, server, "sk-right-one")
        assert said(settings, "test openai_api_key") == "127.0.0.1 accepts the key. Models: 2"
        assert not server.chat_requests
        with pytest.raises(UserError, match="OPENAI_API_KEY") as refused:
            other_provider(tmp_path, server, "sk-wrong-one").settings("test openai_api_key")
        assert "not refused" not in str(refused.value)


def test_where_anybody_sees_the_list_a_model_that_chats_is_asked(tmp_path: Path) -> None:
    look = listed("text-embedding-3", "whisper-1", "deepseek-flash", is_open=True)
    with quirk_server(default_response, look) as server:
        settings = other_provider(tmp_path, server, "sk-right-one")
        assert said(settings, "test openai_api_key").startswith("deepseek-flash answered in")
    refuse = lambda _asked: error_response("This is not a chat model", 404)  # noqa: E731
    with (
        quirk_server(refuse, listed("deepseek-v4-pro", is_open=True)) as server,
        pytest.raises(UserError) as refused,
    ):
        other_provider(tmp_path, server, "sk-right-one").settings("test openai_api_key")
    assert str(refused.value).startswith(
        "The key was not refused, but deepseek-v4-pro cannot be used for a test: "
    )
    refuse = lambda _asked: error_response("Incorrect API key provided", 401)  # noqa: E731
    with quirk_server(refuse, listed("deepseek-flash", is_open=True)) as server:
        with pytest.raises(UserError, match="OPENAI_API_KEY") as refused:
            other_provider(tmp_path, server, "sk-wrong-one").settings("test openai_api_key")
        assert "not refused" not in str(refused.value)


def test_folders_and_hosts_are_tested_and_the_rest_has_nothing_to_test(tmp_path: Path) -> None:
    settings = command(tmp_path)
    settings.kept.keep("show_folders", str(tmp_path))
    assert said(settings, "test show_folders") == "Folders that exist: 1"
    settings.kept.keep("show_folders", str(tmp_path / "gone"))
    with pytest.raises(UserError, match="gone"):
        settings.settings("test show_folders")
    assert said(settings, "test network_hosts") == "Hosts that resolve: 0"
    settings.kept.keep("network_hosts", "no-such-name.invalid")
    with pytest.raises(UserError, match=r"no-such-name\.invalid"):
        settings.settings("test network_hosts")
    with pytest.raises(UserError, match="No checks are set"):
        settings.settings("test checks")
    settings.kept.keep("checks", "make lint\ncd a && pytest")
    assert said(settings, "test checks").startswith("Commands that the shell understands: 2.")
    settings.kept.keep("checks", "echo 'open")
    with pytest.raises(UserError, match="echo 'open"):
        settings.settings("test checks")
    with pytest.raises(UserError, match="nothing to test"):
        settings.settings("test retries")
    assert settings.next_words(["test"]) == [
        one.name for one in settings.kept.all() if one.is_testable
    ]


def test_the_web_search_is_tested_by_a_real_search(tmp_path: Path) -> None:
    settings = command(tmp_path)
    with pytest.raises(UserError, match="Set tavily_api_key first"):
        settings.settings("test tavily_base_url")
    with TavilyDouble() as service:
        settings.kept.keep("tavily_base_url", service.base_url)
        settings.kept.keep("tavily_api_key", "tvly-mine")
        assert said(settings, "test tavily_api_key").startswith("The search answered in")
        assert "tvly-mine" in str(service.requests[0][1])
        service.fail(401)
        with pytest.raises(UserError, match="TAVILY_API_KEY"):
            settings.settings("test tavily_api_key")


def test_a_shortcut_is_shown_kept_and_put_back(tmp_path: Path) -> None:
    settings = command(tmp_path, "[shortcuts.page]\npalette = 'ctrl-shift-p' # mine\n")
    rows = told(settings, "shortcuts")
    assert (rows["page.palette"][0], rows["terminal.show_output"][0]) == ("Ctrl+Shift+P", "Ctrl-O")
    said(settings, "shortcuts terminal.show_output ctrl-g")
    assert told(settings, "shortcuts terminal.show_output")
    said(settings, "shortcuts terminal.newline F5, Alt-Enter")
    assert again(tmp_path).shortcuts == {
        "page.palette": "Ctrl+Shift+P",
        "terminal.show_output": "Ctrl-G",
        "terminal.newline": "F5, Alt-Enter",
    }
    said(settings, "shortcuts terminal.show_output default")
    said(settings, "shortcuts terminal.newline default")
    assert again(tmp_path).shortcuts == {"page.palette": "Ctrl+Shift+P"}
    assert "# mine" in (tmp_path / "config.toml").read_text()
    kept = settings.kept.keep("shortcuts", "page.quote = Alt+X\n\nterminal.stop = Ctrl-T\n")
    assert kept.kept == "page.quote = Alt+X\nterminal.stop = Ctrl-T"
    assert again(tmp_path).shortcuts == {"page.quote": "Alt+X", "terminal.stop": "Ctrl-T"}
    assert list(settings.next_words(["shortcuts"]))[:1] == ["terminal.newline"]


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("page.palete Ctrl+Q", "Unknown shortcut page.palete (setting shortcuts). Did you mean"),
        ("page.palete", "Did you mean page.palette?"),
        ("page.palette k", "k cannot be the shortcut page.palette. Allowed: a key with Ctrl or"),
        ("page.palette Ctrl+P", "Ctrl+P is used for both page.palette and page.open_file"),
        ("page.palette Ctrl+C", "Ctrl+C cannot be the shortcut page.palette"),
        ("page.palette ctrl+shift+t", "Allowed: a key that neither the browser nor editing"),
        ("page.send Ctrl+S", "Allowed: Enter, alone or with Ctrl, Alt or Shift."),
        ("terminal.quit Ctrl-C", "Ctrl-C cannot be the shortcut terminal.quit"),
        ("terminal.quit Ctrl-X", "Ctrl-X is used for both terminal.quit and terminal.open_editor"),
        ("terminal.stop F3", "Allowed: Ctrl and a letter"),
    ],
)
def test_a_shortcut_that_cannot_be_is_refused(tmp_path: Path, argument: str, problem: str) -> None:
    with pytest.raises(UserError, match=re.escape(problem)):
        command(tmp_path).settings(f"shortcuts {argument}")
    assert again(tmp_path).shortcuts == {}


def test_what_takes_several_values_in_a_line_says_how_they_are_separated() -> None:
    words = {" ": "separated by spaces", ":": "separated by colons", "\n": "per line"}
    meanings = {name: str(meaning) for _, settings in GROUPS for name, meaning in settings}
    separators = {
        one.name: separator
        for one in fields(Settings)
        if (separator := one.metadata.get("separator")) and one.name != "shortcuts"
    }
    assert separators
    for name, separator in separators.items():
        assert words[separator] in meanings[name], name
