"""The tree's listing: a part of a large folder at a time, and never by what was true before."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from modules.annotations import Annotations
from modules.files.project import Project
from modules.web.files import file_index, watcher
from modules.web.files.content import FileContents
from modules.web.files.file_index import QUICK_SECONDS, FileIndexer
from modules.web.files.tree_listing import MAX_COUNT, TreeListing
from modules.web.files.watcher import FolderWatcher
from modules.web.http.errors import ApiError
from modules.web.sessions.page_redaction import PageRedactor


@pytest.fixture(params=["repository", "plain"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    root = tmp_path / "project"
    root.mkdir()
    if request.param == "repository":
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    project = Project(root)
    yield project
    project.close()


@pytest.fixture
def listing(project: Project, tmp_path: Path) -> Iterator[TreeListing]:
    listing = TreeListing(project, Annotations(project, tmp_path / "notes.json"))
    yield listing
    listing.close()


def ignored(listing: TreeListing, path: str = "") -> dict[str, bool]:
    return {entry["name"]: entry["ignored"] for entry in listing.folder(path)["entries"]}


def names(told: dict[str, Any]) -> list[str]:
    return [entry["name"] for entry in told["entries"]]


def test_a_large_folder_is_told_in_parts(project: Project, listing: TreeListing) -> None:
    for number in range(2_500):
        (project.root / f"f{number:04}").touch()
    (project.root / "sub").mkdir()
    (project.root / ".hidden").touch()
    told = listing.folder("", count=10)
    assert (told["start"], told["total"]) == (0, 2_502)
    assert names(told)[:3] == ["sub", ".hidden", "f0000"]
    told = listing.folder("", start=2_495, count=10, hidden=False)
    assert (told["start"], told["total"]) == (2_495, 2_501)
    assert names(told) == [f"f{number}" for number in range(2_494, 2_500)]
    told = listing.folder("", count=100, hidden=False, around="f1234")
    assert told["start"] == 1_200
    assert "f1234" in names(told)
    assert names(listing.folder("", start=-5, count=0)) == ["sub"]
    assert names(listing.folder("", start=9_999)) == []
    assert len(names(listing.folder("", count=10**9))) == min(MAX_COUNT, 2_502)


def test_parts_of_different_orders_are_told_apart(project: Project, listing: TreeListing) -> None:
    for name in ("a", "b", ".c"):
        (project.root / name).touch()
    first, seen = listing.folder("", count=1), listing.folder("", count=1, hidden=False)
    assert first["order"] == listing.folder("", start=1)["order"] != seen["order"]
    (project.root / "a").rename(project.root / "d")
    assert listing.folder("")["total"] == first["total"]
    assert listing.folder("")["order"] != first["order"]


def test_what_changes_in_a_large_folder_is_told(project: Project, listing: TreeListing) -> None:
    for number in range(1_200):
        (project.root / f"f{number:04}").touch()
    assert listing.folder("", count=1)["entries"][0]["size"] == 0
    (project.root / "f0000").write_text("more")
    assert listing.folder("", count=1)["entries"][0]["size"] == 4
    (project.root / "f0000").unlink()
    assert names(listing.folder("", count=1)) == ["f0001"]
    (project.root / "a").touch()
    assert names(listing.folder("", count=2)) == ["a", "f0001"]


def test_what_was_just_made_does_not_count_as_ignored(
    project: Project, listing: TreeListing
) -> None:
    (project.root / "known.txt").touch()
    (project.root / "empty" / "inner").mkdir(parents=True)
    assert ignored(listing) == {"empty": False, "known.txt": False}
    (project.root / "new").mkdir()
    (project.root / "new" / "a.txt").touch()
    (project.root / "b.txt").touch()
    assert ignored(listing) == {"empty": False, "new": False, "b.txt": False, "known.txt": False}
    (project.root / "new" / "sub").mkdir()
    (project.root / "new" / "sub" / "c.txt").touch()
    assert ignored(listing, "new") == {"sub": False, "a.txt": False}
    (project.root / "empty" / "inner" / "d.txt").touch()
    assert ignored(listing)["empty"] is False


def test_an_ignored_folder_is_so_without_a_file_in_it(
    project: Project, listing: TreeListing
) -> None:
    for folder in ("build", "kept", "sub/out/inner", "sub/in"):
        (project.root / folder).mkdir(parents=True)
    (project.root / "a.txt").touch()
    assert ignored(listing) == {"build": False, "kept": False, "sub": False, "a.txt": False}
    (project.root / ".gitignore").write_text("build/\nout\n!kept\n")
    expected = {".gitignore": False, "a.txt": False, "build": True, "kept": False, "sub": False}
    assert ignored(listing) == expected
    assert ignored(listing, "sub") == {"in": False, "out": True}
    assert ignored(listing, "sub/out") == {"inner": True}
    assert "build" not in names(listing.folder("", hidden=False))


def test_a_rule_holds_as_soon_as_it_is_written(project: Project, listing: TreeListing) -> None:
    (project.root / "sub").mkdir()
    for name in ("a.log", "sub/b.log", "sub/c.txt"):
        (project.root / name).touch()
    rules = project.root / ".gitignore"
    rules.write_text("")
    assert ignored(listing, "sub") == {"b.log": False, "c.txt": False}
    rules.write_text("*.log\n")
    assert ignored(listing, "sub") == {"b.log": True, "c.txt": False}
    assert ignored(listing)["a.log"] is True
    assert names(listing.folder("", hidden=False)) == ["sub"]
    (project.root / "sub" / ".gitignore").write_text("!b.log\n")
    assert ignored(listing, "sub")["b.log"] is False


def test_an_old_survey_does_until_the_next_is_there(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = threading.Event()
    listing = TreeListing(project, Annotations(project, tmp_path / "notes.json"), changed.set)
    (project.root / "sub").mkdir()
    (project.root / "a.txt").touch()
    assert listing.files()[0] == ["a.txt"]
    monkeypatch.setattr(file_index, "QUICK_SECONDS", 0.0)
    (project.root / "sub" / "b.txt").touch()
    listing.mark_stale()
    assert listing.files()[0] == ["a.txt"]
    assert changed.wait(120)
    listing.close()
    assert listing.files()[0] == ["a.txt", "sub/b.txt"]


def test_a_folder_that_is_gone_is_not_found(project: Project, listing: TreeListing) -> None:
    with pytest.raises(ApiError) as refused:
        listing.folder("nowhere")
    assert refused.value.code == "not_found"


def test_a_note_made_before_the_first_poll_is_told(project: Project, tmp_path: Path) -> None:
    (project.root / "a.txt").write_text("one\n")
    notes = Annotations(project, tmp_path / "notes.json")
    with contextlib.closing(TreeListing(project, notes)) as listing:
        told: list[Any] = []
        watch = FolderWatcher(project, listing, lambda *packet: told.append(packet[2]["folders"]))
        listing.folder("")
        notes.set_line_note("a.txt", 1, 1, "mind")
        watch.poll()
    assert told == [["*"]]


def test_what_changes_between_listing_and_watching_is_told(
    project: Project, listing: TreeListing
) -> None:
    told: list[Any] = []
    watch = FolderWatcher(project, listing, lambda *packet: told.append(packet[2]["folders"]))
    os.utime(project.root, (1, 1))
    assert names(listing.folder("")) == []
    (project.root / "new.txt").touch()
    os.utime(project.root, (2, 2))
    watch.watch("page", [""], [])
    watch.poll()
    assert told == [[""]]
    assert names(listing.folder("")) == ["new.txt"]
    watch.poll()
    assert told == [[""]]


def test_another_rule_changes_every_folder(project: Project, listing: TreeListing) -> None:
    (project.root / ".gitignore").write_text("")
    os.utime(project.root, (1, 1))
    told: list[Any] = []
    watch = FolderWatcher(project, listing, lambda *packet: told.append(packet[2]["folders"]))
    listing.folder("")
    watch.watch("page", [""], [])
    watch.poll()
    (project.root / ".gitignore").write_text("*.log\n")
    watch.poll()
    assert told == [["*"]]


def test_a_name_that_comes_in_the_same_moment_is_not_missed(
    project: Project, listing: TreeListing, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1_000):
        (project.root / f"f{number:04}").touch()
    now = time.time_ns()
    os.utime(project.root, ns=(now, now))
    monkeypatch.setattr(time, "time_ns", lambda: now + 1)  # the clock of the file system lags
    assert listing.folder("")["total"] == 1_000
    (project.root / "g").touch()
    os.utime(project.root, ns=(now, now))
    assert listing.folder("")["total"] == 1_001


def test_what_comes_in_the_moment_of_a_listing_is_told(
    project: Project, listing: TreeListing, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    watch = FolderWatcher(project, listing, lambda *packet: told.append(packet[2]["folders"]))
    watch.watch("page", [""], [])
    now = time.time_ns()
    os.utime(project.root, ns=(now, now))
    assert listing.folder("")["total"] == 0
    (project.root / "g").touch()
    os.utime(project.root, ns=(now, now))
    monkeypatch.setattr(time, "time_ns", lambda: now + 10**9)
    for _ in range(3):
        watch.poll()
    assert told == [[""]]
    assert names(listing.folder("")) == ["g"]


def test_a_file_that_changes_before_it_is_watched_is_told(
    project: Project, listing: TreeListing, tmp_path: Path
) -> None:
    told: list[Any] = []
    watch = FolderWatcher(project, listing, lambda *packet: told.append(packet[2]["paths"]))
    notes = Annotations(project, tmp_path / "notes.json")
    files = FileContents(project, notes, lambda _: None, PageRedactor(None), listing.stat_cache)
    (project.root / "a.txt").write_text("old")
    assert files.text("a.txt")["text"] == "old"
    (project.root / "a.txt").write_text("newer")
    watch.watch("page", [], ["a.txt"])
    watch.poll()
    assert told == [[{"kind": "modified", "path": "a.txt", "new_path": ""}]]


def test_files_that_are_too_many_for_a_page_are_looked_at_in_turn(
    project: Project, listing: TreeListing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MAX_WATCHED", 2)
    names = [f"{number}.txt" for number in range(5)]
    for name in names:
        (project.root / name).write_text("old")
        os.utime(project.root / name, (1, 1))
    told: list[str] = []
    watch = FolderWatcher(
        project,
        listing,
        lambda *packet: told.extend(one["path"] for one in packet[2]["paths"]),
    )
    watch.sweep(names)
    watch.watch("page", [], ["missing.txt"])
    (project.root / "4.txt").write_text("newer")
    for _ in names:
        watch.poll()
    assert told == ["4.txt"]
    (project.root / "4.txt").unlink()
    (project.root / "1.txt").write_text("newer")
    for _ in names:
        watch.poll()
    assert sorted(told) == ["1.txt", "4.txt", "4.txt"]


def test_a_folder_bears_the_letter_of_what_is_in_it(tmp_path: Path) -> None:
    for name in ("new/deep/a.txt", "old/a.txt", "mixed/a.txt", "gone/a.txt", "same/a.txt"):
        (tmp_path / "project" / name).parent.mkdir(parents=True)
        (tmp_path / "project" / name).write_text("1\n")
    root = tmp_path / "project"
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "old", "mixed", "gone", "same"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    (root / "old" / "a.txt").write_text("22\n")
    (root / "mixed" / "b.txt").write_text("new\n")
    (root / "gone" / "b.txt").write_text("new\n")
    (root / "gone" / "a.txt").unlink()
    with contextlib.closing(Project(root)) as project:
        notes = Annotations(project, tmp_path / "notes.json")
        with contextlib.closing(TreeListing(project, notes)) as listing:
            told = {entry["name"]: entry["git"] for entry in listing.folder("")["entries"]}
            deep = {entry["name"]: entry["git"] for entry in listing.folder("new")["entries"]}
    assert told == {"new": "?", "old": "M", "mixed": "M", "gone": "M", "same": ""}
    assert deep == {"deep": "?"}


def test_a_note_that_another_sets_is_told(
    project: Project, listing: TreeListing, tmp_path: Path
) -> None:
    (project.root / "a.txt").touch()
    os.utime(project.root, (1, 1))
    told: list[Any] = []
    watch = FolderWatcher(project, listing, lambda *packet: told.append(packet[2]["folders"]))
    watch.watch("page", [""], [])
    listing.folder("")
    watch.poll()
    assert told == []
    Annotations(project, tmp_path / "notes.json").annotate_file("a.txt", "mind the gap")
    watch.poll()
    watch.poll()
    assert told == [["*"]]
    assert [entry["note"] for entry in listing.folder("")["entries"]] == ["mind the gap"]


def test_a_survey_that_fails_behind_the_scenes_is_kept_for_the_log(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[BaseException] = []
    surveyor = FileIndexer(project, lambda: None, kept.append)
    first = replace(surveyor.current(), seconds=QUICK_SECONDS)
    monkeypatch.setattr(surveyor, "_index", first)
    monkeypatch.setattr(project, "files", lambda: 1 // 0)
    surveyor.mark_stale()
    assert surveyor.current() is first
    surveyor.close()
    assert [type(error) for error in kept] == [ZeroDivisionError]
    with pytest.raises(ZeroDivisionError):
        surveyor.current(time.time_ns())


def test_no_survey_is_begun_while_another_is_under_way(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would run unknown to `close`, in a project that is no longer open."""
    begun: list[threading.Thread] = []
    at_once: list[bool] = []

    class Beginning(threading.Thread):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            at_once.append(any(one.ident is None or one.is_alive() for one in begun))
            begun.append(self)
            if len(begun) == 1:
                asking.start()
                asking.join(0.5)  # it waits for us, or has begun another by then

    surveyor = FileIndexer(project, lambda: None, lambda _: None)
    asking = threading.Thread(target=surveyor.current)
    monkeypatch.setattr(surveyor, "_index", replace(surveyor.current(), seconds=QUICK_SECONDS))
    monkeypatch.setattr(file_index, "threading", SimpleNamespace(Thread=Beginning))
    surveyor.mark_stale()
    surveyor.current()
    asking.join()
    surveyor.close()
    assert not any(at_once)
