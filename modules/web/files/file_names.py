"""File names: how a browser may show a file, and how to sanitize a foreign name."""

from __future__ import annotations

import re
import unicodedata

from utils.text.git_names import is_git_name

MEDIA_TYPES = {
    **{"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif"},
    **{"webp": "image/webp", "avif": "image/avif", "bmp": "image/bmp", "ico": "image/x-icon"},
    **{"svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html", "htm": "text/html"},
    **{"mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac"},
    **{"m4a": "audio/mp4", "oga": "audio/ogg", "opus": "audio/ogg"},
    **{"mp4": "video/mp4", "m4v": "video/mp4", "webm": "video/webm", "ogv": "video/ogg"},
}
"""The media types a browser may show, by the ending of the name. Nothing else is ever shown."""
ACTIVE_TYPES = ("text/html", "image/svg+xml")
"""Types that could hold a program, and so are shown in a sandbox."""

LANGUAGES = {
    **{"py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript"},
    **{"cjs": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "typescript"},
    **{
        "json": "json",
        "jsonl": "json",
        "ipynb": "json",
        "html": "html",
        "htm": "html",
        "svg": "xml",
        "xml": "xml",
    },
    **{"css": "css", "scss": "css", "md": "markdown", "markdown": "markdown", "sh": "shell"},
    **{"bash": "shell", "zsh": "shell", "yml": "yaml", "yaml": "yaml", "toml": "toml"},
    **{"ini": "ini", "cfg": "ini", "sql": "sql", "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp"},
    **{"hpp": "cpp", "java": "java", "rs": "rust", "go": "go", "rb": "ruby", "php": "php"},
    **{"cs": "csharp", "kt": "kotlin", "swift": "swift", "lua": "lua", "r": "r", "pl": "perl"},
    **{"diff": "diff", "patch": "diff", "tex": "latex", "csv": "csv", "tsv": "csv"},
}
_BY_NAME = {"dockerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile"}

_FORBIDDEN_CHARS = re.compile(
    r'[\\/:*?"<>|\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]'
)
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])\s*(\.|$)")
_MAX_NAME_BYTES = 240
"""Bytes of a name; most file systems take 255."""


def extension(path: str) -> str:
    """Return what follows the last dot of the name, in lower case."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def media_type(path: str) -> str:
    """Return the media type as which a browser may show *path*; "" if it must not."""
    return MEDIA_TYPES.get(extension(path), "")


def preview_kind(path: str) -> str:
    """Return how the page may show *path*: image, pdf, html, audio, video or ""."""
    kind = media_type(path)
    return {"application/pdf": "pdf", "text/html": "html"}.get(kind, kind.partition("/")[0])


def language(path: str) -> str:
    """Return the syntax of *path* by its name; "" if it has none that we know."""
    name = path.rpartition("/")[2].lower()
    return _BY_NAME.get(name) or LANGUAGES.get(extension(name), "")


def sanitize(name: str) -> str:
    """Return *name* fit for a new file on any system, its script kept; "" if nothing is left.

    Only the part behind the last separator counts, as browsers on some systems send whole paths.
    """
    name = unicodedata.normalize("NFC", re.split(r"[\\/]", name)[-1])
    name = _FORBIDDEN_CHARS.sub("", name).strip().rstrip(". ").removeprefix("..")
    name = name.encode("utf-8", "ignore").decode()
    if is_git_name(name):
        return ""
    if _RESERVED.match(name):
        name = f"_{name}"
    stem, dot, end = name.rpartition(".")
    if len(name.encode()) > _MAX_NAME_BYTES and dot and len(end) < 20:
        stem_bytes = _MAX_NAME_BYTES - len(end.encode()) - 1
        return f"{_truncate(stem, stem_bytes)}.{end}"
    return _truncate(name, _MAX_NAME_BYTES)


def _truncate(name: str, max_bytes: int) -> str:
    return name.encode()[:max_bytes].decode("utf-8", "ignore").rstrip(". ")
