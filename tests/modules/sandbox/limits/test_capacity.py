"""The limits of a run are settings: they hold, and none is larger than the machine."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from modules.outputs import Outputs
from modules.sandbox.backends import selftest
from modules.sandbox.limits import capacity
from modules.sandbox.limits.capacity import exceeding, fit_to_machine
from modules.sandbox.types import MEBIBYTE, Limits, Program
from modules.terminal_ops import TerminalOps
from tests.modules.sandbox.sandbox_home import (
    SandboxHome,
    late,
    run_to_end,
    wait_for_prewarmed,
)
from tests.modules.test_terminal_ops import Folder, outcome
from utils.waiting import Stop

WIDE = Limits.of(memory_mb=900, processes=100, disk_mb=8_000, tmp_mb=30, output_mb=200)
MEMORY = "x = b'x' * (600 << 20)"
PROCESSES = (
    "import threading, time\n"
    "for _ in range(40): threading.Thread(target=time.sleep, args=(5,)).start()"
)
DISK = "import time\nfor n in range(8): open(f'{n}', 'wb').write(bytes(8 << 20))\ntime.sleep(60)"
ONE_FILE = "open('big', 'wb').write(bytes(15 << 20))"
OUTPUT = "while True: print('x' * 10_000)"
TMP = (
    "import tempfile\n"
    "with tempfile.TemporaryFile() as file: file.write(bytes(8 << 20))\n"
    "print('written')"
)


@pytest.fixture(params=["A", "C"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    return str(request.param)


def test_the_defaults_are_those_of_the_settings() -> None:
    usual = Limits.of(memory_mb=2048, processes=256, disk_mb=1024, tmp_mb=256, output_mb=20)
    assert usual == Limits()


@pytest.mark.parametrize(
    ("code", "limits", "told"),
    [
        (MEMORY, replace(WIDE, memory=200 * MEBIBYTE), "MemoryError"),
        (PROCESSES, replace(WIDE, processes=20), "can't start new thread|more than 20 processes"),
        (DISK, replace(WIDE, disk_growth=20 * MEBIBYTE), "over 20 MiB to disk"),
        (ONE_FILE, replace(WIDE, file_size=10 * MEBIBYTE), "File too large"),
        (OUTPUT, replace(WIDE, total_output=1_000_000), "over 1,000,000 bytes of output"),
    ],
    ids=["memory", "processes", "disk", "one file", "output"],
)
@pytest.mark.usefixtures("tier")
def test_each_limit_holds(sandbox_home: SandboxHome, code: str, limits: Limits, told: str) -> None:
    result = outcome(terminal_ops(sandbox_home, limits).run_python(code, timeout=300))
    assert not result.ok
    assert re.search(told, result.text), result.text


@pytest.mark.parametrize("code", [MEMORY, PROCESSES, ONE_FILE])
@pytest.mark.usefixtures("tier")
def test_more_can_be_had(sandbox_home: SandboxHome, code: str) -> None:
    result = outcome(terminal_ops(sandbox_home, WIDE).run_python(code, timeout=300))
    assert result.ok, result.text


def test_tmp_is_as_large_as_the_settings_say(sandbox_home: SandboxHome, tier: str) -> None:
    assert sandbox_home.python(TMP, WIDE).output == "written\n"
    result = sandbox_home.python(TMP, replace(WIDE, tmp_size=3 * MEBIBYTE))
    assert ("No space left" in result.output) == (tier == "A")  # in C it is disk


def test_a_warm_python_with_other_limits_is_not_used(sandbox_home: SandboxHome) -> None:
    sandbox = sandbox_home.sandbox()
    for size in (1, 30):
        limits = replace(WIDE, tmp_size=size * MEBIBYTE)
        result = run_to_end(sandbox, Program("python", TMP), limits)
        assert (result.exit_code == 0) == (size == 30), result.output
        wait_for_prewarmed()


def test_no_limit_is_larger_than_the_machine(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity, "_memory", lambda: 300 * MEBIBYTE)
    monkeypatch.setattr(capacity, "_disk", lambda _: 100 * MEBIBYTE)
    monkeypatch.setattr(capacity, "_processes", lambda: 30)
    wanted = Limits.of(memory_mb=90_000, processes=900, disk_mb=90_000, tmp_mb=90_000, output_mb=1)
    fitted = fit_to_machine(wanted, sandbox_home.project)
    assert (fitted.memory, fitted.processes, fitted.disk_growth, fitted.tmp_size) == (
        300 * MEBIBYTE,
        30,
        100 * MEBIBYTE,
        300 * MEBIBYTE,
    )
    assert exceeding(wanted, fitted) == ["memory_mb", "tmp_mb", "processes", "disk_mb"]
    assert exceeding(fitted, fitted) == []
    rows = {str(name): str(value) for name, value in terminal_ops(sandbox_home, wanted).status()}
    assert "300 MiB of memory, 30 processes, 100 MiB of disk" in rows["Limits of a run"]
    assert rows["Everything on this machine"] == "memory_mb, tmp_mb, processes, disk_mb allow more"


def test_a_disk_that_does_not_say_its_size_is_no_limit(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = os.statvfs_result([0] * 10)
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: silent)
        fitted = fit_to_machine(WIDE, sandbox_home.project)
    assert fitted.disk_growth == WIDE.disk_growth


def test_the_machine_is_asked_what_it_has(sandbox_home: SandboxHome) -> None:
    endless = Limits.of(memory_mb=10**8, processes=10**6, disk_mb=10**8, tmp_mb=10**8, output_mb=1)
    fitted = fit_to_machine(endless, sandbox_home.project)
    total = Path("/proc/meminfo").read_text(encoding="ascii").split()[1]
    assert fitted.memory // MEBIBYTE == int(total) // 1024
    assert 0 < fitted.processes <= 10**6
    assert outcome(terminal_ops(sandbox_home, endless).run_python("6 * 7")).text.endswith("42")


def terminal_ops(sandbox_home: SandboxHome, limits: Limits) -> TerminalOps:
    outputs = Outputs(sandbox_home.data / "outputs", reader="read_file")
    sandbox = sandbox_home.sandbox()
    return TerminalOps(Folder(sandbox_home.project), late(sandbox), Stop(), outputs, limits=limits)
