"""Submodules of linked work trees are used as any, and undo takes them back exactly."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program
from tests.modules.checkpoints.folders import checkpoints
from tests.modules.checkpoints.test_git_state import (
    BASE,
    COMMIT,
    SUBMODULE_SEQUENCES,
    SUBMODULES,
    TOLD_IN_C,
    do_undo_and_redo,
    git,
)
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process, run_to_end

FILLED = "git -c protocol.file.allow=always submodule --quiet update --init --recursive"
WITH_TREE = (
    f"{SUBMODULES}git worktree add -q tree -b topic; cd tree; {FILLED};"
    " for f in vendor/lib vendor/lib/deep/in; do git -C $f switch -qC main; done;"
    " git -C vendor/lib branch --no-track side origin/side"
)
LINKED = "git checkout -q --detach; git worktree add -q ../../linked main; cd ../../linked"
SEQUENCES = SUBMODULE_SEQUENCES | {
    "filled again": f"rm -rf vendor/lib; {FILLED}; cd vendor/lib; git switch -qC main; {COMMIT}",
    "with the branch": SUBMODULE_SEQUENCES["with the branch"].replace(" main;", " -;"),
    "moved on with the branch": f"cd vendor/lib; {COMMIT}; cd ../..; git add vendor;"
    " git commit -qm v; git switch -qc back HEAD~1; git submodule --quiet update --recursive",
}
KINDS = {"a tree in the project": "A", "a tree in the project, C": "C", "a linked project": "A"}


@dataclass
class Tree:
    """The linked work tree *path*; the repositories of its submodules lie in *modules*."""

    home: SandboxHome
    path: Path
    modules: Path

    def does(self, code: str) -> str:
        """Return what sandboxed *code* in the tree prints, to be taken over without a note."""
        inside = self.path.relative_to(self.home.project)
        result = run_to_end(self.home.sandbox(), Program("bash", f"set -e; cd {inside}; {code}"))
        assert (result.exit_code, result.notes) == (0, ()), (result.output, result.notes)
        return result.output


@pytest.fixture(params=KINDS)
def tree(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Tree]:
    if KINDS[request.param] == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    with home_of_process(tmp_path) as home:
        (home.home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
        is_linked = request.param == "a linked project"
        main, code = home.project, f"{BASE}{LINKED}{SUBMODULES}" if is_linked else BASE + WITH_TREE
        subprocess.run(["bash", "-ec", code], cwd=main, check=True, capture_output=True)
        if is_linked:
            home.project = home.home / "linked"
        path = home.project if is_linked else main / "tree"
        yield Tree(home, path, main / f".git/worktrees/{path.name}/modules")


@pytest.fixture
def points(tree: Tree) -> Iterator[Checkpoints]:
    with checkpoints(tree.home.project, tree.home.data / "store") as store:
        yield store


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_is_undone_and_redone(tree: Tree, points: Checkpoints, name: str) -> None:
    inside = tree.path.relative_to(tree.home.project)
    sequence, may_tell = f"cd {inside}; {SEQUENCES[name]}", name in TOLD_IN_C
    do_undo_and_redo(tree.home, points, sequence, may_tell=may_tell)
    fsck = "git fsck --strict --no-dangling"
    for folder in (tree.home.project, tree.path):
        assert git(folder, "submodule", "foreach", "--quiet", "--recursive", fsck) == "0"
    assert not [*tree.modules.rglob("*.lock"), *tree.modules.rglob("*.new")]


@pytest.mark.parametrize("tree", list(KINDS)[:2], indirect=True)
def test_a_tree_that_was_removed_comes_back_with_its_submodules(
    tree: Tree, points: Checkpoints
) -> None:
    do_undo_and_redo(tree.home, points, "git worktree remove --force tree", may_tell=True)
    assert git(tree.path, "submodule", "foreach", "--quiet", "--recursive", "git fsck") == "0"


def test_what_git_has_pruned_does_not_come_back_as_names(tree: Tree, points: Checkpoints) -> None:
    before = points.take()
    tree.does(f"cd vendor/lib; git switch -q side; {COMMIT}")
    after = points.take()
    undone = points.undo(before.id, after.id)
    assert not undone.skipped
    lib = tree.path / "vendor/lib"
    git(lib, "reflog", "expire", "--expire=now", "--all")
    git(lib, "gc", "-q", "--prune=now")
    (skipped,) = points.undo(undone.before, undone.after).skipped
    assert skipped.path == ".git"
    assert git(lib, "fsck", "--strict", "--no-dangling") == "0"
    shutil.rmtree(tree.modules)
    assert [one.path for one in points.undo(before.id, after.id).skipped] == [".git"]


def test_what_the_person_did_in_one_meanwhile_is_left(tree: Tree, points: Checkpoints) -> None:
    before = points.take()
    tree.does(f"cd vendor/lib; {COMMIT}")
    after = points.take()
    lib = tree.path / "vendor/lib"
    git(lib, "commit", "-q", "--allow-empty", "-m", "theirs")
    (skipped,) = points.undo(before.id, after.id).skipped
    assert "branches, HEAD and index were kept" in str(skipped.why)
    assert git(lib, "log", "-1", "--format=%s") == "theirs\n0"
