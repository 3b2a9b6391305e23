"""Programs use git in a sparse checkout, whose work tree has settings of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.modules.checkpoints.folders import checkpoints
from tests.modules.sandbox.git.test_stand_in import COMMAND, attack, home, person, use_git
from tests.modules.sandbox.sandbox_home import SandboxHome

__all__ = ["home"]
pytestmark = pytest.mark.as_root
SETTINGS = ".git/config.worktree"


@pytest.fixture(params=["--no-sparse-index", "--sparse-index"])
def sparse(home: SandboxHome, request: pytest.FixtureRequest) -> SandboxHome:
    """A checkout of `in` alone, beside which there is `out`."""
    for folder in ("in", "out"):
        (home.project / folder).mkdir()
        (home.project / folder / "f").write_text("one\n")
    person(home, "add", ".")
    person(home, "commit", "-qm", "folders")
    person(home, "sparse-checkout", "set", "--cone", request.param, "in")
    assert "worktreeConfig" in (home.project / ".git/config").read_text()
    return home


def test_git_is_used_there_as_elsewhere(sparse: SandboxHome) -> None:
    settings = (sparse.project / SETTINGS).read_bytes()
    result = sparse.bash(
        "set -e; git checkout -qb b; echo two >> in/f; git stash -q; git stash pop -q\n"
        "git commit -qam two; git checkout -q main; echo x > f; git commit -qam x; git merge -q b\n"
        "git rebase -q HEAD~1; git status --short; ls"
    )
    assert (result.exit_code, result.notes, result.output) == (0, (), "f\nin\n")
    assert person(sparse, "status", "--porcelain") == ""
    assert person(sparse, "show", "HEAD:in/f") == "one\ntwo\n"
    assert person(sparse, "show", "HEAD:out/f") == "one\n"
    assert person(sparse, "fsck", "--strict", "--no-dangling") == ""
    assert not (sparse.project / "out").exists()
    assert (sparse.project / SETTINGS).read_bytes() == settings


def test_other_folders_are_checked_out_and_taken_back(sparse: SandboxHome, tmp_path: Path) -> None:
    settings = [(sparse.project / name).read_bytes() for name in (SETTINGS, ".git/config")]
    with checkpoints(sparse.project, tmp_path / "store") as points:
        before = points.take()
        result = sparse.bash("set -e; git sparse-checkout set out; git sparse-checkout list; ls")
        assert (result.exit_code, result.notes, result.output) == (0, (), "out\nf\nout\n")
        after = points.take()
        assert person(sparse, "sparse-checkout", "list") == "out\n"
        undone = points.undo(before.id, after.id)
        assert not undone.skipped
        assert person(sparse, "sparse-checkout", "list") == "in\n"
        assert person(sparse, "--no-optional-locks", "status", "--porcelain") == ""
        assert sorted(path.name for path in sparse.project.iterdir()) == [".git", "f", "in"]
        assert not points.undo(undone.before, undone.after).skipped
        assert person(sparse, "sparse-checkout", "list") == "out\n"
        person(sparse, "sparse-checkout", "reapply")
        assert sorted(path.name for path in sparse.project.iterdir()) == [".git", "f", "out"]
    assert settings == [(sparse.project / name).read_bytes() for name in (SETTINGS, ".git/config")]


@pytest.mark.parametrize(
    "code",
    [
        f"git config --worktree core.fsmonitor '{COMMAND}; false'",
        f"git config --worktree alias.status '!{COMMAND}'",
        f"rm {SETTINGS}; ln -s ../evil {SETTINGS}; printf '[core]\\npager=x\\n' > evil",
        f"mkdir -p .git/worktrees/x; cp {SETTINGS} .git/worktrees/x/config.worktree",
        "git config extensions.other x",
    ],
)
def test_its_own_settings_are_never_theirs(sparse: SandboxHome, code: str) -> None:
    settings = [(sparse.project / name).read_bytes() for name in (SETTINGS, ".git/config")]
    _, canary = attack(sparse, f"git commit -q --allow-empty -m three\n{code}")
    assert settings == [(sparse.project / name).read_bytes() for name in (SETTINGS, ".git/config")]
    assert not (sparse.project / SETTINGS).is_symlink()
    assert not (sparse.project / ".git/worktrees/x/config.worktree").exists()
    use_git(sparse)
    assert not canary.exists()


@pytest.mark.parametrize("place", ["config", "config.worktree"])
@pytest.mark.parametrize("line", ["[core]\n\tworktree = /tmp", "[extensions]\n\tobjectFormat = x"])
def test_what_is_unusual_besides_stays_read_only(
    sparse: SandboxHome, place: str, line: str
) -> None:
    with (sparse.project / ".git" / place).open("a") as file:
        file.write(f"{line}\n")
    result = sparse.bash("echo x > .git/x")
    assert "Read-only" in result.output


@pytest.fixture(params=["inside", "outside", "itself"])
def with_linked(home: SandboxHome, request: pytest.FixtureRequest) -> SandboxHome:
    """A project with a sparse linked work tree in it, or beside it, or that is one itself."""
    for folder in ("in", "out"):
        (home.project / folder).mkdir()
        (home.project / folder / "f").write_text("one\n")
    person(home, "add", ".")
    person(home, "commit", "-qm", "folders")
    tree = home.project / "tree" if request.param == "inside" else home.home / "tree"
    person(home, "worktree", "add", "-q", str(tree), "-b", "linked")
    person(home, "-C", str(tree), "sparse-checkout", "set", "--cone", "in")
    if request.param == "itself":
        home.project = tree
    return home


def settings_of_trees(home: SandboxHome) -> list[tuple[str, bytes]]:
    named = person(home, "rev-parse", "--path-format=absolute", "--git-common-dir")
    common = Path(named.strip())
    paths = [common / "config", *sorted(common.glob("worktrees/*/config.worktree"))]
    return [(str(path), path.read_bytes()) for path in paths]


def test_a_linked_work_tree_may_be_sparse(with_linked: SandboxHome) -> None:
    settings = settings_of_trees(with_linked)
    assert len(settings) == 2
    result = with_linked.bash(
        "set -e; if [ -d tree ]; then cd tree; fi; git status --short; echo two >> in/f\n"
        "git commit -qam two; git checkout -q --detach HEAD~1; git checkout -q -; git stash list"
    )
    assert (result.exit_code, result.notes, result.output) == (0, (), "")
    assert settings_of_trees(with_linked) == settings
    inside = with_linked.project / "tree"
    tree = inside if inside.exists() else with_linked.home / "tree"
    assert person(with_linked, "-C", str(tree), "status", "--porcelain") == ""
    assert sorted(path.name for path in tree.iterdir()) == [".git", "f", "in"]
    assert "error" not in person(with_linked, "fsck", "--strict", "--no-dangling")


def test_settings_of_a_linked_work_tree_are_never_theirs(with_linked: SandboxHome) -> None:
    settings = settings_of_trees(with_linked)
    _, canary = attack(
        with_linked,
        "git commit -q --allow-empty -m three; if [ -d tree ]; then cd tree; fi\n"
        f"git config --worktree core.fsmonitor '{COMMAND}; false'\n"
        f"git config core.hooksPath /tmp; git config --worktree alias.status '!{COMMAND}'",
    )
    assert settings_of_trees(with_linked) == settings
    use_git(with_linked)
    person(with_linked, "-C", str(with_linked.home), "-C", "tree", "status", check=False)
    assert not canary.exists()
