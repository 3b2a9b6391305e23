from __future__ import annotations

import os
from pathlib import Path

from core.cards import Change, RunPicture
from modules.pictures.run_pictures import run_pictures
from tests.picture_files import picture_file


def test_pictures_that_a_run_made_are_found_by_what_they_are(tmp_path: Path) -> None:
    data = picture_file("JPEG")
    (tmp_path / "photo.jpg").write_bytes(data)
    (tmp_path / "plot.png").write_bytes(data)
    (tmp_path / "moved.webp").write_bytes(picture_file("WEBP"))
    (tmp_path / "untouched.png").write_bytes(picture_file())
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "picture.txt").write_bytes(picture_file())
    changes = [
        Change("created", "plot.png"),
        Change("modified", "photo.jpg"),
        Change("renamed", "old.png", "moved.webp"),
        Change("deleted", "gone.png"),
        Change("created", "text.png"),
        Change("created", "picture.txt"),
    ]
    assert run_pictures(tmp_path, changes) == (
        RunPicture("plot.png", "image/jpeg", len(data)),
        RunPicture("photo.jpg", "image/jpeg", len(data)),
        RunPicture("moved.webp", "image/webp", len(picture_file("WEBP"))),
    )


def test_what_a_program_made_of_a_name_holds_nothing_up_and_shows_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(picture_file())
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.png").symlink_to(outside)
    os.mkfifo(project / "pipe.png")
    (project / "folder.png").mkdir()
    with (project / "huge.png").open("wb") as file:
        file.write(picture_file())
        file.truncate(40_000_000)
    names = ("link", "pipe", "folder", "huge", "missing")
    changes = [Change("created", f"{name}.png") for name in names]
    assert run_pictures(project, changes) == ()


def test_a_card_has_eight_pictures_at_most(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number:02}.gif").write_bytes(picture_file("GIF"))
    changes = [Change("created", f"{number:02}.gif") for number in range(12)]
    paths = [picture.path for picture in run_pictures(tmp_path, changes)]
    assert paths == [f"{number:02}.gif" for number in range(8)]
