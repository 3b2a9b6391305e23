"""A made-up home with secrets, a project in it, and a sandbox around the project."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.files.own_code import OwnCode
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.late_sandbox import LateSandbox
from modules.sandbox.run.execution import Background
from modules.sandbox.sandbox import Limits, Program, Result, Sandbox
from modules.storage.data_folder import DataFolder
from utils.waiting import Stop

ROOT = Path(__file__).parents[3]
SECRET = "CANARY-of-the-house"
QUICK = Limits(seconds=300)  # no test fails because the machine is slow


class SandboxHome:
    """*home* holds secrets; *project* is a git repository in it; *plain* is a folder without."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.project = self.home / "work" / "project"
        self.plain = self.home / "plain"
        self.data = base / "data"
        self.program_home = ProgramHome(self.data / "project" / "home", max_size=5 * 10**9)
        self.secret = self.home / ".ssh" / "id_ed25519"
        for folder in (self.project, self.plain, self.secret.parent, self.data / "project"):
            folder.mkdir(parents=True)
        self.secret.write_text(SECRET)
        self.secret.chmod(0o600)
        (self.data / "sessions.db").write_text(SECRET)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)

    def sandbox(
        self,
        project: Path | None = None,
        *,
        allow_limits_only: bool = False,
        own: OwnCode | None = None,
    ) -> Sandbox:
        project = project or self.project
        return Sandbox(
            project,
            hidden=[self.data],
            cache_folder=self.data,
            allow_limits_only=allow_limits_only,
            own_code=own,
            home=self.program_home,
            git_record=DataFolder(self.data, project).git_record,
        )

    def python(self, code: str, limits: Limits = QUICK, project: Path | None = None) -> Result:
        return run_to_end(self.sandbox(project), Program("python", code), limits)

    def bash(self, code: str, limits: Limits = QUICK, project: Path | None = None) -> Result:
        return run_to_end(self.sandbox(project), Program("bash", code), limits)


@contextmanager
def home_of_process(base: Path) -> Iterator[SandboxHome]:
    """Make a `SandboxHome` the home of this process for a while."""
    old = os.environ["HOME"]
    sandbox_home = SandboxHome(base)
    os.environ["HOME"] = str(sandbox_home.home)
    try:
        yield sandbox_home
    finally:
        os.environ["HOME"] = old


def late(sandbox: Sandbox) -> LateSandbox:
    """Return *sandbox* as features take it: theirs is made at its first use."""
    return LateSandbox(lambda: sandbox)


def run_to_end(
    sandbox: Sandbox,
    program: Program,
    limits: Limits = QUICK,
    background: Background | None = None,
) -> Result:
    run = sandbox.run(program, limits, Stop(), background=background)
    while True:
        try:
            next(run)
        except StopIteration as end:
            result: Result = end.value
            return result


def wait_for_prewarmed() -> None:
    """Wait for the Python that is being started for the next call.

    Its mount point is in the folder meanwhile, for whoever lists it to stumble over.
    """
    for thread in threading.enumerate():
        if thread.name == "sandbox-spare":
            thread.join()


def wait_until(is_so: Callable[[], bool], seconds: float = 120) -> bool:
    end = time.monotonic() + seconds
    while not (is_now := is_so()) and time.monotonic() < end:
        time.sleep(0.01)
    return is_now


def children_of(process: int) -> list[int]:
    """Return the descendants of *process*; threads and programs may end while we look."""
    descendants: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                for child in map(int, (task / "children").read_text().split()):
                    descendants += [child, *children_of(child)]
    return descendants


def is_alive(process: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
