"""Repositories that have objects elsewhere (`git clone --shared` and `--reference`)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program, Result, Sandbox
from tests.modules.sandbox.git.test_stand_in import home, person
from tests.modules.sandbox.sandbox_home import SandboxHome, run_to_end

__all__ = ["home"]
pytestmark = pytest.mark.as_root
FILE = "objects/info/alternates"
WORK = (
    "set -e; git log --format=%s | tail -1; echo new > new; git add new; git commit -qm new;"
    " git stash -q || true; git checkout -qb b; git tag t; git merge -q main; git fsck --strict"
)


@pytest.fixture(params=["A", "C"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    return str(request.param)


@pytest.fixture
def shared(home: SandboxHome) -> SandboxHome:
    """The project is a clone with all its objects in the repository `~/other`."""
    other = home.home / "other"
    home.project.rename(other)
    other.chmod(0o755)
    clone(other, home.project)
    return home


def clone(source: Path, target: Path, *options: str) -> None:
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "clone", "-q", "--shared", *options,
         os.fspath(source), os.fspath(target)],
        check=True,
    )  # fmt: skip
    for setting in ("user.name=Ann", "user.email=ann@example.org"):
        subprocess.run(["git", "-C", os.fspath(target), "config", *setting.split("=")], check=True)


def run(home: SandboxHome, code: str, *show: Path) -> Result:
    sandbox = Sandbox(home.project, hidden=[home.data], cache_folder=home.data, show_folders=show)
    return run_to_end(sandbox, Program("bash", code))


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def test_git_is_used_where_the_other_repository_is_shown(shared: SandboxHome, tier: str) -> None:
    other = shared.home / "other/.git"
    before, named = files_of(other), (shared.project / ".git" / FILE).read_bytes()
    result = run(shared, WORK, other / "objects")
    assert (result.exit_code, result.notes, result.output) == (0, (), "one\n")
    assert person(shared, "log", "--format=%s", "b").split() == ["new", "two", "one"]
    assert "error" not in person(shared, "fsck", "--strict", "--no-dangling")
    assert (files_of(other), (shared.project / ".git" / FILE).read_bytes()) == (before, named)


def test_what_is_not_shown_stays_so_and_the_way_is_said(shared: SandboxHome, tier: str) -> None:
    objects = shared.home / "other/.git/objects"
    result = run(shared, f"ls {objects}; git log; git status")
    assert result.exit_code
    assert "two" not in result.output
    assert f"objects in {objects}, which programs do not see" in str(result.notes[-1])
    assert "show_folders" in str(result.notes[-1])


@pytest.mark.parametrize("form", ["../../../../other/.git/objects", "{home}/link/.git/objects"])
def test_it_may_be_named_by_another_path(shared: SandboxHome, form: str) -> None:
    (shared.home / "link").symlink_to("other")
    file = shared.project / ".git" / FILE
    file.write_text(f"# told by hand\n\n{form.format(home=shared.home)}\n")
    result = run(shared, WORK, shared.home / "other/.git/objects")
    assert (result.exit_code, result.notes, result.output) == (0, (), "one\n")


def test_one_that_has_objects_elsewhere_too(shared: SandboxHome) -> None:
    clone(shared.home / "other", shared.home / "middle")
    objects = [shared.home / name / ".git/objects" for name in ("middle", "other")]
    (shared.project / ".git" / FILE).write_text(f"{objects[0]}\n")
    result = run(shared, WORK, *objects)
    assert (result.exit_code, result.notes, result.output) == (0, (), "one\n")
    result = run(shared, "git log; git status", objects[0])
    assert f"objects in {objects[1]}, which programs do not see" in str(result.notes[-1])


def test_a_change_of_what_it_names_is_seen(shared: SandboxHome) -> None:
    clone(shared.home / "other", shared.home / "middle", "--no-shared")
    objects = [shared.home / name / ".git/objects" for name in ("other", "middle")]
    sandbox = Sandbox(
        shared.project, hidden=[shared.data], cache_folder=shared.data, show_folders=objects
    )
    for one in objects:
        (shared.project / ".git" / FILE).write_text(f"{one}\n")
        result = run_to_end(sandbox, Program("bash", f"cat .git/{FILE}; git log --format=%s"))
        assert result.output.split()[1:] == [str(one), "two", "one"]


@pytest.mark.parametrize(
    "attack",
    ["echo {home}/.ssh >> .git/" + FILE, "rm .git/" + FILE, "echo x > {other}/new",
     "ln -sf {home}/.ssh .git/" + FILE, "rm -rf .git/objects/info; ln -s {home} .git/objects/info"],
)  # fmt: skip
def test_no_program_names_another(shared: SandboxHome, attack: str) -> None:
    other = shared.home / "other/.git/objects"
    before, named = files_of(other), (shared.project / ".git" / FILE).read_bytes()
    run(shared, attack.format(home=shared.home, other=other), other)
    assert (files_of(other), (shared.project / ".git" / FILE).read_bytes()) == (before, named)


@pytest.mark.parametrize(
    "make",
    ["git init -q sub; echo $HOME > sub/.git/" + FILE, "git clone -q --shared . sub",
     "git clone -q . sub", "git clone -q --no-local --reference . . sub"],
)  # fmt: skip
def test_a_clone_that_a_run_makes_names_none(shared: SandboxHome, tier: str, make: str) -> None:
    if tier == "C" and "--" not in make:
        make = make.replace("git clone", "git clone --shared")  # there the objects are copied
    objects = shared.home / "other/.git/objects"
    sandbox = Sandbox(
        shared.project, hidden=[shared.data], cache_folder=shared.data, show_folders=[objects]
    )
    assert run_to_end(sandbox, Program("bash", make)).exit_code == 0
    notes = sandbox.disarm(["sub/.git"])
    assert not os.path.lexists(shared.project / "sub/.git" / FILE)
    assert "git clone --no-local" in str(notes[-1])
    run_to_end(sandbox, Program("bash", "rm -rf sub; git clone -q --no-local . sub"))
    assert sandbox.disarm(["sub/.git"]) == []
    assert person(shared, "-C", "sub", "log", "--format=%s") == "two\none\n"


@pytest.mark.parametrize("packs", [True, False])
def test_a_clone_of_the_project_that_a_run_makes_is_whole(
    home: SandboxHome, tier: str, packs: bool
) -> None:
    if packs:
        person(home, "repack", "-qad")
    sandbox = Sandbox(home.project, hidden=[home.data], cache_folder=home.data)
    work = "git -c user.name=A -c user.email=a commit -q --allow-empty -m here; git clone -q . sub"
    assert run_to_end(sandbox, Program("bash", work)).exit_code == 0
    assert sandbox.disarm(["sub/.git"]) == []
    assert not os.path.lexists(home.project / "sub/.git" / FILE)
    assert person(home, "-C", "sub", "log", "--format=%s") == "here\ntwo\none\n"
    person(home, "-C", "sub", "fsck", "--strict")
    if tier == "A":
        own = {path.stat().st_ino for path in (home.project / ".git/objects").rglob("*")}
        assert own.isdisjoint(p.stat().st_ino for p in (home.project / "sub").rglob("*"))


def test_only_what_programs_find_there_is_brought(home: SandboxHome) -> None:
    (secret := home.home / "secret").mkdir()
    (secret / "ab").mkdir()
    (secret / "ab" / ("0" * 38)).write_text("CANARY")
    sandbox = Sandbox(home.project, hidden=[home.data], cache_folder=home.data)
    for lines in (f"{secret}", f"/run/git-objects\n{secret}", "/run/git-objects/../x"):
        make = f"rm -rf sub; git init -q sub; printf '{lines}\n' > sub/.git/{FILE}"
        run_to_end(sandbox, Program("bash", make))
        assert sandbox.disarm(["sub/.git"]) != []
        assert not os.path.lexists(home.project / "sub/.git" / FILE)
        assert "CANARY" not in str(files_of(home.project / "sub"))
    make = f"ln -s {home.home} sub/.git/objects/pack/../ab; echo /run/git-objects > sub/.git/{FILE}"
    before = sorted(home.home.iterdir())
    run_to_end(sandbox, Program("bash", make))
    sandbox.disarm(["sub/.git"])
    assert sorted(home.home.iterdir()) == before


def test_submodules_may_have_them(home: SandboxHome) -> None:
    lib = home.home / "lib"
    clone(home.project, lib, "--no-shared")
    for name in ("lib", "more"):
        person(home, "submodule", "add", "--reference", str(lib), str(lib), name)
    person(home, "commit", "-qm", "submodules")
    assert str(lib) in (home.project / ".git/modules/lib" / FILE).read_text()
    work = "cd lib; git -c user.name=A -c user.email=a commit -q --allow-empty -m new"
    result = run(home, work, lib / ".git/objects")
    assert (result.exit_code, result.notes) == (0, ())
    assert person(home, "-C", "lib", "log", "-1", "--format=%s") == "new\n"
    person(home, "-C", "lib", "fsck", "--strict")
    result = run(home, work)
    assert result.exit_code
