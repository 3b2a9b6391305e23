"""A note belongs to one file and stays with it, whoever moves the file and however."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cards import Change, TableCard, TextCard
from core.tools import ToolError
from modules.annotations import Annotations
from modules.files.project import Project
from utils.i18n import UserError
from utils.system.shared_file import SharedFile

CODE = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "pkg").mkdir(parents=True)
    (folder / "a.py").write_text(CODE)
    (folder / "b.py").write_text("quite\nanother\nfile\n")
    (folder / "pkg" / "中 文.txt").write_text("三行\n字\n")
    return folder


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    opened = Project(root)
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "notes.json"


@pytest.fixture
def notes(project: Project, path: Path) -> Annotations:
    return Annotations(project, path)


def told(notes: Annotations) -> dict[str, str]:
    """Return the notes by path, as the model is told them."""
    notes.before_request()
    (section,) = notes.context()
    lines = section.text.splitlines()[1:]
    return dict(line.removeprefix("- ").split(": ", 1) for line in lines)


def test_a_note_is_set_replaced_and_removed(notes: Annotations, path: Path) -> None:
    notes.annotate_file("./a.py", " first ")
    notes.annotate_file("a.py", "second\nline")
    assert notes.note("a.py") == "second\nline"
    assert told(notes) == {"a.py": "second line"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    notes.annotate_file("a.py", "")
    assert told(notes) == {}
    with pytest.raises(ToolError, match="no note on a.py"):
        notes.annotate_file("a.py", "")


def test_only_files_of_the_project_have_notes(notes: Annotations) -> None:
    for wrong, sentence in [
        ("pkg", "is a folder"),
        ("none.py", "no file"),
        ("../x", "outside"),
    ]:
        with pytest.raises(ToolError, match=sentence):
            notes.annotate_file(wrong, "x")
    with pytest.raises(ToolError, match="2000 characters"):
        notes.annotate_file("a.py", "x" * 2001)


def test_the_command_shows_sets_and_removes(notes: Annotations) -> None:
    assert isinstance(notes.note_command(""), TextCard)
    notes.note_command("pkg/中 文.txt 有 空格")
    notes.note_command('"a.py" quoted one')
    notes.note_command("@b.py said with an @")
    shown = notes.note_command("pkg/中 文.txt")
    assert isinstance(shown, TextCard)
    assert shown.body == "有 空格"
    table = notes.note_command("")
    assert isinstance(table, TableCard)
    assert dict(table.rows) == {  # type: ignore[arg-type]
        "a.py": "quoted one",
        "b.py": "said with an @",
        "pkg/中 文.txt": "有 空格",
    }
    notes.note_command("a.py -")
    assert notes.note("a.py") == ""
    with pytest.raises(ToolError, match="no file missing.py"):
        notes.note_command("missing.py text")


def test_notes_are_shared_and_survive_a_restart(
    notes: Annotations, project: Project, path: Path
) -> None:
    other = Annotations(project, path)
    notes.annotate_file("a.py", "one")
    assert other.note("a.py") == "one"
    other.annotate_file("b.py", "two")
    assert told(notes) == told(Annotations(project, path)) == {"a.py": "one", "b.py": "two"}


def test_a_rename_by_a_tool_takes_the_notes_along(
    notes: Annotations, root: Path, project: Project
) -> None:
    notes.annotate_file("pkg/中 文.txt", "inner")
    notes.annotate_file("a.py", "outer")
    project.rename("pkg", "src/lib")
    project.rename("a.py", "c.py")
    notes.on_files_changed([Change("renamed", "pkg", "src/lib"), Change("renamed", "a.py", "c.py")])
    assert notes.note("src/lib/中 文.txt") == "inner"
    assert told(notes) == {"src/lib/中 文.txt": "inner", "c.py": "outer"}


def test_a_rename_outside_is_followed(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "one")
    notes.annotate_file("pkg/中 文.txt", "two")
    (root / "a.py").rename(root / "pkg" / "renamed.py")
    (root / "pkg").rename(root / "moved")
    assert told(notes) == {"moved/renamed.py": "one", "moved/中 文.txt": "two"}


def test_a_rename_while_nobody_looked_is_followed(
    notes: Annotations, root: Path, project: Project, path: Path
) -> None:
    notes.annotate_file("a.py", "one")
    (root / "a.py").rename(root / "c.py")
    assert told(Annotations(project, path)) == {"c.py": "one"}


def test_a_file_renamed_and_edited_is_followed(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "one")
    (root / "a.py").rename(root / "c.py")
    with (root / "c.py").open("a") as file:
        file.write("one more line\n")
    assert told(notes) == {"c.py": "one"}


def test_a_file_moved_by_copying_is_followed(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "one")
    told(notes)
    shutil.copy(root / "a.py", root / "copy.py")
    (root / "a.py").unlink()
    assert told(notes) == {"copy.py": "one"}


def test_a_copy_made_long_before_does_not_get_the_note(notes: Annotations, root: Path) -> None:
    shutil.copy(root / "a.py", root / "copy.py")
    time.sleep(0.1)
    notes.annotate_file("a.py", "one")
    told(notes)
    (root / "a.py").unlink()
    assert told(notes) == {}


def test_an_edit_outside_keeps_the_note(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "one")
    (root / "a.py").write_text("written anew\n")
    assert told(notes) == {"a.py": "one"}
    (root / "new").write_text("replaced as editors do\n")
    (root / "new").replace(root / "a.py")
    assert told(notes) == {"a.py": "one"}


def test_a_new_file_in_the_old_place_does_not_take_the_note(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "one")
    (root / "a.py").rename(root / "c.py")
    (root / "a.py").write_text("something else\n")
    assert told(notes) == {"c.py": "one"}


def test_files_that_change_places_change_their_notes(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "about a")
    notes.annotate_file("b.py", "about b")
    (root / "a.py").rename(root / "t")
    (root / "b.py").rename(root / "a.py")
    (root / "t").rename(root / "b.py")
    assert told(notes) == {"a.py": "about b", "b.py": "about a"}


def test_a_file_with_a_reused_inode_is_another_file(notes: Annotations, root: Path) -> None:
    notes.annotate_file("a.py", "one")
    (root / "a.py").unlink()
    for number in range(20):
        (root / f"new{number}.py").write_text(f"nothing like it {number}\n")
    assert told(notes) == {}


def test_a_deleted_file_loses_its_note_and_gets_it_back(
    notes: Annotations, root: Path, project: Project
) -> None:
    notes.annotate_file("a.py", "one")
    project.delete_file("a.py")
    notes.on_files_changed([Change("deleted", "a.py")])
    assert notes.note("a.py") == ""
    (root / "a.py").write_text("another file of that name\n")
    assert told(notes) == {}
    (root / "a.py").write_text(CODE)
    assert told(notes) == {"a.py": "one"}


def test_a_lost_note_is_kept_for_thirty_days(
    notes: Annotations, root: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.annotate_file("a.py", "one")
    (root / "a.py").unlink()
    assert told(notes) == {}
    assert json.loads(path.read_text())["lost"]["a.py"]["text"] == "one"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 31 * 24 * 3600)
    notes.annotate_file("b.py", "two")
    assert json.loads(path.read_text())["lost"] == {}


def test_one_file_never_gets_two_notes(notes: Annotations, root: Path) -> None:
    (root / "twin.py").write_text(CODE)
    notes.annotate_file("a.py", "one")
    notes.annotate_file("twin.py", "two")
    told(notes)
    (root / "a.py").unlink()
    (root / "twin.py").rename(root / "only.py")
    assert told(notes) == {"only.py": "two"}


def test_empty_files_are_not_mistaken_for_each_other(notes: Annotations, root: Path) -> None:
    (root / "__init__.py").touch()
    notes.annotate_file("__init__.py", "one")
    told(notes)
    (root / "__init__.py").unlink()
    (root / "pkg" / "__init__.py").touch()
    assert told(notes) == {}


def test_a_damaged_file_is_set_aside(project: Project, path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"notes": [')
    notes = Annotations(project, path)
    assert told(notes) == {}
    notes.annotate_file("a.py", "one")
    assert told(notes) == {"a.py": "one"}
    aside = path.with_name("notes.json.broken-1")
    assert aside.read_text() == '{"notes": ['
    assert any(str(aside) in str(value) for _, value in notes.status())


def test_many_notes_are_told_in_short(notes: Annotations, root: Path) -> None:
    for number in range(60):
        (root / f"f{number:02}").write_text(str(number))
        notes.annotate_file(f"f{number:02}", "x" * 500)
    (section,) = notes.context()
    assert len(section.text) < 8_000
    assert section.text.splitlines()[-1].endswith("more notes: listing a folder shows them.)")


def test_a_name_that_is_no_utf8_can_have_a_note(notes: Annotations, root: Path) -> None:
    name = os.fsencode(root) + b"/caf\xe9"
    with open(name, "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(b"x\n")
    notes.annotate_file("caf\udce9", "one")
    (section,) = notes.context()
    assert section.text.encode()
    assert notes.note("caf\udce9") == "one"


def test_looking_costs_nothing_when_nothing_happened(
    notes: Annotations, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.annotate_file("a.py", "one")
    told(notes)
    monkeypatch.setattr(Project, "files", lambda *_: pytest.fail("listed the project"))
    monkeypatch.setattr(Project, "read_bytes", lambda *_: pytest.fail("read a file"))
    assert told(notes) == {"a.py": "one"}


def test_a_pipe_in_place_of_the_notes_is_refused(project: Project, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    notes = Annotations(project, path)
    assert notes.note("a.py") == ""
    with pytest.raises(
        UserError, match=r"Cannot read or save .*notes\.json: it is no regular file"
    ):
        notes.annotate_file("a.py", "one")


def test_a_note_that_cannot_be_kept_is_said(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    notes = Annotations(project, tmp_path / "file" / "notes.json")
    with pytest.raises(UserError, match="Cannot read or save"):
        notes.annotate_file("a.py", "one")
    assert told(notes) == {}


def test_a_full_disk_leaves_a_note_to_be_moved_later(
    notes: Annotations, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    notes.annotate_file("a.py", "one")
    (root / "a.py").rename(root / "c.py")
    with monkeypatch.context() as patch:
        patch.setattr(SharedFile, "_replace", full)
        assert told(notes) == {"a.py": "one"}
        notes.on_files_changed([Change("renamed", "a.py", "c.py")])
    assert told(notes) == {"c.py": "one"}


def test_the_projects_own_name_in_front_is_left_out(notes: Annotations) -> None:
    notes.annotate_file("project/a.py", "mind it")
    assert notes.all_notes() == {"a.py": "mind it"}
