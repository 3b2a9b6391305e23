"""Which words of a typed message are pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.conversation.messages import User
from core.loop.turn import drive
from modules.assembly import pictures_named
from modules.pictures.mentions import MOST, named_in
from tests.assembly import house
from tests.drawings import drawn
from tests.scripted import say
from utils.i18n import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "my shot (1).png", "图.JPG", "notes.txt"):
        (tmp_path / name).write_bytes(drawn())
    return tmp_path


def test_a_dragged_path_is_found_in_every_spelling(folder: Path) -> None:
    plain, odd = folder / "a.png", folder / "my shot (1).png"
    escaped = str(odd).replace(" ", r"\ ").replace("(", r"\(").replace(")", r"\)")
    for text in (
        str(plain),
        f"What is {plain}?",
        f"'{plain}' what",
        f'See "{plain}".',
        f"({plain})",
        f"file://{plain}",
        "see ./a.png, please",
        "see @a.png",
        '@"a.png" it is',
    ):
        assert list(named_in(text, folder)) == [plain], text
    quoted = str(odd).replace(" ", "%20")
    for text in (f"'{odd}'", f'"{odd}"', escaped, f"file://{quoted}", '@"my shot (1).png"'):
        assert list(named_in(text, folder)) == [odd], text
    assert list(named_in(f"{plain} {plain} @图.JPG", folder)) == [plain, folder / "图.JPG"]


def test_a_bare_name_another_file_and_another_host_are_none(folder: Path) -> None:
    for text in ("a.png", "rename a.png to b.png", "@notes.txt", "./gone.png", "x@a.png", "@",
                 f"file://host{folder}/a.png", "/" * 5000 + ".png", "@a\0.png"):  # fmt: skip
        assert list(named_in(text, folder)) == []


def test_a_typed_picture_goes_with_the_message(tmp_path: Path) -> None:
    outside = tmp_path / "shot.png"
    outside.write_bytes(drawn(size=(40, 20)))
    (tmp_path / "fake.png").write_text("no picture")
    with house(tmp_path, say("Red.")) as here:
        (here.root / "in.gif").write_bytes(drawn("GIF"))
        line = f"{outside} @in.gif {tmp_path}/fake.png"
        given = pictures_named(here.main, here.root, line)
        assert [one.name for one in given] == [str(outside), "in.gif"]
        drive(here.main.ask(line, given), lambda _: None)
        (said,) = [r for _, r in here.main.history.log if isinstance(r, User)]
        assert (said.text, said.pictures) == (line, tuple(given))


def test_too_many_pictures_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with house(tmp_path) as here:
        for number in range(MOST + 1):
            (here.root / f"{number}.png").write_bytes(drawn(size=(1, 1)))
        line = " ".join(f"@{number}.png" for number in range(MOST + 1))
        with pytest.raises(UserError, match="20 pictures at most"):
            pictures_named(here.main, here.root, line)
