"""Pictures that a message typed in a terminal names by their paths.

What a terminal types for a file that is dragged into it: a path from the root, in quotes or with
backslashes before what a shell would mind, or a `file://` address. `@PATH` and `./PATH`, too. A
bare name is only a name: the model may read the file by itself. That the person typed the path is
their leave to read it, in the project or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from modules.mentions.names import NAME_START
from modules.pictures.formats import MAX_PICTURE_FILE_BYTES, SUFFIXES, format_of
from utils.i18n import UserError, phrase

Kept = TypeVar("Kept")
MAX_PICTURES = 20
"""Pictures of one message."""
_PATH_START = r"""(?:file://|~/|\./|\.\./|/)"""
_MENTION = re.compile(
    rf"""{NAME_START}(?:
        @?'(?P<single>{_PATH_START}[^'\n]+)' | @?"(?P<double>{_PATH_START}[^"\n]+)"
      | @"(?P<named>[^"\n]+)" | @(?P<at>(?:\\.|[^\s\\'"])+)
      | (?P<plain>{_PATH_START}(?:\\.|[^\s\\'"])+)
    )""",
    re.VERBOSE,
)


def mentioned_files(text: str, folder: Path) -> Iterator[Path]:
    """Yield the files of *text* that may be pictures, each once; relative ones are in *folder*."""
    seen: set[Path] = set()
    for match in _MENTION.finditer(text):
        kind, word = next((k, w) for k, w in match.groupdict().items() if w is not None)
        for path in _candidate_paths(word, folder, is_escaped=kind in ("at", "plain")):
            if path.suffix.lower() in SUFFIXES and path not in seen and _is_file(path):
                seen.add(path)
                yield path


def add_mentioned_pictures(
    text: str, folder: Path, keep: Callable[[bytes, str], Kept]
) -> Sequence[Kept]:
    """Have *keep* take in the pictures that *text* names, each with what it is called.

    Returns what it made of them. Raises `UserError` for one too many.
    """
    paths = [path for path in mentioned_files(text, folder) if _is_picture(path)]
    if len(paths) > MAX_PICTURES:
        raise UserError(phrase("A message takes {most} pictures at most.", most=MAX_PICTURES))
    return [keep(_read_picture(path), _display_name(path, folder)) for path in paths]


def _display_name(path: Path, folder: Path) -> str:
    """Return the name of a picture; one from outside of *folder* has its whole path."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _candidate_paths(word: str, folder: Path, *, is_escaped: bool) -> Iterator[Path]:
    """Yield the paths that *word* may mean, also without the full stop of a sentence."""
    if word.startswith("file://"):
        address = urlsplit(word)
        words = [unquote(address.path)] if address.netloc in ("", "localhost") else []
    else:
        words = [re.sub(r"\\(.)", r"\1", word) if is_escaped else word]
    for candidate in (end for unquoted in words for end in (unquoted, unquoted.rstrip(".,;:!?)"))):
        home = Path.home() / candidate[2:] if candidate.startswith("~/") else Path(candidate)
        yield folder / home


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_picture(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return format_of(file.read(16)) is not None
    except OSError:
        return False


def _read_picture(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_PICTURE_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        message = phrase("Cannot read {path}: {why}.", path=str(path), why=reason)
        raise UserError(message) from None
