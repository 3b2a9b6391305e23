"""The Python that waits for its one call: as confined as any, and never left over."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.events import Reply
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.sandbox.run.prewarmed import ParkedMounts
from modules.sandbox.sandbox import Limits, Program, Result, Sandbox
from modules.terminal_ops import TerminalOps
from tests.assembly import house as assembled
from tests.modules.sandbox.house import (
    QUICK,
    ROOT,
    SECRET,
    House,
    children_of,
    finish,
    is_alive,
    until,
)
from tests.modules.sandbox.probes import neighbours, successes
from tests.scripted import call, run, say
from utils.waiting import Stop


def has_spare(sandbox: Sandbox) -> bool:
    return sandbox._spare._call is not None


class Warm:
    """A sandbox that takes each call when a spare is there."""

    def __init__(self, sandbox: Sandbox, limits: Limits = QUICK) -> None:
        self.sandbox = sandbox
        self.limits = limits
        self.run("pass")

    def run(self, code: str, limits: Limits | None = None) -> Result:
        return finish(self.sandbox, Program("python", code), limits or self.limits)

    def warm(self, code: str, limits: Limits | None = None) -> Result:
        assert until(lambda: has_spare(self.sandbox))
        return self.run(code, limits)


@pytest.fixture
def warm(house: House) -> Warm:
    return Warm(house.sandbox())


class WarmHouse(House):
    def __init__(self, house: House) -> None:
        self.__dict__.update(house.__dict__)
        self._warm = Warm(house.sandbox(), Limits(seconds=60))

    def python(self, code: str, limits: Limits = QUICK, project: Path | None = None) -> Result:
        assert project is None
        return self._warm.warm(code, limits)


def test_no_attempt_succeeds_in_a_spare(house: House, tmp_path: Path) -> None:
    with neighbours(tmp_path) as outside:
        assert successes(WarmHouse(house), outside) == {}


def test_there_is_none_before_the_first_python(house: House) -> None:
    sandbox = house.sandbox()
    sandbox.report()
    finish(sandbox, Program("bash", "true"))
    assert not until(lambda: has_spare(sandbox), 0.3)


def test_a_warm_call_is_like_a_cold_one(house: House, warm: Warm) -> None:
    code = (
        "import sys, os, json\n"
        "print(sys.path, sys.argv, sys.flags, sys.prefix, sys.executable, __name__)\n"
        "print(sorted(os.environ.items()), os.getcwd(), sorted(os.listdir('/proc/self/fd')))\n"
        "print(sys.stdin.read(), sorted(set(sys.modules)), sorted(globals()))\n"
        "1 + 1"
    )
    cold = house.python(code)
    assert warm.warm(code).output == cold.output
    assert warm.warm("1 / 0").output == house.python("1 / 0").output


def test_nothing_passes_from_call_to_call(warm: Warm) -> None:
    warm.warm("open('/tmp/left', 'w').close(); open('/dev/shm/left', 'w').close()")
    look = "import os\n[os.path.exists(p) for p in ('/tmp/left', '/dev/shm/left')]"
    assert warm.warm(look).output == "[False, False]\n"


def test_limits_and_stop_hold_in_a_spare(warm: Warm) -> None:
    assert warm.warm("while True: pass", Limits(seconds=0.5)).why == "timed out"
    assert warm.warm("x = bytearray(3 << 30)").exit_code == 1
    assert until(lambda: has_spare(warm.sandbox))
    stop = Stop()
    run = warm.sandbox.run(
        Program("python", "import os, time; os.write(1, b'up'); time.sleep(60)"), QUICK, stop
    )
    assert next(run) == "up"
    stop.set()
    with pytest.raises(StopIteration) as end:
        next(run)
    assert end.value.value.why == "stopped"


def test_the_environment_of_the_project_is_entered(house: House, warm: Warm) -> None:
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", ".venv"],
                   cwd=house.project, check=True)  # fmt: skip
    packages = next((house.project / ".venv/lib").glob("python3*/site-packages"))
    (packages / "ours.py").write_text("x = 42")
    code = "import sys, ours\nprint(sys.path, sys.prefix, sys.base_prefix, sys.executable, ours.x)"
    cold = house.python(code)
    assert warm.run(code).output == cold.output  # made for no environment: thrown away
    assert cold.exit_code == 0
    assert warm.warm(code).output == cold.output


def test_nothing_of_the_project_runs_while_it_waits(house: House, warm: Warm) -> None:
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", ".venv"],
                   cwd=house.project, check=True)  # fmt: skip
    packages = next((house.project / ".venv/lib").glob("python3*/site-packages"))
    (packages / "a.pth").write_text(f"import os; open({str(house.project / 'ran')!r}, 'a')\n")
    for name in ("sitecustomize", "site", "os", "encodings"):
        (house.project / f"{name}.py").write_text("open('ran', 'a')")
    warm.run("pass")
    (house.project / "ran").unlink()
    assert until(lambda: has_spare(warm.sandbox))
    time.sleep(0.1)
    assert not (house.project / "ran").exists()
    warm.run("pass")
    assert (house.project / "ran").exists()


def test_a_spare_that_no_longer_fits_is_thrown_away(house: House, warm: Warm) -> None:
    assert until(lambda: has_spare(warm.sandbox))
    shutil.rmtree(house.project / ".git")
    assert "Read-only" in warm.run("open('.git/x', 'w')").output
    assert until(lambda: has_spare(warm.sandbox))
    subprocess.run(["git", "init", "-q", str(house.project)], check=True)
    assert warm.run("import os\nlen(os.listdir('.git')) > 3").output == "True\n"
    assert "Read-only" in warm.warm("open('.git/config', 'w')").output


def test_a_folder_without_git_is_left_clean_and_stays_without(house: House) -> None:
    warm = Warm(house.sandbox(house.plain))
    for _ in range(2):
        assert until(lambda: has_spare(warm.sandbox))
        assert list(house.plain.iterdir()) == []
        assert "Read-only" in warm.run("open('.git/config', 'w')").output
    assert "FileExists" in warm.warm("import os; os.mkdir('.git')").output
    assert until(lambda: has_spare(warm.sandbox))
    warm.sandbox._spare.discard()
    assert list(house.plain.iterdir()) == []
    assert list((house.data / "sandbox").glob("parked-*")) == []


def test_a_repository_made_meanwhile_is_left_where_it_is(house: House) -> None:
    git = house.plain / ".git"
    git.mkdir()
    (git / "HEAD").touch()
    parking = ParkedMounts(house.plain, house.data)
    with pytest.raises(FileExistsError):
        parking.park([".git"])
    assert (git / "HEAD").exists()
    assert parking.parked == {}


def test_another_sandbox_of_the_folder_keeps_its_protection(house: House) -> None:
    warm = Warm(house.sandbox(house.plain))
    assert until(lambda: has_spare(warm.sandbox))
    code = "echo up; while [ ! -e go ]; do sleep 0.02; done; mkdir .git/x; mkdir .git"
    run = house.sandbox(house.plain).run(Program("bash", code), QUICK, Stop())
    assert next(run) == "up\n"
    warm.run("pass")
    assert (house.plain / ".git").exists()
    (house.plain / "go").touch()
    assert "".join(run).count("File exists") == 1
    warm.sandbox._spare.discard()  # one that is being started has a mount point for a moment
    assert [path.name for path in house.plain.iterdir()] == ["go"]


OWNER = """
import sys, time
from pathlib import Path
from modules.sandbox.sandbox import Limits, Program, Sandbox
from tests.modules.sandbox.house import finish
sandbox = Sandbox(Path(sys.argv[1]), cache_folder=Path(sys.argv[2]))
finish(sandbox, Program("python", "pass"))
while sandbox._spare._call is None:
    time.sleep(0.01)
sandbox._spare.pause()  # until its start is over
print("up", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("ends_by", ["itself", "kill"])
def test_none_is_left_when_onefold_ends(house: House, ends_by: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(house.plain), str(house.data)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert owner.stdout
    assert owner.stdin
    assert owner.stdout.readline() == "up\n"
    below = children_of(owner.pid)
    assert below
    if ends_by == "kill":
        owner.send_signal(signal.SIGKILL)
    owner.stdin.close()
    owner.stdout.close()
    owner.wait()
    assert until(lambda: not any(is_alive(process) for process in below))
    assert list(house.plain.iterdir()) == []
    Warm(house.sandbox(house.plain)).warm("pass")
    parked = [path.name.split("-")[1] for path in (house.data / "sandbox").glob("parked-*")]
    assert str(owner.pid) not in parked


def test_none_is_started_while_the_folder_is_looked_at_or_undone(house: House) -> None:
    """Its mount point, and the time that this leaves on the folder, would be taken for somebody's
    doing, or undo an undo."""
    somebody = threading.Lock()
    asked = threading.Event()

    @contextmanager
    def alone() -> Iterator[None]:
        asked.set()
        with somebody:
            yield

    sandbox = Sandbox(house.plain, hidden=[house.data], cache_folder=house.data, alone=alone)
    with somebody:
        finish(sandbox, Program("python", "pass"))
        assert asked.wait(120)
        os.utime(house.plain, ns=(1, 1))
        assert not until(lambda: has_spare(sandbox), 0.3)
        assert list(house.plain.iterdir()) == []
    assert until(lambda: has_spare(sandbox))
    sandbox.close()
    assert house.plain.stat().st_mtime_ns == 1


def test_a_checkpoint_and_a_start_wait_for_each_other(tmp_path: Path) -> None:
    with assembled(tmp_path, call("run_python", code="pass"), say("ok")) as here:
        (runner,) = (one for one in here.main.families if isinstance(one, TerminalOps))
        (undo,) = (one for one in here.main.families if isinstance(one, UndoCommands))
        with undo._checkpoints.vault.alone():
            run(here.main, "go", Reply(True))
            assert not until(lambda: has_spare(runner._sandbox), 0.5)
        assert until(lambda: has_spare(runner._sandbox))


def test_one_that_is_dropped_ends_and_holds_nobody_up(house: House) -> None:
    """The collector may come where a thread is begun, or in one that the spare waits for."""
    owned = [house.sandbox()]
    finish(owned[0], Program("python", "pass"), QUICK)
    assert until(lambda: has_spare(owned[0]))
    spare = owned[0]._spare
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        owned.clear()
        gc.collect()
    assert until(lambda: spare._call is None)


def test_secrets_of_the_process_are_in_no_spare(
    monkeypatch: pytest.MonkeyPatch, warm: Warm
) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    code = (
        "import os\nfor n in os.listdir('/proc'):\n"
        "    if n.isdigit(): print(open(f'/proc/{n}/environ').read(), "
        "open(f'/proc/{n}/cmdline').read())"
    )
    assert SECRET not in warm.warm(code).output
    assert os.environ["SOME_KEY"] == SECRET
