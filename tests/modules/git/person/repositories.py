"""Repositories to try git for the person on, in the real assembly."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from modules.git.person.feature import GitForPerson
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import Item

PERSON = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.defpath}


def run_git(*arguments: str, at: Path) -> str:
    """Return what git prints in the folder *at*."""
    return subprocess.run(
        ["git", *arguments], cwd=at, env=PERSON, check=True, capture_output=True, text=True
    ).stdout


def make_repository(folder: Path, *, named: bool = True) -> Path:
    """Return *folder*, a repository on the branch main with nothing in it."""
    folder.mkdir(exist_ok=True)
    run_git("init", "-q", "-b", "main", at=folder)
    if named:
        run_git("config", "user.name", "Me", at=folder)
        run_git("config", "user.email", "me@example.org", at=folder)
    return folder


def commit_file(root: Path, path: str, text: str, message: str = "Say it") -> None:
    """Commit the file *path* with *text*, and all that is staged."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    run_git("add", "--", path, at=root)
    run_git("commit", "-qm", message, at=root)


def person_git(assembled: AssembledTerminal) -> GitForPerson:
    found = assembled.terminal.features.find(GitForPerson)
    assert found
    return found


@contextmanager
def opened(
    base: Path, *replies: list[Item], root: Path | None = None
) -> Iterator[AssembledTerminal]:
    """Open a terminal on the repository `base/project`, or on *root*."""
    with assembled_terminal(base, *replies, root=root) as assembled:
        yield assembled


def status(root: Path) -> str:
    return run_git("status", "--porcelain", at=root)
