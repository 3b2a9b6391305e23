"""macOS's way, as far as it can be tried elsewhere: the profile, and doing without Linux."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from modules.sandbox.backends import seatbelt, selftest, tiers
from modules.sandbox.backends.tiers import Launched
from modules.sandbox.filesystem.mounts import MountPlanner
from modules.sandbox.limits import watchdog
from modules.sandbox.run import process
from modules.sandbox.sandbox import Limits, Program, Sandbox
from modules.sandbox.types import MEBIBYTE
from tests.modules.sandbox.house import ROOT, SECRET, House, finish, until
from tests.modules.sandbox.test_sandbox import DAEMON
from utils.waiting import Stop

NAMES = ['a"b', "a)(allow default)", "a\nb", "a=b", "a\\b", "-D", "文件", 'x") (allow file-read*']


def parameters(arguments: list[str]) -> dict[str, str]:
    given = arguments[3:]
    assert given[::2] == ["-D"] * (len(given) // 2)
    return dict(part.split("=", 1) for part in given[1::2])


@pytest.mark.parametrize("name", NAMES)
def test_no_path_can_become_a_rule(house: House, name: str) -> None:
    project = house.home / name
    project.mkdir()
    view = MountPlanner(project, (house.data,), house.data).view()
    arguments = seatbelt.arguments(view, house.home / "scratch")
    plain = seatbelt.arguments(replace(view, project=house.plain), house.home / "scratch")
    assert arguments[:3] == ["/usr/bin/sandbox-exec", "-p", plain[2]]
    assert parameters(arguments)["WRITE_0"] == str(project)


def test_the_profile_denies_first_and_its_exceptions_come_last(house: House) -> None:
    env = house.project / ".env"
    view = MountPlanner(house.project, (house.data,), house.data, lambda: {env: "hidden"}).view()
    view = replace(view, covered=(house.project / "ours",))
    _, _, profile, *given = seatbelt.arguments(view, house.home / "scratch")
    rules = profile.splitlines()
    assert rules[:2] == ["(version 1)", "(deny default)"]
    assert rules[-3:] == [
        '(deny file-write* (subpath (param "KEEP_0")))',
        '(deny file-read* file-write* (subpath (param "HIDE_0")))',
        '(deny file-read* file-write* (subpath (param "HIDE_1")))',
    ]
    assert not re.search(r"allow (default|network|file-write\* \()", profile)
    assert profile.count("(") == profile.count(")")
    used = set(re.findall(r'param "(\w+)"', profile))
    assert used == parameters(["", "", "", *given]).keys()
    assert f"KEEP_0={house.project / '.git'}" in given
    assert f"HIDE_1={env}" in given


def test_it_is_taken_on_macos_only(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    program = house.home / "sandbox-exec"
    program.touch()
    monkeypatch.setattr(selftest, "PROGRAM", program)
    monkeypatch.setattr(selftest, "PLACES", ())
    search = selftest.SelfTest(house.data)
    assert [tier.name for tier in search._candidates()] == ["C"]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [tier.name for tier in search._candidates()] == ["M"]


@pytest.fixture
def mac(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A sandbox that has nothing of what only Linux has, and a Seatbelt that allows everything."""
    program, launcher = house.home / "sandbox-exec", house.home / "launcher.py"
    program.write_text('#!/bin/sh\nshift 2; while [ "$1" = -D ]; do shift 2; done; exec "$@"\n')
    program.chmod(0o755)
    launcher.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from modules.sandbox.backends import launcher\n"
        "launcher._IS_LINUX = False\nlauncher.main()\n"
    )
    monkeypatch.setattr(seatbelt, "PROGRAM", program)
    monkeypatch.setattr(tiers, "_LAUNCHER", launcher)
    monkeypatch.setattr(process, "_HAS_HANDLES", False)
    monkeypatch.setattr(watchdog, "_HAS_PROC", False)
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("modules.sandbox.limits.rlimits.resource", object())
    monkeypatch.setattr("modules.sandbox.sandbox.find_groups", lambda _: None)
    found = selftest.SelfTestResult(Launched("M", house.data))
    monkeypatch.setattr(selftest.SelfTest, "find", lambda _: found)
    sandbox = house.sandbox()
    yield sandbox
    sandbox._spare.discard()


def test_programs_run_and_end_without_what_linux_has(house: House, mac: Sandbox) -> None:
    assert finish(mac, Program("python", "6 * 7")).output == "42\n"
    result = finish(mac, Program("bash", "echo $((1 + 1)); exit 3"))
    assert (result.output, result.exit_code) == ("2\n", 3)
    assert SECRET not in finish(mac, Program("bash", "env")).output
    assert finish(mac, Program("bash", "ulimit -c -n")).output.split()[-1] == "1024"
    assert list(house.plain.iterdir()) == []


def test_limits_and_stop_hold_without_what_linux_has(house: House, mac: Sandbox) -> None:
    assert finish(mac, Program("bash", "sleep 60 & sleep 60"), Limits(seconds=1)).why == "timed out"
    hungry = "import time\nb = bytearray(200 << 20)\ntime.sleep(30)"
    limits = Limits(memory=100 * MEBIBYTE)
    assert finish(mac, Program("python", hungry), limits).why == "memory"
    stop = Stop()
    run = mac.run(Program("bash", "echo up; sleep 60 & sleep 60"), Limits(), stop)
    assert next(run) == "up\n"
    stop.set()
    with pytest.raises(StopIteration) as end:
        next(run)
    assert end.value.value.why == "stopped"


def test_a_daemon_that_stays_in_its_group_ends_with_the_call(house: House, mac: Sandbox) -> None:
    code = DAEMON.format(close="pass").replace("os.setsid()", "pass")
    finish(mac, Program("python", code))
    beat = house.project / "heartbeat"

    def is_still() -> bool:
        before = beat.stat().st_size if beat.exists() else 0
        return not until(lambda: beat.exists() and beat.stat().st_size != before, 0.3)

    assert is_still()


def test_its_report_says_that_it_was_never_tried(mac: Sandbox) -> None:
    report = mac.report()
    assert (report.tier, report.is_allowed) == ("M", True)
    assert "never tried" in str(report.name)
    assert "never tried" in str(report.does_not_protect[0])


def test_a_path_is_real(house: House) -> None:
    link = house.home / "link"
    link.symlink_to(house.project)
    view = MountPlanner(link, (house.data,), house.data).view()
    assert parameters(seatbelt.arguments(view, Path("/tmp/../tmp/x")))["WRITE_0"] == str(
        house.project
    )
