"""Programs use git in a linked work tree as in any other, and undo takes it back there alone."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.undo.undo_cards import diff_card
from modules.sandbox.backends import selftest
from modules.sandbox.filesystem.held_folder import Content, HeldFolder
from modules.sandbox.sandbox import Program, Result
from tests.modules.checkpoints.folders import checkpoints
from tests.modules.checkpoints.test_git_state import (
    BASE,
    MORE_SEQUENCES,
    SEQUENCES,
    do_undo_and_redo,
    files_of,
    git,
    git_state,
)
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process, run_to_end

COMMIT = "echo n > n; git add n; git commit -qm n"
USED = (
    "commit", "pop", "drop", "branch", "a folder of branches", "checkout", "a merge that stops",
    "a rebase that stops", "a rebase ended", "reset", "tag", "notes", "worktree", "bisect",
    "packed branches", "repack",
)  # fmt: skip
MORE = ("a worktree with a stopped cherry-pick", "patches")
ALL = SEQUENCES | MORE_SEQUENCES


@pytest.fixture
def main_tree(tmp_path: Path) -> Path:
    return tmp_path / "home" / "work" / "project"


@pytest.fixture(params=["with mounts", "without mounts"])
def linked(
    tmp_path: Path,
    main_tree: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[SandboxHome]:
    """A home of which the project is linked to a repository elsewhere."""
    if request.param == "without mounts":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    with home_of_process(tmp_path) as home:
        (home.home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
        add = "git checkout -q --detach; git branch kept; git worktree add -q ../../linked main"
        subprocess.run(
            ["bash", "-ec", f"{BASE}{add}"], cwd=main_tree, check=True, capture_output=True
        )
        home.project = home.home / "linked"
        yield home


@pytest.fixture
def points(linked: SandboxHome) -> Iterator[Checkpoints]:
    with checkpoints(linked.project, linked.data / "store") as store:
        yield store


def own_state(main_tree: Path) -> list[str]:
    """Return what the main work tree says of itself."""
    questions = ("rev-parse HEAD", "symbolic-ref -q HEAD", "status --porcelain --branch",
                 "ls-files --stage -v", "reflog show HEAD")  # fmt: skip
    return [git(main_tree, *question.split()) for question in questions]


def settings_of(repository: Path) -> dict[str, bytes]:
    names = ("config", "hooks", "info", "worktrees/linked/gitdir", "worktrees/linked/commondir")
    files = (path for name in names for path in (repository / name, *repository.glob(f"{name}/*")))
    return {str(path): path.read_bytes() for path in files if path.is_file()}


@pytest.mark.parametrize("name", [*USED, *MORE])
def test_a_sequence_is_undone_and_redone(
    linked: SandboxHome, points: Checkpoints, main_tree: Path, name: str
) -> None:
    before = own_state(main_tree), files_of(main_tree), settings_of(main_tree / ".git")
    do_undo_and_redo(linked, points, ALL[name])
    after = own_state(main_tree), files_of(main_tree), settings_of(main_tree / ".git")
    assert after == before


REFUSED = {
    "the HEAD of the main work tree": "git -C $R symbolic-ref HEAD refs/heads/far",
    "its index": "cp $R/worktrees/linked/index $R/index",
    "a rebase of it": "mkdir $R/rebase-merge; echo 'exec x' > $R/rebase-merge/git-rebase-todo",
    "a bisection of it": "mkdir -p $R/refs/bisect; git rev-parse HEAD > $R/refs/bisect/bad",
    "another work tree": "echo ref: refs/heads/loose > $R/worktrees/other/HEAD",
    "another work tree gone": "rm -r $R/worktrees/other",
    "a work tree outside": 'git worktree add -q "$TMPDIR/outside" loose',
    "a branch of another work tree": "git update-ref refs/heads/side HEAD",
    "such a branch gone": "git update-ref -d refs/heads/side",
    "where this one is": "echo /tmp/x/.git > $R/worktrees/linked/gitdir",
    "what this one belongs to": "echo /tmp/x > $R/worktrees/linked/commondir",
    "this one gone": "rm -r $R/worktrees/linked",
    "no HEAD": "rm $R/worktrees/linked/HEAD",
    "a HEAD that leads outside": "echo ref: ../config > $R/worktrees/linked/HEAD",
    "an object that is missing": "printf '%040d\\n' 1 > $R/worktrees/linked/HEAD",
    "a step that runs something": "mkdir $R/worktrees/linked/rebase-merge;"
    " echo 'exec x' > $R/worktrees/linked/rebase-merge/git-rebase-todo",
}

UNKEPT = {
    "a hook": "mkdir -p $R/hooks; echo x > $R/hooks/post-commit; chmod +x $R/hooks/post-commit",
    "a command for each status": "git config core.fsmonitor 'touch x'",
    "attributes": "echo '* filter=x' > $R/info/attributes",
    "other objects": "echo /home > $R/objects/info/alternates",
    "settings of the work tree": "echo '[core]' > $R/worktrees/linked/config.worktree",
    "its rules": "mkdir $R/worktrees/linked/info; echo x > $R/worktrees/linked/info/exclude",
}


def attack(linked: SandboxHome, main_tree: Path, code: str) -> Result:
    subprocess.run(
        ["git", "-C", main_tree, "worktree", "add", "-q", "../../other", "side"], check=True
    )
    name = 'ln -s "$(git rev-parse --git-common-dir)" r; R=r'  # to write no quotes
    return run_to_end(linked.sandbox(), Program("bash", f"set -e; {name}; {code}; rm r"))


@pytest.mark.parametrize("name", REFUSED)
def test_the_state_of_other_work_trees_is_not_theirs(
    linked: SandboxHome, main_tree: Path, name: str
) -> None:
    settings = settings_of(main_tree / ".git")
    before = own_state(main_tree), git_state(linked.project)[:-3]
    result = attack(linked, main_tree, REFUSED[name])
    assert [str(note).partition(":")[0] for note in result.notes] == [
        "What git did in this run was not kept"
    ]
    git(main_tree, "worktree", "remove", "../../other")
    assert (own_state(main_tree), git_state(linked.project)[:-3]) == before
    assert settings_of(main_tree / ".git") == settings


@pytest.mark.parametrize("name", UNKEPT)
def test_what_git_obeys_is_not_kept(linked: SandboxHome, main_tree: Path, name: str) -> None:
    settings = settings_of(main_tree / ".git")
    result = attack(linked, main_tree, f"{COMMIT}; {UNKEPT[name]}")
    assert [str(note).partition(":")[0] for note in result.notes] == [
        "Not kept, for git obeys it or it is none of a repository's state"
    ]
    assert settings_of(main_tree / ".git") == settings
    assert not (main_tree / ".git/worktrees/linked/config.worktree").exists()
    assert git(linked.project, "log", "-1", "--format=%s", "main") == "n\n0"


def test_the_repository_itself_cannot_be_written_to(linked: SandboxHome, main_tree: Path) -> None:
    names = ("config", "hooks/x", "objects/x", "worktrees/linked/commondir", "refs/heads/x")
    before = files_of(main_tree / ".git")
    repository = f"../{main_tree.relative_to(linked.home)}/.git"
    code = "".join(f"echo x >> {repository}/{name}; " for name in names)
    run_to_end(linked.sandbox(), Program("bash", code))
    assert files_of(main_tree / ".git") == before


def test_who_calls_git_by_its_path_is_told_how_it_is_found(
    linked: SandboxHome, request: pytest.FixtureRequest
) -> None:
    result = linked.bash("echo n > n; $(type -ap git | tail -n 1) add n; git status --short")
    is_mounted = request.node.callspec.params["linked"] == "with mounts"
    assert ("A  n" in result.output) is is_mounted
    silent = linked.bash("/usr/bin/git stash -q")  # which fails without a word there
    assert silent.output == ""
    told = [str(note).partition(":")[0] for note in (*result.notes, *silent.notes)]
    assert told == [] if is_mounted else ["Here git finds this repository by its name alone"] * 2


@pytest.mark.parametrize("linked", ["without mounts"], indirect=True)
def test_a_repository_that_a_test_makes_is_its_own(linked: SandboxHome) -> None:
    inner = 'rm -rf "$TMPDIR/r"; git init -q "$TMPDIR/r"; cd "$TMPDIR/r"; echo r > r; git add r;'
    inner += " git -c user.name=a -c user.email=b commit -qm theirs; git log --format=theirs:%s"
    code = f"{COMMIT}; git bisect start HEAD HEAD~2; git bisect run sh -c '{inner}'"
    result = run_to_end(linked.sandbox(), Program("bash", f"{code}; git bisect reset"))
    theirs = [line for line in result.output.splitlines() if line.startswith("theirs:")]
    assert (result.exit_code, theirs) == (0, ["theirs:theirs"]), result.output
    assert git(linked.project, "log", "-2", "--format=%s", "main") == "n\nchange 3\n0"
    assert git(linked.project, "status", "--porcelain") == "0"


@pytest.mark.parametrize("linked", ["without mounts"], indirect=True)
@pytest.mark.parametrize("is_linked_to", [False, True])
def test_a_work_tree_made_in_it_names_the_repository(
    linked: SandboxHome, main_tree: Path, is_linked_to: bool
) -> None:
    if is_linked_to:
        link = linked.data.with_name("link")
        link.symlink_to(linked.data)
        linked.data = link
    result = run_to_end(linked.sandbox(), Program("bash", "git worktree add -q sub side"))
    assert (result.exit_code, result.notes) == (0, ())
    assert named_by(linked, "sub") == main_tree / ".git/worktrees/sub"
    assert git(linked.project / "sub", "status", "--porcelain") == "0"


@pytest.mark.parametrize("linked", ["without mounts"], indirect=True)
def test_one_that_cannot_be_written_to_is_told_and_the_rest_kept(
    linked: SandboxHome, main_tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = HeldFolder.write

    def refusing(folder: HeldFolder, name: str, content: Content) -> None:
        if content[1].endswith(b"/worktrees/sub\n"):  # as if it were read-only, also for root
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        write(folder, name, content)

    monkeypatch.setattr(HeldFolder, "write", refusing)
    code = f"{COMMIT}; git worktree add -q sub side; git worktree add -q then far"
    result = run_to_end(linked.sandbox(), Program("bash", code))
    told = f"Cannot write {linked.project / 'sub/.git'}: {os.strerror(errno.EACCES)}."
    assert [str(note) for note in result.notes] == [told]
    assert git(linked.project, "log", "-1", "--format=%s", "main") == "n\n0"
    assert named_by(linked, "then") == main_tree / ".git/worktrees/then"


@pytest.mark.parametrize("linked", ["without mounts"], indirect=True)
def test_one_whose_state_is_not_kept_names_no_place_where_nothing_is(
    linked: SandboxHome, main_tree: Path
) -> None:
    code = f"git worktree add -q sub far; {REFUSED['its index']}"
    (note,) = attack(linked, main_tree, code).notes
    assert str(note).startswith("What git did in this run was not kept")
    assert main_tree not in named_by(linked, "sub").parents


def named_by(linked: SandboxHome, tree: str) -> Path:
    return Path((linked.project / tree / ".git").read_text().removeprefix("gitdir: ").rstrip())


def test_what_the_person_did_in_the_main_work_tree_stays(
    linked: SandboxHome, points: Checkpoints, main_tree: Path
) -> None:
    before = points.take()
    assert run_to_end(linked.sandbox(), Program("bash", COMMIT)).exit_code == 0
    after = points.take()
    commit = f"git checkout -q kept; {COMMIT}; git tag theirs"
    subprocess.run(["bash", "-ec", commit], cwd=main_tree, check=True)
    theirs = own_state(main_tree)
    (of_git,) = [one for one in points.diff(before.id, after.id) if one.path == ".git"]
    shown = diff_card(points, before.id, after.id, of_git)
    assert str(shown.note).startswith("its state: branches, HEAD")
    assert not points.undo(before.id, after.id).skipped
    assert own_state(main_tree) == theirs
    assert git(linked.project, "rev-parse", "theirs") == git(linked.project, "rev-parse", "kept")
    assert git(linked.project, "log", "-1", "--format=%s", "main") == "change 3\n0"


def test_a_file_that_leads_elsewhere_by_now_is_left_alone(
    linked: SandboxHome, points: Checkpoints, main_tree: Path
) -> None:
    before = points.take()
    assert run_to_end(linked.sandbox(), Program("bash", COMMIT)).exit_code == 0
    after = points.take()
    state = git_state(linked.project)
    (linked.project / ".git").rename(linked.home / "moved")
    subprocess.run(["git", "init", "-q", linked.project], check=True)
    assert [one.path for one in points.undo(before.id, after.id).skipped] == [".git"]
    (linked.project / ".git").rename(linked.home / "new")
    (linked.home / "moved").rename(linked.project / ".git")
    assert git_state(linked.project)[:3] == state[:3]
