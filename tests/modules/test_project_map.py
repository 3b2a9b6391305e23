"""The model knows the tree from the first turn on, and later only what came and went."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from modules.files.project import Project
from modules.project_map import _MAX_LOOKED_AT
from modules.tree_map import make_map
from tests.assembly import AssembledTerminal, HermeticSettings, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.text.tokens import estimate_tokens

HEAD = "Files of the project (later you are told what comes and goes):"


def fill(root: Path, *paths: str) -> None:
    """Make files, each older than the one before."""
    for age, path in enumerate(paths):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n")
        os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))


def told(env: AssembledTerminal) -> list[str]:
    """What the model was told beside the conversation, but for the place and the day."""
    texts = [one["content"] for one in env.model.requests[-1] if one["role"] == "system"][1:]
    parts = [part for text in texts for part in text.split("\n\n")]
    return [part for part in parts if "paths begin here" not in part]


def begin(tmp_path: Path, *paths: str) -> None:
    (tmp_path / "project").mkdir(exist_ok=True)
    fill(tmp_path / "project", *paths)


def replies(count: int) -> list[Any]:
    return [text_reply("ok") for _ in range(count)]


def test_the_first_turn_knows_the_tree_and_a_second_one_reads_nothing_more(tmp_path: Path) -> None:
    begin(tmp_path, "b.py", "src/x.py", "src/deep/y z.py", "README.md", "out/a.log", ".gitignore")
    (tmp_path / "project/.gitignore").write_text("out/\n")
    with assembled_terminal(tmp_path, *replies(2)) as env:
        run_turn(env.terminal, "hi")
        tree = f"{HEAD}\n.gitignore, README.md, b.py\nsrc/: x.py\nsrc/deep/: y z.py"
        assert told(env) == [tree]
        run_turn(env.terminal, "again")
        assert told(env) == [tree]


def test_an_empty_project_and_a_map_that_is_off_add_not_one_token(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *replies(1)) as env:
        run_turn(env.terminal, "hi")
        assert told(env) == []
    begin(tmp_path, "a.py")
    off = HermeticSettings(project_map_tokens=0)
    with assembled_terminal(tmp_path, *replies(1), app_settings=off) as env:
        run_turn(env.terminal, "hi")
        assert told(env) == []


def test_only_what_came_and_went_is_told_later_once(tmp_path: Path) -> None:
    begin(tmp_path, "a.py", "old.py", "src/x.py")
    with assembled_terminal(tmp_path, *replies(3)) as env:
        run_turn(env.terminal, "hi")
        fill(env.root, "new.py", "docs/one.md", "docs/more/two.md")
        (env.root / "old.py").unlink()
        for line in ("look", "and again"):
            run_turn(env.terminal, line)
            assert told(env)[1:] == ["New files: new.py, docs/. Gone: old.py."]


def test_what_the_model_made_itself_is_no_news_to_it(tmp_path: Path) -> None:
    made = [call_reply("create_file", path="made/one.py", content="x"), *replies(3)]
    begin(tmp_path, "a.py")
    with assembled_terminal(tmp_path, *made) as env:
        run_turn(env.terminal, "make one")
        run_turn(env.terminal, "and now?")
        assert len(told(env)) == 1
        fill(env.root, "theirs.py")
        run_turn(env.terminal, "and now?")
        assert told(env)[1:] == ["New files: theirs.py."]


def test_an_empty_project_that_the_model_fills_stays_without_a_map(tmp_path: Path) -> None:
    made = [call_reply("create_file", path="one.py", content="x"), *replies(3)]
    with assembled_terminal(tmp_path, *made) as env:
        run_turn(env.terminal, "make one")
        run_turn(env.terminal, "and now?")
        assert told(env) == []
        fill(env.root, "theirs.py")
        run_turn(env.terminal, "and now?")
        assert told(env) == [f"{HEAD}\none.py, theirs.py"]


def test_a_resumed_session_is_told_what_came_meanwhile(tmp_path: Path) -> None:
    begin(tmp_path, "a.py")
    with assembled_terminal(tmp_path, *replies(1)) as env:
        run_turn(env.terminal, "hi")
    fill(tmp_path / "project", "new.py")
    with assembled_terminal(tmp_path, *replies(1)) as env:
        run_turn(env.terminal, "/resume")
        run_turn(env.terminal, "look")
        assert told(env)[1:] == ["New files: new.py."]


def test_a_summary_carries_the_tree_of_then(tmp_path: Path) -> None:
    begin(tmp_path, "a.py")
    with assembled_terminal(
        tmp_path, *replies(2), text_reply("- hi"), *replies(1), summary_prompt="Sum up."
    ) as env:
        run_turn(env.terminal, "hi")
        fill(env.root, "new.py")
        run_turn(env.terminal, "two")
        run_turn(env.terminal, "/compact")
        run_turn(env.terminal, "three")
        texts = told(env)
    assert f"{HEAD}\na.py" in texts
    assert texts.count("New files: new.py.") == 1


@pytest.mark.parametrize("folders", [0, 200])
def test_a_huge_tree_costs_no_more(tmp_path: Path, folders: int) -> None:
    for number in range(6_000):
        folder = tmp_path / (f"d{number % folders:03}" if folders else "")
        folder.mkdir(exist_ok=True)
        (folder / f"file_{number}.py").touch()
    (tmp_path / "noted.py").touch()
    project = Project(tmp_path)
    try:
        found = project.near_files(_MAX_LOOKED_AT)
    finally:
        project.close()
    assert not found.is_all
    assert sum(map(len, found.folders.values())) <= _MAX_LOOKED_AT
    tree = make_map(found, {"noted.py"}, 600)
    assert 100 < estimate_tokens(tree.text) <= 600
    assert tree.text.endswith("and what lies deeper: list a folder to see them.)")
    if folders:
        assert tree.text.split("\n")[1].startswith("noted.py")


def test_a_tree_whose_upper_folders_hold_no_files_is_told_all_the_same(tmp_path: Path) -> None:
    for number in range(2_100):
        folder = tmp_path / f"project/d{number // 7:03}/sub{number % 7}"
        folder.mkdir(parents=True)
        (folder / "file.py").touch()
    with assembled_terminal(tmp_path, *replies(1)) as env:
        run_turn(env.terminal, "fix it")
        (tree,) = told(env)
    assert tree.startswith(f"{HEAD}\nd")
    assert tree.count("file.py") > 10
    assert estimate_tokens(tree) <= 600


def test_what_is_noted_in_focus_new_or_an_entry_comes_first(tmp_path: Path) -> None:
    plain = [f"pkg/sub{n}/file_{m}.py" for n in range(20) for m in range(30)]
    fill(tmp_path, "pkg/sub9/newest.py", *plain[:4], "zz/main.py", *plain[4:], "pkg/z/noted.py")
    project = Project(tmp_path)
    try:
        found = project.near_files(_MAX_LOOKED_AT)
    finally:
        project.close()
    lines = make_map(found, {"pkg/z/noted.py"}, 200).text.split("\n")
    assert lines[1] == "pkg/z/: noted.py"
    assert lines[2].startswith("pkg/sub0/: file_0.py, ")
    assert lines[3].startswith("pkg/sub9/: newest.py")
    assert lines[4].startswith("zz/: main.py")
    assert lines[-1].startswith("(")
    assert "more files, " in lines[-1]


def test_a_name_that_holds_a_secret_is_told_without_it(tmp_path: Path) -> None:
    secret = "sk-very-secret-key-0123456789"
    begin(tmp_path, f"{secret}.txt")
    settings = HermeticSettings(known_secrets={"API_KEY": secret})
    with assembled_terminal(tmp_path, *replies(2), app_settings=settings) as env:
        run_turn(env.terminal, "hi")
        run_turn(env.terminal, "hi")
        assert secret not in str(env.model.requests)
        assert len(told(env)) == 1
