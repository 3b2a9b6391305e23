"""Jobs where bubblewrap does not work: what they may do there, and how they end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from modules.jobs import feature
from modules.jobs.feature import Jobs
from modules.sandbox.backends import selftest
from modules.sandbox.backends.tiers import LauncherTier
from modules.sandbox.sandbox import Sandbox
from modules.sandbox.types import TierName
from tests.assembly import assembled_terminal
from tests.modules.jobs.test_jobs import (
    answers,
    background,
    command,
    jobs_of,
    running,
    say,
    told,
)
from tests.modules.sandbox.sandbox_home import ROOT, is_alive, wait_until
from tests.scripted_model import call_reply

DAEMON = """python3 -c 'import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"daemon %d\\n" % os.getpid())
        os.closerange(0, 3)
        time.sleep(4321)'; trap "" TERM; echo ready; while :; do sleep 4321; done"""


def daemon_of(output: str) -> int:
    match = re.search(r"daemon (\d+)", output)
    assert match, output
    return int(match[1])


@pytest.fixture
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The tier that this machine has without bubblewrap, and without Landlock."""
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    if request.param == "D":
        monkeypatch.setattr(selftest, "landlock_version", lambda: 0)
    return str(request.param)


def sandbox_of(jobs: Jobs) -> Sandbox:
    return jobs._sandbox.get()


def allow_unsandboxed(jobs: Jobs) -> None:
    sandbox_of(jobs)._allow_limits_only = True


@pytest.mark.parametrize("tier", ["C", "D"], indirect=True)
def test_a_job_runs_on_is_typed_to_and_goes_with_all_that_it_left(
    tmp_path: Path, tier: str
) -> None:
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        allow_unsandboxed(jobs_of(made))
        say(made, background(DAEMON), call_reply("jobs", operation="wait", text="ready"))
        assert running(made) == "job 1"
        daemon = daemon_of("".join(answers(made)))
        assert is_alive(daemon)
        say(made, background("cat", "c"), call_reply("jobs", operation="input", job=2, text="hi"))
        say(made, call_reply("jobs", operation="wait", job=2, text="hi"))
        assert "hi" in "".join(answers(made)[-2:])
        command(made, "/jobs stop")
        assert not is_alive(daemon)
        assert not running(made)


@pytest.mark.parametrize("tier", ["C"], indirect=True)
def test_with_landlock_a_job_only_reads_git(tmp_path: Path, tier: str) -> None:
    root = tmp_path / "project"
    (root / "inner").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "here").write_text("old")
    config = (root / ".git/config").read_bytes()
    attack = (
        "echo x >> .git/config; echo x > .git/hooks/pre-commit; mv .git .other; rm -rf .git/hooks;"
        "touch new; mkdir sub; echo new > here; echo made > inner/made; cat .git/HEAD later;"
        "echo done; sleep 4321"
    )
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        (root / "later").write_text("and later")
        say(made, background(attack), call_reply("jobs", operation="wait", text="done"))
        assert "only reads .git" in answers(made)[0]
        assert (root / ".git/config").read_bytes() == config
        assert not (root / ".git/hooks/pre-commit").exists()
        assert sorted(path.name for path in root.iterdir()) == [".git", "here", "inner", "later"]
        assert (root / "here").read_text() == "new\n"
        assert (root / "inner/made").read_text() == "made\n"
        (root / ".git/config").write_bytes(config + b"[alias]\n\tmine = status\n")
        say(made, call_reply("run_command", command="git config alias.theirs x; git status"))
        assert b"mine" in (root / ".git/config").read_bytes()
        assert b"theirs" not in (root / ".git/config").read_bytes()


@pytest.mark.parametrize("tier", ["C"], indirect=True)
def test_with_landlock_a_job_makes_no_repository_where_there_is_none(
    tmp_path: Path, tier: str
) -> None:
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        say(made, background("mkdir .git; git init -q; echo tried; sleep 4321"))
        say(made, call_reply("jobs", operation="wait", text="tried"))
        assert list(made.root.iterdir()) == []


@pytest.mark.parametrize("tier", ["C"], indirect=True)
def test_a_terminal_there_is_one_of_its_own_and_no_other_is_opened(
    tmp_path: Path, tier: str
) -> None:
    near, far = os.openpty()
    other = os.ttyname(far)
    look = f"cat {other}; : > {other}; : > /dev/ptmx; echo own > /dev/tty; stty size"
    try:
        with assembled_terminal(tmp_path, approval_mode="all") as made:
            say(made, call_reply("run_command", command=look, tty=True))
            read = answers(made)[0]
            assert read.count("Permission denied") == 3, read
            assert "own\n30 100" in read
    finally:
        os.close(near)
        os.close(far)


@pytest.mark.parametrize("tier", ["D", "machine"], indirect=True)
def test_where_nothing_confines_a_job_has_a_terminal_and_input_too(
    tmp_path: Path, tier: str
) -> None:
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        sandbox = sandbox_of(jobs_of(made))
        allow_unsandboxed(jobs_of(made))
        if tier == "machine":
            sandbox._machine = {"PATH": os.defpath}
        say(
            made,
            call_reply("run_command", command="tty; stty size; cat", tty=True),
            call_reply("jobs", id="k", operation="input", text="typed<Enter>"),
            call_reply("jobs", id="w", operation="wait", text="typed\ntyped"),
            call_reply("jobs", id="e", operation="input", text=""),
            call_reply("jobs", id="x", operation="wait"),
            background("cat", "c"),
            call_reply("jobs", id="i", operation="input", job=2, text="piped"),
            call_reply("jobs", id="p", operation="wait", job=2, text="piped"),
        )
        read = answers(made)
        assert re.search(r"^/dev/pts/\d+\n30 100$", read[0], re.MULTILINE)
        assert "is there." in read[2]
        assert read[4].startswith("job 1 ended: exit code 0")
        assert "is there." in read[7]


def test_where_not_all_is_found_again_there_are_no_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seatbelt = LauncherTier(TierName.SEATBELT, tmp_path)
    monkeypatch.setattr(selftest.SelfTest, "find", lambda _: selftest.SelfTestResult(seatbelt))
    monkeypatch.setattr(feature, "_START_SECONDS", 0.0)  # it is said however long it takes
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        say(made, background("touch canary; sleep 300"))
        assert "Nothing can run on" in answers(made)[0]
        assert not (made.root / "canary").exists()


KILLED = """
import sys, time
from pathlib import Path
from modules.sandbox.backends import selftest
from tests.assembly import assembled_terminal
from tests.modules.jobs.test_jobs import answers, background, say
from tests.scripted_model import call_reply
selftest.BWRAP_PATHS = ()
with assembled_terminal(Path(sys.argv[1]), approval_mode="all") as made:
    say(made, background(sys.argv[2]), call_reply("jobs", operation="wait", text="ready"))
    print(repr("".join(answers(made))), flush=True)
    time.sleep(600)
"""


def test_a_kill_of_onefold_ends_what_landlock_confines(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path), DAEMON],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        daemon = daemon_of(process.stdout.readline())
        assert is_alive(daemon)
        os.kill(process.pid, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(daemon))
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        say(made, line="and now?")
        assert "job 1 ended with the Onefold that ran it" in told(made)
