"""Pictures in the whole assembly: read, kept with the session, and gone with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.cards import TextCard
from core.conversation.messages import ToolResult, User
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from modules.pictures.feature import Pictures
from modules.pictures.picture_store import PictureStore
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.picture_files import picture_file
from tests.scripted_model import call_reply, text_reply
from utils.pictures import Picture, PictureGone


def play(main: MainTerminal, line: str, *pictures: Picture) -> None:
    drive(main.run_line(line, pictures), lambda _: None)


def pictures_of(env: AssembledTerminal) -> Pictures:
    return next(one for one in env.terminal.features if isinstance(one, Pictures))


def test_a_picture_that_is_read_is_referred_to_and_kept_by_content(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("read_file", path="a.txt"), text_reply("Red.")
    ) as env:
        (env.root / "a.txt").write_bytes(picture_file(size=(40, 20)))  # its name says nothing
        play(env.terminal, "Look.")
        (answer,) = [r for _, r in env.terminal.history.log if isinstance(r, ToolResult)]
        (picture,) = answer.pictures
        assert (picture.name, picture.format, picture.width, picture.height) == (
            "a.txt",
            "PNG",
            40,
            20,
        )
        assert answer.text == f"a.txt is a picture: PNG, 40×20, {picture.size} B."
        assert isinstance(answer.card, TextCard)
        (env.root / "a.txt").unlink()
        assert pictures_of(env).read(picture.digest).startswith(b"\x89PNG")
        sent = env.model.requests[-1][-1]
        assert sent["pictures"][0]["digest"] == picture.digest
        kept = list((env.data.pictures / env.terminal.session).iterdir())
        assert len(kept) == 2  # its bytes and what is known of them
        assert b"base64" not in env.data.sessions.read_bytes()


def test_a_damaged_picture_and_another_file_are_explained(tmp_path: Path) -> None:
    script = (
        call_reply("read_file", path="cut.png"),
        call_reply("read_file", path="x.bin"),
        text_reply("Hm."),
    )
    with assembled_terminal(tmp_path, *script) as env:
        (env.root / "cut.png").write_bytes(picture_file()[:40])
        (env.root / "x.bin").write_bytes(b"\0\1\2" * 50)
        play(env.terminal, "Look.")
        texts = [r.text for _, r in env.terminal.history.log if isinstance(r, ToolResult)]
        assert "cut.png cannot be read as a picture: it is damaged or cut off." in texts[0]
        assert "is not text but" in texts[1]


def test_pictures_given_with_the_first_message_are_kept_with_its_session(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Nice.")) as env:
        picture = pictures_of(env).add(picture_file(), "my shot.png")
        assert not env.data.pictures.exists()  # nothing was said yet
        play(env.terminal, "/see this", picture)
        assert pictures_of(env).find(picture.digest) == picture
        (said,) = [r for _, r in env.terminal.history.log if isinstance(r, User)]
        assert said == User("/see this", (picture,))
        assert env.terminal.window.used > 0
        session = env.terminal.session
    with assembled_terminal(tmp_path) as again:
        again.terminal.resume(session)
        (said,) = [r for _, r in again.terminal.history.log if isinstance(r, User)]
        assert said.pictures == (picture,)
        assert pictures_of(again).read(picture.digest)


def test_a_fork_has_its_pictures_when_the_first_session_is_gone(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Nice.")) as env:
        picture = pictures_of(env).add(picture_file(), "a.png")
        play(env.terminal, "See.", picture)
        first = env.terminal.session
        env.terminal.resume(env.terminal.fork(1))
        PictureStore(env.data.pictures).forget(first)
        assert pictures_of(env).read(picture.digest)
        assert pictures_of(env).find(picture.digest) == picture


def test_a_picture_that_was_tampered_with_is_gone(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Nice.")) as env:
        picture = pictures_of(env).add(picture_file(), "a.png")
        play(env.terminal, "See.", picture)
        (env.data.pictures / env.terminal.session / picture.digest).write_bytes(b"other")
        with pytest.raises(PictureGone):
            pictures_of(env).read(picture.digest)
        for name in ("", "../x", "0" * 64, f"../{env.terminal.session}/{picture.digest}"):
            with pytest.raises(PictureGone):
                pictures_of(env).read(name)


def test_the_window_counts_a_picture_for_a_model_that_sees(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Nice.")) as env:
        picture = pictures_of(env).add(picture_file(size=(750, 1000)), "a.png")
        play(env.terminal, "See.", picture)
        blind = env.terminal.tokens_by_part()["talk"]
        env.model.profile = replace(env.model.profile, pictures=True)
        sizes = [size for _, size in env.terminal.window._sent_sizes()]
        assert picture.tokens == 1000
        assert max(sizes) > 1000
        assert blind < 1000


def test_undo_of_the_project_leaves_pictures_alone(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path,
        call_reply("create_file", path="b.txt", content="b"),
        text_reply("Done."),
        text_reply("More."),
    ) as env:
        picture = pictures_of(env).add(picture_file(), "a.png")
        play(env.terminal, "Do.", picture)
        play(env.terminal, "/undo")
        assert not (env.root / "b.txt").exists()
        assert pictures_of(env).read(picture.digest)


def test_the_reference_is_all_that_is_told_of_a_picture(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Nice.")) as env:
        picture: Picture = pictures_of(env).add(picture_file(size=(400, 400)), "a.png")
        play(env.terminal, "See.", picture)
        assert len(json.dumps(env.model.requests[-1][-1])) < 400
