from __future__ import annotations

import site
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from core.tools import ToolError
from modules.checkpoints.checkpoints import Checkpoints
from modules.files.own_code import SHIPPED, OwnCode, break_hard_links
from modules.files.project import Project
from tests.modules.checkpoints.folders import folder_state
from tests.modules.checkpoints.test_checkpoints import write
from utils.i18n import UserError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A project with Onefold's checkout in it."""
    place = tmp_path / "code"
    for path in (
        "onefold/main.py",
        "onefold/core/loop/turn.py",
        "onefold/data/config.toml",
        "other/a",
    ):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text("as it was\n")
    return place


def own(
    code: Path, *named: str | Path, root: str = "onefold", data: str = "onefold/data"
) -> OwnCode:
    return OwnCode.find(code, code / root, code / data, map(str, named))


@pytest.fixture
def project(code: Path) -> Iterator[Project]:
    made = Project(code, own_code=own(code))
    yield made
    made.close()


def test_a_project_elsewhere_holds_nothing_of_ours(tmp_path: Path) -> None:
    assert OwnCode.find(tmp_path, ROOT, ROOT / "data") == OwnCode()


def test_a_checkout_in_the_project_is_ours_and_what_is_in_it(code: Path) -> None:
    assert own(code) == OwnCode(("onefold",))


def test_data_elsewhere_in_the_project_is_ours_there_or_not(code: Path) -> None:
    assert own(code, data="there/data").paths == ("onefold", "there/data")


def test_a_link_on_the_way_is_ours_and_so_is_what_it_leads_to(code: Path) -> None:
    (code / "tools").symlink_to("onefold")
    (code / "onefold" / ".venv").symlink_to("../environments/one")
    named = [code / "tools/main.py", code / "onefold/.venv/bin/python"]
    assert own(code, *named) == OwnCode(("environments/one/bin/python", "onefold"), ("tools",))


def test_links_in_a_circle_end(code: Path) -> None:
    (code / "a").symlink_to("b")
    (code / "b").symlink_to("a")
    assert own(code, code / "a").links == ("a", "b")


def test_where_this_python_looks_for_modules_is_ours(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(code / "lib"), str(code / "old.zip")])
    monkeypatch.setattr(sys, "pycache_prefix", str(code / "cache"))
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(code / "user/site-packages"))
    assert own(code).paths == ("cache", "lib", "old.zip", "onefold", "user/site-packages")


def test_what_pth_files_name_is_ours_there_or_not(
    code: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    lines = f"# a remark\n\nimport os\n{code}/edited\n../code/beside\n"
    (packages / "some.pth").write_text(lines)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    assert own(code).paths == ("beside", "edited", "onefold")


def test_all_of_pyenv_is_ours_where_the_python_is_one_of_its(code: Path) -> None:
    (code / "pyenv/shims").mkdir(parents=True)
    assert own(code, code / "pyenv/versions/3.12.1/bin/python3").paths == ("onefold", "pyenv")


def test_the_repository_of_a_worktree_is_ours(code: Path) -> None:
    (code / "main/.git/worktrees/onefold").mkdir(parents=True)
    (code / "main/.git/worktrees/onefold/commondir").write_text("../..\n")
    (code / "onefold/.git").write_text(f"gitdir: {code}/main/.git/worktrees/onefold\n")
    assert own(code).paths == ("main/.git", "onefold")


@pytest.mark.parametrize("inner", ["", "core", "core/deep", "data", ".venv/lib", "tests"])
def test_no_project_is_or_lies_in_what_is_loaded(code: Path, inner: str) -> None:
    project = code / "onefold" / inner
    project.mkdir(parents=True, exist_ok=True)
    with pytest.raises(UserError, match="cannot be the project: Onefold itself is running from"):
        OwnCode.find(project, code / "onefold", code / "data")


@pytest.mark.parametrize("inner", ["workspace", "mine/deep"])
def test_a_project_may_be_a_folder_of_the_persons_own_in_the_checkout(
    code: Path, inner: str
) -> None:
    project = code / "onefold" / inner
    project.mkdir(parents=True)
    assert OwnCode.find(project, code / "onefold", code / "onefold/data") == OwnCode()


def test_a_folder_of_pythonpath_is_no_project_but_one_in_it_may_be(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(code)])
    with pytest.raises(UserError):
        own(code)
    assert OwnCode.find(code / "other", ROOT, ROOT / "data") == OwnCode()


def test_a_package_of_our_python_is_no_project(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "click"
    package.mkdir(parents=True)
    with pytest.raises(UserError):
        OwnCode.find(package, ROOT, ROOT / "data", [str(package.parent)])


def test_what_is_shipped_is_known() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert folders | {"static", "templates", "prompts", "data"} <= SHIPPED


def test_packages_that_are_being_edited_are_ours(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("editable_finder")
    exec("class Finder: find_spec = classmethod(lambda *_: None)", vars(module))
    vars(module)["MAPPING"] = {"other": str(code / "other")}
    monkeypatch.setitem(sys.modules, "editable_finder", module)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, vars(module)["Finder"]])
    assert own(code).paths == ("onefold", "other")


Act = Callable[[Project], object]
ACTS: dict[str, Act] = {
    "modify": lambda one: one.write_bytes("onefold/main.py", b"evil"),
    "create": lambda one: one.write_bytes("onefold/click.py", b"evil"),
    "create deep": lambda one: one.write_bytes("onefold/a/b/c.py", b"evil", make_folders=True),
    "make a folder": lambda one: one.make_folder("onefold/__pycache__"),
    "delete": lambda one: one.delete_file("onefold/core/loop/turn.py"),
    "delete a folder": lambda one: one.delete_folder("onefold/core", recursive=True),
    "delete all": lambda one: one.delete_folder("onefold", recursive=True),
    "rename within": lambda one: one.rename("onefold/main.py", "onefold/old.py"),
    "rename out": lambda one: one.rename("onefold/main.py", "main.py"),
    "rename in": lambda one: one.rename("other/a", "onefold/sitecustomize.py"),
    "rename it": lambda one: one.rename("onefold", "onefold2"),
    "as git": lambda one: one.with_git_writable().write_bytes(
        "onefold/.git/hooks/post-merge", b"evil"
    ),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_no_tool_changes_what_is_ours(project: Project, act: Act) -> None:
    before = folder_state(project.root)
    with pytest.raises(ToolError):
        act(project)
    assert folder_state(project.root) == before


def test_what_is_ours_can_be_read_and_the_rest_changed(project: Project) -> None:
    assert project.read_bytes("onefold/main.py") == b"as it was\n"
    project.write_bytes("other/a", b"new")
    project.rename("other", "others")
    assert (project.root / "others/a").read_bytes() == b"new"


def test_a_folder_above_stays_and_so_do_a_link_and_what_is_missing(code: Path) -> None:
    (code / "tools").symlink_to("onefold")
    project = Project(code, own_code=own(code, code / "tools/main.py", code / "other/lib/zip"))
    acts: list[Act] = [
        lambda one: one.delete_file("tools"),
        lambda one: one.rename("tools", "old"),
        lambda one: one.rename("other", "another"),
        lambda one: one.make_folder("other/lib/zip"),
        lambda one: one.rename("other/a", "other/lib/zip"),
    ]
    for act in acts:
        with pytest.raises(ToolError, match="out of bounds"):
            act(project)
    project.close()


def points(code: Path, store: Path, known: OwnCode) -> Checkpoints:
    return Checkpoints(code, store, file_cap=10**7, total_cap=10**9, keep_days=7, own_code=known)


def test_another_name_for_the_folder_does_not_help(code: Path) -> None:
    project = Project(code, own_code=own(code))
    (code / "onefold").rename(code / "ONEFOLD")  # as a file system without case would show it
    (code / "onefold").symlink_to("ONEFOLD")
    project._folder.own_paths = ("ONEFOLD",)
    with pytest.raises(ToolError):
        project.write_bytes("onefold/main.py", b"evil")
    project.close()


def test_undo_and_rewind_leave_what_is_ours_alone(code: Path, tmp_path: Path) -> None:
    # The first was taken when nothing of ours was there, so it holds all of it.
    old = points(code, tmp_path / "store", OwnCode())
    before = old.take().id
    write(code / "onefold/main.py", "then")
    (code / "onefold/core/loop/turn.py").unlink()
    (code / "onefold/new.py").touch()
    write(code / "other/a", "then")
    after = old.take().id
    old.close()
    write(code / "onefold/core/other.py", "since")
    is_ours = folder_state(code / "onefold")
    new = points(code, tmp_path / "store", own(code))
    undone = new.undo(before, after)
    assert folder_state(code / "onefold") == is_ours
    assert (code / "other/a").read_text() == "as it was\n"
    assert sorted(path.name for path in code.iterdir()) == ["onefold", "other"]
    assert {str(left.why) for left in undone.skipped} == {"Onefold and its data are never changed"}
    new.rewind(after)
    assert folder_state(code / "onefold") == is_ours
    assert (code / "other/a").read_text() == "then"
    new.close()


def test_undo_moves_no_folder_that_holds_what_is_ours(code: Path, tmp_path: Path) -> None:
    old = points(code, tmp_path / "store", OwnCode())
    (code / "before/deep").mkdir(parents=True)
    (code / "before/deep/a").touch()
    before = old.take().id
    (code / "before").rename(code / "lib")
    after = old.take().id
    old.close()
    new = points(code, tmp_path / "store", own(code, code / "lib/deep"))
    new.undo(before, after)
    assert (code / "lib/deep/a").exists()
    new.close()


def test_a_file_with_another_name_gets_a_copy_of_its_own(code: Path) -> None:
    main, alias = code / "onefold/main.py", code / "alias.py"
    main.chmod(0o750)
    alias.hardlink_to(main)
    before = folder_state(code)["onefold/main.py"]
    break_hard_links(code / "onefold")
    assert not main.samefile(alias)
    assert folder_state(code)["onefold/main.py"] == before
    assert sorted(path.name for path in main.parent.iterdir()) == ["core", "data", "main.py"]
