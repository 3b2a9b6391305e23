"""Real picture files for tests, made with Pillow."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from PIL import Image


def picture_file(
    kind: str = "PNG", size: tuple[int, int] = (40, 20), mode: str = "RGB", **options: Any
) -> bytes:
    """Return a file of the format *kind*, one colour all over but for its left half."""
    image = Image.new(mode, size)
    image.paste(Image.new(mode, (max(1, size[0] // 2), size[1]), _BRIGHT.get(mode, 1)))
    return encoded(image, kind, **options)


def noise_picture(size: tuple[int, int]) -> Image.Image:
    """Return a picture that no format makes small."""
    return Image.effect_noise(size, 80).convert("RGB")


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def open_picture(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data))


_BRIGHT: dict[str, Any] = {
    "RGB": (250, 0, 0),
    "RGBA": (250, 0, 0, 128),
    "CMYK": (0, 250, 250, 0),
    "L": 250,
    "LA": (250, 128),
    "I;16": 60_000,
    "I": 60_000,
    "P": 2,
}
