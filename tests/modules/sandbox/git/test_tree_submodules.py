"""Submodules of linked work trees: what git obeys in them is the person's, and so are others'."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.git import submodules
from modules.sandbox.git.alternates import Alternates
from modules.sandbox.git.work_trees import WorkTrees
from tests.modules.sandbox.git.test_stand_in import (
    COMMAND,
    ID,
    REFUSED_IN_SUBMODULE,
    UNKEPT_IN_SUBMODULE,
    attack,
    home,
    person,
    repository,
    submodule,
)
from tests.modules.sandbox.sandbox_home import SandboxHome

__all__ = ["home", "submodule"]

pytestmark = pytest.mark.as_root

MODULES = ".git/worktrees/tree/modules"
LIB = f"{MODULES}/vendor/lib"
GIT = "git -C tree/vendor/lib"
UNKEPT = UNKEPT_IN_SUBMODULE | {
    "one beside it": f"git init -q ../../other; git -C ../../other config a.b '{COMMAND}'",
    "one of a tree that is not there": "mkdir -p ../../../../x/modules; cd ../../../../x;"
    f" git init -q modules/m; git config -f modules/m/config a.b '{COMMAND}'",
    "the settings of the tree": f"git config -f ../../../config.worktree core.pager '{COMMAND}'",
}
REFUSED = REFUSED_IN_SUBMODULE | {
    "an object of the project": f"(cd ../../../../../..; echo {ID}) > refs/heads/x",
    "all of them": "rm -rf ../../../modules",
    "a link to those of the main one": "cd ../../..; rm -rf modules; ln -s ../../modules modules",
    "another in its place": "rm -rf ../lib; cp -r ../../../../../modules/vendor/lib ..;"
    " rm ../lib/HEAD",
    "where the tree is": "echo /tmp/x/.git > ../../../gitdir",
}


@pytest.fixture
def tree(submodule: SandboxHome) -> SandboxHome:
    """A project with the work tree `tree`, which has the submodule `vendor/lib` of its own."""
    person(submodule, "worktree", "add", "-q", "tree")
    person(submodule, "-C", "tree", "submodule", "--quiet", "update", "--init")
    person(submodule, "-C", "tree/vendor/lib", "switch", "-qC", "main")
    return submodule


def use_submodules(home: SandboxHome) -> None:
    """Do as the person would with their own git, whatever is under way."""
    for folder in ("tree/vendor/lib", "vendor/lib", "tree", "."):
        for line in ("status", "checkout -q main", "commit --allow-empty -qm x", "add .", "gc -q",
                     "log -1 -p", "rebase --continue", "submodule --quiet update"):  # fmt: skip
            person(home, "-C", folder, *line.split(), check=False)


def test_what_git_obeys_is_not_kept(tree: SandboxHome) -> None:
    obeyed, _ = repository(tree)
    for name, code in UNKEPT.items():
        commit = f"{GIT} commit -q --allow-empty -m '{name}'"
        result, canary = attack(tree, f"{commit}; cd {LIB}; {code}")
        assert (name, repository(tree)[0]) == (name, obeyed)
        assert "Not kept" in str(result.notes[0]), (name, result)
        log = person(tree, "-C", "tree/vendor/lib", "log", "-1", "--format=%s")
        assert log == f"{name}\n"
    use_submodules(tree)
    assert not canary.exists()


def test_a_state_that_git_would_not_make_is_not_kept(tree: SandboxHome) -> None:
    for name, code in REFUSED.items():
        before = repository(tree)
        commit = "git commit -q --allow-empty -m whole"  # all or nothing, of the project too
        result, canary = attack(tree, f"{commit}; {GIT} branch -f made; cd {LIB}; {code}")
        assert (name, repository(tree)) == (name, before)
        refusal = "What git did in this run was not kept: "
        assert str(result.notes[0]).startswith(refusal), (name, result)
    assert person(tree, "-C", "tree/vendor/lib", "fsck", "--strict", "--no-dangling") == ""
    use_submodules(tree)
    assert not canary.exists()


def test_what_git_obeys_is_put_back_where_a_run_writes_it(
    tree: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    sandbox = tree.sandbox()
    obeyed, _ = repository(tree)
    for name, code in UNKEPT.items():
        result, canary = attack(tree, f"{GIT} branch -f made; cd {LIB}; {code}")
        now = {path: text for path, text in repository(tree)[0].items() if path in obeyed}
        assert (name, now) == (name, obeyed), result
    use_submodules(tree)
    assert not canary.exists()
    assert sandbox


def test_what_belongs_to_trees_elsewhere_stays(tree: SandboxHome) -> None:
    person(tree, "worktree", "add", "-q", "../outside")
    person(tree, "-C", "../outside", "submodule", "--quiet", "update", "--init")
    before = repository(tree)
    code = (
        "cd .git/worktrees/outside; mkdir -p modules/vendor/lib/refs/heads; cd modules/vendor/lib;"
    )
    result, _ = attack(tree, f"{code} echo x > x; cp ../../../../tree/modules/vendor/lib/HEAD .")
    assert repository(tree) == before
    assert "Not kept" in str(result.notes[0])
    assert tree.bash(f"cat /run/git-modules/worktrees/outside/*; {GIT} commit -qm x --allow-empty")
    assert person(tree, "-C", "tree/vendor/lib", "log", "-1", "--format=%s") == "x\n"


@pytest.mark.parametrize("named", ["loop/.git", "a\0b/.git", "../x/.git", "link/.git", "tree/x"])
def test_a_tree_that_is_said_to_be_where_none_is_has_no_submodules(
    tree: SandboxHome, named: str
) -> None:
    (tree.project / "loop").symlink_to("loop")
    (tree.project / "link").symlink_to("tree")
    gitdir = tree.project / ".git/worktrees/tree/gitdir"
    trees = WorkTrees(tree.project, tree.project / ".git")
    alternates = Alternates(lambda _: False)
    assert trees.submodules(alternates).plain == (
        "modules/vendor/lib/",
        "worktrees/tree/modules/vendor/lib/",
    )
    gitdir.write_text(f"{tree.project}/{named}\n")
    assert trees.submodules(alternates).plain == ("modules/vendor/lib/",)
    assert tree.bash("git status; git -C vendor/lib commit -qm x --allow-empty").notes == ()


def test_a_tree_in_a_circle_of_links_is_refused(tree: SandboxHome) -> None:
    code = "ln -s loop loop; cd .git/worktrees; cp -r tree new; rm -r new/modules;"
    result, _ = attack(tree, f"{code} echo $OLDPWD/loop/.git > new/gitdir")
    assert "is not in the project" in str(result.notes[0])


def test_a_link_for_all_submodules_of_a_tree_is_left_alone(tree: SandboxHome) -> None:
    modules = tree.project / MODULES
    modules.rename(tree.home / "modules")
    modules.symlink_to(tree.home / "modules")
    result = tree.bash("cd tree; git commit -q --allow-empty -m on")
    assert (result.exit_code, result.notes) == (0, ())
    assert person(tree, "-C", "tree", "log", "-1", "--format=%s") == "on\n"
    assert modules.is_symlink()


def test_those_of_a_tree_that_a_run_removes_stay_for_its_undo(tree: SandboxHome) -> None:
    head = tree.project / LIB / "HEAD"
    before = head.read_bytes(), {*(tree.project / LIB).rglob("*")}
    code = f"{GIT} commit -qm x --allow-empty; git worktree remove --force tree"
    result = tree.bash(code)
    assert (result.exit_code, result.notes) == (0, ())
    assert person(tree, "worktree", "list").count("\n") == 1
    assert (head.read_bytes(), {*(tree.project / LIB).rglob("*")}) == before
    assert tree.bash("git worktree add -q tree; git worktree prune").notes == ()
    assert head.exists()


@pytest.mark.parametrize("is_plain", [True, False])
def test_one_that_borrows_objects_of_the_main_one(submodule: SandboxHome, is_plain: bool) -> None:
    lib = submodule.project / ".git/modules/vendor/lib"
    if not is_plain:
        person(submodule, "-C", "vendor/lib", "config", "extensions.x", "y")
    person(submodule, "worktree", "add", "-q", "tree")
    fill = ("submodule", "--quiet", "update", "--init", "--reference", str(lib))
    person(submodule, "-C", "tree", *fill)
    assert str(lib) in (submodule.project / LIB / "objects/info/alternates").read_text()
    for folder in (submodule.project / LIB / "objects").glob("??"):
        shutil.rmtree(folder)  # which a clone of what is on this machine has got all the same
    result = submodule.bash(f"{GIT} switch -qC main; {GIT} commit -qm x --allow-empty; {GIT} fsck")
    assert (result.exit_code, result.notes) == (0, ())
    assert person(submodule, "-C", "tree/vendor/lib", "log", "--format=%s") == "x\ntwo\none\n"


def test_one_of_another_kind_is_read_only(tree: SandboxHome) -> None:
    person(tree, "-C", "tree/vendor/lib", "config", "extensions.x", "y")
    result = tree.bash(f"git status; echo x > {LIB}/x; git commit -qm more --allow-empty")
    assert "Read-only" in result.output
    assert not (tree.project / LIB / "x").exists()
    assert person(tree, "log", "-1", "--format=%s") == "more\n"


def test_where_they_are_too_many_those_of_the_main_one_are_used(
    tree: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submodules, "MAX_SUBMODULES", 1)
    commit = "commit -qm x --allow-empty"
    result = tree.bash(f"git -C vendor/lib {commit}; {GIT} log -1 --format=seen:%s; {GIT} {commit}")
    assert "seen:two" in result.output
    assert result.exit_code
    assert result.notes == ()
    logs = [person(tree, "-C", f"{folder}vendor/lib", "log", "-1", "--format=%s")
            for folder in ("", "tree/")]  # fmt: skip
    assert logs == ["x\n", "two\n"]


class TestLinkedProject:
    """The project is a linked work tree itself: its repository is another folder's."""

    @pytest.fixture(autouse=True)
    def _linked(self, submodule: SandboxHome) -> None:
        self.main = submodule.project
        person(submodule, "worktree", "add", "-q", "../../linked")
        submodule.project = submodule.home / "linked"
        person(submodule, "submodule", "--quiet", "update", "--init")
        person(submodule, "-C", "vendor/lib", "switch", "-qC", "main")
        self.home = submodule
        self.git = self.main / ".git"

    def files(self, folder: Path) -> dict[Path, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in files if "objects" not in path.parts}

    def test_it_changes_its_own_and_not_those_of_the_main_one(self) -> None:
        before = self.files(self.git / "modules")
        commit = "commit -qm x --allow-empty"
        code = f"git -C vendor/lib {commit}; git -C ../work/project/vendor/lib {commit}"
        result = self.home.bash(f"{code}; cd {self.git}/modules/vendor/lib; echo x > refs/heads/x")
        assert "Read-only" in result.output
        assert self.files(self.git / "modules") == before
        assert person(self.home, "-C", "vendor/lib", "log", "-1", "--format=%s") == "x\n"

    def test_what_git_obeys_is_not_kept(self) -> None:
        own = self.git / "worktrees/linked/modules/vendor/lib"
        names = ("config", "info", "hooks", "objects/info")
        before = {path: text for name in names for path, text in self.files(own / name).items()}
        config = (own / "config").read_bytes()
        for name, code in UNKEPT_IN_SUBMODULE.items():
            commit = f"git -C vendor/lib commit -q --allow-empty -m '{name}'"
            result = self.home.bash(f"{commit}; cd {own}; {code.replace('$CANARY', 'x')}; true")
            assert "Not kept" in str(result.notes[0]), (name, result)
            now = {path: text for name in names for path, text in self.files(own / name).items()}
            assert (name, now, (own / "config").read_bytes()) == (name, before, config)
            log = person(self.home, "-C", "vendor/lib", "log", "-1", "--format=%s")
            assert log == f"{name}\n"

    def test_without_mounts_they_are_read_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
        before = self.files(self.git)
        code = "git -C vendor/lib log -1 --format=seen:%s; git -C vendor/lib commit -qm x"
        result = self.home.bash(f"{code} --allow-empty")
        assert "seen:two" in result.output
        assert result.exit_code
        assert self.files(self.git) == before
