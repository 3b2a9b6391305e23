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
from tests.assembly import House, house
from tests.drawings import drawn
from tests.scripted import call, say
from utils.pictures import Picture, PictureGone


def play(main: MainTerminal, line: str, *pictures: Picture) -> None:
    drive(main.ask(line, pictures), lambda _: None)


def pictures_of(here: House) -> Pictures:
    return next(one for one in here.main.families if isinstance(one, Pictures))


def test_a_picture_that_is_read_is_referred_to_and_kept_by_content(tmp_path: Path) -> None:
    with house(tmp_path, call("read_file", path="a.txt"), say("Red.")) as here:
        (here.root / "a.txt").write_bytes(drawn(size=(40, 20)))  # its name says nothing
        play(here.main, "Look.")
        (answer,) = [r for _, r in here.main.history.log if isinstance(r, ToolResult)]
        (picture,) = answer.pictures
        assert (picture.name, picture.format, picture.width, picture.height) == (
            "a.txt",
            "PNG",
            40,
            20,
        )
        assert answer.text == f"a.txt is a picture: PNG, 40×20, {picture.size} B."
        assert isinstance(answer.card, TextCard)
        (here.root / "a.txt").unlink()
        assert pictures_of(here).read(picture.digest).startswith(b"\x89PNG")
        sent = here.model.requests[-1][-1]
        assert sent["pictures"][0]["digest"] == picture.digest
        kept = list((here.data.pictures / here.main.session).iterdir())
        assert len(kept) == 2  # its bytes and what is known of them
        assert b"base64" not in here.data.sessions.read_bytes()


def test_a_damaged_picture_and_another_file_are_explained(tmp_path: Path) -> None:
    script = (call("read_file", path="cut.png"), call("read_file", path="x.bin"), say("Hm."))
    with house(tmp_path, *script) as here:
        (here.root / "cut.png").write_bytes(drawn()[:40])
        (here.root / "x.bin").write_bytes(b"\0\1\2" * 50)
        play(here.main, "Look.")
        texts = [r.text for _, r in here.main.history.log if isinstance(r, ToolResult)]
        assert "cut.png cannot be read as a picture: it is damaged or cut off." in texts[0]
        assert "is not text but" in texts[1]


def test_pictures_given_with_the_first_message_are_kept_with_its_session(tmp_path: Path) -> None:
    with house(tmp_path, say("Nice.")) as here:
        picture = pictures_of(here).keep(drawn(), "my shot.png")
        assert not here.data.pictures.exists()  # nothing was said yet
        play(here.main, "/see this", picture)
        assert pictures_of(here).find(picture.digest) == picture
        (said,) = [r for _, r in here.main.history.log if isinstance(r, User)]
        assert said == User("/see this", (picture,))
        assert here.main.window.used > 0
        session = here.main.session
    with house(tmp_path) as again:
        again.main.resume(session)
        (said,) = [r for _, r in again.main.history.log if isinstance(r, User)]
        assert said.pictures == (picture,)
        assert pictures_of(again).read(picture.digest)


def test_a_fork_has_its_pictures_when_the_first_session_is_gone(tmp_path: Path) -> None:
    with house(tmp_path, say("Nice.")) as here:
        picture = pictures_of(here).keep(drawn(), "a.png")
        play(here.main, "See.", picture)
        first = here.main.session
        here.main.resume(here.main.fork(1))
        PictureStore(here.data.pictures).forget(first)
        assert pictures_of(here).read(picture.digest)
        assert pictures_of(here).find(picture.digest) == picture


def test_a_picture_that_was_tampered_with_is_gone(tmp_path: Path) -> None:
    with house(tmp_path, say("Nice.")) as here:
        picture = pictures_of(here).keep(drawn(), "a.png")
        play(here.main, "See.", picture)
        (here.data.pictures / here.main.session / picture.digest).write_bytes(b"other")
        with pytest.raises(PictureGone):
            pictures_of(here).read(picture.digest)
        for name in ("", "../x", "0" * 64, f"../{here.main.session}/{picture.digest}"):
            with pytest.raises(PictureGone):
                pictures_of(here).read(name)


def test_the_window_counts_a_picture_for_a_model_that_sees(tmp_path: Path) -> None:
    with house(tmp_path, say("Nice.")) as here:
        picture = pictures_of(here).keep(drawn(size=(750, 1000)), "a.png")
        play(here.main, "See.", picture)
        blind = here.main.parts()["talk"]
        here.model.profile = replace(here.model.profile, pictures=True)
        sizes = [size for _, size in here.main.window._sent_sizes()]
        assert picture.tokens == 1000
        assert max(sizes) > 1000
        assert blind < 1000


def test_undo_of_the_project_leaves_pictures_alone(tmp_path: Path) -> None:
    with house(
        tmp_path, call("create_file", path="b.txt", content="b"), say("Done."), say("More.")
    ) as here:
        picture = pictures_of(here).keep(drawn(), "a.png")
        play(here.main, "Do.", picture)
        play(here.main, "/undo")
        assert not (here.root / "b.txt").exists()
        assert pictures_of(here).read(picture.digest)


def test_the_reference_is_all_that_is_told_of_a_picture(tmp_path: Path) -> None:
    with house(tmp_path, say("Nice.")) as here:
        picture: Picture = pictures_of(here).keep(drawn(size=(400, 400)), "a.png")
        play(here.main, "See.", picture)
        assert len(json.dumps(here.model.requests[-1][-1])) < 400
