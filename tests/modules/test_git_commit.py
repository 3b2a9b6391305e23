from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cards import TextCard
from core.events import ApprovalAsked, ToolFinished
from core.tools import ToolError
from modules.git_commit import GitCommit
from modules.project import Project
from tests.assembly import house
from tests.scripted import call, run, say
from utils.waiting import Stop

PERSON = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin"}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "project"
    git("init", "-q", str(folder), at=tmp_path)
    git("config", "user.name", "Me", at=folder)
    git("config", "user.email", "me@example.org", at=folder)
    (folder / "a.txt").write_text("one\n")
    yield folder
    assert not (tmp_path / "ran").exists()


def git(*arguments: str, at: Path) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=at, env=PERSON, check=True, capture_output=True, text=True
    ).stdout


def script(root: Path) -> str:
    """Return a program that leaves a mark when somebody runs it."""
    path = root.parent / "evil.sh"
    path.write_text(f"#!/bin/sh\necho x >> {root.parent / 'ran'}\ncat\n")
    path.chmod(0o755)
    return str(path)


def commit(root: Path, *paths: str) -> str:
    return GitCommit(Project(root), Stop()).git_commit("Say it", list(paths) or None).text


def test_all_changes_or_some_are_committed(root: Path) -> None:
    (root / "b c.txt").write_text("two\n")
    assert "a.txt" in commit(root, "a.txt")
    assert git("show", "--name-only", "--format=%an %s", at=root).split("\n\n") == [
        "Me Say it", "a.txt\n"
    ]  # fmt: skip
    (root / "a.txt").unlink()
    commit(root)
    assert git("ls-files", at=root) == "b c.txt\n"
    assert git("status", "--porcelain", at=root) == ""


def test_a_chinese_name_stays_readable(root: Path) -> None:
    (root / "文档.txt").write_text("一\n")
    assert "b/文档.txt" in intent(root)
    assert "文档.txt | 1 +" in commit(root)


def test_what_cannot_be_done_is_said(root: Path, tmp_path: Path) -> None:
    commit(root)
    with pytest.raises(ToolError, match="nothing to commit"):
        commit(root)
    with pytest.raises(ToolError, match="message"):
        GitCommit(Project(root), Stop()).git_commit("  ")
    (tmp_path / "plain").mkdir()
    with pytest.raises(ToolError, match="no git repository"):
        commit(tmp_path / "plain")


def intent(root: Path, *paths: str) -> str:
    """Return what the question before a commit shows."""
    card = GitCommit(Project(root), Stop()).preview(
        "git_commit", {"message": "Say it", "paths": list(paths) or None}
    )
    assert isinstance(card, TextCard)
    return str(card.body)


def kept(root: Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in (root / ".git").rglob("*") if f.is_file()}


def test_a_question_shows_what_would_be_committed_and_writes_nothing(root: Path) -> None:
    (root / "b.txt").write_text("two\n")
    before = kept(root)
    shown = intent(root)
    assert shown.startswith("Say it\n\n a.txt | 1 +\n b.txt | 1 +\n")
    assert "+one" in shown
    assert "+two" in shown
    assert "b.txt" not in intent(root, "a.txt")
    assert kept(root) == before
    commit(root, "a.txt")
    (root / "a.txt").write_text("uno\n")
    before = kept(root)
    assert "-one\n+uno" in intent(root, "a.txt")
    assert kept(root) == before


def test_a_large_commit_is_shown_by_its_files(root: Path) -> None:
    (root / "big.txt").write_text("line\n" * 5_000)
    assert "big.txt | 5000 +" in intent(root)
    assert "+line" not in intent(root)


def test_nobody_is_asked_about_a_commit_that_cannot_be(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(root)
    with pytest.raises(ToolError, match="nothing to commit"):
        intent(root)
    (root / "a.txt").write_text("more\n")
    git("config", "--unset", "user.name", at=root)
    monkeypatch.setenv("HOME", str(tmp_path))
    with house(tmp_path, call("git_commit", message="x"), say("ok")) as made:
        events = run(made.main, "commit")
    assert not [event for event in events if isinstance(event, ApprovalAsked)]
    (end,) = (event for event in events if isinstance(event, ToolFinished))
    assert end.state == "failed"
    assert isinstance(end.card, TextCard)
    assert "git does not know the person" in str(end.card)


def test_planted_hooks_do_not_run(root: Path) -> None:
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit",
                 "post-index-change", "reference-transaction"):  # fmt: skip
        (root / ".git/hooks" / name).symlink_to(script(root))
    (root / "hooks").mkdir()
    (root / "hooks/pre-commit").symlink_to(script(root))
    git("config", "core.hooksPath", "hooks", at=root)
    commit(root)


def test_planted_settings_do_not_run(root: Path) -> None:
    evil = script(root)
    for name in ("core.fsmonitor", "core.editor", "core.pager", "gpg.program", "diff.external",
                 "diff.x.command", "diff.x.textconv", "core.sshCommand", "merge.x.driver",
                 "gpg.ssh.program", "credential.helper", "core.alternateRefsCommand"):  # fmt: skip
        git("config", name, evil, at=root)
    git("config", "commit.gpgSign", "true", at=root)
    git("config", "log.showSignature", "true", at=root)
    (root / ".gitattributes").write_text("* diff=x merge=x\n")
    commit(root)


def test_a_filter_is_refused_and_not_run(root: Path) -> None:
    for name in ("clean", "smudge", "process"):
        git("config", f"filter.x.{name}", script(root), at=root)
    (root / ".gitattributes").write_text("*.txt filter=x\n")
    with pytest.raises(ToolError, match="filter program x"):
        commit(root)


def test_a_filter_is_not_run_to_look_for_changes(root: Path) -> None:
    """Not even one of the settings that the repository shares with the project's own files."""
    commit(root)
    git("config", "include.path", "../.gitconfig", at=root)
    program = script(root)
    options = "".join(f"{name} = {program}\n" for name in ("clean", "smudge", "process"))
    (root / ".gitconfig").write_text(f'[filter "x=y.z"]\n{options}required\n')
    (root / ".gitattributes").write_text("*.txt filter=x=y.z\n")
    (root / "a.txt").write_text("two\n")
    (root / "b.md").write_text("b\n")
    with pytest.raises(ToolError, match="filter program x=y.z"):
        commit(root)
    assert "b.md" in commit(root, "b.md", ".gitattributes")


def test_what_is_missing_is_not_fetched(root: Path) -> None:
    """A fetch would run the program that the settings name for the other side."""
    commit(root)
    blob = git("rev-parse", "HEAD:a.txt", at=root).strip()
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        **{"remote.x.url": str(root), "remote.x.promisor": "true", "protocol.file.allow": "always"},
        "remote.x.uploadpack": script(root),
    }.items():
        git("config", name, value, at=root)
    (root / "a.txt").write_text("two\n")
    with pytest.raises(ToolError, match="git refused"):
        GitCommit(Project(root), Stop()).preview("git_commit", {"message": "m"})


def test_a_change_in_the_second_of_the_last_commit_is_seen(root: Path) -> None:
    """git tells by the index's own time which files it has to read."""
    git("config", "core.trustctime", "false", at=root)
    file, before = root / "a.txt", (1_000_000_000, 1_000_000_000)
    os.utime(file, before)
    commit(root)
    file.write_text("two\n")
    os.utime(file, before)
    os.utime(root / ".git/index", before)
    assert "+two" in intent(root)


def test_a_commondir_is_refused(root: Path, tmp_path: Path) -> None:
    git("init", "-q", str(tmp_path / "other"), at=tmp_path)
    git("config", "core.fsmonitor", script(root), at=tmp_path / "other")
    (root / ".git/commondir").write_text(str(tmp_path / "other/.git"))
    with pytest.raises(ToolError, match="another place"):
        commit(root)


def test_nested_repositories_run_nothing(root: Path) -> None:
    git("init", "-q", "sub", at=root)
    git("config", "core.fsmonitor", script(root), at=root / "sub")
    (root / "sub/x").touch()
    subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "-c", "user.name=x", "-c", "user.email=x",
         "commit", "-q", "--allow-empty", "-m", "x"], cwd=root / "sub", env=PERSON, check=True,
    )  # fmt: skip
    with pytest.raises(ToolError, match="repository of its own"):
        commit(root)
    commit(root, "a.txt")


def test_a_worktree_is_committed_to(root: Path, tmp_path: Path) -> None:
    commit(root)
    git("worktree", "add", "-q", str(tmp_path / "tree"), at=root)
    (tmp_path / "tree/new").touch()
    assert "new" in commit(tmp_path / "tree")
    assert git("log", "-1", "--format=%s", "tree", at=root) == "Say it\n"


def test_a_file_that_only_claims_to_be_a_worktree_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "claim").mkdir()
    (tmp_path / "claim/.git").write_text(f"gitdir: {root}/.git\n")
    with pytest.raises(ToolError, match="another place"):
        commit(tmp_path / "claim")


def test_it_is_asked_about(root: Path, tmp_path: Path) -> None:
    assert (root / "a.txt").exists()
    with house(tmp_path, call("git_commit", message="x"), say("ok")) as made:
        events = run(made.main, "commit")
    (asked,) = (event for event in events if isinstance(event, ApprovalAsked))
    assert "+one" in str(asked.preview)


def test_nothing_of_our_environment_counts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_DIR", "GIT_INDEX_FILE"):
        monkeypatch.setitem(os.environ, name, script(root))
    assert "a.txt" in commit(root)
