"""Commits bear the person's name, by their environment before git's config, as git has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config import Settings
from modules.files.git.person_identity import set_identity
from tests.modules.git.test_commit import commit, git, root
from tests.modules.sandbox.sandbox_home import home_of_process

__all__ = ["root"]


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    yield
    set_identity("", "")


def test_the_environment_says_who_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Bea")
    assert Settings().git_identity == ("Bea", "")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "ann@example.org")
    assert Settings().git_identity == ("Ann", "ann@example.org")


def test_it_goes_before_the_config(root: Path) -> None:
    set_identity("Ann", "")
    commit(root)
    assert git("log", "-1", "--format=%an <%ae> %cn", at=root) == "Ann <me@example.org> Ann\n"


@pytest.mark.as_root
def test_programs_commit_as_the_same(tmp_path: Path) -> None:
    set_identity('Ann "Ö\\" O\'Neill', "ann@example.org")
    with home_of_process(tmp_path) as home:
        said = home.bash(
            "git commit -q --allow-empty -m x; git log -1 --format='%an <%ae> %cn'; git init -q in;"
            " cd in; git commit -q --allow-empty -m x; git log -1 --format='%an <%ae> %cn'"
        ).output
    assert said.splitlines() == ['Ann "Ö\\" O\'Neill <ann@example.org> Ann "Ö\\" O\'Neill'] * 2
