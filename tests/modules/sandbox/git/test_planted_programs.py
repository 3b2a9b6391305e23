"""Each way by which a repository can name a program to git: none is there for the person's git."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.files.git.state_names import is_state_file
from modules.sandbox.backends import selftest
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process

pytestmark = pytest.mark.as_root

RUN = "touch CANARY"
SETTINGS = {
    "a smudge filter": ("filter.x.smudge", f"{RUN}; cat", "* filter=x"),
    "a process of a filter": ("filter.x.process", RUN, "* filter=x"),
    "a text of a binary": ("diff.x.textconv", f"{RUN}; cat", "* diff=x"),
    "a difference": ("diff.x.command", RUN, "* diff=x"),
    "every difference": ("diff.external", RUN, ""),
    "a merge": ("merge.x.driver", f"{RUN}; false", "* merge=x"),
    "who knows the password": ("credential.helper", f"!{RUN};:", ""),
    "who knows one of a host": ("credential.https://example.org.helper", f"!{RUN};:", ""),
    "an editor of sequences": ("sequence.editor", f"{RUN};:", ""),
    "a signature": ("gpg.program", RUN, ""),
    "a signature by ssh": ("gpg.ssh.program", RUN, ""),
    "a key for signatures": ("gpg.ssh.defaultKeyCommand", RUN, ""),
    "a way by ssh": ("core.sshCommand", RUN, ""),
    "a way by a proxy": ("core.gitProxy", RUN, ""),
    "a question for a password": ("core.askPass", RUN, ""),
    "refs of another": ("core.alternateRefsCommand", RUN, ""),
    "attributes from elsewhere": ("core.attributesFile", "/project/attributes", ""),
    "ignored from elsewhere": ("core.excludesFile", "/dev/null", ""),
    "a work tree elsewhere": ("core.worktree", "/tmp", ""),
    "an update of a submodule": ("submodule.lib.update", f"!{RUN}", ""),
    "a submodule from a program": ("submodule.lib.url", f"ext::sh -c {RUN}", ""),
    "packs for others": ("uploadpack.packObjectsHook", RUN, ""),
    "addresses that run something": ("protocol.ext.allow", "always", ""),
    "a remote that runs something": ("remote.evil.url", f"ext::sh -c {RUN}", ""),
    "what the other end of a fetch runs": ("remote.origin.uploadpack", RUN, ""),
    "what the other end of a push runs": ("remote.origin.receivepack", RUN, ""),
    "a helper for a remote": ("remote.origin.vcs", "evil", ""),
    "another address for one": ("url.ext::sh -c x .insteadOf", "https://", ""),
    "another address for a push": ("url.ext::sh -c x .pushInsteadOf", "https://", ""),
    "where a push goes": ("remote.pushDefault", "evil", ""),
    "a proxy for the web": ("http.proxy", "http://127.0.0.1:9", ""),
    "a host that is believed": ("http.sslVerify", "false", ""),
    "cookies of a file": ("http.cookieFile", "/project/cookies", ""),
    "a header for all": ("http.extraHeader", "X-Evil: 1", ""),
    "a pager of one command": ("pager.log", RUN, ""),
    "a filter of added lines": ("interactive.diffFilter", f"{RUN}; cat", ""),
    "a tool for differences": ("difftool.x.cmd", RUN, ""),
    "a tool for merges": ("mergetool.x.cmd", RUN, ""),
    "a browser": ("browser.x.cmd", RUN, ""),
    "a reader of manuals": ("man.x.cmd", RUN, ""),
    "a trailer": ("trailer.x.command", RUN, ""),
    "a form of archives": ("tar.x.command", RUN, ""),
    "a way for letters": ("sendemail.sendmailCmd", RUN, ""),
    "who gets letters": ("sendemail.toCmd", RUN, ""),
    "a template of repositories": ("init.templateDir", "/project/template", ""),
    "a tool of the window": ("guitool.x.cmd", RUN, ""),
    "contents that are promised": ("remote.evil.promisor", "true", ""),
    "objects kept by a program": ("gc.recentObjectsHook", RUN, ""),
    "a file for a folder": ("includeIf.gitdir:/.path", "/project/included", ""),
    "a file for a branch": ("includeIf.onbranch:main.path", "/project/included", ""),
    "a file for a remote": ("includeIf.hasconfig:remote.*.url:**.path", "/project/included", ""),
    "an alias in other letters": ("ALIAS.st", f"!{RUN}", ""),
}
"""Named for what it is for: (key, value, attributes that make it count)."""

HOOK = "printf '#!/bin/sh\\ntouch CANARY\\n' > $h; chmod +x $h"
FILES = {
    "hooks that others forget": "for n in push-to-checkout pre-auto-gc sendemail-validate"
    " post-index-change post-rewrite prepare-commit-msg commit-msg applypatch-msg pre-merge-commit"
    " proc-receive fsmonitor-watchman pre-push update post-update; do h=.git/hooks/$n;"
    f" mkdir -p .git/hooks; {HOOK}; done",
    "a folder of hooks that is a link": "mkdir h; rm -rf .git/hooks; ln -s ../h .git/hooks;"
    f" h=h/post-checkout; {HOOK}",
    "settings in the place of the old": "printf '[core]\\nfsmonitor = touch CANARY\\n' > new;"
    " mv new .git/config",
    "settings that are a link": "printf '[core]\\nfsmonitor = touch CANARY\\n' > c;"
    " ln -sf ../c .git/config",
    "settings with a second name": "rm -f .git/config; cp /dev/null c;"
    " printf '[core]\\nfsmonitor = touch CANARY\\n' > c; ln c .git/config",
    "a lock that becomes the settings": "printf '[core]\\nfsmonitor = touch CANARY\\n' >"
    " .git/config.lock; mv .git/config.lock .git/config",
    "a file in the place of the folder": "cp -r .git evil; git config -f evil/config"
    " core.fsmonitor 'touch CANARY'; rm -rf .git; echo 'gitdir: evil' > .git",
    "a commit with other parents": "git rev-parse HEAD > .git/info/grafts",
    "an end of the history": "git rev-parse HEAD > .git/shallow",
    "a remote of old": "mkdir -p .git/remotes; echo 'URL: ext::sh -c x' > .git/remotes/old",
    "a branch of old": "mkdir -p .git/branches; echo 'ext::sh -c x' > .git/branches/old",
    "an editor left running": "git config core.editor \"sh -c 'touch CANARY'\";"
    " git config core.commentChar x",
    "a repository from a clone": "git clone -q . copy; git -C copy config core.fsmonitor"
    " 'touch CANARY'; rm -rf .git; mv copy/.git .git",
    "a work tree that is linked": "git worktree add -q linked; git config"
    " extensions.worktreeConfig true; git -C linked config --worktree core.fsmonitor"
    " 'touch CANARY'",
}

USES = (
    "status", "diff", "log -1 -p --show-signature", "stash", "stash pop", "checkout -q HEAD~1",
    "checkout -q main", "commit --allow-empty -qm x", "reset -q --hard HEAD~1", "fetch -q",
    "push -q", "archive --format=x HEAD", "submodule update --init", "worktree list", "gc -q",
    "st", "blame f", "grep two", "merge -q HEAD~1", "rebase -q HEAD~1", "credential fill",
    "interpret-trailers f",
)  # fmt: skip


def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "-C", str(folder), *words]
    return subprocess.run(
        command, input="url=https://example.org\n\n", capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder.parent), "GIT_TERMINAL_PROMPT": "0"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxHome]:
    with home_of_process(tmp_path_factory.mktemp("home")) as made:
        git(made.project, "checkout", "-qb", "main")
        for text in ("one", "two"):
            (made.project / "f").write_text(f"{text}\n")
            git(made.project, "add", "f")
            git(made.project, "commit", "-qm", text)
        yield made


def obeyed(project: Path) -> dict[str, bytes]:
    """Return the files of the repository that are no state: git does what they say."""
    folder = project / ".git"
    names = [path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()]
    return {
        str(name): (folder / name).read_bytes()
        for name in names
        if name.parts[0] not in ("objects", "hooks") and not is_state_file(str(name))
    }


def use_git(home: SandboxHome) -> None:
    for line in USES:
        git(home.project, *line.split())


def run(home: SandboxHome, code: str) -> tuple[str, Path]:
    canary = home.home / "canary"
    head = git(home.project, "rev-parse", "HEAD").stdout.strip()
    output = home.bash(code.replace("CANARY", str(canary))).output
    git(home.project, "reset", "-q", "--hard", head)
    return output, canary


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_a_run_made_is_gone_with_it(home: SandboxHome, name: str) -> None:
    key, value, attributes = SETTINGS[name]
    before = obeyed(home.project)
    plant = f"git config '{key}' '{value}'; echo '{attributes}' > .git/info/attributes;"
    output, canary = run(home, f"{plant} git config '{key}' > /dev/null && echo planted")
    assert "planted" in output
    assert obeyed(home.project) == before
    assert git(home.project, "config", key).stdout == ""
    git(home.project, "status")
    assert not canary.exists()


def test_none_of_the_settings_is_left_by_landlock_either(
    home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    before = obeyed(home.project)
    plants = [
        f"git config '{key}' '{value}' && echo planted" for key, value, _ in SETTINGS.values()
    ]
    output, canary = run(home, "\n".join(plants))
    assert output.count("planted") == len(SETTINGS)
    assert obeyed(home.project) == before
    use_git(home)
    assert not canary.exists()


@pytest.mark.parametrize("name", FILES)
def test_what_a_run_planted_is_gone_with_it(home: SandboxHome, name: str) -> None:
    before = obeyed(home.project)
    run(home, FILES[name])
    assert (home.project / ".git").is_dir()
    assert obeyed(home.project) == before
    assert all(path.suffix == ".sample" for path in (home.project / ".git/hooks").iterdir())
    use_git(home)
    assert not (home.home / "canary").exists()


def test_the_same_settings_count_for_git_outside(home: SandboxHome, tmp_path: Path) -> None:
    """Or else none of the above could fail."""
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(home.project), "other")
    canary = tmp_path / "ran"
    for key in ("core.fsmonitor", "diff.external"):
        git(other, "config", key, f"touch {canary}; false")
        (other / "f").write_text(f"{key}\n")
        for line in USES[:2]:
            git(other, *line.split())
        assert canary.exists(), key
        canary.unlink()
        git(other, "config", "--unset", key)
