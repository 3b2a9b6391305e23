"""No object of git is lost where programs write to the repository itself, whatever they do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.filesystem.held_folder import HeldFolder
from modules.sandbox.git import held_objects
from modules.sandbox.git.held_objects import HeldObjects
from modules.sandbox.git.held_state import UNFINISHED
from modules.sandbox.git.pack_index import pack_ids
from modules.sandbox.git.protection import GitProtection
from modules.sandbox.sandbox import Program, Result, Sandbox
from modules.storage.data_folder import DataFolder
from tests.modules.checkpoints.folders import checkpoints
from tests.modules.sandbox.git.test_protection import killed, started
from tests.modules.sandbox.sandbox_home import ROOT, SandboxHome, run_to_end

pytestmark = pytest.mark.as_root

BASE = """
git checkout -qb main
for n in 1 2 3; do echo "line $n" > f; git add f; git commit -qm "change $n"; done
git branch side HEAD~1; git repack -adq; git checkout -q -b other
for n in 4 5 6; do echo "line $n" > f; git add f; git commit -qm "change $n"; done
echo stashed > f; git stash -q
"""
LOSSES = {
    "all objects": "rm -rf .git/objects",
    "all objects, and a file there": "rm -rf .git/objects; touch .git/objects",
    "a link there": "rm -rf .git/objects; mkdir o; ln -s ../o .git/objects",
    "the packs": "rm -rf .git/objects/pack",
    "the index of a pack": "rm -f .git/objects/pack/*.idx",
    "a locked folder": "rm -rf .git/objects/*/; chmod 0 .git/objects",
    "the branch with all that it alone had": "git checkout -q main; git branch -qD other;"
    " git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now",
    "what is in files, emptied": "chmod -R u+w .git/objects; find .git/objects -type f |"
    " while read -r n; do : > $n; done",
    "what is in files, with its times": "find .git/objects -type f -print0 | xargs -0 chmod u+w;"
    " for n in $(find .git/objects -type f); do touch -r $n t; head -c $(stat -c %s $n) /dev/zero"
    " > new; cat new > $n; touch -r t $n; done; rm -f t new",
    "what is in files, replaced": "for n in $(find .git/objects -type f); do echo x > new;"
    " mv -f new $n; done",
    "packs that lie": "cd .git/objects/pack; for n in *.pack; do i=${n%.pack}.idx; chmod u+w $n;"
    " h=$(head -c 40 /dev/zero | tr '\\0' a); cp $i pack-$h.idx; rm -f $n $i;"
    " echo x > pack-$h.pack; done",
    "refs and HEAD too": "cd .git; rm -rf refs HEAD packed-refs logs index objects",
    "all of the repository": "rm -rf .git",
    "all of it, and a file there": "rm -rf .git; echo 'gitdir: /tmp' > .git",
    "all of it for a new one": "rm -rf .git; git init -q -b new; git -c user.name=a -c"
    " user.email=b commit -qm x --allow-empty",
}


@pytest.fixture(autouse=True)
def _no_mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())


@pytest.fixture
def project(sandbox_home: SandboxHome) -> Path:
    (sandbox_home.home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@b\n")
    bash(sandbox_home.project, BASE)
    return sandbox_home.project


def bash(folder: Path, code: str) -> str:
    command = ["bash", "-ec", code]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def run(sandbox: Sandbox, code: str) -> Result:
    return run_to_end(sandbox, Program("bash", code))


def state_of(project: Path) -> str:
    refs = "git for-each-ref; git symbolic-ref HEAD; git stash list; git reflog --all; git status"
    return bash(project, f"{refs}; git fsck --strict 2>&1 | grep -v ^dangling || true")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def held_of(home: SandboxHome) -> Path:
    return DataFolder(home.data, home.project).git_record.with_suffix(".objects")


@pytest.mark.parametrize("name", LOSSES)
def test_what_a_run_took_away_is_undone_and_redone(
    sandbox_home: SandboxHome, project: Path, name: str
) -> None:
    sandbox, before = sandbox_home.sandbox(), state_of(project)
    config, hooks = (project / ".git/config").read_bytes(), names_in(project / ".git/hooks")
    with checkpoints(project, sandbox_home.data / "store") as points:
        first = points.take().id
        run(sandbox, LOSSES[name])
        after = points.take().id
        undone = points.undo(first, after)
        assert not undone.skipped
        assert state_of(project) == before
        assert not points.undo(undone.before, undone.after).skipped
        points.rewind(first)
    assert state_of(project) == before
    assert (project / ".git/config").read_bytes() == config
    assert names_in(project / ".git/hooks") == hooks
    assert not list(project.glob(f".git*{UNFINISHED}"))


def test_a_repository_that_a_run_removed_is_there_again_at_once_and_told(
    sandbox_home: SandboxHome, project: Path
) -> None:
    before = state_of(project)
    (note,) = run(sandbox_home.sandbox(), "rm -rf .git").notes
    assert str(note) == "The run moved or replaced .git, which git obeys; put back."
    assert state_of(project) == before


def test_new_commits_are_kept_through_a_loss_and_the_next_run(
    sandbox_home: SandboxHome, project: Path
) -> None:
    sandbox = sandbox_home.sandbox()
    identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a"
    make = f"{identity} GIT_COMMITTER_EMAIL=a; echo n > f; git commit -qam new"
    assert run(sandbox, make).exit_code == 0
    before = state_of(project)
    assert "missing" not in before
    run(sandbox, "rm -rf .git/objects")
    run(sandbox, "rm -rf .git/objects")
    assert state_of(project) == before


def test_what_git_packed_anew_does_not_come_back_beside_that(
    sandbox_home: SandboxHome, project: Path
) -> None:
    run(sandbox_home.sandbox(), "git repack -adfq; git gc -q")
    files = [path for path in (project / ".git/objects").rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} <= {"pack", "info"}
    assert len(list((project / ".git/objects/pack").glob("*.pack"))) == 1
    assert "missing" not in state_of(project)


def test_a_submodule_and_contents_of_lfs_are_held_too(
    sandbox_home: SandboxHome, project: Path
) -> None:
    bash(project, f"git clone -q . ../lib; git -c protocol.file.allow=always submodule --quiet add"
                  f" {project.parent}/lib lib; git commit -qam lib")  # fmt: skip
    content = project / ".git/lfs/objects/ab/cd" / ("abcd" + "0" * 60)
    content.parent.mkdir(parents=True)
    content.write_text("large")
    before = state_of(project), state_of(project / "lib")
    sandbox = sandbox_home.sandbox()
    for code in ("rm -rf .git/modules/lib/objects .git/lfs", "rm -rf .git/modules", "rm -rf .git"):
        run(sandbox, code)
        assert (state_of(project), state_of(project / "lib")) == before
        assert content.read_text() == "large"


def test_a_repository_inside_goes_with_its_folder_and_its_objects_stay_else(
    sandbox_home: SandboxHome, project: Path
) -> None:
    bash(project, "git clone -q . inner; git clone -q . gone")
    sandbox = sandbox_home.sandbox()
    sandbox.protect(["inner/.git", "gone/.git"])
    before = state_of(project / "inner")
    run(sandbox, "rm -rf inner/.git/objects gone")
    assert state_of(project / "inner") == before
    assert not (project / "gone").exists()


def test_after_a_kill_it_is_put_back_at_the_next_start(
    sandbox_home: SandboxHome, project: Path
) -> None:
    before = state_of(project)
    for loss in ("rm -rf .git/objects/*", "rm -rf .git"):
        killed(sandbox_home, loss)
        assert held_of(sandbox_home).exists()
        started(sandbox_home)
        assert state_of(project) == before


@pytest.mark.parametrize("has_links", [True, False])
def test_large_packs_have_a_second_name_or_where_none_can_be_are_told_when_lost(
    sandbox_home: SandboxHome, project: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    for name in ("_COPIED", "_MAX_COPIED"):
        monkeypatch.setattr(held_objects, name, 0)
    monkeypatch.setattr(held_objects, "reflink", lambda *_: False)
    if not has_links:
        monkeypatch.setattr(HeldFolder, "give_name", _refuse)
    before = state_of(project)
    (pack,) = (project / ".git/objects/pack").glob("*.pack")
    inode = pack.stat().st_ino
    result = run(sandbox_home.sandbox(), "rm -rf .git/objects/pack")
    if has_links:
        assert result.notes == ()
        assert state_of(project) == before
        assert pack.stat().st_ino == inode
    else:
        (note,) = result.notes
        assert str(note).startswith("Objects of git that the run removed could not be held")
        assert f"objects/pack/{pack.name}" in str(note)


def _refuse(*_: object) -> None:
    raise OSError


def test_nothing_of_it_stays_when_onefold_ends(sandbox_home: SandboxHome, project: Path) -> None:
    record = DataFolder(sandbox_home.data, project).git_record
    code = (
        "import sys\nfrom pathlib import Path\nfrom modules.sandbox.backends import selftest\n"
        "from modules.sandbox.sandbox import Program, Sandbox\n"
        "from tests.modules.sandbox.sandbox_home import run_to_end\n"
        "selftest.BWRAP_PATHS = ()\nproject, data, record = map(Path, sys.argv[1:])\n"
        "box = Sandbox(project, hidden=[data], cache_folder=data, git_record=record)\n"
        "run_to_end(box, Program('bash', 'true'))\n"
        "print(len(list(record.with_suffix('.objects').rglob('*'))) > 10)\n"
    )
    places = [*map(str, (project, sandbox_home.data, record))]
    command = [sys.executable, "-c", code, *places]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert said == "True\n"
    assert not held_of(sandbox_home).exists()


def test_a_run_with_mounts_holds_nothing(
    sandbox_home: SandboxHome, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    run(sandbox_home.sandbox(), "rm -rf .git/objects")
    assert not held_of(sandbox_home).exists()


def test_commits_bear_the_name_of_the_person_and_other_repositories_their_own(
    sandbox_home: SandboxHome, project: Path
) -> None:
    code = (
        "echo n > f; git commit -qam new; git log -1 --format='%an <%ae>'; git init -q own; cd own;"
        " git config user.name Other; git config user.email o@p; touch f; git add f;"
        " git commit -qm own; git log -1 --format='%an <%ae>'"
    )
    assert run(sandbox_home.sandbox(), code).output == "A <a@b>\nOther <o@p>\n"


def test_files_in_lfs_are_committed_and_undone_there_too(
    sandbox_home: SandboxHome, project: Path
) -> None:
    (project / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    bash(project, "git add .; git commit -qm attributes")
    before = state_of(project)
    with checkpoints(project, sandbox_home.data / "store") as points:
        first = points.take().id
        result = run(sandbox_home.sandbox(), "echo large > a.bin; git add a.bin; git commit -qm a")
        assert result.exit_code == 0, result.output
        after = state_of(project)
        pointer = bash(project, "git cat-file -p HEAD:a.bin")
        assert pointer.startswith("version https://git-lfs.github.com/spec/v1\noid sha256:")
        undone = points.undo(first, points.take().id)
        assert state_of(project) == before
        points.undo(undone.before, undone.after)
        assert (project / "a.bin").read_text() == "large\n"
    assert state_of(project).splitlines()[:5] == after.splitlines()[:5]


def held_protection(home: SandboxHome, project: Path) -> GitProtection:
    return GitProtection(project, None, HeldObjects(project, home.data / "held"))


def test_what_one_run_leaves_is_no_truth_for_another_that_begins_meanwhile(
    sandbox_home: SandboxHome, project: Path
) -> None:
    kept, before = held_protection(sandbox_home, project), state_of(project)
    git = project / ".git"
    kept.begin([git], [git])
    bash(project, "cd .git/objects; chmod u+w pack/*; for n in pack/*.pack; do"
                  " h=$(head -c 40 /dev/zero | tr '\\0' a); cp ${n%.pack}.idx pack/pack-$h.idx;"
                  " echo x > pack/pack-$h.pack; done; echo x > info/commit-graph")  # fmt: skip
    kept.begin([git], [git])
    bash(project, f"cd .git/objects/pack; find . -type f ! -name '*{'a' * 40}*' -delete")
    kept.end()
    kept.end()
    assert state_of(project) == before
    assert not (git / "objects/info/commit-graph").exists()
    assert not list((git / "objects/pack").glob(f"*{'a' * 40}*"))


def test_a_whole_pack_that_one_run_makes_is_held_for_another_that_begins_meanwhile(
    sandbox_home: SandboxHome, project: Path
) -> None:
    kept = held_protection(sandbox_home, project)
    git = project / ".git"
    kept.begin([git], [git])
    bash(project, "echo new > f; git commit -qam new; git repack -adfq")
    before = state_of(project)
    kept.begin([git], [git])
    bash(project, "rm -rf .git/objects/pack")
    kept.end()
    kept.end()
    assert state_of(project) == before


def test_a_folder_that_a_run_made_read_only_keeps_nothing_from_being_put_in_order(
    sandbox_home: SandboxHome, project: Path
) -> None:
    kept, before = held_protection(sandbox_home, project), state_of(project)
    git = project / ".git"
    kept.begin([git], [git])
    bash(project, "cd .git/objects; mkdir -p info; echo x > info/commit-graph; chmod a-w info pack")
    kept.end()
    assert state_of(project) == before
    assert not (git / "objects/info/commit-graph").exists()


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_names_of_another_length_are_not_taken_for_objects(tmp_path: Path, kind: str) -> None:
    bash(tmp_path, f"git init -q --object-format={kind}; git config user.name a;"
                   " git config user.email b; for n in 1 2 3; do echo $n > f; git add f;"
                   " git commit -qm $n; done; git repack -adq")  # fmt: skip
    (index,) = (tmp_path / ".git/objects/pack").glob("*.idx")
    named = bash(tmp_path, "git rev-list --all --objects | cut -d ' ' -f 1").split()
    with index.open("rb") as file:
        ids = pack_ids(file, 100)
    assert {one.hex() for one in ids} == (set(named) if kind == "sha1" else set())


@pytest.mark.timeout(60)
def test_a_pipe_that_another_run_puts_in_the_place_of_an_index_is_not_waited_at(
    sandbox_home: SandboxHome, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = HeldObjects(project, sandbox_home.data / "held")
    git = project / ".git"
    kept.hold([git], is_first=True)
    before = state_of(project)
    bash(project, "git repack -adfq; rm -f .git/objects/*/??????????????????????????????????????")

    looks: list[str] = []

    def whole(_: HeldObjects, index: str) -> bool:
        looks.append(index)
        if looks.count(index) == 2:  # the last look before it is read
            (project / index).unlink()
            os.mkfifo(project / index)
        return True

    monkeypatch.setattr(HeldObjects, "_is_whole", whole)
    kept.put_back()
    assert looks
    bash(project, "find .git/objects/pack -type p -delete")
    assert state_of(project) == before


@pytest.mark.parametrize("is_all", [False, True])
def test_what_is_held_no_more_is_told_and_the_rest_is_put_back(
    sandbox_home: SandboxHome, project: Path, is_all: bool
) -> None:
    kept, folder = held_protection(sandbox_home, project), sandbox_home.data / "held"
    git = project / ".git"
    kept.begin([git], [git])
    copies = sorted(path for path in (folder / "objects").rglob("*") if path.is_file())
    names = [path.relative_to(folder / "objects").as_posix() for path in copies]
    if is_all:
        shutil.rmtree(folder)
    else:
        copies[0].unlink()
    bash(project, "rm -rf .git/objects/*")
    restored = kept.end()
    assert restored.objects == tuple(names if is_all else names[:1])
    assert [name for name in names if not (project / name).exists()] == [*restored.objects]


def test_a_branch_may_get_the_name_of_a_folder_of_branches_between_two_runs(
    sandbox_home: SandboxHome, project: Path
) -> None:
    kept, git = held_protection(sandbox_home, project), project / ".git"
    bash(project, "git branch one/two")
    kept.begin([git], [git])
    kept.end()
    bash(project, "git branch -qD one/two; git branch one")
    before = state_of(project)
    kept.begin([git], [git])
    bash(project, "rm -rf .git")
    assert kept.end().lost == ()
    assert state_of(project) == before
