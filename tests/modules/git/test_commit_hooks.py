"""The repository's hooks judge a commit in the sandbox, if the person wants them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cards import TextCard
from core.tools import Outcome, ToolError
from modules.files.project import Project
from modules.git.commit import GitCommit
from modules.git.commit_hooks import CommitHooks
from modules.sandbox.sandbox import Program, Sandbox
from tests.modules.checkpoints.test_git_state import git
from tests.modules.sandbox.sandbox_home import QUICK, SandboxHome, home_of_process, late, run_to_end
from utils.waiting import Stop

pytestmark = pytest.mark.as_root

SECRET = "hunter2-hunter2"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[SandboxHome]:
    with home_of_process(tmp_path) as made:
        (made.home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = a@example.org\n")
        (made.project / "a").write_text("one\n")
        git(made.project, "add", "a")
        git(made.project, "commit", "-qm", "first")
        yield made


def hook(folder: Path, name: str, code: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{code}\n")
    (folder / name).chmod(0o755)


def sandbox(home: SandboxHome, *, are_wanted: bool = True) -> Sandbox:
    return Sandbox(home.project, hidden=[home.data], cache_folder=home.data, git_hooks=are_wanted)


def commit(
    home: SandboxHome, *paths: str, are_wanted: bool = True, message: str = "Say it"
) -> Outcome:
    return commits(home, are_wanted=are_wanted).git_commit(message, list(paths) or None)


def commits(home: SandboxHome, *, are_wanted: bool = True) -> GitCommit:
    hooks = CommitHooks(late(sandbox(home, are_wanted=are_wanted)), Stop(), QUICK, are_wanted)
    names_in = lambda text: ["TOKEN"] if SECRET in text else []  # noqa: E731
    return GitCommit(Project(home.project), Stop(), names_in, make_hooks=lambda: hooks)


def last(home: SandboxHome) -> str:
    return git(home.project, "log", "-1", "--format=%s").removesuffix("\n0")


@pytest.mark.parametrize("place", [".git/hooks", ".husky/_"])
def test_a_hook_that_refuses_keeps_the_commit_from_being_made(
    home: SandboxHome, place: str
) -> None:
    if place != ".git/hooks":
        git(home.project, "config", "core.hooksPath", place)
    code = "git diff --cached --name-only; grep -q bad a && { echo no such word; exit 3; }; true"
    hook(home.project / place, "pre-commit", code)
    git(home.project, "add", ".")
    git(home.project, "commit", "-q", "--allow-empty", "--no-verify", "-m", "first")
    (home.project / "a").write_text("bad\n")
    with pytest.raises(ToolError, match=r"pre-commit refused .*\(exit code 3\)(?s:.*)no such word"):
        commit(home)
    assert last(home) == "first"
    assert git(home.project, "status", "--porcelain") == " M a\n0"
    (home.project / "a").write_text("good\n")
    outcome = commit(home)
    assert isinstance(outcome.card, TextCard)
    assert "Hooks that ran in the sandbox: pre-commit\na" in str(outcome.card.body)
    assert last(home) == "Say it"
    assert git(home.project, "status", "--porcelain") == "0"
    assert git(home.project, "fsck", "--strict", "--no-dangling") == "0"


def test_hooks_run_confined_and_see_only_what_is_committed(home: SandboxHome) -> None:
    canary = home.home / "canary"
    hook(home.project / ".git/hooks", "pre-commit",
         f"touch {canary}; cat {home.secret}; touch .git/hooks/x; git config a.b c;"
         " git ls-files --stage | wc -l; true")  # fmt: skip
    for name in ("b", "c"):
        (home.project / name).write_text(name)
    text = commit(home, "b").text
    assert "\n2" in text  # of b and c, the one that was named
    assert "CANARY" not in text
    assert not canary.exists()
    assert sorted(path.name for path in (home.project / ".git/hooks").iterdir()
                  if path.suffix != ".sample") == ["pre-commit"]  # fmt: skip
    assert "a.b" not in git(home.project, "config", "--list")


def test_what_hooks_change_is_in_the_commit(home: SandboxHome) -> None:
    hooks = home.project / ".git/hooks"
    hook(hooks, "pre-commit", "sed -i s/one/1/ a; echo made > new; git add a new")
    hook(hooks, "commit-msg", "echo 'Signed-off-by: Ann' >> $1")
    (home.project / "a").write_text("one\ntwo\n")
    assert "They changed: a, new" in commit(home).text
    assert git(home.project, "show", "HEAD:a") == "1\ntwo\n0"
    assert git(home.project, "log", "-1", "--format=%B") == "Say it\nSigned-off-by: Ann\n\n0"
    assert git(home.project, "status", "--porcelain") == "0"
    assert git(home.project, "fsck", "--strict", "--no-dangling") == "0"


def test_a_partly_staged_file_that_hooks_change_stays_partly_staged(home: SandboxHome) -> None:
    write = "$(git show :a | sed s/one/1/ | git hash-object -w --stdin)"
    hook(home.project / ".git/hooks", "pre-commit",
         f"git update-index --cacheinfo 100644,{write},a; git rm -q --cached gone")  # fmt: skip
    (home.project / "gone").write_text("gone\n")
    (home.project / "a").write_text("one\nstaged\n")
    git(home.project, "add", "a", "gone")
    (home.project / "a").write_text("one\nstaged\nlater\n")
    with commits(home).staged("Say it", publishes=False) as ready:
        ready.changes.commit(ready.message)
    assert git(home.project, "show", "HEAD:a") == "1\nstaged\n0"
    assert git(home.project, "show", ":a") == "1\nstaged\n0"
    assert git(home.project, "status", "--porcelain") == " M a\n?? gone\n0"
    assert (home.project / "a").read_text() == "one\nstaged\nlater\n"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (f"echo {SECRET} > s; git add s", "The hooks added secrets: s"),
        ("kill -9 $PPID", "did not come to an end"),
    ],
)
def test_hooks_publish_no_secret_and_end_as_they_say(
    home: SandboxHome, code: str, why: str
) -> None:
    hook(home.project / ".git/hooks", "pre-commit", code)
    (home.project / "a").write_text("two\n")
    with pytest.raises(ToolError, match=why):
        commit(home)
    assert last(home) == "first"


def test_a_message_with_a_secret_is_refused_whoever_wrote_it(home: SandboxHome) -> None:
    (home.project / "a").write_text("two\n")
    with pytest.raises(ToolError, match=r"message holds secrets \(TOKEN\)"):
        commit(home, message=f"Use {SECRET}")
    hook(home.project / ".git/hooks", "commit-msg", f"echo {SECRET} >> $1")
    with pytest.raises(ToolError, match=r"message holds secrets \(TOKEN\)"):
        commit(home)
    assert last(home) == "first"


def test_hooks_that_nobody_wants_do_not_run_and_are_named(home: SandboxHome) -> None:
    git(home.project, "config", "core.hooksPath", ".husky")
    hook(home.project / ".husky", "pre-commit", "exit 1")
    text = commit(home, are_wanted=False).text
    assert "(pre-commit) did not run. To run them in the sandbox, set git_hooks = true" in text


@pytest.mark.parametrize("are_wanted", [True, False])
@pytest.mark.parametrize("place", [".git/hooks", ".husky"])
def test_git_in_the_sandbox_runs_them_if_they_are_wanted(
    home: SandboxHome, place: str, are_wanted: bool
) -> None:
    if place == ".husky":
        git(home.project, "config", "core.hooksPath", place)
    hook(home.project / place, "pre-commit", "echo said no; exit 1")
    box = sandbox(home, are_wanted=are_wanted)
    result = run_to_end(box, Program("bash", "git commit -q --allow-empty -m in"))
    assert ("said no" in result.output, last(home) == "in") == (are_wanted, not are_wanted)
