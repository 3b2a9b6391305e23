"""Each kind of repository, and each folder that is none, ends in a sentence or in its state."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.cards import TableCard
from core.events import CommandAnswered
from core.tools import ToolError
from modules.files.git import isolated_git
from modules.git.person.diffs import MAX_FILE, commit_diffs
from modules.git.person.history import PAGE, checked_commit, log_page, message_of
from modules.git.person.status import MAX_FILES, read_state
from tests.modules.git.person.repositories import (
    PERSON,
    commit_file,
    make_repository,
    opened,
    person_git,
    run_git,
)
from utils.i18n import UserError


def rows_of(base: Path, root: Path | None = None) -> dict[str, str]:
    """Return the rows of `/git` by their labels."""
    with opened(base, root=root) as here:
        answer = person_git(here).git("")
        assert isinstance(answer, CommandAnswered)
        assert isinstance(answer.card, TableCard)
        return {str(row[0]): str(row[-1]) for row in answer.card.rows}


def refusal(base: Path, root: Path | None = None) -> str:
    with opened(base, root=root) as here, pytest.raises(UserError) as refused:
        person_git(here).git("")
    return str(refused.value)


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(tmp_path) == (
        "This folder is not a git repository. To make it one, run: git init"
    )
    bare = tmp_path / "bare"
    bare.mkdir()
    run_git("init", "-q", "--bare", at=bare)
    assert "bare repository" in refusal(tmp_path, bare)
    below = make_repository(tmp_path / "above") / "below"
    assert str(tmp_path / "above") in refusal(tmp_path, below)
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / ".git").write_text(f"gitdir: {tmp_path / 'above' / '.git'}\n")
    assert "leads to another place" in refusal(tmp_path, odd)
    link = tmp_path / "link"
    link.mkdir()
    (link / ".git").symlink_to(tmp_path / "above" / ".git")
    assert "symbolic link" in refusal(tmp_path, link)
    monkeypatch.setattr(isolated_git, "system_program", lambda _name: None)
    assert (
        refusal(tmp_path, tmp_path / "above") == "git is not installed. Install it to use it here."
    )


def test_before_the_first_commit(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    assert rows_of(tmp_path) == {"branch": "main, no commit yet", "files": "no changes"}
    (root / "a.txt").write_text("one\n")
    with opened(tmp_path) as here:
        git = person_git(here)
        git.stage(["a.txt"])
        git.unstage([])
        git.create_branch("other")
        git.stage(["a.txt"])
        git.commit("Begin")
        with git.repository() as runs:
            assert read_state(runs).branch == "other"
            assert [one.subject for one in log_page(runs, 0)[0]] == ["Begin"]


def test_a_detached_head_and_a_linked_work_tree(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "main")
    commit_file(root, "a.txt", "one\n")
    run_git("worktree", "add", "-q", "--detach", str(tmp_path / "project"), at=root)
    assert rows_of(tmp_path)["branch"].startswith("none (detached at ")
    with opened(tmp_path) as here:
        git = person_git(here)
        with pytest.raises(ToolError, match="another work tree"):
            git.switch("main")
        git.create_branch("side")
        (tmp_path / "project" / "a.txt").write_text("two\n")
        git.stage([])
        git.commit("Change it")
    assert run_git("log", "--format=%s", "side", at=root) == "Change it\nSay it\n"
    with opened(tmp_path, root=root) as here, pytest.raises(ToolError, match="another work tree"):
        person_git(here).switch("side")


def test_ahead_and_behind_without_the_network(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    commit_file(origin, "a.txt", "one\n")
    run_git("clone", "-q", str(origin), str(tmp_path / "project"), at=tmp_path)
    root = make_repository(tmp_path / "project")
    commit_file(origin, "a.txt", "two\n")
    commit_file(root, "b.txt", "b\n")
    commit_file(root, "c.txt", "c\n")
    assert rows_of(tmp_path)["branch"] == "main, 2 ahead and 0 behind origin/main (as last fetched)"
    run_git("fetch", "-q", at=root)
    assert "2 ahead and 1 behind" in rows_of(tmp_path)["branch"]
    assert "main, 2 ahead" in rows_of(tmp_path)["branch"]


def test_a_submodule_is_left_alone(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner")
    commit_file(inner, "i.txt", "one\n")
    root = make_repository(tmp_path / "project")
    run_git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "in",
            at=root)  # fmt: skip
    run_git("commit", "-qm", "with a submodule", at=root)
    (root / "in" / "i.txt").write_text("two\n")
    with opened(tmp_path) as here:
        git = person_git(here)
        with git.repository() as runs:
            state = read_state(runs)
            diffs, _ = commit_diffs(runs, state.head)
        assert (state.submodules, state.is_clean) == (1, True)
        assert [one.path for one in diffs] == [".gitmodules", "in"]
        with pytest.raises(ToolError, match="repository of its own"):
            git.stage(["in"])


def test_a_commit_without_a_name_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    root = make_repository(tmp_path / "project", named=False)
    (root / "a.txt").write_text("one\n")
    with opened(tmp_path) as here:
        git = person_git(here)
        git.stage([])
        for act in (lambda: git.commit("Begin"), git.suggest):
            with pytest.raises(UserError, match=r"git config --global user\.name NAME"):
                act()


def test_what_cannot_be_shown_says_why(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "mode.sh", "echo\n")
    (root / "mode.sh").chmod(0o755)
    (root / "empty.txt").touch()
    (root / "binary").write_bytes(b"\0\1" * 50)
    (root / "big.txt").write_bytes(b"x" * (MAX_FILE + 1))
    (root / "long.txt").write_text("a line of some length\n" * 50_000)
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("mode.sh")
    inner = make_repository(root / "inner")
    commit_file(inner, "i.txt", "one\n")
    (root / "away").symlink_to(tmp_path)
    (tmp_path / "outside.txt").write_text("outside\n")
    with opened(tmp_path) as here, person_git(here).repository() as runs:

        def note(path: str) -> str:
            return str(person_git(here).diff(path, is_staged=False).note)

        for path in ("away/outside.txt", "../outside.txt", str(tmp_path / "outside.txt")):
            with pytest.raises(ToolError):
                note(path)

        assert note("mode.sh") == "Only the mode of the file changed."
        assert note("empty.txt") == "The file is empty."
        assert note("binary").startswith("A binary file")
        assert note("big.txt") == "Too large to show: 5 MB."
        assert "more lines are not shown" in note("long.txt")
        assert note("link").startswith("A link")
        assert note("inner/").startswith("A repository of its own")
        assert note("gone.txt") == "gone.txt does not exist."
        shown = [one.path for one in read_state(runs).untracked.files]
    assert "inner/" in shown
    with opened(tmp_path) as here, pytest.raises(ToolError, match="repository of its own"):
        person_git(here).stage(["inner/"])


@pytest.mark.parametrize("name", ["refs/heads/feature", "logs/refs/heads/feature"])
def test_no_branch_is_written_outside_of_the_project(tmp_path: Path, name: str) -> None:
    root, outside = make_repository(tmp_path / "project"), tmp_path / "outside"
    commit_file(root, "a.txt", "one\n")
    outside.mkdir()
    with opened(tmp_path) as here:
        link = root / ".git" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(outside)
        with pytest.raises(ToolError, match="is a link"):
            person_git(here).create_branch("feature/a")
        with pytest.raises((ToolError, UserError)):
            person_git(here).switch("feature/a")
    assert list(outside.iterdir()) == []
    assert run_git("symbolic-ref", "HEAD", at=root) == "refs/heads/main\n"


def test_files_that_are_named_like_commits_confuse_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "HEAD", "one\n")
    first = run_git("rev-parse", "HEAD", at=root).strip()
    commit_file(root, first, "one\n", "Name it so")
    run_git("checkout", "-qb", "side", at=root)
    with opened(tmp_path) as here:
        git = person_git(here)
        with git.repository() as runs:
            assert [one.subject for one in log_page(runs, 0)[0]] == ["Name it so", "Say it"]
            assert message_of(runs, first) == "Say it"
            assert [one.path for one in commit_diffs(runs, first)[0]] == ["HEAD"]
        (root / "HEAD").write_text("two\n")
        git.stage(["HEAD"])
        git.unstage([])
        git.stage(["HEAD"])
        git.commit("Change it")
        git.switch("main")
        git.switch("side")
        with git.repository() as runs:
            assert read_state(runs).is_clean


def test_a_large_file_of_a_commit_is_not_read(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "small.txt", "one\n")
    commit_file(root, "kind", "x\n")
    (root / "kind").unlink()
    commit_file(root, "kind/big.txt", "x" * (MAX_FILE + 1))
    run_git("rm", "-q", "kind/big.txt", at=root)
    commit_file(root, "small.txt", "two\n")
    ids = run_git("log", "-2", "--format=%H", at=root).split()
    with opened(tmp_path) as here, person_git(here).repository() as runs:
        made, gone = (
            {one.path: (str(one.note), len(one.hunks)) for one in commit_diffs(runs, commit)[0]}
            for commit in reversed(ids)
        )
    large = ("Too large to show: 5 MB.", 0)
    assert made == {
        "kind": ("The file became something else, such as a link.", 0),
        "kind/big.txt": large,
    }
    assert gone == {"kind/big.txt": large, "small.txt": ("", 1)}


def test_a_large_file_that_goes_away_is_not_read_either(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "big.txt", "x\n" * MAX_FILE)
    (root / "big.txt").write_text("x\n")
    with opened(tmp_path) as here:
        git = person_git(here)
        assert str(git.diff("big.txt", is_staged=False).note) == "Too large to show: 10 MB."
        git.stage(["big.txt"])
        assert str(git.diff("big.txt", is_staged=True).note) == "Too large to show: 10 MB."


def test_many_files_and_commits_are_bounded(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    for number in range(MAX_FILES + 5):
        (root / f"{number}.txt").write_text("x\n")
    rows = "".join(
        f"commit refs/heads/main\nmark :{n}\ncommitter Me <me@example.org> {n} +0000\n"
        f"data 2\n{n % 10}\n\n{f'from :{n - 1}' if n > 1 else ''}\n"
        for n in range(1, PAGE + 6)
    )
    run_program(root, rows)
    with opened(tmp_path) as here, person_git(here).repository() as runs:
        state = read_state(runs)
        assert (len(state.untracked.files), state.untracked.left_out) == (MAX_FILES, 5)
        first, has_more = log_page(runs, 0)
        rest, has_more_still = log_page(runs, PAGE)
        assert (len(first), has_more, len(rest), has_more_still) == (PAGE, True, 5, False)
        assert checked_commit(runs, first[0].id[:10]) == first[0].id
        for wrong in ("HEAD", "--all", "abcdef1"):
            with pytest.raises(ToolError, match="no commit"):
                checked_commit(runs, wrong)
    with opened(tmp_path) as here:
        person_git(here).stage([])
    assert len(run_git("ls-files", at=root).splitlines()) == MAX_FILES + 5


def run_program(root: Path, rows: str) -> None:
    import subprocess

    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=root, env=PERSON, input=rows.encode(), check=True
    )
