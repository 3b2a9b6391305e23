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
from modules.sandbox.backends.tiers import LauncherTier
from modules.sandbox.filesystem.mounts import MountPlanner
from modules.sandbox.limits import watchdog
from modules.sandbox.run import process
from modules.sandbox.sandbox import Limits, Program, Sandbox
from modules.sandbox.types import MEBIBYTE, TierName
from tests.modules.sandbox.sandbox_home import ROOT, SECRET, SandboxHome, run_to_end, wait_until
from tests.modules.sandbox.test_sandbox import DAEMON
from utils.waiting import Stop

NAMES = ['a"b', "a)(allow default)", "a\nb", "a=b", "a\\b", "-D", "文件", 'x") (allow file-read*']


def parameters(arguments: list[str]) -> dict[str, str]:
    given = arguments[3:]
    assert given[::2] == ["-D"] * (len(given) // 2)
    return dict(part.split("=", 1) for part in given[1::2])


@pytest.mark.parametrize("name", NAMES)
def test_no_path_can_become_a_rule(sandbox_home: SandboxHome, name: str) -> None:
    project = sandbox_home.home / name
    project.mkdir()
    view = MountPlanner(project, (sandbox_home.data,), sandbox_home.data).plan()
    arguments = seatbelt.arguments(view, sandbox_home.home / "scratch")
    plain = seatbelt.arguments(
        replace(view, project=sandbox_home.plain), sandbox_home.home / "scratch"
    )
    assert arguments[:3] == ["/usr/bin/sandbox-exec", "-p", plain[2]]
    assert parameters(arguments)["WRITE_0"] == str(project)


def test_the_profile_denies_first_and_its_exceptions_come_last(sandbox_home: SandboxHome) -> None:
    env = sandbox_home.project / ".env"
    view = MountPlanner(
        sandbox_home.project, (sandbox_home.data,), sandbox_home.data, lambda: {env: "hidden"}
    ).plan()
    view = replace(view, hidden=(sandbox_home.project / "ours",))
    _, _, profile, *given = seatbelt.arguments(view, sandbox_home.home / "scratch")
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
    assert f"KEEP_0={sandbox_home.project / '.git'}" in given
    assert f"HIDE_1={env}" in given


def test_it_is_taken_on_macos_only(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = sandbox_home.home / "sandbox-exec"
    program.touch()
    monkeypatch.setattr(selftest, "PROGRAM", program)
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    search = selftest.SelfTest(sandbox_home.data)
    assert [tier.name for tier in search._candidates()] == ["C"]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [tier.name for tier in search._candidates()] == ["M"]


@pytest.fixture
def mac(sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A sandbox that has nothing of what only Linux has, and a Seatbelt that allows everything."""
    program, launcher = sandbox_home.home / "sandbox-exec", sandbox_home.home / "launcher.py"
    program.write_text('#!/bin/sh\nshift 2; while [ "$1" = -D ]; do shift 2; done; exec "$@"\n')
    program.chmod(0o755)
    launcher.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from modules.sandbox.backends import launcher\n"
        "launcher._IS_LINUX = False\nlauncher.main()\n"
    )
    monkeypatch.setattr(seatbelt, "PROGRAM", program)
    monkeypatch.setattr(tiers, "_LAUNCHER", launcher)
    monkeypatch.setattr(process, "HAS_PIDFD", False)
    monkeypatch.setattr(watchdog, "_HAS_PROC", False)
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("modules.sandbox.limits.rlimits.resource", object())
    monkeypatch.setattr("modules.sandbox.sandbox.find_cgroups", lambda _: None)
    found = selftest.SelfTestResult(LauncherTier(TierName.SEATBELT, sandbox_home.data))
    monkeypatch.setattr(selftest.SelfTest, "find", lambda _: found)
    sandbox = sandbox_home.sandbox()
    yield sandbox
    sandbox._warm.discard()


def test_programs_run_and_end_without_what_linux_has(
    sandbox_home: SandboxHome, mac: Sandbox
) -> None:
    assert run_to_end(mac, Program("python", "6 * 7")).output == "42\n"
    result = run_to_end(mac, Program("bash", "echo $((1 + 1)); exit 3"))
    assert (result.output, result.exit_code) == ("2\n", 3)
    assert SECRET not in run_to_end(mac, Program("bash", "env")).output
    assert run_to_end(mac, Program("bash", "ulimit -c -n")).output.split()[-1] == "1024"
    assert list(sandbox_home.plain.iterdir()) == []


def test_limits_and_stop_hold_without_what_linux_has(
    sandbox_home: SandboxHome, mac: Sandbox
) -> None:
    assert (
        run_to_end(mac, Program("bash", "sleep 60 & sleep 60"), Limits(seconds=1)).exit_reason
        == "timed out"
    )
    hungry = "import time\nb = bytearray(200 << 20)\ntime.sleep(30)"
    limits = Limits(memory=100 * MEBIBYTE)
    assert run_to_end(mac, Program("python", hungry), limits).exit_reason == "memory"
    stop = Stop()
    run = mac.run(Program("bash", "echo up; sleep 60 & sleep 60"), Limits(), stop)
    assert next(run) == "up\n"
    stop.set()
    with pytest.raises(StopIteration) as end:
        next(run)
    assert end.value.value.exit_reason == "stopped"


def test_a_daemon_that_stays_in_its_group_ends_with_the_call(
    sandbox_home: SandboxHome, mac: Sandbox
) -> None:
    code = DAEMON.format(close="pass").replace("os.setsid()", "pass")
    run_to_end(mac, Program("python", code))
    beat = sandbox_home.project / "heartbeat"

    def is_still() -> bool:
        before = beat.stat().st_size if beat.exists() else 0
        return not wait_until(lambda: beat.exists() and beat.stat().st_size != before, 0.3)

    assert is_still()


def test_its_report_says_that_it_was_never_tried(mac: Sandbox) -> None:
    report = mac.report()
    assert (report.tier, report.is_allowed) == ("M", True)
    assert "never tested" in str(report.name)
    assert "never tested" in str(report.does_not_protect[0])


def test_a_path_is_real(sandbox_home: SandboxHome) -> None:
    link = sandbox_home.home / "link"
    link.symlink_to(sandbox_home.project)
    view = MountPlanner(link, (sandbox_home.data,), sandbox_home.data).plan()
    assert parameters(seatbelt.arguments(view, Path("/tmp/../tmp/x")))["WRITE_0"] == str(
        sandbox_home.project
    )
