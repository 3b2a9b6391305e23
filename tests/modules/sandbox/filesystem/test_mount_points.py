"""What protects a name that does not exist leaves nothing in the person's folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest

from modules.sandbox.sandbox import Program
from tests.modules.sandbox.sandbox_home import (
    QUICK,
    ROOT,
    SandboxHome,
    children_of,
    run_to_end,
    wait_for_prewarmed,
    wait_until,
)
from utils.waiting import Stop

OWNER = """
import sys
from pathlib import Path
from modules.sandbox.sandbox import Limits, Program, Sandbox
from utils.waiting import Stop
sandbox = Sandbox(Path(sys.argv[1]), cache_folder=Path(sys.argv[2]))
for text in sandbox.run(Program(sys.argv[3], sys.argv[4]), Limits(), Stop()):
    print(text, flush=True)
"""
WAITING = {"bash": "echo up; sleep 60", "python": "import time; print('up'); time.sleep(60)"}


@pytest.mark.parametrize("language", ["bash", "python"])
def test_nothing_is_left_when_everything_is_killed(
    sandbox_home: SandboxHome, language: str
) -> None:
    os.utime(sandbox_home.plain, ns=(10**18 + 1, 10**18 + 2))
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(sandbox_home.plain), str(sandbox_home.data), language,
         WAITING[language]],
        cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    with owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"up\n"
        assert [path.name for path in sandbox_home.plain.iterdir()] == [".git"]
        below = children_of(owner.pid)
        assert below
        os.killpg(owner.pid, signal.SIGKILL)
        for process in below:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: not any(sandbox_home.plain.iterdir()))
    assert wait_until(lambda: sandbox_home.plain.stat().st_mtime_ns == 10**18 + 2)


def test_the_name_stays_taken_until_the_last_program_is_dead(sandbox_home: SandboxHome) -> None:
    """Killing only the agent must not free the name while a program of its is still dying."""
    code = (
        "import os, signal, time\n"
        "print('up', flush=True)\n"
        "while True:\n"
        "    try: os.mkdir('.git/hooks')\n"
        "    except FileExistsError: break\n"
        "    except OSError: pass\n"
        "    try: os.mkdir('.git'); os.mkdir('planted')\n"
        "    except OSError: pass\n"
    )
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            OWNER,
            str(sandbox_home.plain),
            str(sandbox_home.data),
            "python",
            code,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    with owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"up\n"
        owner.kill()
    assert wait_until(lambda: not any(sandbox_home.plain.iterdir()))


def test_a_living_onefold_keeps_what_a_killed_one_shared(sandbox_home: SandboxHome) -> None:
    living = sandbox_home.sandbox(sandbox_home.plain).run(
        Program("bash", "echo up; while [ ! -e go ]; do sleep 0.02; done; mkdir .git/x"),
        QUICK, Stop(),
    )  # fmt: skip
    assert next(living) == "up\n"
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            OWNER,
            str(sandbox_home.plain),
            str(sandbox_home.data),
            "bash",
            WAITING["bash"],
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    with owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"up\n"
        owner.kill()
    (sandbox_home.plain / "go").touch()
    assert "".join(living) == ""  # it was made in the stand-in
    # Whoever is quicker takes it away, the living one or the helper of the killed one.
    assert wait_until(lambda: [path.name for path in sandbox_home.plain.iterdir()] == ["go"])


@pytest.mark.parametrize("language", ["bash", "python"])
def test_a_run_that_makes_nothing_leaves_the_time_of_the_folder(
    sandbox_home: SandboxHome, language: Literal["python", "bash"]
) -> None:
    os.utime(sandbox_home.plain, ns=(10**18, 10**18 + 5))
    sandbox = sandbox_home.sandbox(sandbox_home.plain)
    for _ in range(2):  # the second Python may be one that was started ahead
        run_to_end(sandbox, Program(language, ""))
        wait_for_prewarmed()
    sandbox.close()
    assert not any(sandbox_home.plain.iterdir())
    assert sandbox_home.plain.stat().st_mtime_ns == 10**18 + 5


def test_no_helper_outlives_its_owner(sandbox_home: SandboxHome) -> None:
    list(sandbox_home.sandbox(sandbox_home.plain).run(Program("bash", "true"), QUICK, Stop()))
    assert wait_until(lambda: str(sandbox_home.plain) not in _command_lines())


def _command_lines() -> str:
    texts = []
    for name in filter(str.isdecimal, (path.name for path in Path("/proc").iterdir())):
        with suppress(OSError):
            texts.append(Path("/proc", name, "cmdline").read_text(errors="replace"))
    return "\n".join(texts)
