"""Which files count: git's answer in a repository, and the same without git.

Known to differ, and not tried below: "?" is one byte for git and one character for pathspec.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from modules.files import ignore
from modules.files.containment import ConfinedFolder
from modules.files.git import isolated_git
from modules.files.ignore import GENERATED_FOLDERS, visible_files
from tests.campaign import seeded


@pytest.fixture(autouse=True)
def _own_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the person's git configuration and the repositories above out of the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *who, "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def fill(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def listed(root: Path, path: str = "") -> list[str]:
    return visible_files(ConfinedFolder(root), root, path)


TREE = {
    ".gitignore": "*.log\n/build/\n!keep.log\nnode_modules\n",
    "a.py": "",
    "a.log": "",
    "keep.log": "",
    "build/x": "",
    "sub/build/y": "",
    "sub/.gitignore": "*.tmp\n!important.tmp\n",
    "sub/a.tmp": "",
    "sub/important.tmp": "",
    "node_modules/p/index.js": "",
    "中文/名 字": "",
}
SEEN = [".gitignore", "a.py", "keep.log", "sub/.gitignore", "sub/build/y", "sub/important.tmp",
        "中文/名 字"]  # fmt: skip


@pytest.mark.parametrize("kind", ["repository", "folder"])
def test_folders_that_tools_fill_are_left_out_without_a_rule(root: Path, kind: str) -> None:
    fill(root, {".venv/lib/a.py": "", "sub/node_modules/p/b.js": "", "sub/c.py": "", "target": ""})
    if kind == "repository":
        fill(root, {"node_modules/ours.js": ""})
        git(root, "init")
        git(root, "add", "node_modules")
        fill(root, {"node_modules/theirs.js": ""})
        assert listed(root) == ["node_modules/ours.js", "sub/c.py", "target"]
    else:
        assert listed(root) == ["sub/c.py", "target"]
    assert listed(root, "sub/node_modules") == ["sub/node_modules/p/b.js"]
    assert listed(root, ".venv/lib") == [".venv/lib/a.py"]


@pytest.mark.parametrize("kind", ["repository", "folder", "repository without git"])
def test_nested_rules_hold_everywhere(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(root, TREE)
    if kind != "folder":
        git(root, "init")
    if kind == "repository without git":
        monkeypatch.setattr(isolated_git, "system_program", lambda _: None)
    assert listed(root) == SEEN
    assert listed(root, "sub") == ["sub/.gitignore", "sub/build/y", "sub/important.tmp"]


@pytest.mark.parametrize("kind", ["repository", "folder"])
def test_an_ignored_folder_is_listed_when_named(root: Path, kind: str) -> None:
    fill(root, TREE)
    if kind == "repository":
        git(root, "init")
    assert listed(root, "node_modules/p") == ["node_modules/p/index.js"]


def test_outside_a_repository_the_usual_folders_do_not_count(root: Path) -> None:
    fill(root, {"a.py": "", "__pycache__/a.pyc": "", ".venv/x": "", "web/node_modules/y": ""})
    assert listed(root) == ["a.py"]
    fill(root, {".gitignore": "!node_modules\n"})
    assert listed(root) == [".gitignore", "a.py", "web/node_modules/y"]


def test_what_tools_fill_does_not_count_but_a_file_of_that_name_does(root: Path) -> None:
    fill(root, {f"deep/{name}/x": "" for name in GENERATED_FOLDERS})
    fill(root, {"build/x": "", "target": ""})
    assert listed(root) == ["build/x", "target"]


def test_tracked_files_count_although_a_rule_ignores_them(root: Path) -> None:
    fill(root, {".gitignore": "*.log\n", "kept.log": "", "other.log": "", "gone": ""})
    git(root, "init")
    git(root, "add", "-f", "kept.log", "gone")
    (root / "gone").unlink()
    assert listed(root) == [".gitignore", "kept.log"]


def test_repositories_inside_give_their_own_answer(root: Path) -> None:
    fill(root, {"inner/.gitignore": "*.o\n", "inner/x.c": "", "inner/x.o": "", "y.o": ""})
    git(root / "inner", "init")
    expected = ["inner/.gitignore", "inner/x.c", "y.o"]
    assert listed(root) == expected
    git(root, "init")
    assert listed(root) == expected
    git(root / "inner", "add", "x.c")
    git(root / "inner", "commit", "-m", "x")
    git(root, "add", "inner")  # now a link to a commit
    assert listed(root) == expected


def test_a_folder_that_a_repository_above_ignores_is_listed(root: Path) -> None:
    fill(root, {".gitignore": "workspace/\n", "workspace/a": "", "workspace/.gitignore": "b\n"})
    fill(root, {"workspace/b": "", "other": ""})
    git(root, "init")
    inner = root / "workspace"
    assert listed(inner) == [".gitignore", "a"]


def test_the_repository_above_rules_its_folders(root: Path) -> None:
    fill(root, {".gitignore": "*.o\n", "src/a.c": "", "src/a.o": ""})
    git(root, "init")
    assert listed(root / "src") == ["a.c"]


def test_git_starts_nothing_that_a_repository_names(root: Path) -> None:
    fill(root, {"a": ""})
    git(root, "init")
    alarm = root.parent / "alarm"
    alarm.write_text(f"#!/bin/sh\ntouch {root.parent}/started\n")
    alarm.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor"):
        git(root, "config", name, str(alarm))
    assert listed(root) == ["a"]
    assert not (root.parent / "started").exists()


@pytest.mark.parametrize("kind", ["repository", "folder"])
def test_odd_names_and_links_are_files(root: Path, kind: str) -> None:
    names = ["a\nb", "-rf", "\x1b[1m", os.fsdecode(b"\xff\xfe"), "a b", "\t"]
    for name in names:
        (root / name).write_text("")
    (root / "link").symlink_to("/etc")
    (root / "broken").symlink_to("nowhere")
    if kind == "repository":
        git(root, "init")
    assert listed(root) == sorted([*names, "link", "broken"])


def test_a_slow_git_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(root, TREE)
    (root / ".git").mkdir()
    slow = root.parent / "git"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(ignore, "_GIT_SECONDS", 0.05)
    monkeypatch.setattr(isolated_git, "system_program", lambda _: str(slow))
    assert listed(root) == SEEN


NAMES = ["a", "b", "foo", "bar", "x.o", "y.py", "é", ".h", "a b"]
PATTERNS = [
    "*.o", "foo", "/foo", "foo/", "!foo", "a/b", "a/**", "**/b", "!*/", "*", "!*.py", "/*", "!x.o",
    "b*", "[ab]", "a/*/b", "# no", "\\#", "!a/", "**/foo/bar", ".h", "é", "a\\ b", "a b", "  ", "!",
]  # fmt: skip


def random_tree(root: Path, chance: random.Random) -> None:
    folders = [root]
    for _ in range(chance.randint(3, 8)):
        folder = chance.choice(folders) / chance.choice(NAMES)
        if not folder.exists():
            folder.mkdir()
            folders.append(folder)
    for folder in folders:
        for name in chance.sample(NAMES, 4):
            if not (folder / name).exists():
                (folder / name).write_text("")
        if folder == root or chance.random() < 0.4:
            rules = chance.sample(PATTERNS, chance.randint(1, 4))
            (folder / ".gitignore").write_text("\n".join(rules) + "\n")


@seeded(25)
def test_the_walk_agrees_with_git(root: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random_tree(root, random.Random(seed))
    with monkeypatch.context() as without:
        without.setattr(isolated_git, "system_program", lambda _: None)
        walked = listed(root)
    git(root, "init", "--template=")
    by_git = sorted(git(root, "ls-files", "-o", "--exclude-standard", "-z").split("\0")[:-1])
    assert not by_git or listed(root) == by_git
    assert walked == by_git


def test_a_repository_leads_git_to_no_other_folder(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    fill(elsewhere, {"private.txt": ""})
    fill(root, {"own.txt": "", "sub/deep.txt": ""})
    git(root, "init")
    git(root, "config", "core.worktree", str(elsewhere))
    assert listed(root) == ["own.txt", "sub/deep.txt"]
    assert listed(root, "sub") == ["sub/deep.txt"]


def test_an_empty_folder_of_gits_name_is_no_repository(root: Path) -> None:
    fill(root, {".gitignore": "*.o\n", "sub/a.o": "", "sub/a.c": ""})
    git(root, "init")
    (root / "sub/.git").mkdir()
    assert listed(root, "sub") == ["sub/a.c"]


def test_rules_of_many_stars_keep_nobody_busy(root: Path) -> None:
    fill(root, {".gitignore": "*a" * 30 + "*b\n", "a" * 200: ""})
    assert listed(root) == [".gitignore", "a" * 200]


def test_a_program_of_the_project_is_never_taken_for_git(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(root, {"a": "", ".venv/bin/git": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (root / ".venv/bin/git").chmod(0o755)
    git(root, "init")
    monkeypatch.setenv("PATH", f"{root}/.venv/bin:{os.environ['PATH']}")
    assert "a" in listed(root)
    assert not (tmp_path / "ran").exists()


def test_the_place_of_a_submodule_that_was_not_fetched_is_a_folder_like_any(root: Path) -> None:
    library = root.with_name("library")
    fill(library, {"lib.c": ""})
    fill(root, {"main.c": ""})
    for folder in (library, root):
        git(folder, "init")
        git(folder, "add", ".")
        git(folder, "commit", "-m", "all")
    git(root, "submodule", "add", str(library), "lib")
    git(root, "commit", "-m", "submodule")
    git(root, "worktree", "add", "tree")
    clone = root.with_name("clone")
    git(root, "clone", str(root), str(clone))
    assert listed(clone) == [".gitmodules", "main.c"]
    assert listed(root) == [
        ".gitmodules", "lib/lib.c", "main.c", "tree/.gitmodules", "tree/main.c",
    ]  # fmt: skip
    fill(clone, {"lib/mine.txt": ""})
    assert listed(clone) == [".gitmodules", "lib/mine.txt", "main.c"]
    assert listed(clone, "lib") == ["lib/mine.txt"]
