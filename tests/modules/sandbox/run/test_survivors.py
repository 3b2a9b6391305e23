"""Programs that want to outlive their call: none is there when it is over, whatever it did."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program, Sandbox
from tests.modules.sandbox.sandbox_home import home_of_process, run_to_end, wait_until

pytestmark = pytest.mark.as_root

MARK = "onefold-survivor"
"""In the command line of each, by which it is found."""
STAY = f"until [ -e go ]; do sleep 0.1; done; touch late # {MARK}"
STARTED = f"""
import ctypes, os, signal, threading, time
prctl = ctypes.CDLL(None).prctl
def stay():
    os.execlp("bash", "bash", "-c", {STAY!r})
def ready():
    open("ready", "a").close()
def until_ready():
    while not os.path.exists("ready"): time.sleep(0.01)
"""
BASH = {
    "no hang-up": f"nohup bash -c '{STAY}' > /dev/null 2>&1 & touch ready",
    "a session of its own": f"setsid -f bash -c '{STAY}'; touch ready",
    "disowned": f"bash -c '{STAY}' & disown -a; touch ready",
    "a trap at the end": f"bash -c 'trap \"\" EXIT TERM INT HUP QUIT USR1; {STAY}' & touch ready",
    "a coprocess": f"coproc bash -c '{STAY}'; touch ready; exec 3>&-",
    "a pipe that stays open": f"(bash -c '{STAY}' | cat) & touch ready",
    "a process substitution": f"exec 9> >(bash -c '{STAY}'); touch ready",
    "an end by a signal": f"setsid -f bash -c '{STAY}'; touch ready; kill -KILL $$",
    "a group of its own": f"set -m; (bash -c '{STAY}' &) & touch ready",
}
PYTHON = {
    "twice forked": """
if os.fork() == 0:
    os.setsid()
    os.fork() == 0 and stay()
    os._exit(0)
ready()""",
    "forked again and again": """
if os.fork() == 0:
    ready()
    for _ in range(50):
        if os.getpid() != os.getsid(0): os.setsid()
        if os.fork(): os._exit(0)
    stay()
until_ready()""",
    "the parent of orphans": """
prctl(36, 1, 0, 0, 0)
if os.fork() == 0:
    prctl(36, 1, 0, 0, 0)
    os.fork() == 0 and stay()
    ready()
    signal.pause()
until_ready()""",
    "stopped": """
if (child := os.fork()) == 0: stay()
os.kill(child, signal.SIGSTOP)
ready()""",
    "another name": """
if os.fork() == 0:
    prctl(15, b'bwrap', 0, 0, 0)
    stay()
ready()""",
    "all its ends closed": """
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 100)
    stay()
ready()""",
    "no death with its parent": """
if os.fork() == 0:
    prctl(1, 0, 0, 0, 0)
    os.setsid()
    stay()
ready()""",
    "signals that are blocked": """
if os.fork() == 0:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    os.setsid()
    stay()
ready()""",
    "a crowd": """
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        stay()
ready()""",
    "threads and a child": """
if os.fork() == 0:
    for _ in range(8): threading.Thread(target=time.sleep, args=(900,)).start()
    os.fork() == 0 and stay()
ready()""",
}


@pytest.fixture(scope="module", params=["A", "C"])
def sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Sandbox, Path]]:
    with (
        pytest.MonkeyPatch.context() as patch,
        home_of_process(tmp_path_factory.mktemp("h")) as home,
    ):
        if request.param == "C":
            patch.setattr(selftest, "BWRAP_PATHS", ())
        made = home.sandbox()
        assert made.report().tier == request.param
        yield made, home.project
        made.close()


def survivors() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_text()
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:  # it has ended
            continue
        if MARK in line and state not in "ZX":
            found.append(line)
    return found


@pytest.mark.parametrize("name", [*BASH, *PYTHON])
def test_nobody_outlives_a_call(sandbox: tuple[Sandbox, Path], name: str) -> None:
    code = BASH.get(name) or STARTED + PYTHON[name]
    ready, late = (sandbox[1] / one for one in ("ready", "late"))
    ready.unlink(missing_ok=True)
    result = run_to_end(sandbox[0], Program("bash" if name in BASH else "python", code))
    assert ready.exists(), result
    assert survivors() == []
    assert not late.exists()


def test_one_that_is_there_is_found(tmp_path: Path) -> None:
    """Or else none of the above could fail."""
    with subprocess.Popen(["bash", "-c", STAY], cwd=tmp_path):
        assert wait_until(lambda: len(survivors()) == 1)
        (tmp_path / "go").touch()
