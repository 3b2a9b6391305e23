"""The branch in the status bar: read from the file, or left out."""

from __future__ import annotations

from pathlib import Path

from modules.git.person.head import shown_head
from tests.modules.git.person.repositories import commit_file, make_repository, run_git


def test_the_branch_the_commit_or_nothing(tmp_path: Path) -> None:
    root = tmp_path / "project"
    assert shown_head(tmp_path) == ""
    make_repository(root)
    run_git("checkout", "-q", "-b", "feature/名", at=root)
    assert shown_head(root) == "feature/名"
    commit_file(root, "a.txt", "a\n")
    run_git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"), at=root)
    assert shown_head(tmp_path / "linked") == "linked"
    run_git("checkout", "-q", "--detach", at=root)
    assert shown_head(root) == run_git("rev-parse", "HEAD", at=root).strip()[:8]
    (root / ".git/HEAD").write_bytes(b"ref: refs/heads/a\x1b[31mb\n")
    assert "\x1b" not in shown_head(root)
    (root / ".git/HEAD").write_bytes(b"ref: refs/heads/.invalid\n")
    assert shown_head(root) == ""
    (root / ".git").rename(tmp_path / "away")
    (root / ".git").symlink_to(tmp_path / "away")
    assert shown_head(root) == ""
