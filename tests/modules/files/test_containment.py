"""No path outside the folder is ever opened, whatever the path says and whoever moves folders."""

from __future__ import annotations

import ctypes
import gc
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modules.files import kernel
from modules.files.containment import (
    ConfinedFolder,
    ContentChanged,
    NotRegularFile,
    OutsideFolder,
    ProtectedPath,
    SymlinkInPath,
)
from modules.files.writable import MAX_NEW_FOLDERS, TooManyFolders, WritableFolder

SECRET = b"secret from outside"
Enter = Callable[[Path], WritableFolder]


@pytest.fixture(params=["openat2", "walk"])
def enter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Return a way to open a folder, once by openat2 and once by steps."""
    if request.param == "walk":
        monkeypatch.setattr(kernel, "has_openat2", lambda _: False)
    return WritableFolder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_bytes(SECRET)
    root = tmp_path / "project"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/file.txt").write_bytes(b"inside")
    (root / ".git").mkdir()
    return root


def test_openat2_is_there() -> None:
    """Where it is not, the tests named "openat2" would test the walk twice."""
    beneath = WritableFolder(Path(__file__).parent)
    assert kernel.has_openat2(beneath.descriptor) == sys.platform.startswith("linux")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("up", ".."),
        ("file", "../outside/secret.txt"),
        ("absolute", "{outside}/secret.txt"),
        ("folder", "../outside"),
        ("deep", "a/../../outside/secret.txt"),
        ("magic", "/proc/self/root"),
    ],
)
def test_links_that_lead_outside_are_refused(
    enter: Enter, root: Path, name: str, target: str
) -> None:
    (root / name).symlink_to(target.format(outside=root.parent / "outside"))
    beneath = enter(root)
    for path in (name, f"{name}/secret.txt", f"{name}/outside/secret.txt"):
        with pytest.raises((OutsideFolder, OSError, NotRegularFile)):
            beneath.read(path, 100)
        with pytest.raises((SymlinkInPath, ProtectedPath, OSError)):
            beneath.write(path, b"changed")
    assert (root.parent / "outside/secret.txt").read_bytes() == SECRET
    assert [p.name for p in (root.parent / "outside").iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("path", ["../outside/secret.txt", "a/../../outside/secret.txt", ".."])
def test_dots_do_not_lead_outside(enter: Enter, root: Path, path: str) -> None:
    with pytest.raises(OutsideFolder):
        enter(root).read(path, 100)


@pytest.mark.parametrize(
    "target", ["a/b/file.txt", "a/b/../b/file.txt", "{root}/a/b/file.txt", "other", "a/b/up/a/b/x"]
)
def test_links_that_stay_inside_are_read(enter: Enter, root: Path, target: str) -> None:
    (root / "other").symlink_to("a/b/file.txt")
    (root / "a/b/up").symlink_to("../..")
    (root / "a/b/x").symlink_to("file.txt")
    (root / "link").symlink_to(target.format(root=root))
    assert enter(root).read("link", 100) == b"inside"
    with pytest.raises(SymlinkInPath):
        enter(root).write("link", b"")


def test_links_in_a_circle_are_an_error(enter: Enter, root: Path) -> None:
    (root / "x").symlink_to("y")
    (root / "y").symlink_to("x")
    for path in ("x", "x/z"):
        with pytest.raises(OSError, match="symbolic links"):
            enter(root).read(path, 1)


def test_what_is_no_file_is_refused_without_waiting(
    enter: Enter, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    beneath = enter(root)
    for name in ("fifo", "socket"):
        with pytest.raises(NotRegularFile):
            beneath.read(name, 1)
        with pytest.raises(NotRegularFile):
            beneath.write(name, b"x")
    (root / "zero").symlink_to("/dev/zero")
    with pytest.raises(OutsideFolder):
        beneath.read("zero", 1)
    with pytest.raises(IsADirectoryError):
        beneath.read("a", 1)


def test_without_proc_a_file_is_read_all_the_same(
    enter: Enter, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beneath = enter(root)
    monkeypatch.setattr(beneath, "_has_proc_fd", False)
    assert beneath.read("a/b/file.txt", 100) == b"inside"
    os.mkfifo(root / "fifo")
    with pytest.raises(NotRegularFile):
        beneath.read("fifo", 1)


def test_a_sparse_terabyte_is_read_to_the_limit_only(enter: Enter, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(10**12)
    assert enter(root).read("huge", 10) == bytes(10)


@pytest.mark.parametrize(
    "path", [".git/config", ".GIT/hooks/x", "a/.git/x", ".git", "a/.gi\u200ct/x", "git~1/x"]
)
def test_nothing_is_written_in_a_folder_of_gits(enter: Enter, root: Path, path: str) -> None:
    with pytest.raises(ProtectedPath):
        enter(root).write(path, b"x")
    with pytest.raises(ProtectedPath):
        enter(root).make_folders(path)


def test_gits_folder_is_known_under_another_name(enter: Enter, root: Path) -> None:
    """As on file systems that know a name in two forms: here the root of git is the folder b."""
    (root / ".git").rmdir()
    beneath = enter(root)
    beneath._git_identity = lambda: _number(root / "a/b")  # type: ignore[method-assign]
    with pytest.raises(ProtectedPath):
        beneath.write("a/b/config", b"x")
    beneath.write("a/config", b"x")


def _number(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def test_a_hidden_folder_goes_nowhere_with_the_one_it_is_in(root: Path) -> None:
    (root / "code/data").mkdir(parents=True)
    (root / "code/data/key").write_text("k")
    beneath = WritableFolder(root, hidden=[root / "code/data"])
    with pytest.raises(ProtectedPath):
        beneath.rename("code", "elsewhere")
    for recursive in (False, True):
        with pytest.raises(ProtectedPath):
            beneath.remove_folder("code", recursive=recursive)
    assert (root / "code/data/key").read_text() == "k"


def test_a_hidden_folder_cannot_be_read_under_any_name(root: Path) -> None:
    beneath = WritableFolder(root, hidden=[root / "data", root.parent / "outside"])
    (root / "data/log").mkdir(parents=True)  # made later, as our data folder may be
    (root / "data/log/key").write_bytes(SECRET)
    (root / "way").symlink_to("data/log")
    for path in ("data/log/key", "way/key", "a/../data/log/key"):
        with pytest.raises(ProtectedPath):
            beneath.read(path, 100)
        with pytest.raises((ProtectedPath, SymlinkInPath, FileNotFoundError)):
            beneath.write(path, b"x")
    assert [item.name for item in beneath.scan("")] == [".git", "a", "way"]


@pytest.mark.parametrize("name", ["a\nb", "-rf", "\x1b[31m", "\udcff\udcfe", " ", "中文", "*?[]"])
def test_any_name_works(enter: Enter, root: Path, name: str) -> None:
    beneath = enter(root)
    path = f"a/{name}"
    beneath.write(path, b"1", None)
    assert beneath.read(path, 9) == b"1"
    assert name in [item.name for item in beneath.scan("a")]
    beneath.rename(path, f"{path}x")
    beneath.unlink(f"{path}x")
    assert [item.name for item in beneath.scan("a")] == ["b"]


def test_folders_that_cannot_all_be_made_are_not_made(enter: Enter, root: Path) -> None:
    beneath = enter(root)
    before = sorted(root.rglob("*"))
    with pytest.raises(TooManyFolders):
        beneath.make_folders("/".join(["d"] * 1_500))
    with pytest.raises(OSError, match="too long"):
        beneath.make_folders(f"x/y/{'n' * 300}/z")
    with pytest.raises(OSError, match="too long"), beneath.with_folders("x/y"):
        beneath.write(f"x/y/{'n' * 300}", b"1", None)
    assert sorted(root.rglob("*")) == before
    deep = "/".join(["d"] * MAX_NEW_FOLDERS)
    assert len(beneath.make_folders(deep)) == MAX_NEW_FOLDERS
    assert beneath.make_folders(f"{deep}/{deep}")[0] == f"{deep}/d"


def test_what_another_put_into_a_folder_made_in_vain_stays(enter: Enter, root: Path) -> None:
    beneath = enter(root)

    def fail() -> None:
        (root / "x" / "other").write_text("1")
        raise ContentChanged

    with pytest.raises(ContentChanged), beneath.with_folders("x/y"):
        fail()
    assert [path.name for path in (root / "x").iterdir()] == ["other"]


def test_a_path_deeper_than_the_system_takes_works(enter: Enter, root: Path) -> None:
    beneath = enter(root)
    path = "/".join(["d" * 200] * 30)
    beneath.make_folders(path)
    beneath.write(f"{path}/f", b"deep", None)
    assert beneath.read(f"{path}/f", 9) == b"deep"
    assert beneath.lstat(f"{path}/f").st_size == 4
    beneath.remove_folder("d" * 200, recursive=True)
    assert [item.name for item in beneath.scan("")] == [".git", "a"]


@pytest.mark.parametrize("mode", [0o750, 0o600, 0o444, 0o666])
def test_writing_keeps_the_mode(enter: Enter, root: Path, mode: int) -> None:
    path = root / "a/b/file.txt"
    path.chmod(mode)
    enter(root).write("a/b/file.txt", b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)


def test_a_new_file_has_the_mode_of_the_umask(enter: Enter, root: Path) -> None:
    before = os.umask(0o027)
    try:
        enter(root).write("new", b"")
    finally:
        os.umask(before)
    assert (root / "new").stat().st_mode & 0o777 == 0o640


def test_a_hard_link_is_not_written_through(enter: Enter, root: Path) -> None:
    (root / "hard").hardlink_to(root.parent / "outside/secret.txt")
    enter(root).write("hard", b"mine")
    assert (root.parent / "outside/secret.txt").read_bytes() == SECRET
    assert (root / "hard").read_bytes() == b"mine"


def test_writing_looks_again_right_before(enter: Enter, root: Path) -> None:
    beneath = enter(root)
    with pytest.raises(ContentChanged):
        beneath.write("a/b/file.txt", b"new", b"insid")
    with pytest.raises(FileExistsError):
        beneath.write("a/b/file.txt", b"new", None)
    beneath.write("a/b/file.txt", b"new", b"inside")
    assert [p.name for p in (root / "a/b").iterdir()] == ["file.txt"]
    assert (root / "a/b/file.txt").read_bytes() == b"new"


@pytest.fixture(params=["renameat2", "links"])
def renaming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "links":
        monkeypatch.setattr(kernel, "_libc", lambda: object())
        monkeypatch.setattr(kernel, "has_openat2", lambda _: False)


@pytest.mark.usefixtures("renaming")
def test_renaming_never_replaces(root: Path) -> None:
    beneath = WritableFolder(root)
    (root / "other").write_bytes(b"other")
    (root / "empty").mkdir()
    for source, target in [("other", "a/b/file.txt"), ("other", "a"), ("a/b", "other"),
                           ("a", "empty")]:  # fmt: skip
        with pytest.raises(FileExistsError):
            beneath.rename(source, target)
    beneath.rename("other", "empty/other")
    beneath.rename("a", "c")
    (root / "link").symlink_to("nowhere")
    beneath.rename("link", "moved")
    assert (root / "empty/other").read_bytes() == b"other"
    assert (root / "c/b/file.txt").read_bytes() == b"inside"
    assert (root / "moved").readlink() == Path("nowhere")


def test_deleting_a_tree_follows_no_link(enter: Enter, root: Path) -> None:
    (root / "a/out").symlink_to(root.parent / "outside")
    (root / "way").symlink_to(root.parent / "outside")
    beneath = enter(root)
    with pytest.raises((SymlinkInPath, NotADirectoryError, OSError)):
        beneath.remove_folder("way", recursive=True)
    beneath.remove_folder("a", recursive=True)
    assert (root.parent / "outside/secret.txt").read_bytes() == SECRET


def test_no_descriptor_is_left_open(enter: Enter, root: Path) -> None:
    (root / "out").symlink_to("../outside")
    (root / "in").symlink_to("a/b")
    beneath = enter(root)
    for path in ("a/b/file.txt", "out/x", "in/file.txt", "a", "none", "a/b/file.txt/x", "../x"):
        for work in (beneath.lstat, beneath.scan, lambda p: beneath.read(p, 9),
                     lambda p: beneath.write(p, b"inside")):  # fmt: skip
            try:
                work(path)
            except (OSError, OutsideFolder, SymlinkInPath, NotRegularFile):
                continue
    held = {os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()}
    assert {name for name in held if name.startswith(str(root.parent))} == {str(root)}


SWAPS = 2_000
SWAPPER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
folder = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
print("ready", flush=True)
while True:
    libc.renameat2(folder, b"swap", folder, b"trap", 2)  # RENAME_EXCHANGE
"""


@pytest.fixture
def swapped(root: Path) -> Iterator[Path]:
    """Return a project whose folder `swap` is now itself, now a link to the folder outside."""
    (root / "swap").mkdir()
    (root / "swap/secret.txt").write_bytes(b"inside")
    (root / "trap").symlink_to("../outside")
    process = subprocess.Popen([sys.executable, "-c", SWAPPER, root], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield root
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="no RENAME_EXCHANGE")
def test_a_swap_while_we_look_never_leads_outside(enter: Enter, swapped: Path) -> None:
    beneath = enter(swapped)
    inside = refused = number = 0
    while number < SWAPS or not (inside and refused):  # else the race was never run
        number += 1
        try:
            assert beneath.read("swap/secret.txt", 100) == b"inside"
            inside += 1
        except (OutsideFolder, OSError):
            refused += 1
        if number % 20 == 0:
            try:
                beneath.write("swap/new.txt", b"x")
                beneath.write("swap/secret.txt", b"inside")
            except (SymlinkInPath, OSError):
                refused += 1
    assert [p.name for p in (swapped.parent / "outside").iterdir()] == ["secret.txt"]
    assert (swapped.parent / "outside/secret.txt").read_bytes() == SECRET


@pytest.mark.parametrize("path", ["", "a"])
def test_two_who_list_a_folder_at_once_both_see_all_of_it(
    enter: Enter, root: Path, path: str
) -> None:
    names = {f"{number:04}-{'x' * 40}" for number in range(3_000)}
    for name in names:
        (root / path / name).touch()
    beneath = enter(root)
    with beneath.open_folder(path) as folder, os.scandir(folder) as entries:
        next(entries)
        seen = [name for name, _ in beneath.list_names(path)]
        seen_by_scan = [item.name for item in beneath.scan(path)]
        rest = 1 + sum(1 for _ in entries)
    assert names <= set(seen)
    assert names <= set(seen_by_scan)
    assert len(seen) == len(set(seen)) == len(seen_by_scan) == rest


def test_a_folder_is_open_as_long_as_somebody_has_it(tmp_path: Path) -> None:
    folder = ConfinedFolder(tmp_path)
    descriptor, writable = folder.descriptor, folder.with_git_writable()
    del folder
    gc.collect()
    assert os.path.sameopenfile(descriptor, writable.descriptor)
    del writable
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
