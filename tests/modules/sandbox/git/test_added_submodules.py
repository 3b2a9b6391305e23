"""Submodules that a run adds, clones and gives up: kept whole, with settings that are ours."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from modules.files.git_remotes.submodule_settings import is_plain_address
from modules.sandbox.backends import selftest
from modules.sandbox.git import added_submodules
from modules.sandbox.git.new_repository import move_repository
from tests.modules.sandbox.git.test_stand_in import (
    COMMAND,
    HOOK,
    attack,
    home,
    person,
    repository,
    submodule,
)
from tests.modules.sandbox.sandbox_home import SandboxHome

__all__ = ["home", "submodule"]

pytestmark = pytest.mark.as_root

LOCAL = "git -c protocol.file.allow=always submodule --quiet"
ADD = (
    "git init -q -b main other && git -C other commit -q --allow-empty -m one &&"
    f" {LOCAL} add ./other sub"
)
OURS = {
    "core.repositoryformatversion": "0",
    "core.filemode": "true",
    "core.bare": "false",
    "core.logallrefupdates": "true",
}
MODULE = ".git/modules/sub"


def settings(home: SandboxHome, folder: str) -> dict[str, str]:
    """Return the settings of the repository *folder*, as git reads them."""
    path = str(home.project / folder / "config")
    lines = person(home, "config", "--file", path, "--list").splitlines()
    return dict(line.split("=", 1) for line in lines)


def use_submodules(home: SandboxHome) -> None:
    """Do as the person would with their own git."""
    for folder in (".", "sub"):
        for line in ("status", "submodule update --init --recursive", "fetch", "checkout -q main",
                     "commit --allow-empty -qm x", "add .", "gc -q", "log -1 -p"):  # fmt: skip
            if (home.project / folder / ".git").exists():
                person(home, "-C", folder, *line.split(), check=False)


def test_one_that_a_run_adds_is_the_person_s(home: SandboxHome) -> None:
    result = home.bash(f"{ADD} && git commit -qm added && git -C sub log --format=%s")
    assert (result.output, result.notes) == ("one\n", ())
    assert person(home, "submodule", "status").startswith(" ")
    assert person(home, "status", "--short") == "?? other/\n"
    assert person(home, "-C", "sub", "fsck", "--strict") == ""
    url = str(home.project / "other")
    assert settings(home, MODULE) == OURS | {
        "core.worktree": "../../../sub",
        "remote.origin.url": url,
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "branch.main.remote": "origin",
        "branch.main.merge": "refs/heads/main",
    }
    own = {key: value for key, value in settings(home, ".git").items() if "submodule" in key}
    assert own == {"submodule.sub.url": url, "submodule.sub.active": "true"}
    assert person(home, "-C", "sub", "rev-parse", "@{upstream}", "HEAD").splitlines() == (
        [person(home, "-C", "sub", "rev-parse", "main").strip()] * 2
    )
    again = home.bash("cd sub && git commit -q --allow-empty -m two && git log --format=%s")
    assert (again.output, again.notes) == ("two\none\n", ())
    assert person(home, "-C", "sub", "log", "--format=%s") == "two\none\n"


def test_one_that_is_added_where_nothing_can_be_mounted(
    home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    attacked, canary = attack(home, f"{ADD}; git commit -qm added; {UNKEPT['settings']}")
    assert person(home, "-C", "sub", "log", "--format=%s") == "one\n"
    assert person(home, "submodule", "status").startswith("-"), attacked  # its URL is not kept
    person(home, "submodule", "update", "--init")
    assert person(home, "submodule", "status").startswith(" ")
    use_submodules(home)
    assert not canary.exists()


def test_those_in_one_come_with_it(home: SandboxHome) -> None:
    inner = "git init -q in && git -C in commit -q --allow-empty -m in"
    add = f"cd other && {LOCAL} add $OLDPWD/in in && git commit -qm in && cd .."
    clone = f"{LOCAL} add ./other sub && {LOCAL} update --init --recursive"
    result = home.bash(f"{inner}; git init -q -b main other && {add} && {clone}")
    assert (result.output, result.notes) == ("", ())
    status = person(home, "submodule", "status", "--recursive")
    assert [line.split()[1] for line in status.splitlines()] == ["sub", "sub/in"]
    assert {line[0] for line in status.splitlines()} == {" "}
    assert settings(home, f"{MODULE}/modules/in")["core.worktree"] == "../../../../../sub/in"


def test_one_that_is_given_up_and_taken_again(submodule: SandboxHome) -> None:
    before = repository(submodule)[0]
    result = submodule.bash("git submodule --quiet deinit vendor/lib")
    assert (result.output, result.notes) == ("", ())
    assert person(submodule, "submodule", "status").startswith("-")
    assert "submodule.vendor/lib.url" not in settings(submodule, ".git")
    result = submodule.bash("git submodule --quiet update --init 2>&1 | grep -v ^warning")
    assert (result.output, result.notes) == ("", ())
    assert person(submodule, "submodule", "status").startswith(" ")
    assert settings(submodule, ".git")["submodule.vendor/lib.active"] == "true"
    assert {name: text for name, text in repository(submodule)[0].items() if name != "config"} == {
        name: text for name, text in before.items() if name != "config"
    }


UNKEPT = {
    "hooks": f"for h in post-checkout pre-commit; do set -- {MODULE}/hooks/$h; {HOOK}; done",
    "settings": f"git -C sub config core.fsmonitor '{COMMAND}; false';"
    f" git -C sub config filter.x.clean '{COMMAND}'; git -C sub config core.hooksPath h",
    "attributes": f"mkdir -p {MODULE}/info; echo '* filter=x' > {MODULE}/info/attributes",
    "a command that updates it": f"git config submodule.sub.update '!{COMMAND}'",
    "all submodules": "git config submodule.active :/; git config submodule.recurse true",
}
REFUSED = {
    "a tree outside": "git -C sub config core.worktree /tmp",
    "the project as its tree": f"git config -f {MODULE}/config core.worktree ../../..",
    "a repository as its tree": f"git config -f {MODULE}/config core.worktree ../../../other/.git",
    "a tree behind a link": f"ln -s /tmp out; git config -f {MODULE}/config core.worktree"
    " ../../../out/x",
    "two trees": f"git config -f {MODULE}/config --add core.worktree ../../../x",
    "no tree": f"git config -f {MODULE}/config --unset core.worktree",
    "a remote that runs something": f"git -C sub config remote.origin.url 'ext::{COMMAND}'",
    "other objects": f"echo /home > {MODULE}/objects/info/alternates",
    "a common folder": f"echo ../.. > {MODULE}/commondir",
    "extensions": "git -C sub config extensions.worktreeConfig true",
    "a shallow one": f"git -C sub rev-parse HEAD > {MODULE}/shallow",
    "one in the folder of another": f"cp -r {MODULE} .git/modules/s; mv {MODULE} .git/modules/s/x",
    "a config that is none": f"echo '[' > {MODULE}/config",
    "a link for its config": f"mv {MODULE}/config c; ln -s $PWD/c {MODULE}/config",
}
LOST = {
    "an object that is missing": f"printf '%040d\\n' 1 > {MODULE}/refs/heads/x",
    "one that is not whole": f"rm -rf {MODULE}/objects/??",
    "an object of the project": f"git rev-parse HEAD > {MODULE}/refs/heads/x",
    "another history": "git -C sub update-ref refs/replace/$(git -C sub rev-parse HEAD) HEAD",
    "a HEAD that leads outside": f"echo 'ref: refs/heads/../../config' > {MODULE}/HEAD",
    "a file called a ref": f"echo $(git -C sub rev-parse HEAD) hooks/x >> {MODULE}/packed-refs",
}


PLAIN = (
    *("https://example.org/a", "HTTPS://example.org", "ssh://me@example.org/a", "file:///a"),
    *("git@example.org:a/b.git", "example.org:/a", "./a", "../b", "/a/b:c"),
)
HARMFUL = (
    *("", "-x", "ext::sh -c x", "fd::3", "x::https://example.org", "ssh://-oProxyCommand=x/y"),
    *("x@-oProxyCommand=x:y", "http://-x", "ssh://u@-oProxyCommand=x/y", "./a\nb"),
    "https://example.org/\x1b[0m",
)


def kept(home: SandboxHome) -> bool:
    return any((home.project / ".git/modules").rglob("HEAD"))


@pytest.mark.parametrize("name", UNKEPT)
def test_what_git_obeys_does_not_come_with_it(home: SandboxHome, name: str) -> None:
    result, canary = attack(home, f"{ADD}; git commit -qm added; {UNKEPT[name]}")
    assert kept(home), result
    assert not any((home.project / MODULE / "hooks").iterdir())
    names = {key.rpartition(".")[0] for key in settings(home, MODULE)}
    assert names == {"core", "remote.origin", "branch.main"}
    own = {key for key in settings(home, ".git") if key.startswith("submodule.")}
    assert own <= {"submodule.sub.url", "submodule.sub.active"}
    use_submodules(home)
    assert not canary.exists()


@pytest.mark.parametrize("name", REFUSED)
def test_one_of_another_kind_is_not_kept(home: SandboxHome, name: str) -> None:
    result, canary = attack(home, f"{ADD}; git commit -qm added; {REFUSED[name]}")
    assert not kept(home), result
    assert result.notes, result
    use_submodules(home)
    assert not canary.exists()


@pytest.mark.parametrize("name", LOST)
def test_where_one_is_not_whole_nothing_is_kept(home: SandboxHome, name: str) -> None:
    before = repository(home)
    result, canary = attack(home, f"{ADD}; git commit -qm added; {LOST[name]}")
    assert str(result.notes[0]).startswith("What git did in this run was not kept: "), result
    assert repository(home) == before
    use_submodules(home)
    assert not canary.exists()


def test_where_something_is_in_its_place_nothing_is_kept(home: SandboxHome) -> None:
    outside = home.home / "outside"
    outside.mkdir()
    (home.project / ".git/modules").symlink_to(outside)
    head = person(home, "rev-parse", "HEAD")
    home.bash(f"{ADD}; git commit -qm added")
    assert (list(outside.iterdir()), person(home, "rev-parse", "HEAD")) == ([], head)


@pytest.mark.parametrize("move", [move_repository, shutil.copytree], ids=["moved", "copied"])
def test_what_the_person_did_meanwhile_takes_it_away_again(
    home: SandboxHome, monkeypatch: pytest.MonkeyPatch, move: Callable[[Path, Path], object]
) -> None:
    def move_beside_a_person(new: Path, place: Path) -> None:
        move(new, place)
        person(home, "commit", "--allow-empty", "-qm", "mine")

    monkeypatch.setattr(added_submodules, "move_repository", move_beside_a_person)
    result = home.bash(f"{ADD}; git commit -qm added")
    assert "was changed by somebody else meanwhile" in str(result.notes[0])
    assert person(home, "log", "-1", "--format=%s") == "mine\n"
    assert not (home.project / MODULE).exists()


def test_where_they_are_too_many_no_more_are_kept(
    home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(added_submodules, "MAX_SUBMODULES", 0)
    result = home.bash(f"{ADD}; git commit -qm added")
    assert (kept(home), len(result.notes)) == (False, 1)


@pytest.mark.parametrize("address", PLAIN)
def test_addresses_that_git_goes_to(address: str) -> None:
    assert is_plain_address(address)


@pytest.mark.parametrize("address", HARMFUL)
def test_addresses_that_run_or_hide_something(address: str) -> None:
    assert not is_plain_address(address)
