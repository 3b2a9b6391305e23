"""What git did in a run is taken back and brought again exactly, whatever it was."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.snapshot.diff import git_contents
from modules.checkpoints.store.gc import reachable
from modules.checkpoints.undo.undo_results import UndoResult
from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program
from tests.campaign import seeded
from tests.modules.checkpoints.folders import checkpoints
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process, run_to_end

BASE = """
git checkout -qb main
for n in 1 2 3; do echo "line $n" > f; echo $n > "g$n"; git add .; git commit -qm "change $n"; done
git checkout -qb side HEAD~1; echo other > f; git commit -qam "side 1"
echo s > s; git add s; git commit -qm "side 2"
git checkout -qb far HEAD~2; echo far > far; git add far; git commit -qm far
git tag -a v1 -m v1 main; git tag light side; git notes add -m note main
git pack-refs --all; git checkout -q main; git branch loose
echo stashed >> f; git stash -q
"""
SUBMODULES = """
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
base=$PWD-bases; mkdir "$base"
for n in inner lib; do
  git init -q "$base/$n" -b main; cd "$base/$n"; echo $n > $n; git add .; git commit -qm $n
done
git submodule --quiet add ../inner deep/in; git commit -qm "with inner"; git branch side HEAD~1
cd "$OLDPWD"; cd "${base%-bases}"
git submodule --quiet add "$base/lib" vendor/lib
git submodule --quiet update --init --recursive; git commit -qm submodule
for f in vendor/lib vendor/lib/deep/in; do git -C $f switch -qC main; done
git -C vendor/lib branch --no-track side origin/side
"""
POINTER = "version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 12\\n"
LFS = (
    "echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes;"
    f" printf '{POINTER}' 7 > a.bin"
)

COMMIT = "echo n > n; git add n; git commit -qm n"
SUBMODULE_SEQUENCES = {
    "a commit": f"cd vendor/lib; {COMMIT}",
    "commits of all three": f"cd vendor/lib/deep/in; {COMMIT}; cd ../..; git add deep;"
    " git commit -qm deep; cd ../..; git add vendor; git commit -qm vendor",
    "what is recorded": f"cd vendor/lib; {COMMIT}; cd ../..; git submodule update",
    "branches and a stash": "cd vendor/lib; git branch -q -D side; git branch new; git tag t;"
    " git pack-refs --all; echo x > lib; git stash -q; git checkout -q --detach HEAD~1",
    "a merge that stops": f"cd vendor/lib/deep/in; git switch -qc other; {COMMIT};"
    " git switch -q main; echo m > n; git add n; git commit -qm m; git merge other || true",
    "a rebase that stops": f"cd vendor/lib; {COMMIT}; git branch b; git reset -q --hard HEAD~1;"
    " echo m > n; git add n; git commit -qm m; git rebase b || true",
    "with the branch": f"git switch -qc t; cd vendor/lib; {COMMIT}; cd ../..; git commit -qam v;"
    " git checkout -q --recurse-submodules main; git submodule foreach -q git status",
    "one more": "git clone -q --bare vendor/lib made.git; git -c protocol.file.allow=always"
    " submodule --quiet add $PWD/made.git vendor/more; git commit -qm more;"
    " git -C vendor/more -c user.name=Bea -c user.email=b@c commit -q --allow-empty -m n",
    "one given up": "git submodule --quiet deinit -f vendor/lib; git rm -q vendor/lib",
}
"""Those in `vendor/lib` and the submodule of that."""
TOLD_IN_C = ("one more", "one given up")  # what `.git/config` says of submodules is not kept there

STOPPED_REBASE = "git checkout -q side; git rebase main || true"

SEQUENCES = {
    "add": "echo n > n; git add n; echo m >> f",
    "commit": "echo n > n; git add n; git commit -qm n",
    "amend": "echo n >> f; git commit -qa --amend -m other",
    "commit in parts": "echo n > n; echo m > m; git add -N m; git add n; git commit -qm n",
    "stash": "echo n >> f; echo u > u; git stash -qu",
    "pop": "git stash pop -q",
    "drop": "git stash drop -q",
    "three stashes": "for n in 1 2 3; do echo $n > f; git stash -q; done;"
    " git stash drop -q 'stash@{1}'",
    "branch": "git branch new; git branch -m loose other; git branch -D far",
    "packed branches": "git branch -D side far; git tag -d v1; git pack-refs --all --prune",
    "a folder of branches": "git branch -D loose; git branch loose/a; git branch loose/b",
    "checkout": "git checkout -q side",
    "switch": "git switch -qc topic; echo t > t; git add t; git commit -qm t; git switch -q main",
    "a detached HEAD": "git checkout -q main~1; echo d > d; git add d; git commit -qm d",
    "an orphan": "git checkout -q --orphan new; git rm -rqf .; echo o > o; git add o;"
    " git commit -qm o",
    "merge": "git merge -q far",
    "fast forward": "git checkout -q loose; git commit -qm e --allow-empty; git checkout -q main;"
    " git merge -q loose",
    "a merge that stops": "git merge side || true",
    "a merge ended": "git merge side || true; echo both > f; git add f; git commit -qm both",
    "a merge given up": "git merge side || true; git merge --abort",
    "squash": "git merge -q --squash far",
    "rebase": "git checkout -q far; git rebase -q main",
    "a rebase that stops": STOPPED_REBASE,
    "a rebase ended": f"{STOPPED_REBASE}; echo both > f; git add f; git rebase --continue",
    "a rebase given up": f"{STOPPED_REBASE}; git rebase --abort",
    "a rebase by hand": "git checkout -q far;"
    " GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i main",
    "a rebase by patches": "git checkout -q side; git rebase --apply main || true",
    "cherry-pick": "git cherry-pick far",
    "a cherry-pick that stops": "git cherry-pick side~1 side || true",
    "revert": "git revert --no-edit HEAD",
    "reset": "git reset -q --hard HEAD~2",
    "a soft reset": "git reset -q --soft HEAD~1; git reset -q HEAD g1",
    "tag": "git tag t; git tag -a u -m u; git tag -d light; git tag -f v1 far",
    "notes": "git notes add -f -m other main; git notes add -m n side",
    "worktree": "git worktree add -q tree side; cd tree; echo w > w; git add w; git commit -qm w",
    "a worktree gone": "git worktree add -q tree -b new; git worktree remove tree",
    "a worktree in a rebase": "git worktree add -q tree side; cd tree; git rebase main || true",
    "bisect": "git bisect start HEAD HEAD~2; git bisect good",
    "mv and rm": "git mv f h; git rm -q g1; git commit -qm moved",
    "restore": "echo x > f; git add f; git restore --staged f; git restore f;"
    " git rm -q --cached g2",
    "reflog": "git reset -q --hard HEAD~1; git reset -q --hard 'HEAD@{1}';"
    " git reflog expire --expire=now --all",
    "symbolic ref": "git symbolic-ref refs/heads/alias refs/heads/main;"
    " git update-ref refs/x/y HEAD",
    "repack": "echo n > n; git add n; git commit -qm n; git repack -adqn; git prune",
    "prune in a merge": "git merge side || true; git repack -adqn; git prune",
    "flags": "git update-index --assume-unchanged g1; git update-index --skip-worktree g2",
}  # fmt: skip

MORE_SEQUENCES = {
    "a worktree moved": "git worktree add -q tree side; git worktree move tree other;"
    " git worktree lock other",
    "a worktree without a branch": "git worktree add -q --detach tree HEAD~1; cd tree;"
    " git switch -qc made; echo m > m; git add m; git commit -qm m; git merge -q far",
    "a worktree with a stopped cherry-pick": "git worktree add -q tree far; cd tree;"
    " git cherry-pick side~1 || true",
    "two worktrees": "git worktree add -q one side; git worktree add -q two far;"
    " git worktree remove one; git worktree prune",
    "a worktree that bisects": "git worktree add -q tree main~0 --detach; cd tree;"
    " git bisect start HEAD HEAD~2",
    "pointers of LFS": f"{LFS}; git add .; git commit -qm lfs; printf '{POINTER}' 8 > a.bin;"
    " git add a.bin; git stash -q; git stash pop -q --index",
    "pointers of LFS merged": f"{LFS}; git add .; git commit -qm lfs; git checkout -q far;"
    " git merge -q main; git rebase -q main",
    "patches": "git format-patch -q -1 far; git am -q *.patch; rm *.patch",
    "a patch that stops": "git format-patch -q -1 side~1; git am *.patch || true; rm *.patch",
    "fixups": "echo x >> f; git commit -qam fix --fixup HEAD~1;"
    " GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash HEAD~3 || true",
    "two reverts": "git revert --no-edit HEAD HEAD~1 || true; git revert --quit || true",
    "an octopus": "git checkout -q far; git merge -q light~2 loose~2 || true; git branch o",
    "rebase onto": "git rebase -q --onto far main~1 main",
    "rebase with an autostash": "echo x >> g1; git rebase -q --autostash far",
    "a subtree": "git read-tree --prefix=sub/ -u far; git commit -qm sub",
    "sparse files": "git update-index --skip-worktree g1; rm g1; git commit -q --allow-empty -m s",
}
"""Those of which a run of the tests tries a few, and a campaign all."""


@pytest.fixture(params=["A", "C"])
def sandbox_home(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SandboxHome]:
    if request.param == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    with home_of_process(tmp_path) as home:
        (home.home / ".gitconfig").write_text(
            "[user]\n\tname = Ann O'Neill\n\temail = ann@example.org\n[safe]\n\tdirectory = *\n"
        )
        subprocess.run(["bash", "-ec", BASE], cwd=home.project, check=True, capture_output=True)
        yield home


@pytest.fixture
def points(sandbox_home: SandboxHome) -> Iterator[Checkpoints]:
    with checkpoints(sandbox_home.project, sandbox_home.data / "store") as store:
        yield store


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return f"{answer.stdout}{answer.returncode}"


QUESTIONS = (
    "for-each-ref --format=%(refname)%(objectname)%(symref)", "symbolic-ref -q HEAD",
    "rev-parse HEAD", "ls-files --stage -v", "status --porcelain --branch", "stash list",
    "reflog --all", "worktree list --porcelain", "status",
)  # fmt: skip


def git_state(project: Path) -> list[str]:
    """Return what git says of the state of *project*, and of a work tree in it."""
    trees = [project, *(path.parent for path in sorted(project.rglob("*/.git")))]
    return [git(tree, *question.split()) for tree in trees for question in QUESTIONS]


def files_of(project: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(project)): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(project).parts[:1]
    }


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_of_git_is_undone_and_redone(
    sandbox_home: SandboxHome, points: Checkpoints, name: str
) -> None:
    do_undo_and_redo(sandbox_home, points, SEQUENCES[name])


@seeded(4)
def test_another_sequence_of_git_is_undone_and_redone(
    sandbox_home: SandboxHome, points: Checkpoints, seed: int
) -> None:
    do_undo_and_redo(
        sandbox_home, points, list(MORE_SEQUENCES.values())[seed % len(MORE_SEQUENCES)]
    )


@pytest.mark.parametrize("name", SUBMODULE_SEQUENCES)
def test_a_sequence_of_git_in_submodules_is_undone_and_redone(
    sandbox_home: SandboxHome, points: Checkpoints, name: str
) -> None:
    project = sandbox_home.project
    subprocess.run(["bash", "-ec", SUBMODULES], cwd=project, check=True, capture_output=True)
    sequence, may_tell = SUBMODULE_SEQUENCES[name], name in TOLD_IN_C
    do_undo_and_redo(sandbox_home, points, sequence, may_tell=may_tell)
    assert git(project, "submodule", "foreach", "--recursive", "git fsck --strict")[-1] == "0"
    repository = project / ".git/modules/vendor/lib"
    assert not [*repository.rglob("*.lock"), *repository.rglob("*.new")]


def test_a_submodule_that_came_meanwhile_stays(
    sandbox_home: SandboxHome, points: Checkpoints
) -> None:
    project, before = sandbox_home.project, points.take()
    subprocess.run(["bash", "-ec", SUBMODULES], cwd=project, check=True, capture_output=True)
    head = project / ".git/modules/vendor/lib/HEAD"
    assert not points.undo(before.id, points.take().id).skipped
    assert git(project, "rev-parse", "HEAD") == git(project, "rev-parse", "main")
    assert head.read_text() == "ref: refs/heads/main\n"


def do_undo_and_redo(
    sandbox_home: SandboxHome, points: Checkpoints, sequence: str, *, may_tell: bool = False
) -> None:
    project, sandbox = sandbox_home.project, sandbox_home.sandbox()
    before, state_before, files_before = points.take(), git_state(project), files_of(project)
    result = run_to_end(sandbox, Program("bash", f"set -e; {sequence}"))
    after, state_after, files_after = points.take(), git_state(project), files_of(project)
    assert result.exit_code == 0, result.output
    assert may_tell or not result.notes
    assert state_after != state_before
    assert "error" not in git(project, "fsck", "--strict", "--no-dangling")
    undone = points.undo(before.id, after.id)
    assert not undone.skipped
    assert (git_state(project), files_of(project)) == (state_before, files_before)
    assert git(project, "fsck", "--strict", "--no-dangling") == "0"
    redone = points.undo(undone.before, undone.after)
    assert not redone.skipped
    assert (git_state(project), files_of(project)) == (state_after, files_after)
    points.rewind(before.id)
    assert (git_state(project), files_of(project)) == (state_before, files_before)


class TestThePersonWentOn:
    """What a call did to git, when the person's own git has been at work since."""

    @pytest.fixture(autouse=True)
    def _call(self, sandbox_home: SandboxHome, points: Checkpoints) -> None:
        self.project, self.points = sandbox_home.project, points
        self.before = points.take()
        code = "git checkout -q side; echo n > n; git add n; git commit -qm n"
        assert run_to_end(sandbox_home.sandbox(), Program("bash", code)).exit_code == 0
        self.after = points.take()

    def undo(self) -> UndoResult:
        return self.points.undo(self.before.id, self.after.id)

    def test_on_the_same_branch_git_stays_and_the_files_go_back(self) -> None:
        git(self.project, "commit", "-q", "--allow-empty", "-m", "theirs")
        state = git_state(self.project)[:3]
        (skipped,) = self.undo().skipped
        why = "branches, HEAD and index were kept: changed since (.git/"
        assert str(skipped.why).startswith(why)
        assert git_state(self.project)[:3] == state
        assert not (self.project / "n").exists()

    def test_on_another_branch_both_are_as_they_should(self) -> None:
        git(self.project, "branch", "theirs")
        git(self.project, "status")
        assert self.undo().skipped == ()
        assert git(self.project, "symbolic-ref", "HEAD") == "refs/heads/main\n0"
        assert git(self.project, "log", "-1", "--format=%s", "theirs") == "n\n0"

    def test_refs_that_were_packed_meanwhile_are_the_same_refs(self) -> None:
        git(self.project, "pack-refs", "--all", "--prune")
        assert self.undo().skipped == ()
        assert git(self.project, "log", "-1", "--format=%s", "side") == "side 2\n0"

    def test_a_lock_of_theirs_is_obeyed_and_the_undo_can_be_tried_again(self) -> None:
        lock = self.project / ".git/HEAD.lock"
        lock.touch()
        (skipped,) = self.undo().skipped
        assert skipped.is_passing
        assert lock.exists()
        lock.unlink()
        assert self.undo().skipped == ()

    def test_commits_that_git_removed_do_not_come_back_as_names(self) -> None:
        undone = self.undo()
        git(self.project, "reflog", "expire", "--expire=now", "--all")
        git(self.project, "gc", "-q", "--prune=now")
        state = git_state(self.project)[:3]
        (skipped,) = self.points.undo(undone.before, undone.after).skipped
        assert skipped.path == ".git"
        assert git_state(self.project)[:3] == state
        assert git(self.project, "fsck", "--strict", "--no-dangling") == "0"

    def test_another_repository_in_its_place_is_left_alone(self) -> None:
        shutil.rmtree(self.project / ".git")
        git(self.project, "init", "-q")
        self.undo()
        assert git(self.project, "for-each-ref") == "0"


def test_what_git_did_is_whole_after_garbage_was_collected(
    sandbox_home: SandboxHome, points: Checkpoints
) -> None:
    before, state = points.take(), git_state(sandbox_home.project)
    run_to_end(sandbox_home.sandbox(), Program("bash", SEQUENCES["commit"]))
    after = points.take()
    used = reachable(points.objects, [points.root_of(before.id)])
    repository = points.entry_at(before.id, ".git")
    assert repository is not None
    contents = git_contents(points.objects, repository)
    assert {"HEAD", "index", "packed-refs", "logs/HEAD"} <= contents.keys()
    assert {bytes.fromhex(content) for content in contents.values()} <= used
    assert points.undo(before.id, after.id).skipped == ()
    assert git_state(sandbox_home.project) == state


@pytest.mark.parametrize("name", ["refs/heads/../../config", "refs/x/../../../../../outside"])
def test_a_ref_that_leads_elsewhere_is_followed_nowhere(
    sandbox_home: SandboxHome, points: Checkpoints, name: str
) -> None:
    """Where a program writes to `.git` itself, undo meets whatever it left there."""
    project = sandbox_home.project
    outside = sandbox_home.home / "outside"
    head = git(project, "rev-parse", "HEAD")[:40]
    outside.write_text(head)
    (project / ".git/refs/x").mkdir()
    before = points.take()
    with (project / ".git/packed-refs").open("a") as file:
        file.write(f"{head} {name}\n")
    after = points.take()
    config = (project / ".git/config").read_bytes()
    undone = points.undo(before.id, after.id)
    assert [one.path for one in undone.skipped] == [".git"]
    points.undo(undone.before, undone.after)
    assert (project / ".git/config").read_bytes() == config
    assert outside.read_text() == head
