"""What git obeys stays what it was where programs can change it: after a run, and after a kill."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from core.events import Warned
from modules.app_context import AppContext
from modules.sandbox.backends import selftest
from modules.sandbox.git.baseline import Baseline
from modules.sandbox.git.protection import GitProtection
from modules.sandbox.git.run_record import RunRecord
from modules.sandbox.sandbox import Program
from modules.storage.data_folder import DataFolder
from tests.assembly import assembled_terminal as assembled
from tests.modules.sandbox.sandbox_home import ROOT, SandboxHome, run_to_end
from tests.scripted_model import run_turn, text_reply
from utils.i18n import UserError

pytestmark = pytest.mark.as_root

ONEFOLD = """
    import os, sys
    from pathlib import Path
    from modules.sandbox.backends import selftest
    from modules.sandbox.sandbox import Limits, Program, Sandbox
    from utils.waiting import Stop

    selftest.BWRAP_PATHS = ()
    project, data, record, code = sys.argv[1:]
    sandbox = Sandbox(
        Path(project), hidden=[Path(data)], cache_folder=Path(data), git_record=Path(record)
    )
    assert sandbox.report().tier == "C"
    for text in sandbox.run(Program("bash", code), Limits(seconds=300), Stop()):
        print(text, end="", flush=True)
"""

WORK = """
export GIT_AUTHOR_NAME="O'Neill" GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b
git checkout -qb main
for n in 1 2 3; do echo $n > f; git add f; git commit -qm "change $n" || exit; done
git worktree add -q tree -b side HEAD~1 || exit
git bisect start HEAD HEAD~2 -- f "a b" && git bisect reset && git bisect start HEAD HEAD~2 || exit
cd tree && echo x > f && git commit -qam other || exit
git rebase -s recursive main && exit 1
cd ..; git cherry-pick -X ours side HEAD~1
true
"""


@pytest.fixture(autouse=True)
def _no_mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())


def killed(sandbox_home: SandboxHome, code: str) -> None:
    """Run *code* in an Onefold of its own, and kill that when it has said that it is done."""
    record = DataFolder(sandbox_home.data, sandbox_home.project).git_record
    onefold = textwrap.dedent(ONEFOLD)
    places = [*map(str, (sandbox_home.project, sandbox_home.data, record))]
    command = [sys.executable, "-c", onefold, *places]
    with subprocess.Popen(
        [*command, f"{code}\necho done; while :; do sleep 100; done"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"done\n"
        finally:
            process.kill()
    assert record.exists()


def started(sandbox_home: SandboxHome) -> list[str]:
    """Start Onefold anew and do a task in it; return what it warns of."""
    ground = AppContext.of(sandbox_home.project, sandbox_home.data, (), root=ROOT)
    try:
        assert not ground.data.git_record.exists()
    finally:
        ground.store.close()
        ground.project.close()
    with assembled(sandbox_home.data.parent, text_reply("on"), root=sandbox_home.project) as env:
        return [
            str(event.what) for event in run_turn(env.terminal, "go") if isinstance(event, Warned)
        ]


@pytest.mark.parametrize(
    "plant",
    [
        "echo x >> .git/config; echo x > .git/hooks/post-checkout",
        "mv .git g; echo x >> g/config; mkdir .git; cp -r g/* .git",
        "mv .git g; echo x >> g/config; ln -s g .git",
        "cp -r .git g; rm -r .git; echo x >> g/config; mv g .git",
    ],
)
def test_what_a_run_planted_is_put_back_at_the_start_after_a_kill(
    sandbox_home: SandboxHome, plant: str
) -> None:
    (sandbox_home.project / ".git/hooks/pre-push").write_text("mine")
    before = obeyed(sandbox_home)
    killed(sandbox_home, plant)
    assert obeyed(sandbox_home) != before
    warnings = started(sandbox_home)
    assert warnings
    assert all(said.startswith("After a run that was cut short: The run ") for said in warnings)
    assert obeyed(sandbox_home) == before
    assert not (sandbox_home.project / ".git").is_symlink()
    assert started(sandbox_home) == []


def test_a_program_that_outlives_the_kill_is_gone_before_what_it_planted_is_put_back(
    sandbox_home: SandboxHome,
) -> None:
    before = obeyed(sandbox_home)
    killed(sandbox_home, "setsid bash -c 'while :; do echo x >> .git/config; done' & sleep 0.1")
    started(sandbox_home)
    assert obeyed(sandbox_home) == before


def test_a_run_that_ends_in_order_leaves_no_record_and_one_with_mounts_writes_none(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = GitProtection(sandbox_home.project, RunRecord(sandbox_home.data / "record"))
    kept.begin([sandbox_home.project / ".git"])
    assert (sandbox_home.data / "record").exists()
    kept.end()
    assert not (sandbox_home.data / "record").exists()
    kept.begin([])
    assert not (sandbox_home.data / "record").exists()
    kept.end()


def test_a_run_that_goes_on_is_left_alone_by_others(sandbox_home: SandboxHome) -> None:
    git = sandbox_home.project / ".git"
    kept = GitProtection(sandbox_home.project, RunRecord(sandbox_home.data / "record"))
    kept.begin([git])
    other = GitProtection(sandbox_home.project, RunRecord(sandbox_home.data / "record"))
    (git / "commondir").touch()
    with pytest.raises(UserError, match="Another Onefold runs a program"):
        other.begin([git])
    assert (git / "commondir").exists()
    kept.end()
    assert not (git / "commondir").exists()
    other.begin([git])
    other.end()


def test_of_runs_at_the_same_time_what_was_before_the_first_is_put_back(
    sandbox_home: SandboxHome,
) -> None:
    git = sandbox_home.project / ".git"
    before = obeyed(sandbox_home)
    kept = GitProtection(sandbox_home.project)
    kept.begin([git])
    (git / "commondir").touch()
    kept.begin([git])
    kept.end()
    (git / "commondir").touch()
    kept.end()
    assert obeyed(sandbox_home) == before


def test_a_record_that_cannot_be_read_is_told_and_put_aside(sandbox_home: SandboxHome) -> None:
    (sandbox_home.data / "record").write_text('{"device": 1')
    kept = GitProtection(sandbox_home.project, RunRecord(sandbox_home.data / "record"))
    kept.recover()
    (said,) = kept.warnings()
    assert "its record cannot be read" in str(said)
    assert (sandbox_home.data / "record.unreadable").exists()
    assert kept.warnings() == []


def test_what_could_not_be_put_back_is_tried_again_before_the_next_run(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: Baseline) -> None:
        raise OSError(errno.EIO, "no")

    git = sandbox_home.project / ".git"
    kept = GitProtection(sandbox_home.project, RunRecord(sandbox_home.data / "record"))
    kept.begin([git])
    (git / "commondir").touch()
    with monkeypatch.context() as patch:
        patch.setattr(Baseline, "restore", failing)
        with pytest.raises(OSError, match="no"):
            kept.end()
    kept.begin([git])
    assert not (git / "commondir").exists()
    kept.end()
    assert not (sandbox_home.data / "record").exists()


def test_nothing_runs_where_the_record_cannot_be_written(sandbox_home: SandboxHome) -> None:
    kept = GitProtection(sandbox_home.project, RunRecord(sandbox_home.data / "missing" / "record"))
    with pytest.raises(UserError, match="Nothing was run"):
        kept.begin([sandbox_home.project / ".git"])


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("remotes/origin", "URL: ext::sh -c x"),
        ("branches/origin", "ext::sh -c x"),
        ("objects/info/http-alternates", "http://x"),
        ("rebase-merge/git-rebase-todo", "x touch ran\n"),
        ("rebase-merge/git-rebase-todo", "\texec\ttouch ran"),
        ("rebase-merge/strategy", "../../evil"),
        ("rebase-merge/strategy_opts", "x; touch ran"),
        ("rebase-apply/author-script", "touch ran\n"),
        ("rebase-apply/apply-opt", " '--bui=/etc/passwd'"),
        ("sequencer/todo", "exec touch ran\n"),
        ("sequencer/opts", "\tstrategy = evil\n"),
        ("sequencer/opts", "[options] strategy = evil\n"),
        ("BISECT_NAMES", " 'a' $(touch ran)\n"),
        ("BISECT_LOG", "git bisect start; touch ran\n"),
        ("modules/lib/hooks/post-checkout", "touch ran"),
        ("modules/lib/config", "[core]\n\tfsmonitor = touch ran\n"),
        ("modules/lib/objects/info/alternates", "/elsewhere"),
        ("worktrees/w/commondir", "../../../evil\n"),
        ("worktrees/w/config.worktree", "[core]\n\tfsmonitor = touch ran\n"),
    ],
)
def test_whatever_makes_git_run_something_is_taken_out(
    sandbox_home: SandboxHome, name: str, planted: str
) -> None:
    path = sandbox_home.project / ".git" / name
    inner = "/".join(name.split("/")[:2]) if name.startswith(("modules", "worktrees")) else "."
    code = f"""
from pathlib import Path
path = Path(".git", {name!r})
path.parent.mkdir(parents=True, exist_ok=True)
Path(".git", {inner!r}, "HEAD").write_text("ref: refs/heads/main")
path.write_text({planted!r})
"""
    result = sandbox_home.python(code)
    assert name in str(result.notes)
    assert not path.exists() or planted.strip() not in path.read_text()


def test_lines_of_the_persons_own_and_harmless_new_ones_stay(sandbox_home: SandboxHome) -> None:
    todo = sandbox_home.project / ".git/rebase-merge/git-rebase-todo"
    todo.parent.mkdir()
    todo.write_text("exec make test\npick abc a\n")
    result = run_to_end(
        sandbox_home.sandbox(),
        Program(
            "bash",
            "cd .git/rebase-merge; printf 'exec evil\\npick def b\\nmerge -C abc l\\n# x\\n' >> "
            "git-rebase-todo",
        ),
    )
    assert todo.read_text() == "exec make test\npick abc a\npick def b\nmerge -C abc l\n# x\n"
    assert [str(note) for note in result.notes] == [
        "Lines by which git would run something were taken out: .git/rebase-merge/git-rebase-todo"
    ]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("COMMIT_EDITMSG", "config"),
        ("logs/HEAD", "../../.bashrc"),
        ("refs/heads", "/elsewhere"),
        ("objects", "/elsewhere"),
        ("rebase-merge", "../evil"),
        ("HEAD", "refs/../../evil"),
    ],
)
def test_a_link_by_which_git_would_write_elsewhere_is_taken_away(
    sandbox_home: SandboxHome, name: str, target: str
) -> None:
    result = sandbox_home.bash(
        f"cd .git; mkdir -p $(dirname {name}); rm -rf {name}; ln -s {target} {name}"
    )
    assert f".git/{name}" in str(result.notes)
    assert not (sandbox_home.project / ".git" / name).is_symlink()


def test_links_of_the_persons_own_stay_where_they_led(sandbox_home: SandboxHome) -> None:
    git = sandbox_home.project / ".git"
    (git / "rr-cache").symlink_to("/tmp")
    result = sandbox_home.bash("ln -sfn /etc .git/rr-cache")
    assert ".git/rr-cache" in str(result.notes)
    assert str((git / "rr-cache").readlink()) == "/tmp"


def test_ordinary_work_with_git_is_not_hurt(sandbox_home: SandboxHome) -> None:
    """A rebase that stops at a conflict, a bisect, a new work tree: nothing of it is changed."""
    result = sandbox_home.bash(WORK)
    assert (result.exit_code, result.notes) == (0, ()), result.output
    assert "rebase in progress" in git(sandbox_home.project / "tree", "status")
    assert "git bisect start" in git(sandbox_home.project, "bisect", "log")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", os.fspath(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def obeyed(sandbox_home: SandboxHome) -> dict[str, bytes]:
    git = sandbox_home.project / ".git"
    paths = [git / "config", git / "commondir", *git.glob("hooks/*")]
    return {p.relative_to(git).as_posix(): p.read_bytes() for p in paths if p.is_file()}


@pytest.mark.parametrize("way", ["made by a run", "there before"])
def test_nothing_is_written_where_a_link_leads_that_came_after_the_look(
    sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A program that runs on can put a link in the way at any moment, also just before we write."""
    project, theirs = sandbox_home.project.resolve(), sandbox_home.home / "theirs"
    line = "[core]\n\tfsmonitor = ./mine\n"
    protection, git = GitProtection(project), project / "a" / "inner" / ".git"
    for place in (project / "a", theirs):
        subprocess.run(["git", "init", "-q", str(place / "inner")], check=True)
    (theirs / "inner" / ".git" / "config").write_text(line)
    (theirs / "inner" / ".git" / "hooks" / "pre-commit").write_text("mine")
    restore = Baseline.restore

    def restore_late(self: Baseline) -> tuple[list[str], list[str]]:
        if self.folder == git:
            (project / "a").rename(project / "b")
            (project / "a").symlink_to(theirs)
        return restore(self)

    monkeypatch.setattr(Baseline, "restore", restore_late)
    if way == "there before":
        protection.begin([git])
        protection.end()
    else:
        protection.disarm([git])
    assert git.parent.parent.is_symlink()
    assert (theirs / "inner" / ".git" / "config").read_text() == line
    assert (theirs / "inner" / ".git" / "hooks" / "pre-commit").read_text() == "mine"
