"""The browser sees the names of secrets; what it saves has their values, to the letter."""

from __future__ import annotations

import base64
import difflib
from pathlib import Path
from typing import Any

import pytest

from modules.annotations import Annotations
from modules.files.project import Project
from modules.secrets.redactor import Secrets
from modules.web.files.content import FileContents
from modules.web.files.stat_cache import StatCache
from modules.web.http.errors import ApiError
from modules.web.sessions.page_redaction import PageRedactor

VALUE = "ghp_0123456789abcdefghij"
OTHER = "s3cr3t-Passw0rd-of-the-db"
ENV = f'# keys\nAPI_TOKEN={VALUE}\nDB_PASSWORD="{OTHER}"\nDEBUG=1\n'
HIDDEN = '# keys\nAPI_TOKEN=«SECRET:API_TOKEN»\nDB_PASSWORD="«SECRET:DB_PASSWORD»"\nDEBUG=1\n'
ENCODED = base64.b64encode(VALUE.encode()).decode()


class Desk:
    """Files of a project with secrets, as a browser gets at them."""

    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.root.mkdir()
        (self.root / ".env").write_text(ENV)
        self.secrets = Secrets(self.root, {}, base / "switch")
        self.veil = PageRedactor(self.secrets)
        project = Project(self.root)
        notes = Annotations(project, base / "notes")
        self.files = FileContents(project, notes, lambda _: None, self.veil, StatCache())

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def saved(self, name: str, text: str) -> str:
        """Save *text* over what was read of *name*; return what stands on the disk then."""
        self.files.write_text(name, text, self.files.text(name)["hash"])
        return (self.root / name).read_text()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_file_of_secrets_shows_their_names(desk: Desk) -> None:
    assert desk.files.text(".env")["text"] == HIDDEN


def test_a_part_of_a_file_shows_no_value_and_no_piece_of_one(desk: Desk) -> None:
    before = desk.veil.redact_between("", "a=1\n", f"{VALUE}\n")
    assert before == "a=1\n"
    for cut in range(len(VALUE) + 1):
        first, rest = f"x {VALUE[:cut]}", f"{VALUE[cut:]} y"
        told = desk.veil.redact_between("", first, rest), desk.veil.redact_between(first, rest, "")
        assert "".join(told) == "x «SECRET:API_TOKEN» y"
    text = "line\n" * 199_990 + f"key: {VALUE}\n" + "line\n" * 999_990
    desk.write("big.log", text)
    parts = [desk.files.part("big.log", number) for number in range(1, 8)]
    assert "".join(p["text"] for p in parts[:6]) == text.replace(VALUE, "«SECRET:API_TOKEN»")


def test_what_is_saved_unchanged_is_what_it_was(desk: Desk) -> None:
    assert desk.saved(".env", HIDDEN) == ENV


def test_a_line_more_leaves_the_values_as_they_are(desk: Desk) -> None:
    assert desk.saved(".env", f"{HIDDEN}MORE=2\n") == f"{ENV}MORE=2\n"


def test_a_new_value_is_kept_and_seen_by_its_name_from_then_on(desk: Desk) -> None:
    new = "ghp_zyxwvutsrqponmlk9876"
    text = HIDDEN.replace("«SECRET:API_TOKEN»", new)
    answer = desk.files.write_text(".env", text, desk.files.text(".env")["hash"])
    assert (desk.root / ".env").read_text() == ENV.replace(VALUE, new)
    assert answer["text"] == HIDDEN
    assert desk.files.text(".env")["text"] == HIDDEN


def test_a_moved_line_takes_its_value_along(desk: Desk) -> None:
    lines = HIDDEN.splitlines(keepends=True)
    moved = "".join([lines[2], lines[0], lines[1], lines[3]])
    own = ENV.splitlines(keepends=True)
    assert desk.saved(".env", moved) == "".join([own[2], own[0], own[1], own[3]])


def test_a_value_in_another_spelling_comes_back_in_that_spelling(desk: Desk) -> None:
    text = f"token: {ENCODED}\nplain: {VALUE}\nurl: x\n"
    desk.write("deploy.yaml", text)
    seen = desk.files.text("deploy.yaml")["text"]
    assert VALUE not in seen
    assert ENCODED not in seen
    assert desk.saved("deploy.yaml", seen) == text
    both = seen.replace("token:", "secret:").replace("url: x", "url: y")
    assert desk.saved("deploy.yaml", both) == text.replace("token:", "secret:").replace(
        ": x", ": y"
    )


def test_a_changed_line_keeps_its_spelling_when_the_one_above_goes(desk: Desk) -> None:
    desk.write("deploy.yaml", f"A={VALUE}\nB={ENCODED}\nz\n")
    lines = desk.files.text("deploy.yaml")["text"].splitlines(keepends=True)
    assert desk.saved("deploy.yaml", f"C{lines[1]}{lines[2]}") == f"CB={ENCODED}\nz\n"


def test_a_name_that_was_left_open_costs_no_line_its_end(desk: Desk) -> None:
    text = f"«SECRET:a {VALUE} y {VALUE} tail\nb\n"
    desk.write("a.txt", text)
    seen = desk.files.text("a.txt")["text"]
    assert desk.saved("a.txt", seen.replace("\nb", "\nB")) == text.replace("\nb", "\nB")


def test_a_long_text_of_like_lines_is_compared_where_it_differs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    class Counted(difflib.SequenceMatcher[str]):
        def __init__(self, *given: Any, **options: Any) -> None:
            compared.append(len(given[1]) + len(given[2]))
            super().__init__(*given, **options)

    monkeypatch.setattr(difflib, "SequenceMatcher", Counted)
    text = "".join(f'{{\n  "id": {i},\n  "on": true\n}},\n' for i in range(2_000)) + f"{VALUE}\n"
    desk.write("long.json", text)
    seen = desk.files.text("long.json")["text"]
    changed = desk.saved("long.json", seen.replace('"id": 5,', '"id": 55,'))
    assert changed == text.replace('"id": 5,', '"id": 55,')
    assert compared == [2]


def test_a_name_that_the_person_writes_elsewhere_becomes_its_value(desk: Desk) -> None:
    desk.write("a.py", "import os\n")
    assert desk.saved("a.py", "import os\nkey = '«SECRET:API_TOKEN»'\n").endswith(f"'{VALUE}'\n")
    desk.files.write_text("new.py", "key = '«SECRET:API_TOKEN»'\n", None)
    assert (desk.root / "new.py").read_text() == f"key = '{VALUE}'\n"


def test_a_text_about_such_names_is_left_alone(desk: Desk) -> None:
    text = "Names look like «SECRET:API_TOKEN» there.\n"
    desk.write("README.md", text)
    assert desk.saved("README.md", desk.files.text("README.md")["text"] + "More.\n") == (
        f"{text}More.\n"
    )


def test_what_somebody_else_wrote_meanwhile_is_shown_without_its_values(desk: Desk) -> None:
    before = desk.files.text(".env")["hash"]
    desk.write(".env", ENV + "X=1\n")
    with pytest.raises(ApiError) as refused:
        desk.files.write_text(".env", HIDDEN, before)
    assert refused.value.details["text"] == f"{HIDDEN}X=1\n"


def test_a_download_and_a_picture_made_of_text_have_names(desk: Desk) -> None:
    assert desk.files.content(".env")[1].decode() == HIDDEN
    desk.write("a.svg", f"<svg><text>{VALUE}</text></svg>")
    assert VALUE.encode() not in desk.files.content("a.svg")[1]
    data = b"\x89PNG\x00" + VALUE.encode()
    (desk.root / "a.png").write_bytes(data)
    assert desk.files.content("a.png")[1] == data  # no text: nothing in it could be put back


def test_a_file_in_another_encoding_keeps_it(desk: Desk) -> None:
    (desk.root / "b.txt").write_bytes(f"é {VALUE}\r\nx\r\n".encode("utf-16"))
    seen = desk.files.text("b.txt")
    assert seen["text"] == "é «SECRET:API_TOKEN»\nx\n"
    desk.files.write_text("b.txt", seen["text"] + "y\n", seen["hash"])
    expected = f"é {VALUE}\r\nx\r\ny\r\n"
    assert (desk.root / "b.txt").read_bytes().decode("utf-16") == expected


def test_a_note_shows_no_secret(desk: Desk) -> None:
    assert desk.files.set_note(".env", f"it is {VALUE}")["note"] == "it is «SECRET:API_TOKEN»"
    assert desk.files.text(".env")["note"] == "it is «SECRET:API_TOKEN»"


def test_switched_off_it_is_shown_as_it_is(desk: Desk) -> None:
    desk.secrets.switch("off")
    assert desk.files.text(".env")["text"] == ENV
    assert desk.files.content(".env")[1].decode() == ENV
    assert desk.saved(".env", ENV + "X=1\n") == ENV + "X=1\n"
    desk.secrets.switch("on")
    assert desk.files.text(".env")["text"] == f"{HIDDEN}X=1\n"
