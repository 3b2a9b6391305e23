"""What a person says of a server holds, and goes back to the usual, for every field and API."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from core.model_choice import described, set_fields
from modules.models.server_profiles import ServerProfiles
from utils.api_client import ApiClient
from utils.i18n import UserError
from utils.llm.account import ANTHROPIC_ACCOUNT
from utils.llm.anthropic_api.anthropic import AnthropicMessages
from utils.llm.profiles.server_profile import ServerProfile

URL = "http://127.0.0.1:9/v1"


def client(file: Path, *, is_claude: bool, settings: dict[str, Any] | None = None) -> ApiClient:
    """A client that finds only what *file* kept for the next start."""
    profiles = ServerProfiles(file, {"m": settings or {}})
    api = AnthropicMessages(ANTHROPIC_ACCOUNT) if is_claude else None
    model = "claude-opus-5-5" if is_claude else "m"
    return ApiClient(URL, "k", model=model, profiles=profiles, api=api)


@pytest.mark.parametrize("is_claude", [True, False])
@pytest.mark.parametrize("name", [field.name for field in fields(ServerProfile)])
def test_every_value_of_every_field_is_kept_and_goes_back(
    tmp_path: Path, name: str, is_claude: bool
) -> None:
    file = tmp_path / "servers.json"
    usual = client(file, is_claude=is_claude).profile
    for value in ServerProfile.choices(name) or ("0", "8192"):
        if not value:
            continue  # which means the usual
        set_fields(client(file, is_claude=is_claude), [f"{name}={value}"])
        assert client(file, is_claude=is_claude).profile.said(name) == value
        set_fields(client(file, is_claude=is_claude), [f"{name}="])
        assert client(file, is_claude=is_claude).profile == usual


def test_fields_are_described_as_they_are_said(tmp_path: Path) -> None:
    one = client(tmp_path / "servers.json", is_claude=True)
    for field in described(one):
        set_fields(one, [f"{field['name']}={field['value']}"])
        assert field["value"] == field["usual"]
        assert not field["choices"] or field["value"] in field["choices"]
    assert one.profile == one.usual_profile


def test_what_the_settings_say_is_not_put_back(tmp_path: Path) -> None:
    one = client(tmp_path / "servers.json", is_claude=False, settings={"window": 4096})
    with pytest.raises(UserError, match=r"window is set in config\.toml"):
        set_fields(one, ["window="])
