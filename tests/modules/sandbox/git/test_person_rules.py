"""What the person ignores everywhere, and how they write lines, counts for programs' git too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.modules.sandbox.git.test_stand_in import person
from tests.modules.sandbox.sandbox_home import SandboxHome

pytestmark = pytest.mark.as_root
ADDED = "git add -A; git commit -qm x; git ls-files --eol | tr -s ' \\t' ' '"


@pytest.fixture
def home(sandbox_home: SandboxHome, run_tier: str) -> SandboxHome:  # noqa: ARG001 - where programs run
    (sandbox_home.home / ".gitconfig").write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.org\n[core]\n\tautocrlf = input\n"
        "\texcludesFile = ~/my ignore\n\tattributesFile = ~/my attributes\n"
        "[safe]\n\tdirectory = *\n"
    )
    (sandbox_home.home / "dotfiles").mkdir()
    (sandbox_home.home / "dotfiles/ignore").write_text("*.swp\n*.kept\n")
    (sandbox_home.home / "my ignore").symlink_to("dotfiles/ignore")
    (sandbox_home.home / "my attributes").write_text("*.raw -text\n")
    write(sandbox_home.project)
    return sandbox_home


def write(folder: Path) -> None:
    for name in ("a", "b.raw", "c.swp", "d.kept"):
        (folder / name).write_bytes(b"line\r\n")
    (folder / ".gitignore").write_text("!*.kept\n")


def test_they_count_in_the_project(home: SandboxHome) -> None:
    result = home.bash(ADDED)
    assert [line for line in result.output.splitlines() if line.startswith("i/")] == [
        "i/lf w/lf attr/ .gitignore",
        "i/lf w/crlf attr/ a",
        "i/crlf w/crlf attr/-text b.raw",
        "i/lf w/crlf attr/ d.kept",
    ]
    assert person(home, "status", "--porcelain") == ""
    (home.home / "my ignore").write_text("")
    assert "c.swp" in home.bash("git status --short").output


def test_what_the_repository_says_goes_before(home: SandboxHome) -> None:
    for name, value in (("autocrlf", "false"), ("excludesFile", "/dev/null")):
        person(home, "config", f"core.{name}", value)
    said = home.bash(ADDED).output
    assert "i/crlf w/crlf attr/ a\n" in said
    assert "c.swp" in said


def test_so_they_do_in_a_repository_that_a_program_makes(home: SandboxHome) -> None:
    inner = home.project / "inner"
    inner.mkdir()
    write(inner)
    said = home.bash(f"cd inner; git init -q; {ADDED}").output
    assert "i/lf w/crlf attr/ a\n" in said
    assert "c.swp" not in said


def test_without_files_of_rules_there_are_none(home: SandboxHome) -> None:
    (home.home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = a@b\n")
    said = home.bash(f"{ADDED}; git config --get-all core.excludesFile | xargs cat").output
    assert "i/crlf w/crlf attr/ c.swp\n" in said
    assert subprocess.run(["git", "-C", home.project, "fsck"], check=True).returncode == 0
