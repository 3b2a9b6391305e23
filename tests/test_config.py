from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config import Settings, language, load, locale_language, unknown_names
from utils.i18n import UserError


def loaded(
    tmp_path: Path,
    *,
    toml: str = "",
    dotenv: str = "",
    options: dict[str, object] | None = None,
    **environment: str,
) -> Settings:
    (tmp_path / "config.toml").write_text(toml, encoding="utf-8")
    (tmp_path / ".env").write_text(dotenv)
    return load(
        options,
        environment={"ONEFOLD_DATA_DIR": str(tmp_path), **environment},
        dotenv=tmp_path / ".env",
    )


def test_each_source_beats_the_one_before(tmp_path: Path) -> None:
    toml, dotenv = "step_limit = 2\n", "ONEFOLD_STEP_LIMIT=3\n"
    assert loaded(tmp_path).step_limit == 100
    assert loaded(tmp_path, toml=toml).step_limit == 2
    assert loaded(tmp_path, toml=toml, dotenv=dotenv).step_limit == 3
    assert loaded(tmp_path, toml=toml, dotenv=dotenv, ONEFOLD_STEP_LIMIT="4").step_limit == 4
    last = loaded(tmp_path, toml=toml, ONEFOLD_STEP_LIMIT="4", options={"step_limit": 5})
    assert last.step_limit == 5


def test_what_the_command_line_leaves_unsaid_changes_nothing(tmp_path: Path) -> None:
    assert loaded(tmp_path, toml='mode = "think"', options={"mode": None}).mode == "think"


@pytest.mark.parametrize(
    ("toml", "environment", "named"),
    [
        ("step_limit = -1", {}, ["step_limit", "-1", "config.toml", "from 0 to 100000"]),
        ('encoding = "klingon"', {}, ["encoding", "klingon", "windows-1251"]),
        ('encoding = "utf-16"', {}, ["encoding", "utf-16"]),
        ("step_limit = true", {}, ["step_limit", "True"]),
        ("step_limit = 1.5", {}, ["step_limit", "1.5"]),
        ('model = 3', {}, ["model", "3", "a name"]),
        ('model = " "', {}, ["model", "' '", "a name"]),
        ('mode = "slow"', {}, ["mode", "slow", "fast, think"]),
        ("stepp_limit = 3", {}, ["stepp_limit", "step_limit"]),
        ("data_dir = 'x'", {}, ["data_dir"]),
        ("= 3", {}, ["config.toml", "line 1"]),
        ('show_folders = ["data"]', {}, ["show_folders", "data", "/opt/tools"]),
        ("show_folders = [3]", {}, ["show_folders", "3"]),
        ("", {"ONEFOLD_SHOW_FOLDERS": "~nobody-at-all/x"}, ["show_folders", "~nobody-at-all"]),
        ("", {"ONEFOLD_STEP_LIMIT": "many"}, ["step_limit", "many", "ONEFOLD_STEP_LIMIT"]),
        ("", {"ONEFOLD_MEMORY_MB": "2 GB"}, ["memory_mb", "2 GB", "ONEFOLD_MEMORY_MB", "from 64"]),
        ("processes = 1", {}, ["processes", "1", "config.toml", "from 8 to 1000000"]),
        ("", {"ONEFOLD_BUDGET_USD": "nan"}, ["budget_usd", "nan"]),
        ("", {"DEEPSEEK_BASE_URL": "api.deepseek.com"}, ["deepseek_base_url", "starts with http"]),
        ("[prices.models.x]\nhit = 1", {}, ["prices", "docs/settings.md"]),
        ("[prices]\nhit = 1", {}, ["prices"]),
        ("", {"ONEFOLD_LANG": "fr"}, ["lang", "fr", "en, zh"]),
        ("", {"ONEFOLD_ALLOW_UNSANDBOXED": "perhaps"}, ["allow_unsandboxed", "true or false"]),
    ],
)  # fmt: skip
def test_a_bad_value_names_the_setting_its_source_and_what_is_allowed(
    tmp_path: Path, toml: str, environment: dict[str, Any], named: list[str]
) -> None:
    with pytest.raises(UserError) as problem:
        loaded(tmp_path, toml=toml, **environment)
    for word in named:
        assert word in str(problem.value)


def test_a_file_from_an_editor_on_windows_is_read(tmp_path: Path) -> None:
    assert loaded(tmp_path, toml="\ufeffstep_limit = 7\r\n").step_limit == 7


def test_a_folder_of_somebody_unknown_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Cannot use ONEFOLD_DATA_DIR: [^.]+\.$"):
        loaded(tmp_path, ONEFOLD_DATA_DIR="~nobody-of-this-name/data")


def test_a_misspelt_variable_is_named_with_the_nearest_setting(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ONEFOLD_STEPLIMIT=3\nOTHER=1\n")
    told = unknown_names(
        environment={"ONEFOLD_APROVE": "x", "ONEFOLD_LANG": "en", "ONEFOLD_BOOTSTRAP": "0"},
        dotenv=tmp_path / ".env",
    )
    assert [str(warning) for warning in told] == [
        "Unknown setting ONEFOLD_APROVE (the environment). Did you mean ONEFOLD_APPROVE?",
        f"Unknown setting ONEFOLD_STEPLIMIT ({tmp_path / '.env'}). "
        "Did you mean ONEFOLD_STEP_LIMIT?",
    ]


def test_folders_to_show_are_a_list_or_stand_between_colons(tmp_path: Path) -> None:
    assert loaded(tmp_path).show_folders == ()
    listed = loaded(tmp_path, toml='show_folders = ["/data/models/", "~/books"]')
    assert listed.show_folders == (Path("/data/models"), Path.home() / "books")
    said = loaded(tmp_path, ONEFOLD_SHOW_FOLDERS="/opt/tools/../other: ~/books :")
    assert said.show_folders == (Path("/opt/other"), Path.home() / "books")


def test_prices_are_settings(tmp_path: Path) -> None:
    toml = "[prices]\npeak_hours = []\n[prices.models.mine]\nhit = 1\nmiss = 2\noutput = 3\n"
    prices = loaded(tmp_path, toml=toml).prices
    assert prices.cost("mine", hit=10**6, miss=10**6, output=10**6, timestamp=0) == 6
    assert prices.has_price("deepseek-flash")


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    assert "sk-secret" not in repr(loaded(tmp_path, DEEPSEEK_API_KEY="sk-secret"))
    with pytest.raises(UserError) as problem:
        loaded(tmp_path, toml='deepseek_api_key = ["sk-secret"]')
    assert "sk-secret" not in str(problem.value)


def test_dotenv_understands_quotes_comments_and_export(tmp_path: Path) -> None:
    dotenv = "\n# a comment\nexport DEEPSEEK_API_KEY=\"sk 1\"\nTAVILY_API_KEY='t'\nOTHER=x\n"
    settings = loaded(tmp_path, dotenv=dotenv)
    assert (settings.deepseek_api_key, settings.tavily_api_key) == ("sk 1", "t")


def test_a_bad_line_of_dotenv_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 2 is not NAME=VALUE"):
        loaded(tmp_path, dotenv="A=1\nnonsense\n")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "zh_TW", "LANG": "en_US"}, "zh"),
    ],
)
def test_the_language_is_that_of_the_locale(environment: dict[str, str], language: str) -> None:
    assert locale_language(environment) == language


def test_the_language_of_the_settings_holds_before_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONEFOLD_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ONEFOLD_LANG", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    (tmp_path / "config.toml").write_text('lang = "zh"\n')
    assert language() == "zh"
    (tmp_path / "config.toml").write_text('lang = "zh"\nmode = "slow"\n')
    assert language() == "en"
