"""A note on lines stays on its lines, whoever writes the file and however."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cards import TableCard, TextCard
from core.tools import ToolError
from modules.annotations import Annotations
from modules.files.project import Project
from modules.notes.line_notes import anchored, is_protecting, located, rewound

LINES = [f"line {number}" for number in range(1, 21)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder / "a.py", LINES)
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


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def places(notes: Annotations, path: str = "a.py") -> list[tuple[str, str, bool]]:
    return [(one.place, one.text, one.is_stale) for one in notes.line_notes(path)]


def test_the_command_sets_shows_replaces_and_removes(notes: Annotations) -> None:
    notes.note_command("a.py:3-5 the three")
    notes.note_command("a.py:7 one")
    notes.note_command("a.py about all")
    assert places(notes) == [("3-5", "the three", False), ("7", "one", False)]
    assert notes.note_command("a.py") == TableCard(
        notes.note_command("").title,  # type: ignore[union-attr]
        (("a.py", "about all"), ("a.py:3-5", "the three"), ("a.py:7", "one")),
    )
    shown = notes.note_command("a.py:4")
    assert isinstance(shown, TableCard)
    assert shown.rows == (("a.py:3-5", "the three"),)
    notes.note_command("a.py:3-5 other words")
    assert places(notes)[0] == ("3-5", "other words", False)
    notes.note_command("a.py:3-5 -")
    assert places(notes) == [("7", "one", False)]
    assert isinstance(notes.note_command("a.py:3-5"), TextCard)
    notes.note_command("a.py -")
    assert notes.note("a.py") == ""
    assert places(notes) == [("7", "one", False)]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a.py:0 x", "count from 1"),
        ("a.py:5-3 x", "count from 1"),
        ("a.py:20-21 x", "last line of a.py is 20"),
        ("a.py:3 -", "no note on these lines"),
        ("none.py:3 x", "no none.py|none.py"),
    ],
)
def test_what_is_no_line_is_said(notes: Annotations, line: str, sentence: str) -> None:
    with pytest.raises(ToolError, match=sentence):
        notes.note_command(line)
    assert notes.note_command("") == notes.note_command("")
    assert places(notes) == []


def test_a_file_that_is_called_like_lines_is_meant_first(notes: Annotations, root: Path) -> None:
    (root / "a.py:3").write_text("x\n")
    (root / "with blank.txt").write_text("one\ntwo\n")
    notes.note_command("a.py:3 on the file")
    notes.note_command("with blank.txt:2 quoted no")
    notes.note_command('"with blank.txt":1 quoted yes')
    assert notes.note("a.py:3") == "on the file"
    assert places(notes) == []
    assert places(notes, "with blank.txt") == [
        ("1", "quoted yes", False),
        ("2", "quoted no", False),
    ]


def test_what_is_written_above_moves_it_and_what_is_written_in_it_makes_it_stale(
    notes: Annotations, root: Path
) -> None:
    notes.note_command("a.py:10-12 these")
    write(root / "a.py", ["new"] * 5 + LINES)
    assert places(notes) == [("15-17", "these", False)]
    write(root / "a.py", [*LINES[:10], "changed", *LINES[11:]])
    assert places(notes) == [("10-12", "these", True)]
    shown = notes.note_command("a.py:11")
    assert isinstance(shown, TableCard)
    assert "outdated" in str(shown.rows[0][1])
    write(root / "a.py", [*LINES[:9], *LINES[12:]])
    assert places(notes) == [("10", "these", True)]
    write(root / "a.py", ["top", *LINES])  # it is as it was: so is the note
    assert places(notes) == [("11-13", "these", False)]


def test_the_same_lines_elsewhere_are_told_apart_by_their_neighbours(
    notes: Annotations, root: Path
) -> None:
    body = [
        line for n in range(6) for line in (f"def f{n}():", "    work()", "    return None", "")
    ]
    write(root / "a.py", body)
    notes.note_command("a.py:15 the fourth")
    write(root / "a.py", ["import x", "", *body])
    assert places(notes) == [("17", "the fourth", False)]
    write(root / "a.py", [*body[:4], *body[8:]])
    assert places(notes) == [("11", "the fourth", False)]
    write(root / "a.py", [*body[:14], "    return 4", *body[15:]])
    assert places(notes) == [("15", "the fourth", True)]


def test_they_follow_a_rename_while_nobody_looked_and_a_file_that_comes_back(
    notes: Annotations, root: Path, project: Project, path: Path
) -> None:
    notes.note_command("a.py:3-5 these")
    (root / "a.py").rename(root / "b.py")
    write(root / "b.py", ["new", *LINES])
    again = Annotations(project, path)
    assert places(again, "b.py") == [("4-6", "these", False)]
    data = (root / "b.py").read_bytes()
    (root / "b.py").unlink()
    again.sync()
    assert places(again, "b.py") == []
    (root / "b.py").write_bytes(data)
    assert places(again, "b.py") == [("4-6", "these", False)]


def test_the_model_is_told_them_and_of_a_move_only_what_moved(
    notes: Annotations, root: Path
) -> None:
    write(root / "b.py", LINES)
    notes.note_command("a.py the file")
    notes.note_command("a.py:3-5 these lines " + "x" * 100)
    notes.note_command("b.py:1 the first of b " + "x" * 100)
    notes.before_request()
    (before,) = notes.context()
    assert before.text.splitlines()[1:3] == [
        "- a.py: the file",
        "- a.py: lines 3-5: these lines " + "x" * 100,
    ]
    write(root / "a.py", ["new", *LINES])
    notes.before_request()
    (after,) = notes.context()
    assert after.describe_change is not None
    told = after.describe_change(before.text)
    assert "- a.py: lines 4-6: these" in told
    assert "- no longer: a.py: lines 3-5: these" in told
    assert "b.py" not in told
    assert str(notes.told_notes("b.py")) == "line 1: the first of b " + "x" * 100


def test_a_text_that_is_no_text_any_more_makes_them_stale_and_is_not_fatal(
    notes: Annotations, root: Path
) -> None:
    notes.note_command("a.py:3 this")
    (root / "a.py").write_bytes(b"\0\1\2" * 100)
    assert places(notes) == [("1", "this", True)]
    write(root / "a.py", LINES)
    assert places(notes) == [("3", "this", False)]


def test_the_state_of_a_session_brings_them_back(notes: Annotations, root: Path) -> None:
    assert "line_notes" not in notes.state()
    first = notes.state()
    notes.note_command("a.py:3 this")
    then = notes.state()
    notes.note_command("a.py:3 -")
    notes.note_command("a.py:7 later")
    notes.on_rewind(then)
    assert places(notes) == [("3", "this", False)]
    write(root / "a.py", ["new", *LINES])
    notes.on_rewind(then)
    assert places(notes) == [("4", "this", False)]  # it is the same note, which has moved
    notes.on_rewind(first)
    assert places(notes) == []


def test_random_edits_around_them_never_lose_one() -> None:
    for seed in range(40):
        randomly = random.Random(seed)
        lines = [f"{randomly.choice(['x', 'y', 'return', '}'])} {n // 3}" for n in range(60)]
        found = [anchored(20, 23, "note", lines)]
        noted = lines[19:23]
        start = 19
        for _ in range(30):
            at = randomly.choice([*range(start), *range(start + 4, len(lines))])
            if randomly.random() < 0.5:
                lines.insert(at, f"new {randomly.random()}")
                start += at < start + 1 and at <= start
            elif len(lines) > 30 and abs(at - start) > 6:
                del lines[at]
                start -= at < start
            assert lines[start : start + 4] == noted
            (one,) = located(found, lines)
            assert (one.start, one.end, one.is_stale) == (start + 1, start + 4, False), seed
            found = [one]


@pytest.mark.parametrize(
    ("text", "protects"),
    [
        ("Do not touch: generated", True),
        ("don't touch", True),
        ("Don’t  touch this", True),
        ("please do not touch", True),
        ("NEVER TOUCH", True),
        ("不要改", True),
        ("不要修改：自动生成", True),
        ("请勿改动", True),
        ("别动这几行", True),
        ("请不要动", True),
        ("禁止修改", True),
        ("do not touched", False),
        ("touches the database", False),
        ("不要动态加载", False),
        ("别名表", False),
        ("we do not touch it often", False),
    ],
)
def test_a_note_protects_in_the_words_that_people_write(text: str, protects: bool) -> None:
    assert is_protecting(text) == protects


def test_one_of_two_with_the_same_words_is_rewound_to_its_own_place() -> None:
    lines = [f"line {n}" for n in range(30)]
    two = [anchored(3, 3, "same", lines), anchored(20, 20, "same", lines)]
    (kept,) = rewound(two, [[19, 19, "same"]], lines)
    assert kept.start == 20
