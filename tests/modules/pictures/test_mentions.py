"""Which words of a typed message are pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.conversation.messages import User
from core.loop.turn import drive
from modules.assembly.terminal import load_named_pictures
from modules.pictures.mentions import MAX_PICTURES, mentioned_files
from tests.assembly import assembled_terminal
from tests.picture_files import picture_file
from tests.scripted_model import text_reply
from utils.i18n import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "my shot (1).png", "图.JPG", "notes.txt"):
        (tmp_path / name).write_bytes(picture_file())
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
        "看看@a.png",
        '@"a.png" it is',
    ):
        assert list(mentioned_files(text, folder)) == [plain], text
    quoted = str(odd).replace(" ", "%20")
    for text in (f"'{odd}'", f'"{odd}"', escaped, f"file://{quoted}", '@"my shot (1).png"'):
        assert list(mentioned_files(text, folder)) == [odd], text
    assert list(mentioned_files(f"{plain} {plain} @图.JPG", folder)) == [plain, folder / "图.JPG"]


def test_a_bare_name_another_file_and_another_host_are_none(folder: Path) -> None:
    for text in ("a.png", "rename a.png to b.png", "@notes.txt", "./gone.png", "x@a.png", "@",
                 f"file://host{folder}/a.png", "/" * 5000 + ".png", "@a\0.png"):  # fmt: skip
        assert list(mentioned_files(text, folder)) == []


def test_a_typed_picture_goes_with_the_message(tmp_path: Path) -> None:
    outside = tmp_path / "shot.png"
    outside.write_bytes(picture_file(size=(40, 20)))
    (tmp_path / "fake.png").write_text("no picture")
    with assembled_terminal(tmp_path, text_reply("Red.")) as env:
        (env.root / "in.gif").write_bytes(picture_file("GIF"))
        line = f"{outside} @in.gif {tmp_path}/fake.png"
        given = load_named_pictures(env.terminal, env.root, line)
        assert [one.name for one in given] == [str(outside), "in.gif"]
        drive(env.terminal.run_line(line, given), lambda _: None)
        (said,) = [r for _, r in env.terminal.history.log if isinstance(r, User)]
        assert (said.text, said.pictures) == (line, tuple(given))


def test_too_many_pictures_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        for number in range(MAX_PICTURES + 1):
            (env.root / f"{number}.png").write_bytes(picture_file(size=(1, 1)))
        line = " ".join(f"@{number}.png" for number in range(MAX_PICTURES + 1))
        with pytest.raises(UserError, match="20 pictures at most"):
            load_named_pictures(env.terminal, env.root, line)
