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
from tests.assembly import assembled_terminal as assembled
from tests.modules.sandbox.probes import neighbours, successes
from tests.modules.sandbox.sandbox_home import (
    QUICK,
    ROOT,
    SECRET,
    SandboxHome,
    children_of,
    is_alive,
    run_to_end,
    wait_until,
)
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.waiting import Stop


def has_spare(sandbox: Sandbox) -> bool:
    return sandbox._warm._execution is not None


class Warm:
    """A sandbox that takes each call when a spare is there."""

    def __init__(self, sandbox: Sandbox, limits: Limits = QUICK) -> None:
        self.sandbox = sandbox
        self.limits = limits
        self.run("pass")

    def run(self, code: str, limits: Limits | None = None) -> Result:
        return run_to_end(self.sandbox, Program("python", code), limits or self.limits)

    def warm(self, code: str, limits: Limits | None = None) -> Result:
        assert wait_until(lambda: has_spare(self.sandbox))
        return self.run(code, limits)


@pytest.fixture
def warm(sandbox_home: SandboxHome) -> Warm:
    return Warm(sandbox_home.sandbox())


class WarmHouse(SandboxHome):
    def __init__(self, sandbox_home: SandboxHome) -> None:
        self.__dict__.update(sandbox_home.__dict__)
        self._warm = Warm(sandbox_home.sandbox(), Limits(seconds=60))

    def python(self, code: str, limits: Limits = QUICK, project: Path | None = None) -> Result:
        assert project is None
        return self._warm.warm(code, limits)


def test_no_attempt_succeeds_in_a_spare(sandbox_home: SandboxHome, tmp_path: Path) -> None:
    with neighbours(tmp_path) as outside:
        assert successes(WarmHouse(sandbox_home), outside) == {}


def test_there_is_none_before_the_first_python(sandbox_home: SandboxHome) -> None:
    sandbox = sandbox_home.sandbox()
    sandbox.report()
    run_to_end(sandbox, Program("bash", "true"))
    assert not wait_until(lambda: has_spare(sandbox), 0.3)


def test_a_warm_call_is_like_a_cold_one(sandbox_home: SandboxHome, warm: Warm) -> None:
    code = (
        "import sys, os, json\n"
        "print(sys.path, sys.argv, sys.flags, sys.prefix, sys.executable, __name__)\n"
        "print(sorted(os.environ.items()), os.getcwd(), sorted(os.listdir('/proc/self/fd')))\n"
        "print(sys.stdin.read(), sorted(set(sys.modules)), sorted(globals()))\n"
        "1 + 1"
    )
    cold = sandbox_home.python(code)
    assert warm.warm(code).output == cold.output
    assert warm.warm("1 / 0").output == sandbox_home.python("1 / 0").output


def test_nothing_passes_from_call_to_call(warm: Warm) -> None:
    warm.warm("open('/tmp/left', 'w').close(); open('/dev/shm/left', 'w').close()")
    look = "import os\n[os.path.exists(p) for p in ('/tmp/left', '/dev/shm/left')]"
    assert warm.warm(look).output == "[False, False]\n"


def test_limits_and_stop_hold_in_a_spare(warm: Warm) -> None:
    assert warm.warm("while True: pass", Limits(seconds=0.5)).exit_reason == "timed out"
    assert warm.warm("x = bytearray(3 << 30)").exit_code == 1
    assert wait_until(lambda: has_spare(warm.sandbox))
    stop = Stop()
    run = warm.sandbox.run(
        Program("python", "import os, time; os.write(1, b'up'); time.sleep(60)"), QUICK, stop
    )
    assert next(run) == "up"
    stop.set()
    with pytest.raises(StopIteration) as end:
        next(run)
    assert end.value.value.exit_reason == "stopped"


def test_the_environment_of_the_project_is_entered(sandbox_home: SandboxHome, warm: Warm) -> None:
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", ".venv"],
                   cwd=sandbox_home.project, check=True)  # fmt: skip
    packages = next((sandbox_home.project / ".venv/lib").glob("python3*/site-packages"))
    (packages / "ours.py").write_text("x = 42")
    code = "import sys, ours\nprint(sys.path, sys.prefix, sys.base_prefix, sys.executable, ours.x)"
    cold = sandbox_home.python(code)
    assert warm.run(code).output == cold.output  # made for no environment: thrown away
    assert cold.exit_code == 0
    assert warm.warm(code).output == cold.output


def test_nothing_of_the_project_runs_while_it_waits(sandbox_home: SandboxHome, warm: Warm) -> None:
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", ".venv"],
                   cwd=sandbox_home.project, check=True)  # fmt: skip
    packages = next((sandbox_home.project / ".venv/lib").glob("python3*/site-packages"))
    (packages / "a.pth").write_text(
        f"import os; open({str(sandbox_home.project / 'ran')!r}, 'a')\n"
    )
    for name in ("sitecustomize", "site", "os", "encodings"):
        (sandbox_home.project / f"{name}.py").write_text("open('ran', 'a')")
    warm.run("pass")
    (sandbox_home.project / "ran").unlink()
    assert wait_until(lambda: has_spare(warm.sandbox))
    time.sleep(0.1)
    assert not (sandbox_home.project / "ran").exists()
    warm.run("pass")
    assert (sandbox_home.project / "ran").exists()


def test_a_spare_that_no_longer_fits_is_thrown_away(sandbox_home: SandboxHome, warm: Warm) -> None:
    assert wait_until(lambda: has_spare(warm.sandbox))
    shutil.rmtree(sandbox_home.project / ".git")
    assert warm.run("open('.git/x', 'w')").exit_code == 0  # of the stand-in
    assert not (sandbox_home.project / ".git").exists()
    assert wait_until(lambda: has_spare(warm.sandbox))
    subprocess.run(["git", "init", "-q", str(sandbox_home.project)], check=True)
    assert warm.run("import os\nlen(os.listdir('.git')) > 3").output == "True\n"
    config = (sandbox_home.project / ".git/config").read_bytes()
    warm.warm("open('.git/config', 'w').write('x')")
    assert (sandbox_home.project / ".git/config").read_bytes() == config


def test_a_folder_without_git_is_left_clean_and_stays_without(sandbox_home: SandboxHome) -> None:
    warm = Warm(sandbox_home.sandbox(sandbox_home.plain))
    for _ in range(2):
        assert wait_until(lambda: has_spare(warm.sandbox))
        assert list(sandbox_home.plain.iterdir()) == []
        assert warm.run("open('.git/config', 'w').write('x')").exit_code == 0  # of the stand-in
    assert "FileExists" in warm.warm("import os; os.mkdir('.git')").output
    assert wait_until(lambda: has_spare(warm.sandbox))
    warm.sandbox._warm.discard()
    assert list(sandbox_home.plain.iterdir()) == []
    assert list((sandbox_home.data / "sandbox").glob("parked-*")) == []


def test_a_repository_made_meanwhile_is_left_where_it_is(sandbox_home: SandboxHome) -> None:
    git = sandbox_home.plain / ".git"
    git.mkdir()
    (git / "HEAD").touch()
    parking = ParkedMounts(sandbox_home.plain, sandbox_home.data)
    with pytest.raises(FileExistsError):
        parking.park([".git"])
    assert (git / "HEAD").exists()
    assert parking.parked == {}


def test_another_sandbox_of_the_folder_keeps_its_protection(sandbox_home: SandboxHome) -> None:
    warm = Warm(sandbox_home.sandbox(sandbox_home.plain))
    assert wait_until(lambda: has_spare(warm.sandbox))
    code = "echo up; while [ ! -e go ]; do sleep 0.02; done; mkdir .git/x; mkdir .git"
    run = sandbox_home.sandbox(sandbox_home.plain).run(Program("bash", code), QUICK, Stop())
    assert next(run) == "up\n"
    warm.run("pass")
    assert (sandbox_home.plain / ".git").exists()
    (sandbox_home.plain / "go").touch()
    assert "".join(run).count("File exists") == 1
    warm.sandbox._warm.discard()  # one that is being started has a mount point for a moment
    assert [path.name for path in sandbox_home.plain.iterdir()] == ["go"]


OWNER = """
import sys, time
from pathlib import Path
from modules.sandbox.sandbox import Limits, Program, Sandbox
from tests.modules.sandbox.sandbox_home import run_to_end
sandbox = Sandbox(Path(sys.argv[1]), cache_folder=Path(sys.argv[2]))
run_to_end(sandbox, Program("python", "pass"))
while sandbox._warm._execution is None:
    time.sleep(0.01)
sandbox._warm.pause()  # until its start is over
print("up", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("ends_by", ["itself", "kill"])
def test_none_is_left_when_onefold_ends(sandbox_home: SandboxHome, ends_by: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(sandbox_home.plain), str(sandbox_home.data)],
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
    assert wait_until(lambda: not any(is_alive(process) for process in below))
    assert list(sandbox_home.plain.iterdir()) == []
    Warm(sandbox_home.sandbox(sandbox_home.plain)).warm("pass")
    parked = [path.name.split("-")[1] for path in (sandbox_home.data / "sandbox").glob("parked-*")]
    assert str(owner.pid) not in parked


def test_none_is_started_while_the_folder_is_looked_at_or_undone(sandbox_home: SandboxHome) -> None:
    """Its mount point, and the time that this leaves on the folder, would be taken for somebody's
    doing, or undo an undo."""
    somebody = threading.Lock()
    asked = threading.Event()

    @contextmanager
    def alone() -> Iterator[None]:
        asked.set()
        with somebody:
            yield

    sandbox = Sandbox(
        sandbox_home.plain,
        hidden=[sandbox_home.data],
        cache_folder=sandbox_home.data,
        lock_project=alone,
    )
    with somebody:
        run_to_end(sandbox, Program("python", "pass"))
        assert asked.wait(120)
        os.utime(sandbox_home.plain, ns=(1, 1))
        assert not wait_until(lambda: has_spare(sandbox), 0.3)
        assert list(sandbox_home.plain.iterdir()) == []
    assert wait_until(lambda: has_spare(sandbox))
    sandbox.close()
    assert sandbox_home.plain.stat().st_mtime_ns == 1


def test_a_checkpoint_and_a_start_wait_for_each_other(tmp_path: Path) -> None:
    with assembled(tmp_path, call_reply("run_python", code="pass"), text_reply("ok")) as env:
        (runner,) = (one for one in env.terminal.features if isinstance(one, TerminalOps))
        (undo,) = (one for one in env.terminal.features if isinstance(one, UndoCommands))
        with undo._checkpoints.objects.locked():
            run_turn(env.terminal, "go", Reply(True))
            sandbox = runner._sandbox.get()
            assert not wait_until(lambda: has_spare(sandbox), 0.5)
        assert wait_until(lambda: has_spare(sandbox))


def test_one_that_is_dropped_ends_and_holds_nobody_up(sandbox_home: SandboxHome) -> None:
    """The collector may come where a thread is begun, or in one that the spare waits for."""
    owned = [sandbox_home.sandbox()]
    run_to_end(owned[0], Program("python", "pass"), QUICK)
    assert wait_until(lambda: has_spare(owned[0]))
    spare = owned[0]._warm
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        owned.clear()
        gc.collect()
    assert wait_until(lambda: spare._execution is None)


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
