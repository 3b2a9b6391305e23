"""The files of the fonts of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_FOLDERS = (
    *("/usr/share/fonts", "/usr/local/share/fonts"),
    *("/System/Library/Fonts", "/Library/Fonts", "/run/current-system/sw/share/X11/fonts"),
)
CHINESE_FONTS = (
    *("NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.otf"),
    *("wqy-microhei.ttc", "wqy-zenhei.ttc", "DroidSansFallbackFull.ttf", "PingFang.ttc"),
    *("Hiragino Sans GB.ttc", "STHeiti Light.ttc", "Arial Unicode.ttf"),
)
"""Those with the characters of Chinese, and most of them of Japanese; the first is the best."""


def font_files() -> Iterator[Path]:
    """Yield the files of all fonts."""
    for folder in _FOLDERS:
        for parent, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".ttf", ".otf", ".ttc")):
                    yield Path(parent, name)


def chinese_font() -> bytes:
    """Return the content of a font with the characters of Chinese; empty where there is none."""
    files = {path.name: path for path in font_files()}
    for name in CHINESE_FONTS:
        if name in files:
            try:
                return files[name].read_bytes()
            except OSError:
                continue
    return b""
