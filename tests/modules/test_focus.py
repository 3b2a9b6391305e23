"""What is in focus is always current, wherever the file goes, and never too much."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cards import Change, TableCard, TextCard
from core.conversation.context_updates import context_diff
from core.conversation.messages import Context
from core.feature import Section
from core.tools import Tool, ToolError
from modules.files.project import Project
from modules.focus import Focus


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.py", "b.py", "c c.py", "d.py"):
        (tmp_path / name).write_text("".join(f"{name} line {n}\n" for n in range(50)))
    return tmp_path


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    opened = Project(root)
    yield opened
    opened.close()


@pytest.fixture
def focus(project: Project) -> Focus:
    return Focus(project)


def sections(focus: Focus) -> list[Section]:
    focus.before_request()
    return list(focus.context())


def told(focus: Focus) -> dict[str, str]:
    return {section.name: section.text for section in sections(focus)}


def test_to_be_asked_what_is_true_changes_nothing(focus: Focus, root: Path) -> None:
    focus.focus_file("a.py")
    (root / "a.py").unlink()
    focus.before_request()
    first = list(focus.context())
    assert [section.text for section in first] == [""]
    assert [section.name for section in focus.context()] == ["focus:a.py"]
    assert told(focus) == {}


def test_the_whole_current_content_is_told(focus: Focus, root: Path) -> None:
    (root / "a.py").write_text("x = '```'\n中文")
    focus.focus_file("./a.py")
    text = "Focus file a.py, its current content:\n````\nx = '```'\n中文\n````"
    assert told(focus) == {"focus:a.py": text}
    (root / "a.py").write_text("y\n")
    assert told(focus)["focus:a.py"].endswith("\n```\ny\n```")


def test_a_small_change_is_told_as_a_diff(focus: Focus, root: Path) -> None:
    focus.focus_file("a.py")
    before = told(focus)["focus:a.py"]
    (root / "a.py").write_text((root / "a.py").read_text().replace("line 30\n", "line thirty\n"))
    (section,) = sections(focus)
    assert section.describe_change
    diff = section.describe_change(before)
    assert diff.startswith("Focus file a.py has changed:\n@@ -28,")
    assert "-a.py line 30\n+a.py line thirty" in diff
    (root / "a.py").write_text("all new\n")
    (section,) = sections(focus)
    assert section.describe_change
    assert section.describe_change(before) == section.text


def test_three_files_at_most(focus: Focus) -> None:
    card = focus.focus('a.py "c c.py" @b.py')
    assert isinstance(card, TableCard)
    assert focus.paths == ("a.py", "c c.py", "b.py")
    focus.focus_file("a.py")
    with pytest.raises(ToolError, match="3 files are in focus already: a.py, c c.py, b.py"):
        focus.focus_file("d.py")
    focus.unfocus("c c.py")
    focus.focus_file("d.py")
    assert list(told(focus)) == ["focus:a.py", "focus:b.py", "focus:d.py"]
    assert isinstance(focus.unfocus(""), TextCard)
    assert told(focus) == {}
    with pytest.raises(ToolError, match="is not in focus"):
        focus.unfocus_file("a.py")


def test_what_cannot_be_shown_whole_is_refused(focus: Focus, root: Path) -> None:
    (root / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (root / "big.txt").write_text("x" * 300_000)
    for wrong, sentence in [
        ("image.png", "is not text"),
        ("big.txt", "too large for focus: about 90,0"),
        (".", r"\. is a folder, not a file"),
        ("none.py", "There is no none.py"),
        ("@output/1", "Only files of the project"),
        ("../x", "outside"),
    ]:
        with pytest.raises(ToolError, match=sentence):
            focus.focus_file(wrong)
    assert focus.paths == ()


def test_a_file_that_grows_too_large_or_binary_is_no_longer_shown(focus: Focus, root: Path) -> None:
    focus.focus("a.py b.py")
    (root / "a.py").write_text("x" * 300_000)
    (root / "b.py").write_bytes(bytes(500))
    texts = told(focus)
    assert "too large" in texts["focus:a.py"]
    assert "cannot be shown now" in texts["focus:b.py"]


def test_a_heavy_focus_is_warned_of(project: Project) -> None:
    focus = Focus(project, context_limit=600)
    assert "take" in focus.focus_file("a.py").text
    assert "%" in str(focus.focus(""))
    assert "%" not in Focus(project).focus_file("a.py").text


def test_a_rename_by_a_tool_is_followed(focus: Focus, project: Project) -> None:
    project.make_folder("old")
    project.rename("a.py", "old/a.py")
    focus.focus_file("old/a.py")
    project.rename("old", "new")
    focus.on_files_changed([Change("renamed", "old", "new")])
    assert focus.paths == ("new/a.py",)
    assert list(told(focus)) == ["focus:new/a.py"]


def test_a_rename_outside_is_followed(focus: Focus, root: Path) -> None:
    focus.focus("a.py b.py")
    told(focus)
    (root / "a.py").rename(root / "e.py")
    assert list(told(focus)) == ["focus:e.py", "focus:b.py"]


def test_a_file_that_is_gone_is_told_once(focus: Focus, root: Path) -> None:
    focus.focus("a.py")
    (root / "a.py").unlink()
    (section,) = sections(focus)
    assert context_diff({"focus:a.py": "Focus file a.py …"}, [section]) == Context(
        "Focus file a.py is gone.", {"focus:a.py": None}
    )
    assert told(focus) == {}
    assert [str(value) for _, value in focus.status()] == ["none"]


def test_the_focus_belongs_to_the_session(focus: Focus, project: Project, root: Path) -> None:
    focus.focus("a.py b.py")
    state = json.loads(json.dumps(focus.state()))
    (root / "b.py").unlink()
    again = Focus(project)
    again.restore(state)
    texts = told(again)
    assert texts["focus:a.py"].startswith("Focus file a.py, its")
    assert texts["focus:b.py"] == ""
    again.restore({})
    assert told(again) == {}


def test_nothing_is_read_again_when_nothing_changed(
    focus: Focus, monkeypatch: pytest.MonkeyPatch
) -> None:
    focus.focus("a.py")
    before = told(focus)
    monkeypatch.setattr(Project, "read_bytes", lambda *_: pytest.fail("read a file"))
    assert told(focus) == before


def test_the_status_shows_files_and_tokens(focus: Focus) -> None:
    focus.focus("a.py b.py")
    ((_, value),) = focus.status()
    assert str(value).startswith("a.py, b.py: ")
    assert str(value).endswith(" tokens")


def test_focus_touches_nothing(focus: Focus) -> None:
    assert Tool.of(focus.focus_file).spec.touches_nothing
    assert Tool.of(focus.unfocus_file).spec.touches_nothing


def test_a_focus_on_too_many_changes_nothing_and_says_so(focus: Focus) -> None:
    focus.focus("a.py")
    with pytest.raises(ToolError, match="this would make 4: a.py, b.py, c c.py, d.py"):
        focus.focus("b.py 'c c.py' d.py")
    assert list(focus.paths) == ["a.py"]
    with pytest.raises(ToolError):
        focus.focus("b.py missing.py")
    with pytest.raises(ToolError):
        focus.unfocus("a.py b.py")
    assert list(focus.paths) == ["a.py"]
    focus.focus("a.py b.py 'c c.py'")
    assert list(focus.paths) == ["a.py", "b.py", "c c.py"]


def test_a_rename_while_nobody_looked_is_followed(focus: Focus, project: Project) -> None:
    focus.focus("a.py b.py")
    state = json.loads(json.dumps(focus.state()))
    (project.root / "sub").mkdir()
    (project.root / "a.py").rename(project.root / "sub" / "z.py")
    with (project.root / "sub" / "z.py").open("a") as file:
        file.write("one line more\n")
    again = Focus(project)
    again.restore(state)
    assert set(told(again)) == {"focus:sub/z.py", "focus:b.py"}
    assert "one line more" in told(again)["focus:sub/z.py"]


def test_a_file_that_comes_back_is_in_focus_again(focus: Focus, project: Project) -> None:
    focus.focus("a.py b.py")
    text = (project.root / "a.py").read_text()
    (project.root / "a.py").unlink()
    assert told(focus)["focus:a.py"] == ""
    assert set(told(focus)) == {"focus:b.py"}
    again = Focus(project)
    again.restore(json.loads(json.dumps(focus.state())))
    (project.root / "a.py").write_text("something else\n")
    assert set(told(again)) == {"focus:b.py"}
    (project.root / "a.py").write_text(text)
    assert set(told(again)) == {"focus:a.py", "focus:b.py"}
    again.unfocus("")
    assert told(again) == {}


def test_who_uses_no_focus_keeps_nothing_more(focus: Focus) -> None:
    assert focus.state() == {"focus": []}


def test_the_projects_own_name_in_front_is_left_out(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "a.py").write_text("x\n")
    project = Project(root)
    focus = Focus(project)
    focus.focus_file("shop/a.py")
    assert list(focus.paths) == ["a.py"]
    focus.unfocus_file("shop/a.py")
    assert not list(focus.paths)
    project.close()
