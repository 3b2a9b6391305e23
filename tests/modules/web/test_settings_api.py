"""The settings over HTTP: shown with where they come from, and kept for the next start."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from config import load, parse_setting
from modules.settings.feature import SettingsCommand
from modules.settings.live import LiveSettings
from tests.modules.web.serving import RunningServer

Serve = Callable[..., AbstractContextManager[RunningServer]]


def test_they_are_shown_and_kept(serve: Serve, tmp_path: Path) -> None:
    environment = {"ONEFOLD_DATA_DIR": str(tmp_path), "ONEFOLD_RETRIES": "3"}
    dotenv = tmp_path / ".env"

    def features(*_: object) -> list[SettingsCommand]:
        live = LiveSettings(load(environment=environment, dotenv=dotenv))
        return [SettingsCommand(live, parse_setting)]

    def keep(served: RunningServer, name: str, value: object) -> dict[str, object]:
        answer = served.ask("PATCH", "/api/settings", {"name": name, "value": value})
        assert answer.status == 200, answer.body
        setting: dict[str, object] = answer.json["setting"]
        return setting

    with serve(make_features=features) as served:
        shown = served.ask("GET", "/api/settings").json
        assert shown["path"] == str(tmp_path / "config.toml")
        settings = {setting["name"]: setting for setting in shown["settings"]}
        assert settings["retries"]["value"] == "3"
        assert settings["retries"]["overruled"]
        assert settings["mode"]["choices"] == ["fast", "think"]
        kept = keep(served, "step_limit", "7")
        assert (kept["value"], kept["kept"], kept["overruled"]) == ("100", "7", False)
        assert keep(served, "step_limit", None)["kept"] is None
        key = keep(served, "deepseek_api_key", "sk-secret")
        assert (key["value"], key["kept"], key["secret"]) == ("", "", True)
        assert b"sk-secret" not in served.ask("GET", "/api/settings").body
        for name, value in (("step_limit", "many"), ("nothing", "1"), ("models", "x")):
            refused = served.ask("PATCH", "/api/settings", {"name": name, "value": value})
            assert (refused.status, refused.json["code"]) == (422, "failed")
        path = "/api/settings"
        assert served.ask("GET", path, with_token=False).status == 401
        # Any port of this host gets the cookie, and anybody can say the origin.
        cookie = served.cookie() | {"Origin": f"http://{served.host}"}
        body = {"name": "allow_outside", "value": "true"}
        assert served.ask("PATCH", path, body, headers=cookie, with_token=False).status == 401
    saved = load(environment={"ONEFOLD_DATA_DIR": str(tmp_path)}, dotenv=dotenv)
    assert (saved.deepseek_api_key, saved.step_limit, saved.allow_outside) == (
        "sk-secret",
        100,
        False,
    )
