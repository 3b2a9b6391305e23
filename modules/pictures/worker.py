"""Decodes one picture and spells it anew, in a process of its own that can do nothing else.

Started by `modules.pictures.intake` as `python -m modules.pictures.worker LIBRARIES FORMAT`: the
file on standard input; on standard output a line of JSON, `{"width", "height", "media_type"}` with
the bytes of the new one behind it, or `{"error"}`.
"""

from __future__ import annotations

import json
import sys
import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from modules.pictures.confinement import confine
from utils.pictures import scaled

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 50_000_000
_LARGE = 1_000_000
"""Bytes of a PNG above which a JPEG takes its place."""
_QUALITY = 85
_ORIENTATION = 0x0112
"""The tag of EXIF."""
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""What `Image.transpose` has to do about each orientation."""
_ON_ITS_SIDE = (5, 6, 7, 8)


def main(libraries: str, kind: str) -> None:
    sys.path.append(libraries)
    warnings.simplefilter("ignore")  # of Pillow, about what is odd in the file
    _load_all()
    confine()
    told, data = _worked(sys.stdin.buffer.read(), kind)
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + data)
    sys.stdout.buffer.flush()


def _load_all() -> None:
    """Load whatever decoding may need: once the doors are shut, no file can be opened."""
    from PIL import Image, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin

    _ = MpoImagePlugin, TiffImagePlugin, WebPImagePlugin
    Image.preinit()
    Image.MAX_IMAGE_PIXELS = None  # ours is asked for before anything is decoded
    for kind in ("PNG", "JPEG", "GIF"):
        _worked(_saved(Image.new("L", (1, 1)), kind), kind)


def _worked(data: bytes, kind: str) -> tuple[dict[str, str | int], bytes]:
    """Return what is to be said of the picture *data*, and its new bytes."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=[kind]) as image:
            if image.width * image.height > MOST_PIXELS:
                return {"error": "pixels", "width": image.width, "height": image.height}, b""
            return _spelled(*_upright(image))
    except MemoryError:
        return {"error": "memory"}, b""
    # A decoder raises whatever a damaged file makes it stumble over; only this picture is lost.
    except Exception as error:  # noqa: BLE001
        return {"error": "damaged", "why": f"{type(error).__name__}: {error}"[:300]}, b""


def _upright(image: Image) -> tuple[int, int, Image]:
    """Return the measures of *image* as it is to be seen, and it in that way, scaled, in 8 bits.

    Of an animation it is the first frame.
    """
    from PIL.Image import Transpose

    width, height = image.size
    small = scaled(width, height)
    image.draft("RGB", small)  # a JPEG is decoded smaller at once
    image.load()
    plain = _in_eight_bits(image)
    if plain.size != small:
        plain = plain.resize(small, reducing_gap=3.0)
    plain.info = {}  # what a camera told, the place for one
    orientation = image.getexif().get(_ORIENTATION)
    if orientation in _TURNS:
        plain = plain.transpose(Transpose[_TURNS[orientation]])
    return (height, width, plain) if orientation in _ON_ITS_SIDE else (width, height, plain)


def _in_eight_bits(image: Image) -> Image:
    """Return *image* as grey, colour, or colour with transparency."""
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        real = image.convert("F")
        _, highest = real.getextrema()
        factor = 1 / 257 if isinstance(highest, float) and highest > 255 else 1.0
        return real.point(lambda value: value * factor).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def _spelled(width: int, height: int, picture: Image) -> tuple[dict[str, str | int], bytes]:
    told: dict[str, str | int] = {"width": width, "height": height}
    data = _saved(picture, "PNG")
    if len(data) <= _LARGE:
        return {**told, "media_type": "image/png"}, data
    if picture.mode == "RGBA":
        from PIL import Image

        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture).convert("RGB")
    return {**told, "media_type": "image/jpeg"}, _saved(picture, "JPEG", quality=_QUALITY)


def _saved(picture: Image, kind: str, **options: int) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
