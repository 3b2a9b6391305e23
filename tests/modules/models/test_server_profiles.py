"""What was learnt of a server outlives the process, and is the person's to change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modules.models.server_profiles import ServerProfiles
from utils.llm.profiles.server_profile import ServerProfile

URL = "http://127.0.0.1:8080/v1"
LEARNT = ServerProfile(thinking=False, window=8192)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "servers.json"


def test_what_was_learnt_is_known_next_time(file: Path) -> None:
    ServerProfiles(file, {}).save(URL, "local", LEARNT.changes)
    again = ServerProfiles(file, {})
    assert again.find(URL, "local", ServerProfile()) == LEARNT
    assert (
        again.find(URL, "other", ServerProfile())
        == again.find("http://else", "local", ServerProfile())
        == ServerProfile()
    )
    assert json.loads(file.read_text())[URL]["local"] == LEARNT.changes


def test_a_server_of_which_nothing_is_known_costs_no_profile_of_its_own(file: Path) -> None:
    usual = ServerProfile()
    profiles = ServerProfiles(file, {"other": {"window": 4096}})
    assert profiles.find(URL, "local", usual) is usual


def test_two_processes_lose_nothing_of_each_other(file: Path) -> None:
    one, two = ServerProfiles(file, {}), ServerProfiles(file, {})
    one.find(URL, "a", ServerProfile()), two.find(URL, "a", ServerProfile())
    one.save(URL, "a", LEARNT.changes)
    two.save(URL, "b", LEARNT.changes)
    assert set(json.loads(file.read_text())[URL]) == {"a", "b"}


def test_the_settings_win_and_stay_when_all_is_forgotten(file: Path) -> None:
    profiles = ServerProfiles(file, {"local": {"window": 4096, "system_messages": "first"}})
    profiles.save(URL, "local", LEARNT.changes)
    assert profiles.find(URL, "local", ServerProfile()) == ServerProfile(
        thinking=False, window=4096, system_messages="first"
    )
    profiles.forget(URL, "local")
    assert profiles.find(URL, "local", ServerProfile()) == ServerProfile(
        window=4096, system_messages="first"
    )
    assert ServerProfiles(file, {}).find(URL, "local", ServerProfile()) == ServerProfile()


def test_the_protocol_of_all_models_gives_way_to_what_is_said_of_one(file: Path) -> None:
    ServerProfiles(file, {}).save(URL, "kept", {"protocol": "native"})
    profiles = ServerProfiles(file, {"own": {"protocol": "native"}}, protocol="vcp")

    def protocols() -> list[str]:
        return [profiles.find(URL, name, ServerProfile()).protocol for name in ("kept", "own", "x")]

    assert protocols() == ["vcp", "native", "vcp"]
    profiles.save(URL, "x", {"protocol": "native"})
    assert protocols() == ["vcp", "native", "native"]
    profiles.forget(URL, "x")
    assert protocols() == ["vcp", "native", "vcp"]


BROKEN = ["", "{broken", "[]", '{"u": 1}', json.dumps({URL: {"local": {"x": 1}}})]


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_says_nothing_sensible_is_no_hindrance(file: Path, text: str) -> None:
    file.write_text(text)
    profiles = ServerProfiles(file, {})
    assert profiles.find(URL, "local", ServerProfile()) == ServerProfile()
    profiles.save(URL, "local", LEARNT.changes)
    assert ServerProfiles(file, {}).find(URL, "local", ServerProfile()) == LEARNT


def test_where_nothing_can_be_kept_it_holds_for_the_process(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("no folder")
    profiles = ServerProfiles(tmp_path / "blocked" / "servers.json", {})
    profiles.save(URL, "local", LEARNT.changes)
    assert profiles.find(URL, "local", ServerProfile()) == LEARNT
