"""Real files, good and hostile, on their way to a picture that may be sent."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib

import pytest
from PIL import Image, UnidentifiedImageError

from modules.pictures.formats import MAX_PICTURE_FILE_BYTES, format_of
from modules.pictures.normalization import normalize
from tests.picture_files import encoded, noise_picture, open_picture, picture_file
from utils.i18n import UserError
from utils.pictures import MAX_SIDE, Picture, scaled_size


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_each_format_is_taken_by_its_content(kind: str) -> None:
    data = picture_file(kind, (40, 20))
    taken = normalize(data, "x")
    assert (taken.width, taken.height, taken.format.upper(), taken.size) == (
        40,
        20,
        kind,
        len(data),
    )
    assert open_picture(taken.data).size == (40, 20)
    assert open_picture(taken.data).convert("RGB").getpixel((5, 5)) != open_picture(
        taken.data
    ).convert("RGB").getpixel((35, 5))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_kind_of_pixels_becomes_one_that_servers_take(mode: str) -> None:
    kept = open_picture(normalize(picture_file("PNG", mode=mode), "x").data)
    assert kept.mode in ("L", "RGB", "RGBA")
    grey = kept.convert("RGBA").convert("L")
    bright, dark = grey.getpixel((5, 5)), grey.getpixel((35, 5))
    assert isinstance(bright, int)
    assert isinstance(dark, int)
    if mode != "P":
        assert bright > dark + 50


def test_a_print_in_four_colours_becomes_red_green_blue() -> None:
    kept = open_picture(normalize(picture_file("JPEG", mode="CMYK"), "x").data)
    red, green, blue = kept.getpixel((5, 5))  # type: ignore[misc]
    assert red > 200
    assert max(green, blue) < 60


def test_a_long_side_is_scaled_down_and_a_small_picture_is_not_scaled_up() -> None:
    taken = normalize(picture_file(size=(4000, 1000)), "x")
    assert (taken.width, taken.height) == (4000, 1000)
    assert open_picture(taken.data).size == (MAX_SIDE, 392) == scaled_size(4000, 1000)
    assert open_picture(normalize(picture_file(size=(1, 1)), "x").data).size == (1, 1)
    assert open_picture(normalize(picture_file(size=(3000, 1)), "x").data).size == (MAX_SIDE, 1)


def test_what_is_large_as_png_is_kept_as_jpeg() -> None:
    taken = normalize(encoded(noise_picture((1500, 1500)), "PNG"), "x")
    assert taken.media_type == "image/jpeg"
    assert open_picture(taken.data).format == "JPEG"
    see_through = normalize(encoded(noise_picture((1500, 1500)).convert("RGBA"), "PNG"), "x")
    assert see_through.media_type == "image/jpeg"
    assert normalize(picture_file(), "x").media_type == "image/png"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_as_its_camera_says(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    taken = normalize(picture_file("JPEG", (40, 20), exif=exif), "x")
    is_on_its_side = orientation >= 5
    assert (taken.width, taken.height) == ((20, 40) if is_on_its_side else (40, 20))
    kept = open_picture(taken.data)
    assert kept.size == (taken.width, taken.height)
    corners = [kept.getpixel(at)[0] > 128 for at in ((1, 1), (kept.width - 2, kept.height - 2))]  # type: ignore[index]
    is_red_first = orientation in (1, 4, 5, 6)
    assert corners == [is_red_first, not is_red_first]


def test_what_a_camera_told_is_gone() -> None:
    exif = Image.Exif()
    exif[0x010F] = "Where I live"
    data = picture_file("JPEG", exif=exif)
    assert b"Where I live" in data
    assert b"Where I live" not in normalize(data, "x").data


def test_of_an_animation_the_first_frame_is_taken() -> None:
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "lime", "blue")]
    for kind in ("GIF", "WEBP", "PNG"):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
        kept = open_picture(normalize(data, "x").data).convert("RGB")
        assert kept.getpixel((5, 5))[0] > 240  # type: ignore[index]
        assert getattr(open_picture(normalize(data, "x").data), "n_frames", 1) == 1


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_is_cut_off_is_refused(kind: str) -> None:
    data = encoded(noise_picture((200, 100)), kind)
    for end in (16, len(data) // 3, len(data) - 40):
        with pytest.raises(UserError, match="damaged or cut off"):
            normalize(data[:end], "x")


def test_a_part_that_no_picture_needs_may_be_damaged() -> None:
    data = encoded(Image.new("RGB", (20, 10), "red"), "PNG", icc_profile=b"some profile")
    end = data.index(b"iCCP") + 4 + int.from_bytes(data[33:37], "big")
    damaged = data[:end] + b"\0\0\0\0" + data[end + 4 :]
    with pytest.raises(UnidentifiedImageError):
        open_picture(damaged)
    taken = normalize(damaged, "x")
    assert open_picture(taken.data).convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_noise_behind_a_beginning_is_refused() -> None:
    for kind in ("PNG", "JPEG", "GIF", "WEBP"):
        data = picture_file(kind)
        for position in range(12, len(data), max(1, len(data) // 6)):
            changed = data[:position] + b"\xff\x00\xfe\x7f" * 8 + data[position + 32 :]
            try:
                taken = normalize(changed, "x")
            except UserError:
                continue
            assert open_picture(taken.data).size == scaled_size(taken.width, taken.height)


def _claiming(width: int, height: int) -> bytes:
    """Return a small PNG that claims to have so many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def test_a_bomb_of_pixels_is_refused_unseen() -> None:
    for size in ((30_000, 20_000), (2**31 - 1, 1), (100_000, 100_000)):
        with pytest.raises(UserError, match="too many pixels"):
            normalize(_claiming(*size), "x")


def test_other_formats_are_refused_whatever_they_are_called() -> None:
    for data in (
        picture_file("BMP"),
        picture_file("TIFF"),
        b"<svg/>",
        b"",
        b"%!PS-Adobe\n",
        picture_file("ICO"),
    ):
        with pytest.raises(UserError, match="no picture that can be used"):
            normalize(data, "x.png")


def test_a_file_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(UserError, match=r"too large for a picture \(30 MB\)"):
        normalize(picture_file() + bytes(MAX_PICTURE_FILE_BYTES), "x")


def test_formats_are_told_by_their_content() -> None:
    assert format_of(b"GIF87a") == "GIF"
    assert format_of(b"RIFF\0\0\0\0WAVE") is None
    assert format_of(b"\xff\xd8\xff\xe0") == "JPEG"


def test_the_process_that_decodes_can_open_and_run_nothing() -> None:
    tried = """
import os, socket, sys
from utils.system.confinement import confine
confine()
for work in (
    lambda: open("/etc/passwd"), lambda: open("new", "w"), lambda: socket.socket(),
    lambda: os.execv("/bin/true", ["true"]), lambda: os.kill(1, 0), lambda: bytearray(2 << 30),
):
    try:
        work()
        print("done")
    except (OSError, MemoryError) as error:
        print(type(error).__name__)
"""
    answer = subprocess.run(
        [sys.executable, "-c", tried], stdout=subprocess.PIPE, text=True, check=True
    )
    refused = ["PermissionError"] * 5
    assert answer.stdout.split() == [*refused, "MemoryError"]


def test_tokens_are_counted_of_what_is_sent() -> None:
    def tokens(width: int, height: int) -> int:
        return Picture("0" * 64, "x", "PNG", width, height, 1, "image/png").tokens

    assert tokens(750, 100) == 100
    assert tokens(1, 1) == 1
    assert tokens(15_680, 1568) == tokens(1568, 157)
