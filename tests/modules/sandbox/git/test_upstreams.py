"""Of a repository's config a program may change which branch a branch follows."""

from __future__ import annotations

import pytest

from tests.modules.checkpoints.test_git_state import git
from tests.modules.sandbox.sandbox_home import SandboxHome

pytestmark = pytest.mark.as_root

KEPT = {
    "a branch of a remote": ("git checkout -q -b x --track origin/main", "x", "origin/main"),
    "one by its name": ("git switch -q far", "far", "origin/far"),
    "said later": ("git branch -u origin/far", "main", "origin/far"),
    "taken away": ("git branch --unset-upstream", "main", ""),
    "another of this repository": ("git branch --track x main", "x", "main"),
    "renamed": ("git branch -m main new", "new", "origin/main"),
    "in Chinese": ("git checkout -q -b 功能/一 --track origin/main", "功能/一", "origin/main"),
}
REFUSED = {
    "a program in its place": "git config branch.main.remote 'ext::sh -c touch% x'",
    "an address in its place": "git config branch.main.remote https://example.org/x",
    "a remote that came with it": "git remote add evil https://example.org/x;"
    " git config branch.main.remote evil",
    "an option": "git config branch.main.merge --upload-pack=x",
    "no branch": "git config branch.main.merge refs/tags/t",
    "two": "git config --add branch.main.merge refs/heads/far",
    "a half": "git config --unset branch.main.merge",
    "options of a merge": "git config branch.main.mergeOptions --strategy=x",
    "a branch that is none": "git config branch.--x.remote origin;"
    " git config branch.--x.merge refs/heads/main",
    "lines in it": "git config branch.main.merge 'refs/heads/a\n[core]\nfsmonitor = x'",
    "something else beside it": "git branch -u origin/far; git config core.fsmonitor x",
    "a file without end": "head -c 3000000 /dev/zero | tr '\\0' '#' >> .git/config",
    "a file that is none": "echo '[x' >> .git/config",
    "a link": "mv .git/config /tmp/c; ln -s /tmp/c .git/config",
    "none": "rm .git/config",
    "a pipe": "rm .git/config; mkfifo .git/config",
    "an include": "echo '[branch \"main\"]' > i; git config include.path ../i",
}


@pytest.fixture
def home(sandbox_home: SandboxHome) -> SandboxHome:
    (sandbox_home.home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = a@b.c\n")
    project = sandbox_home.project
    for arguments in (
        "checkout -qb main", "commit -q --allow-empty -m one",
        "remote add origin https://example.org/o", "update-ref refs/remotes/origin/main HEAD",
        "update-ref refs/remotes/origin/far HEAD", "branch -u origin/main",
    ):  # fmt: skip
        assert git(project, *arguments.split()).endswith("0")
    return sandbox_home


@pytest.mark.parametrize("name", KEPT)
def test_what_a_branch_follows_is_kept(home: SandboxHome, name: str) -> None:
    code, branch, upstream = KEPT[name]
    result = home.bash(code)
    assert (result.exit_code, result.notes) == (0, ()), result.output
    said = git(home.project, "for-each-ref", "--format=%(upstream:short)", f"refs/heads/{branch}")
    assert said == f"{upstream}\n0"
    assert home.bash("git commit -q --allow-empty -m on").notes == ()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_upstream_is_not_kept(home: SandboxHome, name: str) -> None:
    before = (home.project / ".git/config").read_text()
    result = home.bash(f"{REFUSED[name]}\ntimeout 2 git branch new || true")  # it waits at a pipe
    assert ".git/config" in str(result.notes[0])
    after = (home.project / ".git/config").read_text()
    if name == "something else beside it":
        assert after == before.replace("refs/heads/main", "refs/heads/far")
    else:
        assert after == before
