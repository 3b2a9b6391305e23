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
from modules.sandbox.filesystem.git_baseline import Baseline
from modules.sandbox.filesystem.git_protection import GitProtection
from modules.sandbox.filesystem.git_run_record import RunRecord
from modules.sandbox.sandbox import Program
from modules.storage.data_folder import DataFolder
from tests.assembly import house as assembled
from tests.modules.sandbox.house import ROOT, House, finish
from tests.scripted import run, say
from utils.i18n import UserError

pytestmark = pytest.mark.as_root

ONEFOLD = """
    import os, sys
    from pathlib import Path
    from modules.sandbox.backends import selftest
    from modules.sandbox.sandbox import Limits, Program, Sandbox
    from utils.waiting import Stop

    selftest.PLACES = ()
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
    monkeypatch.setattr(selftest, "PLACES", ())


def killed(house: House, code: str) -> None:
    """Run *code* in an Onefold of its own, and kill that when it has said that it is done."""
    record = DataFolder(house.data, house.project).git_record
    onefold = textwrap.dedent(ONEFOLD)
    places = [*map(str, (house.project, house.data, record))]
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


def started(house: House) -> list[str]:
    """Start Onefold anew and do a task in it; return what it warns of."""
    ground = AppContext.of(house.project, house.data, (), root=ROOT)
    try:
        assert not ground.data.git_record.exists()
    finally:
        ground.store.close()
        ground.project.close()
    with assembled(house.data.parent, say("on"), root=house.project) as here:
        return [str(event.what) for event in run(here.main, "go") if isinstance(event, Warned)]


@pytest.mark.parametrize(
    "plant",
    [
        "echo x >> .git/config; echo x > .git/hooks/post-checkout",
        "mv .git g; echo x >> g/config; mkdir .git; cp -r g/* .git",
        "mv .git g; echo x >> g/config; ln -s g .git",
        "cp -r .git g; rm -r .git; echo x >> g/config; mv g .git",
    ],
)
def test_what_a_run_planted_is_put_back_at_the_start_after_a_kill(house: House, plant: str) -> None:
    (house.project / ".git/hooks/pre-push").write_text("mine")
    before = obeyed(house)
    killed(house, plant)
    assert obeyed(house) != before
    warnings = started(house)
    assert warnings
    assert all(said.startswith("After a run that was cut short: The run ") for said in warnings)
    assert obeyed(house) == before
    assert not (house.project / ".git").is_symlink()
    assert started(house) == []


def test_a_program_that_outlives_the_kill_is_gone_before_what_it_planted_is_put_back(
    house: House,
) -> None:
    before = obeyed(house)
    killed(house, "setsid bash -c 'while :; do echo x >> .git/config; done' & sleep 0.1")
    started(house)
    assert obeyed(house) == before


def test_a_run_that_ends_in_order_leaves_no_record_and_one_with_mounts_writes_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = GitProtection(house.project, RunRecord(house.data / "record"))
    kept.begin([house.project / ".git"])
    assert (house.data / "record").exists()
    kept.end()
    assert not (house.data / "record").exists()
    kept.begin([])
    assert not (house.data / "record").exists()
    kept.end()


def test_a_run_that_goes_on_is_left_alone_by_others(house: House) -> None:
    git = house.project / ".git"
    kept = GitProtection(house.project, RunRecord(house.data / "record"))
    kept.begin([git])
    other = GitProtection(house.project, RunRecord(house.data / "record"))
    (git / "commondir").touch()
    with pytest.raises(UserError, match="Another Onefold runs a program"):
        other.begin([git])
    assert (git / "commondir").exists()
    kept.end()
    assert not (git / "commondir").exists()
    other.begin([git])
    other.end()


def test_of_runs_at_the_same_time_what_was_before_the_first_is_put_back(house: House) -> None:
    git = house.project / ".git"
    before = obeyed(house)
    kept = GitProtection(house.project)
    kept.begin([git])
    (git / "commondir").touch()
    kept.begin([git])
    kept.end()
    (git / "commondir").touch()
    kept.end()
    assert obeyed(house) == before


def test_a_record_that_cannot_be_read_is_told_and_put_aside(house: House) -> None:
    (house.data / "record").write_text('{"device": 1')
    kept = GitProtection(house.project, RunRecord(house.data / "record"))
    kept.settle()
    (said,) = kept.news()
    assert "its record cannot be read" in str(said)
    assert (house.data / "record.unreadable").exists()
    assert kept.news() == []


def test_what_could_not_be_put_back_is_tried_again_before_the_next_run(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: Baseline) -> None:
        raise OSError(errno.EIO, "no")

    git = house.project / ".git"
    kept = GitProtection(house.project, RunRecord(house.data / "record"))
    kept.begin([git])
    (git / "commondir").touch()
    with monkeypatch.context() as patch:
        patch.setattr(Baseline, "restore", failing)
        with pytest.raises(OSError, match="no"):
            kept.end()
    kept.begin([git])
    assert not (git / "commondir").exists()
    kept.end()
    assert not (house.data / "record").exists()


def test_nothing_runs_where_the_record_cannot_be_written(house: House) -> None:
    kept = GitProtection(house.project, RunRecord(house.data / "missing" / "record"))
    with pytest.raises(UserError, match="Nothing was run"):
        kept.begin([house.project / ".git"])


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
    house: House, name: str, planted: str
) -> None:
    path = house.project / ".git" / name
    inner = "/".join(name.split("/")[:2]) if name.startswith(("modules", "worktrees")) else "."
    code = f"""
from pathlib import Path
path = Path(".git", {name!r})
path.parent.mkdir(parents=True, exist_ok=True)
Path(".git", {inner!r}, "HEAD").write_text("ref: refs/heads/main")
path.write_text({planted!r})
"""
    result = house.python(code)
    assert name in str(result.notes)
    assert not path.exists() or planted.strip() not in path.read_text()


def test_lines_of_the_persons_own_and_harmless_new_ones_stay(house: House) -> None:
    todo = house.project / ".git/rebase-merge/git-rebase-todo"
    todo.parent.mkdir()
    todo.write_text("exec make test\npick abc a\n")
    result = finish(
        house.sandbox(),
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
    house: House, name: str, target: str
) -> None:
    result = house.bash(
        f"cd .git; mkdir -p $(dirname {name}); rm -rf {name}; ln -s {target} {name}"
    )
    assert f".git/{name}" in str(result.notes)
    assert not (house.project / ".git" / name).is_symlink()


def test_links_of_the_persons_own_stay_where_they_led(house: House) -> None:
    git = house.project / ".git"
    (git / "rr-cache").symlink_to("/tmp")
    result = house.bash("ln -sfn /etc .git/rr-cache")
    assert ".git/rr-cache" in str(result.notes)
    assert str((git / "rr-cache").readlink()) == "/tmp"


def test_ordinary_work_with_git_is_not_hurt(house: House) -> None:
    """A rebase that stops at a conflict, a bisect, a new work tree: nothing of it is changed."""
    result = house.bash(WORK)
    assert (result.exit_code, result.notes) == (0, ()), result.output
    assert "rebase in progress" in git(house.project / "tree", "status")
    assert "git bisect start" in git(house.project, "bisect", "log")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", os.fspath(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def obeyed(house: House) -> dict[str, bytes]:
    git = house.project / ".git"
    paths = [git / "config", git / "commondir", *git.glob("hooks/*")]
    return {p.relative_to(git).as_posix(): p.read_bytes() for p in paths if p.is_file()}
