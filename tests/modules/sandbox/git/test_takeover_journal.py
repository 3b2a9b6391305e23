"""A kill while git's state is taken over leaves all of it after the next start, or nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from modules.sandbox.git.stand_in import GitStandIn
from tests.campaign import seeded
from tests.modules.checkpoints.test_git_state import git, git_state
from tests.modules.sandbox.sandbox_home import ROOT

KILLED = """
import os, signal, sys
from pathlib import Path
from modules.files.git import state_changes
from modules.files.git.state_changes import GitStateChange
from modules.sandbox.git.takeover_journal import TakeoverJournal

left = int(sys.argv[3])

def killing(name):
    real = getattr(os, name)
    def call(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    setattr(os, name, call)

git = Path(sys.argv[1])
old, new = sys.argv[4].encode(), sys.argv[5].encode()
changes = [
    GitStateChange("HEAD", b"ref: refs/heads/main\\n", b"ref: refs/heads/side\\n"),
    GitStateChange("refs/heads/far", new, None),
    GitStateChange("refs/heads/main", new, old),
    GitStateChange("refs/heads/side", None, new),
]
for name in ("open", "close", "fsync", "rename", "replace", "unlink"):
    killing(name)
TakeoverJournal(git, Path(sys.argv[2])).apply(changes)
print("done")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for text in ("one", "two"):
        git(folder, "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty",
            "-m", text)  # fmt: skip
    git(folder, "branch", "far")
    git(folder, "pack-refs", "--all")
    return folder


@seeded(12)
def test_a_kill_leaves_all_or_nothing(project: Path, tmp_path: Path, seed: int) -> None:
    new, old = (git(project, "rev-parse", name)[:40] for name in ("main", "main~1"))
    before, steps = git_state(project), 2 + seed * 3 % 60
    cache = tmp_path / "cache"
    cache.mkdir()
    command = [sys.executable, "-c", KILLED, str(project / ".git"), str(cache), str(steps), old]
    ended = subprocess.run([*command, new], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    GitStandIn(project, cache)
    assert not list((project / ".git").rglob("*.lock"))
    if git_state(project) != before:
        refs = git(project, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        assert refs == [f"refs/heads/main {old}", f"refs/heads/side {new}", "0"]
        assert git(project, "symbolic-ref", "HEAD") == "refs/heads/side\n0"
    assert git(project, "fsck", "--strict", "--no-dangling") == "0"
    assert not list(cache.glob("takeover-*"))


def test_what_the_person_changed_after_the_kill_stays_theirs(project: Path, tmp_path: Path) -> None:
    new, old = (git(project, "rev-parse", name)[:40] for name in ("main", "main~1"))
    command = [sys.executable, "-c", KILLED, str(project / ".git"), str(tmp_path), "8", old, new]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    for lock in (project / ".git").rglob("*.lock"):
        lock.unlink()
    git(project, "update-ref", "refs/heads/side", old)
    before = git_state(project)
    GitStandIn(project, tmp_path)
    assert git_state(project) == before
