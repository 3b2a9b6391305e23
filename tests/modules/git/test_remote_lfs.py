"""Contents of git LFS go with the commits that name them, with the person's own git-lfs."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from core.cards import Change, TextCard
from core.tools import ToolError
from modules.files.git.git_runs import git_for
from modules.files.git_remotes.person_environment import PersonEnvironment
from modules.files.git_remotes.remote_address import checked_address
from modules.files.project import Project
from modules.git.remote import GitRemote
from tests.declared_tools import tool_named
from tests.modules.git.lfs_server import PASSWORD, git_server
from tests.modules.git.test_remote import PATH, base, git, intent, origin, remote, root, save, use
from utils.waiting import Stop

__all__ = ["base", "origin", "root"]
ATTRIBUTES = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
NO_LFS = tuple(
    word for name in ("clean", "smudge", "process") for word in ("-c", f"filter.lfs.{name}=")
)
LFS = ("-c", "filter.lfs.process=git-lfs filter-process", "-c", "filter.lfs.required=true")


def pointer(content: bytes) -> str:
    name = sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize {len(content)}\n"


def put(repository: Path, content: bytes) -> Path:
    """Put *content* where git-lfs has it in *repository*."""
    name = sha256(content).hexdigest()
    path = repository / "lfs/objects" / name[:2] / name[2:4] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def they_publish(base: Path, name: str, content: bytes) -> None:
    theirs = base / "theirs"
    (theirs / ".gitattributes").write_text(ATTRIBUTES)
    save(theirs, name, pointer(content), f"Store {name}")
    git("push", "-q", "origin", "HEAD:main", at=theirs)
    put(base / "origin.git", content)


def is_clean(root: Path) -> bool:
    """Return whether git, which runs no filter, finds nothing changed, nor the person's."""
    isolated = git_for(root, Stop().on_stop).run("diff-files", "--name-only").output
    return not isolated and not git(*LFS, "status", "--porcelain", at=root)


def test_a_pull_brings_the_contents_and_a_push_sends_them(base: Path, root: Path) -> None:
    content = b"\0large\n" * 1_000
    they_publish(base, "图 1.bin", content)
    said = use(root, "fetch")
    assert "1 contents of git LFS came, 7.0 kB." in said
    assert "LFS" not in use(root, "fetch")
    outcome = remote(root).git_remote("pull")
    assert (root / "图 1.bin").read_bytes() == content
    assert Change("created", "图 1.bin") in outcome.changes
    assert is_clean(root)

    they_publish(base, "图 1.bin", b"second")
    use(root, "pull")
    assert (root / "图 1.bin").read_bytes() == b"second"
    assert is_clean(root)

    they_publish(base, "图 1.bin", b"third")
    shutil.rmtree(base / "origin.git/lfs")
    assert "1 contents of git LFS stay pointers." in use(root, "pull")
    assert (root / "图 1.bin").read_text() == pointer(b"third")

    put(root / ".git", b"mine")
    (root / "new.bin").write_text(pointer(b"mine"))
    save(root, "gone.bin", pointer(b"not here"), "Mine")
    shown = intent(root, operation="push")
    assert "With 1 contents of git LFS, 4 B\n1 contents of git LFS are not here" in shown
    said = use(root, "push")
    assert "Sent 1 contents of git LFS, 4 B." in said
    name = sha256(b"mine").hexdigest()
    sent = base / f"origin.git/lfs/objects/{name[:2]}/{name[2:4]}/{name}"
    assert sent.read_bytes() == b"mine"


def test_a_clone_has_its_contents_and_says_what_it_lacks(
    base: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    they_publish(base, "a.bin", b"large")
    monkeypatch.setattr("modules.git.remote_operations.network_address", checked_address)
    address = f"file://{base / 'origin.git'}"
    assert "1 contents of git LFS came" in use(root, "clone", address, path="lib")
    assert (root / "lib/a.bin").read_bytes() == b"large"
    assert is_clean(root / "lib")

    shutil.rmtree(base / "origin.git/lfs")
    said = use(root, "clone", address, path="other")
    assert "1 contents of git LFS stay pointers." in said
    assert (root / "other/a.bin").read_text() == pointer(b"large")

    programs = base / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "")
    missing = remote(root, PATH=str(programs)).git_remote("pull").text
    assert "1 contents of git LFS stay pointers: git-lfs is not installed." in missing


def test_nothing_that_the_project_says_of_lfs_counts(base: Path, root: Path) -> None:
    """Whoever runs a planted program leaves `ran`, which the folder of the test looks for."""
    planted = base / "planted"
    planted.write_text(f"#!/bin/sh\ntouch '{base}/ran'\ncat\n")
    planted.chmod(0o755)
    with listening() as (elsewhere, calls):
        theirs, settings = base / "theirs", lfs_settings(planted, elsewhere)
        (theirs / ".lfsconfig").write_text(settings)
        they_publish(base, "a.bin", b"large")
        with (root / ".git/config").open("a") as config:
            config.write(settings)
        (root / "bin").mkdir()
        shutil.copy(planted, root / "bin/git-lfs")
        feature = remote(root, PATH=f"{root}/bin:{PATH}")
        assert "contents of git LFS came" in feature.git_remote("pull").text
        assert (root / "a.bin").read_bytes() == b"large"
        put(root / ".git", b"mine")
        save_pointer(root, b"mine")
        assert "Sent 1 contents" in feature.git_remote("push").text
        assert calls == []


def test_secrets_in_contents_are_shown_and_damaged_ones_stay(base: Path, root: Path) -> None:
    path = put(root / ".git", b"hunter2-hunter2")
    save_pointer(root, b"hunter2-hunter2")
    variables = {"PATH": PATH, "HOME": str(base / "home")}
    feature = GitRemote(
        Project(root), Stop(), PersonEnvironment(variables, 60.0),
        lambda text: ["TOKEN"] if "hunter2" in text else [],
    )  # fmt: skip
    card = feature.preview(tool_named("git_remote"), {"operation": "push"})
    assert isinstance(card, TextCard)
    assert "It publishes secrets: mine.bin (TOKEN)" in str(card.body)
    before = git("rev-parse", "main", at=base / "origin.git")
    (base / "key").write_bytes(b"a key")
    for damage in (lambda: path.write_bytes(b"other"), lambda: link(path, base / "key")):
        damage()
        with pytest.raises(ToolError, match="damaged"):
            feature.git_remote("push")
    assert git("rev-parse", "main", at=base / "origin.git") == before
    assert not (base / "origin.git/lfs").exists()


def test_contents_go_through_no_link_in_the_project(base: Path, root: Path) -> None:
    outside = base / "outside"
    outside.mkdir()
    they_publish(base, "sub.bin", b"large")
    use(root, "pull")
    (root / "sub.bin").unlink()
    (outside / "sub.bin").write_text(pointer(b"large"))
    (root / "sub.bin").symlink_to(outside / "sub.bin")
    use(root, "pull")
    assert (outside / "sub.bin").read_text() == pointer(b"large")
    shutil.rmtree(root / ".git/lfs")
    (root / ".git/lfs").symlink_to(outside)
    they_publish(base, "more.bin", b"more")
    with pytest.raises(ToolError, match="is a link"):
        use(root, "pull")
    assert [path.name for path in outside.iterdir()] == ["sub.bin"]


def save_pointer(root: Path, content: bytes) -> None:
    (root / "mine.bin").write_text(pointer(content))
    git(*NO_LFS, "add", "mine.bin", at=root)
    git(*NO_LFS, "commit", "-qm", "Mine", at=root)


def link(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def lfs_settings(program: Path, url: str) -> str:
    filters = f"clean = {program}\n\tsmudge = {program}\n\tprocess = {program}\n"
    return (
        f"[lfs]\n\turl = {url}\n\tpushurl = {url}\n\tstandalonetransferagent = evil\n"
        f'[lfs "customtransfer.evil"]\n\tpath = {program}\n'
        f'[lfs "extension.evil"]\n\tclean = {program}\n\tsmudge = {program}\n\tpriority = 0\n'
        f'[filter "lfs"]\n\t{filters}[remote "origin"]\n\tlfsurl = {url}\n'
        f"[credential]\n\thelper = {program}\n"
    )


@contextmanager
def listening() -> Iterator[tuple[str, list[Any]]]:
    """Yield the address of a server, and the list of those that called it."""
    calls: list[Any] = []

    def answer(server: socket.socket) -> None:
        while True:
            connection, address = server.accept()
            calls.append(address)
            connection.close()
            if address == own:
                return

    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as last:
        last.bind(("127.0.0.1", 0))
        own = last.getsockname()
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/lfs", calls
        finally:
            last.connect(server.getsockname())
            thread.join()


@pytest.fixture
def company(base: Path, origin: Path) -> Iterator[tuple[str, list[str]]]:
    """A server with a password, which the person's own git knows."""
    git("config", "http.receivepack", "true", at=origin)
    with git_server(base) as (address, uploads):
        host = address.removeprefix("http://").partition("/")[0]
        home = base / "home"
        (home / "passwords").write_text(f"http://me:{PASSWORD}@{host}\n")
        with (home / ".gitconfig").open("a") as config:
            config.write(f'[credential "http://{host}"]\n')
            config.write(f"\thelper = store --file {home}/passwords\n")
        yield address, uploads


def test_contents_come_and_go_over_http_with_the_persons_password(
    base: Path, root: Path, company: tuple[str, list[str]]
) -> None:
    address, uploads = company
    git("config", "remote.origin.url", address, at=root)
    content = b"\0large\n" * 100_000
    they_publish(base, "图 1.bin", content)
    said = [use(root, "pull")]
    assert "1 contents of git LFS came, 700 kB." in said[0]
    assert (root / "图 1.bin").read_bytes() == content
    assert is_clean(root)

    put(root / ".git", b"mine")
    save(root, "new.bin", pointer(b"mine"), "Mine")
    said += [intent(root, operation="push"), use(root, "push")]
    assert "Sent 1 contents of git LFS, 4 B." in said[-1]
    assert uploads == [sha256(b"mine").hexdigest()]
    assert git("rev-parse", "main", at=base / "origin.git") == git("rev-parse", "HEAD", at=root)

    said.append(use(root, "clone", address, path="lib"))
    assert (root / "lib/图 1.bin").read_bytes() == content
    assert (root / "lib/new.bin").read_bytes() == b"mine"

    git("pull", "-q", "--ff-only", "origin", "main", at=base / "theirs")
    they_publish(base, "图 1.bin", b"third")
    shutil.rmtree(base / "origin.git/lfs")
    said.append(use(root, "pull"))
    assert "1 contents of git LFS stay pointers." in said[-1]
    assert PASSWORD not in str(said)
    assert not [path for path in (root / ".git").rglob("*") if path.is_file()
                and PASSWORD.encode() in path.read_bytes()]  # fmt: skip


def test_without_the_password_nothing_goes_over_http(
    base: Path, root: Path, company: tuple[str, list[str]]
) -> None:
    address, uploads = company
    (base / "home/passwords").write_text("")
    git("config", "remote.origin.url", address, at=root)
    put(root / ".git", b"mine")
    (root / ".gitattributes").write_text(ATTRIBUTES)
    save(root, "new.bin", pointer(b"mine"), "Mine")
    before = git("rev-parse", "main", at=base / "origin.git")
    with pytest.raises(ToolError):
        use(root, "push")
    assert not uploads
    assert git("rev-parse", "main", at=base / "origin.git") == before
