"""New repositories: empty, with settings of ours and no hooks."""

from __future__ import annotations

from pathlib import Path

_FOLDERS = ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks", "logs")
NEW_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""
_REMOTE = """[remote "origin"]
\turl = {url}
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


def make_repository(tree: Path, url: str = "") -> None:
    """Make an empty repository in the folder *tree*, with *url*, if there is one, as its remote."""
    git = tree / ".git"
    for name in _FOLDERS:
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    escaped = url.replace("\\", "\\\\").replace('"', '\\"')
    remote = _REMOTE.format(url=f'"{escaped}"') if url else ""
    (git / "config").write_text(NEW_CONFIG + remote)


def follow(tree: Path, branch: str) -> None:
    """Have *branch* of the new repository in *tree* follow the one of its remote."""
    with (tree / ".git/config").open("a") as config:
        config.write(f'[branch "{branch}"]\n\tremote = origin\n\tmerge = refs/heads/{branch}\n')
