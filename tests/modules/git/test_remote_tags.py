"""Tags go to a remote as branches do: shown before, and never by force."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cards import TextCard
from core.tools import ToolError
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.project import Project
from modules.git.remote import GitRemote
from tests.declared_tools import tool_named
from tests.modules.git.test_remote import (
    PATH,
    base,
    git,
    intent,
    is_sound,
    origin,
    remote,
    root,
    save,
    use,
)
from utils.waiting import Stop

__all__ = ["base", "origin", "root"]


def test_a_tag_goes_with_its_commits_and_no_branch_does(root: Path, origin: Path) -> None:
    before = git("for-each-ref", at=root)
    save(root, "c.txt", "mine\n", "Say more")
    git("tag", "-am", "One", "版本/v1", at=root)
    git("tag", "light", "HEAD~1", at=root)
    refs = git("for-each-ref", at=root)
    shown = intent(root, operation="push", branch="版本/v1")
    assert "tag 版本/v1: 1 commit" in shown
    assert "Say more" in shown
    assert "c.txt | 1 +" in shown
    assert "tag light: 0 commits" in intent(root, operation="push", branch="light")
    said = [use(root, "push", branch=name) for name in ("版本/v1", "light")]
    assert [line.splitlines()[1:] for line in said] == [[], []]  # a tag follows nothing
    pushed = git("for-each-ref", "refs/tags", at=origin)
    assert pushed == git("for-each-ref", "refs/tags", at=root)
    assert "tag\trefs/tags/版本/v1" in pushed
    assert git("for-each-ref", at=root) == refs != before
    assert git("rev-parse", "main", at=origin) == git("rev-parse", "HEAD~1", at=root)
    assert is_sound(origin)


def test_a_tag_of_others_is_not_moved(root: Path, origin: Path) -> None:
    git("tag", "v1", at=origin)
    save(root, "c.txt", "mine\n", "Mine")
    git("tag", "v1", at=root)
    with pytest.raises(ToolError, match="already exists"):
        use(root, "push", branch="v1")
    assert git("rev-parse", "v1", at=origin) == git("rev-parse", "HEAD~1", at=root)


def test_a_branch_goes_before_a_tag_of_its_name(root: Path, origin: Path) -> None:
    git("tag", "main", at=root)
    new = save(root, "c.txt", "mine\n", "Mine")
    use(root, "push", branch="main")
    assert git("rev-parse", "refs/heads/main", at=origin) == new
    git("tag", "tree", "HEAD^{tree}", at=root)
    for name in ("tree", "none"):
        with pytest.raises(ToolError, match=f"There is no branch or tag '{name}' with a commit"):
            use(root, "push", branch=name)


def test_only_the_tag_that_was_shown_is_pushed(root: Path, origin: Path) -> None:
    git("tag", "v1", at=root)
    feature = remote(root)
    feature.preview(tool_named("git_remote"), {"operation": "push", "branch": "v1"})
    save(root, "c.txt", "more\n", "Not shown")
    git("tag", "-f", "v1", at=root)
    with pytest.raises(ToolError, match="moved since"):
        feature.git_remote("push", branch="v1")
    assert git("tag", at=origin) == ""


def test_a_secret_in_the_message_of_a_tag_is_named(root: Path) -> None:
    git("tag", "-am", "With hunter2-hunter2", "v1", at=root)
    tool = GitRemote(
        Project(root), Stop(), PersonEnvironment({"PATH": PATH}, 60.0),
        lambda text: ["TOKEN"] if "hunter2-hunter2" in text else [],
    )  # fmt: skip
    card = tool.preview(tool_named("git_remote"), {"operation": "push", "branch": "v1"})
    assert isinstance(card, TextCard)
    assert "It publishes secrets: v1 (TOKEN)" in str(card.body)
