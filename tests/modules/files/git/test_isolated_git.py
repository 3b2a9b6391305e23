"""No git of ours starts a program, whatever a program of the model may have left in the project.

Every setting, hook and attribute that could names one program, which leaves a mark when it runs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from core.tools import ToolError
from modules.app_context import AppContext
from modules.files.containment import ConfinedFolder
from modules.files.git import common_dir, temporary_folder
from modules.files.git.isolated_git import isolated_git
from modules.files.ignore import visible_files
from modules.files.project import Project
from modules.git.commit import GitCommit
from modules.web.files.git_status import git_statuses
from tests.declared_tools import tool_named
from utils.waiting import Stop

ROOT = Path(__file__).parents[4]
PERSON = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-auto-gc"),
    *("post-index-change", "reference-transaction", "post-checkout", "post-merge", "post-rewrite"),
    *("fsmonitor-watchman", "pre-applypatch", "applypatch-msg", "sendemail-validate", "update"),
)
PROGRAMS = (
    *("core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "core.askPass"),
    *("core.gitProxy", "core.alternateRefsCommand", "credential.helper", "sequence.editor"),
    *("diff.external", "diff.x.command", "diff.x.textconv", "merge.x.driver", "diff.tool"),
    *("filter.x.clean", "filter.x.smudge", "filter.x.process", "interactive.diffFilter"),
    *("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"),
    *("pager.diff", "pager.show", "pager.status", "pager.config", "uploadpack.packObjectsHook"),
    *("remote.x.uploadpack", "remote.x.receivepack", "remote.x.vcs", "hook.x.command"),
    *("trailer.x.command", "trailer.x.cmd", "web.browser", "man.viewer", "help.browser"),
)
SWITCHES = {
    **{"commit.gpgSign": "true", "tag.gpgSign": "true", "log.showSignature": "true"},
    **{"remote.x.promisor": "true", "extensions.partialClone": "x", "remote.x.url": "ext::sh -c"},
    **{"core.repositoryFormatVersion": "1", "protocol.ext.allow": "always"},
    **{"protocol.allow": "always", "submodule.recurse": "true", "diff.ignoreSubmodules": "none"},
    **{"diff.submodule": "log", "status.submoduleSummary": "true", "hook.x.event": "pre-commit"},
    **{"submodule.lib.active": "true", "submodule.lib.ignore": "none", "gc.auto": "1"},
    **{"maintenance.auto": "true", "core.untrackedCache": "true", "fetch.recurseSubmodules": "yes"},
    **{"core.useBuiltinFSMonitor": "true", "rerere.enabled": "true", "filter.x.required": "true"},
}


@pytest.fixture(autouse=True)
def _nobody_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Return the file that is there once a planted program has run."""
    return tmp_path / "ran"


@pytest.fixture
def program(tmp_path: Path, mark: Path) -> str:
    path = tmp_path / "planted.sh"
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    path.chmod(0o755)
    return str(path)


def git(*arguments: str, at: Path) -> str:
    who = (
        "-c",
        "user.name=Me",
        "-c",
        "user.email=me@example.org",
        "-c",
        "core.hooksPath=/dev/null",
    )
    command = ["git", *who, "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(
        command, cwd=at, env=PERSON, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a clone that knows of a submodule `lib`, in which `deep` is one; neither is there."""
    for name, inner in (("deep", ""), ("lib", "deep"), ("up", "lib")):
        folder = tmp_path / name
        git("init", "-q", str(folder), at=tmp_path)
        (folder / "a.txt").write_text("one\n")
        if inner:
            git("submodule", "add", "-q", str(tmp_path / inner), inner, at=folder)
        git("add", "-A", at=folder)
        git("commit", "-q", "-m", "first", at=folder)
    git("clone", "-q", str(tmp_path / "up"), "project", at=tmp_path)
    folder = tmp_path / "project"
    git("config", "user.name", "Me", at=folder)
    git("config", "user.email", "me@example.org", at=folder)
    return folder


def plant(folder: Path, program: str, *, filters: str = "") -> None:
    """Let all that git obeys in the repository at *folder* name *program*.

    *filters* is the file of attributes that names it as a filter too, "" for none.
    """
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    own = Path(git("rev-parse", "--absolute-git-dir", at=folder).strip())
    (own / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        for place in (hooks, own / "hooks"):
            (place / name).unlink(missing_ok=True)
            (place / name).symlink_to(program)
    attributes = folder / filters if filters else folder / ".gitattributes"
    attributes.write_text("* diff=x merge=x" + (" filter=x" if filters else "") + "\n")
    lines = [f"[include]\n\tpath = {folder}/included\n"]
    for key, value in (*((key, program) for key in PROGRAMS), *SWITCHES.items()):
        section, _, name = key.rpartition(".")
        section, dot, inner = section.partition(".")
        header = f'{section} "{inner}"' if dot else section
        lines.append(f'[{header}]\n\t{name} = "{value}"\n')
    for name in ("status", "diff-files", "ls-files", "commit", "config", "update-index", "show"):
        lines.append(f'[alias]\n\t{name} = "!{program}"\n')
    (folder / "included").write_text("".join(lines[1:]))
    with (own / "config").open("a") as config:
        config.write("".join(lines))


def nested(root: Path, program: str, *, filters: str = "") -> None:
    """Make repositories of the empty places of the submodules, as a program could, two deep."""
    for folder in (root / "lib", root / "lib/deep"):
        git("init", "-q", str(folder), at=root)
        (folder / "f.txt").write_text("f\n")
        git("add", "f.txt", at=folder)
        os.utime(folder / "f.txt", (1_000_000_000, 1_000_000_000))
    # Without a commit of its own a submodule counts as unchanged, and so git looks into it.
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},deep", at=root / "lib")
    for folder in (root / "lib/deep", root / "lib"):
        plant(folder, program, filters=filters)


def committer(root: Path) -> GitCommit:
    return GitCommit(Project(root), Stop())


def preview(root: Path) -> object:
    return committer(root).preview(tool_named("git_commit"), {"message": "m", "paths": None})


def preview_some(root: Path) -> object:
    return committer(root).preview(
        tool_named("git_commit"), {"message": "m", "paths": ["a.txt", "new.txt"]}
    )


def commit(root: Path) -> object:
    return committer(root).git_commit("m")


def commit_some(root: Path) -> object:
    return committer(root).git_commit("m", ["a.txt", "new.txt"])


def commit_inner(root: Path) -> object:
    return committer(root).git_commit("m", ["lib", "lib/f.txt", "lib/deep"])


def listed(root: Path) -> object:
    return visible_files(ConfinedFolder(root), root)


def listed_inside(root: Path) -> object:
    return visible_files(ConfinedFolder(root), root, "lib")


PLACES = (
    preview,
    preview_some,
    commit,
    commit_some,
    commit_inner,
    listed,
    listed_inside,
    git_statuses,
)
Place = Callable[[Path], object]


def use(place: Place, root: Path) -> None:
    (root / "a.txt").write_text("two\n")
    os.utime(root / "a.txt", (1_000_000_000, 1_000_000_000))
    (root / "new.txt").write_text("new\n")
    with suppress(ToolError):
        place(root)


def assert_planted(folder: Path, mark: Path) -> None:
    """Make sure that git itself would have obeyed."""
    subprocess.run(["git", "status"], cwd=folder, env=PERSON, check=False, capture_output=True)
    assert mark.exists()


@pytest.mark.parametrize("filters", ["", ".gitattributes", ".git/info/attributes"])
@pytest.mark.parametrize("place", PLACES)
def test_what_the_repository_obeys_starts_nothing(
    root: Path, program: str, mark: Path, place: Place, filters: str
) -> None:
    plant(root, program, filters=filters)
    use(place, root)
    assert not mark.exists()
    assert_planted(root, mark)


@pytest.mark.parametrize("filters", ["", ".gitattributes", ".git/info/attributes"])
@pytest.mark.parametrize("place", PLACES)
def test_what_repositories_inside_obey_starts_nothing(
    root: Path, program: str, mark: Path, place: Place, filters: str
) -> None:
    nested(root, program, filters=filters)
    use(place, root)
    assert not mark.exists()
    assert_planted(root / "lib", mark)


@pytest.mark.parametrize("place", PLACES)
def test_a_git_file_that_leads_elsewhere_is_not_followed(
    root: Path, program: str, mark: Path, place: Place
) -> None:
    nested(root, program, filters=".gitattributes")
    (root / "lib/.git").rename(root / "hidden")
    (root / "lib/.git").write_text("gitdir: ../hidden\n")
    (root / "lib/deep/.git").rename(root / "deeper")
    (root / "lib/deep/.git").write_text(f"gitdir: {root}/deeper\n")
    with (root / "deeper/config").open("a") as config:
        config.write(f"[core]\n\tworktree = {root}/lib/deep\n")
    use(place, root)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["commondir", "config.worktree", "gitdir", "info/grafts"])
@pytest.mark.parametrize("place", PLACES)
def test_files_that_lead_git_elsewhere_are_not_followed(
    root: Path, program: str, mark: Path, place: Place, name: str
) -> None:
    other = root / "other"
    git("init", "-q", str(other), at=root)
    plant(other, program)
    (root / ".git" / name).write_bytes(
        (other / ".git/config").read_bytes() if "config" in name else f"{other}/.git\n".encode()
    )
    git("config", "extensions.worktreeConfig", "true", at=root)
    (root / "other/.git/HEAD").unlink()  # else a commit of all is refused
    use(place, root)
    assert not mark.exists()


def test_a_repository_that_shares_objects_or_lacks_some_fetches_nothing(
    root: Path, program: str, mark: Path, tmp_path: Path
) -> None:
    blob = git("rev-parse", "HEAD:a.txt", at=root).strip()
    objects = tmp_path / "up/.git/objects"
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text(f"{objects}\n")
    for kept in (root / ".git/objects", objects):
        (kept / blob[:2] / blob[2:]).unlink(missing_ok=True)
    plant(root, program)
    for place in PLACES:
        use(place, root)
    assert not mark.exists()


def test_settings_of_the_person_that_start_programs_do_not_count_either(
    root: Path, program: str, mark: Path, tmp_path: Path
) -> None:
    """They may lie in the project: that of a dotfiles repository is the home folder."""
    plant(root, program)
    (tmp_path / "home/.gitconfig").write_text(
        (root / ".git/config").read_text() + f"[trace2]\n\teventTarget = {tmp_path}/traced\n"
    )
    for place in PLACES:
        use(place, root)
    assert not mark.exists()


def test_git_is_started_in_one_place_only() -> None:
    sources = [
        path for room in ("core", "modules", "utils") for path in (ROOT / room).rglob("*.py")
    ]
    starting = [
        path.relative_to(ROOT).as_posix()
        for path in sources
        if 'system_program("git")' in path.read_text(encoding="utf-8")
    ]
    assert starting == ["modules/files/git/isolated_git.py"]


def test_the_common_folder_of_git_lies_where_no_program_writes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    made = isolated_git(root)
    assert made is not None
    assert root not in made.common_dir.path.parents


def test_a_common_folder_that_was_tidied_away_is_made_again(root: Path) -> None:
    first = isolated_git(root)
    assert first is not None
    shutil.rmtree(first.common_dir.path)
    assert "a.txt" in visible_files(ConfinedFolder(root), root)


def test_the_common_folders_of_the_killed_are_removed(root: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from modules.files.git.isolated_git import isolated_git\n"
        "print(isolated_git(Path(sys.argv[1])).common_dir.path, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, root], cwd=ROOT, check=False, capture_output=True, text=True
    )
    left = Path(told.stdout.strip())
    assert left.is_dir()
    git("config", "core.eol", "lf", at=root)
    assert isolated_git(root) is not None
    assert not left.exists()


@pytest.mark.parametrize("name", ["config", "HEAD", "packed-refs", "refs/heads/master"])
def test_a_pipe_in_a_submodule_is_named_and_git_does_not_wait_at_it(root: Path, name: str) -> None:
    git("submodule", "update", "--init", "-q", "lib", at=root)
    folder = root / ".git/modules/lib"
    git("checkout", "-q", "-B", "master", at=root / "lib")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(ToolError, match=f"no plain file.*{name}"):
        preview(root)
    assert git_statuses(root) == {}
    assert (isolated_git(root / "lib") is None) is (name in ("config", "HEAD"))


def test_a_folder_that_another_removes_before_its_lock_is_held_is_made_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks for those of killed processes takes one without a lock for theirs."""
    (tmp_path / "others").mkdir()
    monkeypatch.setattr(temporary_folder, "_FOLDERS", (str(tmp_path / "others"),))
    taken: list[Path] = []
    real = fcntl.flock

    def flock(lock_fd: int, operation: int) -> None:
        folder = Path(f"/proc/self/fd/{lock_fd}").readlink().parent
        if not taken and folder.name.startswith("onefold-git-"):
            taken.append(folder)
            shutil.rmtree(folder)
        real(lock_fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    common_dir._cached.cache_clear()
    found = isolated_git(root)
    assert taken
    assert found is not None
    assert found.common_dir.path.is_dir()
    common_dir._cached.cache_clear()


def test_nothing_of_ours_is_made_in_the_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `--project /tmp`."""
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr(temporary_folder, "_FOLDERS", (str(tmp_path / "project"), str(other)))
    monkeypatch.setattr(temporary_folder, "_excluded_projects", set())
    common_dir._cached.cache_clear()
    ground = AppContext.of(root, tmp_path / "data", (), root=ROOT)
    ground.store.close()
    ground.project.close()
    found = isolated_git(root)
    assert found is not None
    assert found.common_dir.path.parent == other
    assert not list(root.glob("onefold-git-*"))
    common_dir._cached.cache_clear()
