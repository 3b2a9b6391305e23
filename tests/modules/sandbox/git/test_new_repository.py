"""Repositories that programs make, and what of them the person's git never obeys."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.tools import run_to_end as run_tool
from modules.files.git.new_repository import NEW_CONFIG
from modules.files.project import Project
from modules.outputs import Outputs
from modules.sandbox.sandbox import Program, Result, Sandbox
from modules.terminal_ops import TerminalOps
from tests.modules.checkpoints.folders import checkpoints
from tests.modules.checkpoints.test_git_state import files_of, git, git_state
from tests.modules.sandbox.sandbox_home import SandboxHome, late, run_to_end
from utils.waiting import Stop

pytestmark = pytest.mark.as_root

COMMIT = "echo 1 > f; git add f; git commit -qm one"
HOOK = "printf '#!/bin/sh\\ntouch $CANARY\\n' > $1; chmod +x $1"
HOOKS = f"for h in post-checkout pre-commit post-index-change; do set -- $d/hooks/$h; {HOOK}; done"
CONFIG = "git config --file $d/config"

INIT_SEQUENCES = {
    "init": "git init -q",
    "init and commit": f"git init -q; {COMMIT}; git branch b; git tag -a t -m t",
    "init on a branch of its own": f"git init -q -b other; {COMMIT}; echo 2 >> f; git stash -q",
    "init and a stopped merge": f"git init -q; {COMMIT}; git switch -qc side; echo s > f;"
    " git commit -qam s; git switch -q -; echo m > f; git commit -qam m; git merge side || true",
    "init with a work tree": f"git init -q; {COMMIT}; git worktree add -q tree -b side",
}

PLANTED = {
    "hooks": f"d=.git; {HOOKS}",
    "a command for each status": f"d=.git; {CONFIG} core.fsmonitor 'touch $CANARY; false'",
    "an include": f"d=.git; printf '[core]\\n\\tfsmonitor = touch $CANARY\\n' > i;"
    f" {CONFIG} include.path ../i",
    "a filter": f"d=.git; echo '* filter=x' > $d/info/attributes;"
    f" {CONFIG} filter.x.clean 'touch $CANARY'; {CONFIG} filter.x.smudge 'touch $CANARY'",
    "an alias and a pager": f"d=.git; {CONFIG} alias.st '!touch $CANARY';"
    f" {CONFIG} core.pager 'touch $CANARY'",
    "another work tree": f"d=.git; {CONFIG} core.worktree ../..",
    "other objects": "echo /home > .git/objects/info/alternates",
    "a submodule": f"mkdir -p .git/modules/m; d=.git; {CONFIG} submodule.m.update '!touch $CANARY'",
    "a template": f"mkdir -p t/hooks; d=t; {HOOKS}; git init -q --template=t",
}

INNER = {
    "a nested one": f"git init -q sub; d=sub/.git; {HOOKS};"
    f" {CONFIG} core.fsmonitor 'touch $CANARY; false'",
    "one that is named by a file": f"git init -q --separate-git-dir=store sub; d=store; {HOOKS};"
    f" {CONFIG} core.fsmonitor 'touch $CANARY; false'",
    "one that a link leads to": "git init -q other; mv other/.git store; mkdir sub;"
    f" ln -s ../store sub/.git; d=store; {HOOKS}; {CONFIG} core.fsmonitor 'touch $CANARY; false'",
    "a bare one": f"git init -q --bare sub; d=sub; {HOOKS}; {CONFIG} alias.log '!touch $CANARY';"
    f" {CONFIG} core.pager 'touch $CANARY'",
    "one with another common folder": "git init -q sub; git init -q other;"
    " git config --file other/.git/config core.fsmonitor 'touch $CANARY; false';"
    " echo ../../other/.git > sub/.git/commondir",
    "one with a submodule": "git init -q sub; git init -q sub/.git/modules/m;"
    f" d=sub/.git/modules/m; {HOOKS}; {CONFIG} core.fsmonitor 'touch $CANARY'",
}  # fmt: skip


@pytest.fixture
def home(sandbox_home: SandboxHome, run_tier: str) -> SandboxHome:  # noqa: ARG001 - where programs run
    (sandbox_home.home / ".gitconfig").write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = trunk\n"
        "[safe]\n\tdirectory = *\n"
    )
    return sandbox_home


@pytest.fixture
def sandbox(home: SandboxHome) -> Iterator[Sandbox]:
    made = home.sandbox(home.plain)
    yield made
    made.close()


def run(sandbox: Sandbox, code: str) -> Result:
    roles = ("AUTHOR", "COMMITTER") if sandbox.report().tier == "C" else ()
    names = "".join(f"export GIT_{role}_NAME=a GIT_{role}_EMAIL=a; " for role in roles)
    return run_to_end(sandbox, Program("bash", f"set -e; {names}{code}"))


def use_git(tree: Path) -> None:
    for line in ("status", "log", "st", "diff", "add .", "commit --allow-empty -qm x", "stash",
                 "checkout -q -b y", "submodule update --init"):  # fmt: skip
        git(tree, "-c", "user.name=a", "-c", "user.email=a", *line.split())
        subprocess.run(["git", *line.split()], cwd=tree, capture_output=True, check=False)


@pytest.mark.parametrize("name", INIT_SEQUENCES)
def test_a_repository_that_a_run_made_goes_and_comes_back(
    home: SandboxHome, sandbox: Sandbox, name: str
) -> None:
    with checkpoints(home.plain, home.data / "store") as points:
        before, files_before = points.take(), files_of(home.plain)
        result = run(sandbox, INIT_SEQUENCES[name])
        assert (result.exit_code, result.notes) == (0, ()), result.output
        after, state, files = points.take(), git_state(home.plain), files_of(home.plain)
        assert (home.plain / ".git/config").read_text() == NEW_CONFIG
        assert git(home.plain, "fsck", "--strict", "--no-dangling").endswith("0")
        undone = points.undo(before.id, after.id)
        assert not undone.skipped
        assert not os.path.lexists(home.plain / ".git")
        assert files_of(home.plain) == files_before
        assert not points.undo(undone.before, undone.after).skipped
        assert (git_state(home.plain), files_of(home.plain)) == (state, files)
        assert not points.rewind(before.id).skipped
        assert not os.path.lexists(home.plain / ".git")


@pytest.mark.parametrize("run_tier", ["A"], indirect=True)  # in C no settings of theirs are seen
def test_the_first_branch_is_called_as_the_person_has_it(
    home: SandboxHome, sandbox: Sandbox
) -> None:
    run(sandbox, f"git init -q; {COMMIT}")
    assert git(home.plain, "symbolic-ref", "HEAD") == "refs/heads/trunk\n0"
    assert git(home.plain, "log", "-1", "--format=%an") == "Ann\n0"
    assert run(sandbox, "echo 2 > f; git commit -qam two").notes == ()


def test_what_the_person_set_up_in_it_is_not_taken_away(
    home: SandboxHome, sandbox: Sandbox
) -> None:
    with checkpoints(home.plain, home.data / "store") as points:
        before = points.take()
        run(sandbox, f"git init -q; {COMMIT}")
        after = points.take()
        git(home.plain, "remote", "add", "origin", "https://example.org/x")
        (skipped,) = points.undo(before.id, after.id).skipped
        assert "settings or hooks were added since" in str(skipped.why)
        assert git(home.plain, "rev-parse", "HEAD").endswith("0")


@pytest.mark.parametrize("name", PLANTED)
def test_a_new_repository_obeys_nothing_of_the_run(
    home: SandboxHome, sandbox: Sandbox, name: str
) -> None:
    canary = home.home / "canary"
    result = run(sandbox, f"git init -q; {PLANTED[name].replace('$CANARY', str(canary))}; true")
    assert result.exit_code == 0, result.output
    assert (home.plain / ".git/config").read_text() == NEW_CONFIG
    hooks = (home.plain / ".git/hooks").glob("*")
    assert {path.suffix for path in hooks} <= {".sample"}
    assert not (home.plain / ".git/objects/info/alternates").exists()
    use_git(home.plain)
    assert not canary.exists()


@pytest.mark.parametrize("name", INNER)
def test_repositories_inside_the_project_obey_nothing_of_the_runs(
    home: SandboxHome, sandbox: Sandbox, name: str
) -> None:
    canary = home.home / "canary"
    outputs = Outputs(home.data / "outputs", reader="read_file")
    tools = TerminalOps(Project(home.plain), late(sandbox), Stop(), outputs)
    make = INNER[name].replace("$CANARY", str(canary))
    for code in (make, f"cp -r sub copy; rm -rf sub store other; {make}"):
        run_tool(tools.run_command(f"{code}; true"))
        use_git(home.plain / "sub")
    use_git(home.plain / "copy")
    assert not canary.exists()


def test_an_inner_repository_can_be_worked_with(home: SandboxHome, sandbox: Sandbox) -> None:
    outputs = Outputs(home.data / "outputs", reader="read_file")
    tools = TerminalOps(Project(home.plain), late(sandbox), Stop(), outputs)
    for code in (
        "git init -q sub; cd sub; git config user.name a; git config user.email a",
        f"cd sub; {COMMIT}",
        "rm -rf sub",
    ):
        outcome = run_tool(tools.run_command(code))
        assert outcome.ok, outcome.text
        assert "git obeys" not in outcome.text
    assert not (home.plain / "sub").exists()
