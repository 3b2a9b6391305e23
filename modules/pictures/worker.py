"""Decodes one picture and encodes it anew, in a process of its own that can do nothing else.

Started by `modules.pictures.normalization` as `python -m modules.pictures.worker LIBRARIES FORMAT`:
the file on standard input; on standard output a line of JSON, `{"width", "height", "media_type"}`
with the bytes of the new one behind it, or `{"error"}`.
"""

from __future__ import annotations

import json
import sys
import warnings
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from utils.pictures import scaled_size
from utils.system.confinement import confine

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 50_000_000
_MAX_PNG_BYTES = 1_000_000
"""Bytes of a PNG above which a JPEG takes its place."""
_QUALITY = 85
_ORIENTATION = 0x0112
"""The tag of EXIF."""
_TRANSPOSES = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""Argument of `Image.transpose` for each EXIF orientation."""
_SWAPPED_SIDES = (5, 6, 7, 8)


def main(libraries: str, format_name: str) -> None:
    sys.path.append(libraries)
    warnings.simplefilter("ignore")  # of Pillow, about what is odd in the file
    _preload_decoders()
    confine()
    header, data = _decoded_and_encoded(sys.stdin.buffer.read(), format_name)
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + data)
    sys.stdout.buffer.flush()


def _preload_decoders() -> None:
    """Import all that decoding may need: once confined, the process can open no file."""
    from PIL import Image, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin

    _ = MpoImagePlugin, TiffImagePlugin, WebPImagePlugin
    Image.preinit()
    Image.MAX_IMAGE_PIXELS = None  # ours is asked for before anything is decoded
    for kind in ("PNG", "JPEG", "GIF"):
        _decoded_and_encoded(_save(Image.new("L", (1, 1)), kind), kind)


def _decoded_and_encoded(data: bytes, format_name: str) -> tuple[dict[str, str | int], bytes]:
    """Return the header for the picture *data*, and its new bytes."""
    from PIL import Image

    if format_name == "PNG":
        data = _without_broken_extras(data)
    try:
        with Image.open(BytesIO(data), formats=[format_name]) as image:
            if image.width * image.height > MAX_PIXELS:
                return {"error": "pixels", "width": image.width, "height": image.height}, b""
            return _encoded(*_normalized(image))
    except MemoryError:
        return {"error": "memory"}, b""
    # A decoder raises whatever a damaged file makes it stumble over; only this picture is lost.
    except Exception as error:  # noqa: BLE001
        return {"error": "damaged", "why": f"{type(error).__name__}: {error}"[:300]}, b""


def _without_broken_extras(png: bytes) -> bytes:
    """Return *png* without the chunks that no picture needs and whose checksum is wrong.

    Browsers show such a picture; Pillow takes it for none.
    """
    kept = [png[:8]]
    start = 8
    while start < len(png):
        end = start + 12 + int.from_bytes(png[start : start + 4], "big")
        named = png[start + 4 : end - 4]
        is_whole = int.from_bytes(png[end - 4 : end], "big") == zlib.crc32(named)
        if named[:1].isupper() or is_whole:  # a capital: no picture without it
            kept.append(png[start:end])
        start = end
    return b"".join(kept)


def _normalized(image: Image) -> tuple[int, int, Image]:
    """Return the measures of *image* as it is to be seen, and it in that way, scaled, in 8 bits.

    Of an animation it is the first frame.
    """
    from PIL.Image import Transpose

    width, height = image.size
    target_size = scaled_size(width, height)
    image.draft("RGB", target_size)  # a JPEG is decoded smaller at once
    image.load()
    normalized = _to_eight_bits(image)
    if normalized.size != target_size:
        normalized = normalized.resize(target_size, reducing_gap=3.0)
    normalized.info = {}  # what a camera told, the place for one
    orientation = image.getexif().get(_ORIENTATION)
    if orientation in _TRANSPOSES:
        normalized = normalized.transpose(Transpose[_TRANSPOSES[orientation]])
    return (
        (height, width, normalized)
        if orientation in _SWAPPED_SIDES
        else (width, height, normalized)
    )


def _to_eight_bits(image: Image) -> Image:
    """Return *image* as grey, colour, or colour with transparency."""
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        float_image = image.convert("F")
        _, highest = float_image.getextrema()
        factor = 1 / 257 if isinstance(highest, float) and highest > 255 else 1.0
        return float_image.point(lambda value: value * factor).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def _encoded(width: int, height: int, picture: Image) -> tuple[dict[str, str | int], bytes]:
    header: dict[str, str | int] = {"width": width, "height": height}
    data = _save(picture, "PNG")
    if len(data) <= _MAX_PNG_BYTES:
        return {**header, "media_type": "image/png"}, data
    if picture.mode == "RGBA":
        from PIL import Image

        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture).convert("RGB")
    return {**header, "media_type": "image/jpeg"}, _save(picture, "JPEG", quality=_QUALITY)


def _save(picture: Image, format_name: str, **options: int) -> bytes:
    file = BytesIO()
    picture.save(file, format_name, **options)
    return file.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
