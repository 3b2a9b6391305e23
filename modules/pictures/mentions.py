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

from modules.pictures.formats import LARGEST, SUFFIXES, format_of
from utils.i18n import UserError, phrase

Kept = TypeVar("Kept")
MOST = 20
"""Pictures of one message."""
_BEGINS = r"""(?:file://|~/|\./|\.\./|/)"""
_WORD = re.compile(
    rf"""(?:^|(?<=[\s(]))(?:
        @?'(?P<single>{_BEGINS}[^'\n]+)' | @?"(?P<double>{_BEGINS}[^"\n]+)"
      | @"(?P<named>[^"\n]+)" | @(?P<at>(?:\\.|[^\s\\'"])+)
      | (?P<plain>{_BEGINS}(?:\\.|[^\s\\'"])+)
    )""",
    re.VERBOSE,
)


def named_in(text: str, folder: Path) -> Iterator[Path]:
    """Yield the files of *text* that may be pictures, each once; relative ones are in *folder*."""
    seen: set[Path] = set()
    for match in _WORD.finditer(text):
        kind, word = next((k, w) for k, w in match.groupdict().items() if w is not None)
        for path in _paths(word, folder, is_escaped=kind in ("at", "plain")):
            if path.suffix.lower() in SUFFIXES and path not in seen and _is_file(path):
                seen.add(path)
                yield path


def given_in(text: str, folder: Path, keep: Callable[[bytes, str], Kept]) -> Sequence[Kept]:
    """Have *keep* take in the pictures that *text* names, each with what it is called.

    Returns what it made of them. Raises `UserError` for one too many.
    """
    found = [path for path in named_in(text, folder) if _begins_as_one(path)]
    if len(found) > MOST:
        raise UserError(phrase("A message takes {most} pictures at most.", most=MOST))
    return [keep(_content(path), _name(path, folder)) for path in found]


def _name(path: Path, folder: Path) -> str:
    """Return what to call a picture: all of its path says that it is from outside of *folder*."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _paths(word: str, folder: Path, *, is_escaped: bool) -> Iterator[Path]:
    """Yield what *word* may mean, without the full stop of a sentence as well."""
    if word.startswith("file://"):
        address = urlsplit(word)
        words = [unquote(address.path)] if address.netloc in ("", "localhost") else []
    else:
        words = [re.sub(r"\\(.)", r"\1", word) if is_escaped else word]
    for one in (end for whole in words for end in (whole, whole.rstrip(".,;:!?)"))):
        home = Path.home() / one[2:] if one.startswith("~/") else Path(one)
        yield folder / home


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _begins_as_one(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return format_of(file.read(16)) is not None
    except OSError:
        return False


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        why = error.strerror or str(error)
        what = phrase("{path} cannot be read: {why}.", path=str(path), why=why)
        raise UserError(what) from None
