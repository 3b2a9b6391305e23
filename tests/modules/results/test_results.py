"""A result is a file that was opened before it was handed over, and stays with its session."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

from core.cards import ResultCard, TableCard, TextCard
from core.conversation.messages import ToolResult
from core.events import CommandAnswered, Event, ToolFinished
from core.loop.turn import drive
from modules.results.data_formats import look_at_json_lines, look_at_table
from modules.results.feature import Results
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, text_reply
from utils.i18n import Phrase

CSV = "city,people\nBern,134\nGenf,203\n"


def give(path: str, kind: str = "report", title: str = "What was found") -> list[Item]:
    return call_reply("hand_over", path=path, kind=kind, title=title)


def say(made: AssembledTerminal, line: str = "Go on.") -> list[Event]:
    events: list[Event] = []
    drive(made.terminal.run_line(line), events.append)
    return events


def cards(events: list[Event]) -> list[object]:
    return [event.card for event in events if isinstance(event, ToolFinished)]


def answers(made: AssembledTerminal) -> list[str]:
    return [one.text for _, one in made.terminal.history.records if isinstance(one, ToolResult)]


def command(made: AssembledTerminal, line: str) -> TableCard | TextCard | ResultCard:
    event = made.terminal.run_concurrently(line)
    assert isinstance(event, CommandAnswered)
    assert isinstance(event.card, TableCard | TextCard | ResultCard)
    return event.card


def rows(made: AssembledTerminal) -> list[list[str]]:
    card = command(made, "/results")
    return [[str(cell) for cell in row] for row in card.rows] if isinstance(card, TableCard) else []


def feature(made: AssembledTerminal) -> Results:
    found = made.terminal.features.find(Results)
    assert found is not None
    return found


def picture(kind: str = "PNG") -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(file, kind)
    return file.getvalue()


def deck(*, is_outside: bool = False) -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    presentation = Presentation()
    for text in ("One", "Two"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        left = Inches(30) if is_outside and text == "Two" else Inches(1)
        box = slide.shapes.add_textbox(left, Inches(1), Inches(4), Inches(1))
        box.text_frame.text = text
    file = io.BytesIO()
    presentation.save(file)
    return file.getvalue()


def database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE a (b)")
    return connection.serialize()


def packed(*, password: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "hello " * 100)
    data = bytearray(file.getvalue())
    if password:  # as an archive with one says
        for place in (6, data.index(b"PK\1\2") + 8):
            data[place] |= 1
    return bytes(data)


def taped(count: int = 1) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for number in range(count):
            member = tarfile.TarInfo(f"{number}.txt")
            member.size = 5
            archive.addfile(member, io.BytesIO(b"hello"))
    return file.getvalue()


GOOD: dict[str, tuple[str, bytes]] = {
    "a.csv": ("sheet", CSV.encode()),
    "a.json": ("data", b'{"a": 1}'),
    "a.jsonl": ("data", b'{"a": 1}\n\n{"a": 2}\n'),
    "a.ipynb": ("report", json.dumps({"nbformat": 4, "cells": [{"source": ["1+1"]}]}).encode()),
    "a.html": ("page", b"<!doctype html><html><body><p>Hello<br></body></html>"),
    "b.html": ("slides", b"<p>Only a part of a page"),
    "a.md": ("report", "# 报告\n\n![图](pic%20ture.png)\n\n```\ncode\n```\n".encode()),
    "a.svg": ("chart", b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'),
    "pic ture.png": ("chart", picture()),
    "a.py": ("code", b"print(1)\n"),
    "a.bin": ("data", b"\0\1\2"),
    "a.db": ("data", database()),
    "a.pptx": ("slides", deck()),
    "german.csv": ("sheet", b'Name;"Preis; netto"\nApfel;1,50\nBirne;2\n'),
    "titled.csv": ("sheet", "销售报告\n\n地区,2025\n南部,3\n".encode()),
    "a.zip": ("data", packed()),
    "locked.zip": ("data", packed(password=True)),
    "a.tar": ("data", taped()),
    "a.tar.gz": ("data", gzip.compress(taped())),
    "a.csv.xz": ("data", lzma.compress(CSV.encode())),
    "a.parquet": ("data", b"PAR1" + bytes(20) + b"PAR1"),
    "a.toml": ("data", b"a = 1\n"),
}
BAD: dict[str, tuple[str, bytes, str]] = {
    "missing.md": ("report", b"", "does not exist"),
    "empty.md": ("report", b"", "it is empty"),
    "blank.md": ("report", b" \n\n", "nothing in it but space"),
    "deck.csv": ("slides", CSV.encode(), "a result of kind slides is a file of these"),
    "ragged.csv": (
        "sheet",
        b"a,b\n1,2\n3\n",
        "row 3 has another number of cells (1) than the first (2)",
    ),
    "quote.csv": ("sheet", b'a,b\n1,"2\n', "not whole CSV"),
    "head.csv": ("sheet", b"a,b\n", "a single row"),
    "cut.json": ("data", b'{"a": [1, 2', "line 1 is not JSON"),
    "nothing.json": ("data", b"[]", "it holds nothing: []"),
    "deep.json": ("data", b"[" * 200_000, "nested too deeply"),
    "cut.jsonl": ("data", b'{"a": 1}\n{"a"', "line 2 is not JSON"),
    "red.ipynb": (
        "report",
        json.dumps(
            {
                "nbformat": 4,
                "cells": [
                    {
                        "source": "1/0",
                        "outputs": [
                            {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "no"}
                        ],
                    }
                ],
            }
        ).encode(),
        "cell 1 ended in an error: ZeroDivisionError: no",
    ),
    "cut.html": ("page", b"<html><head></head><body><p>Hello", "<html> is not closed"),
    "script.html": ("page", b"<p>a</p><script>let a = 1", "<script> is not closed"),
    "bare.html": ("page", b"<html><body></body></html>", "nothing to be seen"),
    "lost.html": ("page", b'<p>a<img src="b.png"></p>', "the picture b.png, which does not exist"),
    "lost.md": ("report", b"![a](../../etc/passwd)", "which does not exist"),
    "fence.md": ("report", b"a\n```py\nprint(1)\n", "code block is not closed"),
    "bomb.svg": (
        "chart",
        b'<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>',
        "entities of its own",
    ),
    "cut.svg": ("chart", b'<svg xmlns="http://www.w3.org/2000/svg"><path', "not whole XML"),
    "other.svg": ("chart", b"<html><p>a</p></html>", "its root is <html>, not <svg>"),
    "cut.png": ("chart", picture()[:-30], "damaged or cut off"),
    "no.png": ("chart", b"not a picture", "no picture that can be used"),
    "bad.py": ("code", b"def f(:\n", "cannot be parsed: bad.py:1"),
    "outside.pptx": ("slides", deck(is_outside=True), "slide 2 has text outside the page"),
    "cut.pptx": ("slides", deck()[:-2_000], "damaged or cut off"),
    "fake.docx": ("report", b"not a document", "damaged or cut off"),
    "cut.pdf": ("report", b"%PDF-1.7\n1 0 obj\n", "damaged or cut off"),
    "german-cut.csv": ("sheet", b"Name;Preis\nApfel;1,50\nBirne\n", "row 3 has another number"),
    "cut.zip": ("data", packed()[:-30], "it is damaged or cut off"),
    "flipped.zip": ("data", packed().replace(b"hello", b"hallo", 1), "it is damaged or cut off"),
    "empty.zip": ("data", b"PK\5\6" + bytes(18), "there is nothing in it"),
    "cut.tar": ("data", taped()[:514], "it is damaged or cut off"),
    "cut.gz": ("data", gzip.compress(taped())[:-9], "it is damaged or cut off"),
    "cut.bz2": ("data", bz2.compress(taped())[:-9], "it is damaged or cut off"),
    "no.xz": ("data", b"not packed", "it is damaged or cut off"),
    "cut.parquet": ("data", b"PAR1" + bytes(20), "it is damaged or cut off"),
    "bad.toml": ("data", b"a = [1\n", "it cannot be parsed"),
    "cut.db": ("data", database()[:5_000], "it is cut off"),
}


def test_what_is_whole_is_handed_over_and_what_is_not_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    tried = [(name, kind) for name, (kind, _) in GOOD.items()]
    refused = [(name, kind) for name, (kind, *_) in BAD.items()]
    replies = [give(name, kind, f"About {name}") for name, kind in (*tried, *refused)]
    with assembled_terminal(tmp_path, *replies, text_reply("Done.")) as made:
        files = [*GOOD.items(), *((name, case[:2]) for name, case in BAD.items())]
        for name, (_, data) in files:
            if name != "missing.md":
                (made.root / name).write_bytes(data)
        events = say(made)
        said = answers(made)
        good, bad = said[: len(GOOD)], said[len(GOOD) :]
        for name, answer in zip(GOOD, good, strict=True):
            assert answer.startswith("Handed over as result"), (name, answer)
        for (name, (_, _, why)), answer in zip(BAD.items(), bad, strict=True):
            assert why in answer, (name, answer)
            assert name in answer or "no picture" in answer, answer
        card = cards(events)[0]
        facts = Phrase("{rows:,} rows, {columns:,} columns", {"rows": 2, "columns": 2})
        assert card == ResultCard("a.csv", "About a.csv", "sheet", 1, len(CSV), facts)
        assert len(rows(made)) == len(GOOD)


def test_nothing_outside_of_the_project_is_handed_over(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside")
    wanted = ["../secret.md", str(tmp_path / "secret.md"), "link.md", "folder"]
    with assembled_terminal(tmp_path, *map(give, wanted), text_reply("Done.")) as made:
        (made.root / "folder").mkdir()
        (made.root / "link.md").symlink_to(tmp_path / "secret.md")
        say(made)
        assert [answer.startswith("Handed") for answer in answers(made)] == [False] * 4
        assert rows(made) == []


def test_a_result_survives_a_restart_a_rename_and_the_loss_of_its_file(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, give("a.md"), text_reply("Done.")) as made:
        (made.root / "a.md").write_text("# A\n\none\ntwo\nthree\n")
        say(made)
        session = made.terminal.session
    (tmp_path / "project" / "sub").mkdir()
    (tmp_path / "project" / "a.md").rename(tmp_path / "project" / "sub" / "b.md")
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume(session)
        assert rows(made) == [["1", "What was found", "report", "sub/b.md", "19 B", "1"]]
        (made.root / "sub" / "b.md").unlink()
        card = command(made, "/results")
        assert isinstance(card, TableCard)
        assert [str(cell) for cell in card.rows[0]][3:5] == ["sub/b.md", "gone"]
        assert card.gone == (0,)


def test_a_person_adds_and_removes(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Done.")) as made:
        say(made)
        (made.root / "a b.csv").write_text(CSV)
        (made.root / "c.py").write_text("x = 1\n")
        assert isinstance(command(made, "/results add 'a b.csv' sheet All the towns"), ResultCard)
        assert isinstance(command(made, "/results add c.py"), ResultCard)
        assert [row[:4] for row in rows(made)] == [
            ["1", "All the towns", "sheet", "a b.csv"],
            ["2", "c.py", "code", "c.py"],
        ]
        assert "Unknown kind shet" in str(command(made, "/results add c.py shet").title)
        command(made, "/results remove 1")
        assert [row[0] for row in rows(made)] == ["2"]
        assert (made.root / "a b.csv").exists()


def write(text: str) -> list[Item]:
    return call_reply("create_file", path="a.md", content=text, overwrite=True)


def test_versions_come_from_the_checkpoints_and_follow_the_file(tmp_path: Path) -> None:
    replies = [write("# One\n"), give("a.md"), write("# Two\n"), give("a.md"), text_reply("Done.")]
    rename = [call_reply("rename_file", path="a.md", new_path="b.md"), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies, *rename) as made:
        made.terminal.approval.mode = "all"
        say(made)
        say(made)
        assert [row[3] for row in rows(made)] == ["b.md"], answers(made)
        results = feature(made)
        (result,) = results.all()
        found = results.versions(result)
        held = [results.content(result, version.snapshot).decode() for version in found]
        assert held == ["# Two\n", "# One\n"]
        assert results.content(result).decode() == "# Two\n"


def test_undo_and_rewind_take_a_result_back_and_redo_brings_it(tmp_path: Path) -> None:
    replies = [write("# One\n"), give("a.md"), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies) as made:
        made.terminal.approval.mode = "all"
        say(made)
        say(made, "/undo turn 1")
        assert (rows(made), (made.root / "a.md").exists()) == ([], False)
        say(made, "/redo")
        assert [row[3:5] for row in rows(made)] == [["a.md", "6 B"]]
        say(made, "/rewind 1")
        assert rows(made) == []
        say(made, "/redo")
        assert [row[3:5] for row in rows(made)] == [["a.md", "6 B"]]


def test_a_fork_has_what_was_handed_over_before_it(tmp_path: Path) -> None:
    replies = [write("# One\n"), give("a.md"), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies, give("b.md"), text_reply("Done.")) as made:
        made.terminal.approval.mode = "all"
        say(made)
        (made.root / "b.md").write_text("b")
        say(made)
        assert [row[0] for row in rows(made)] == ["1", "2"]
        say(made, "/fork 1")
        assert [row[0] for row in rows(made)] == ["1"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("a\n1\n", "1 row, 1 column"),
        ("a,b\n1,2\n", "1 row, 2 columns"),
        ("a\n1\n2\n", "2 rows, 1 column"),
        ("a,b\n1,2\n3,4\n", "2 rows, 2 columns"),
    ],
)
def test_the_size_of_a_table_is_told_in_the_right_number(text: str, size: str) -> None:
    assert str(look_at_table(text, ",")) == size


def test_a_single_line_of_json_is_told_as_one() -> None:
    assert str(look_at_json_lines("{}\n")) == "1 line"
