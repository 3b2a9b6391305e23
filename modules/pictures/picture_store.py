"""Store of pictures: a folder for each session, a file for each content.

They stay when the file they came from goes, are no part of what undo takes back, and go with their
session. A fork has links to the same files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from utils.i18n import UserError, phrase
from utils.pictures import Picture, PictureGone
from utils.system.atomic_write import write_atomically
from utils.text.codec import from_plain, to_plain
from utils.text.strict_json import read_json

if TYPE_CHECKING:
    from modules.pictures.normalization import NormalizedPicture

_DIGEST = re.compile(r"[0-9a-f]{64}")


class PictureStore:
    """The pictures in *folder*, by session and SHA-256; made when the first is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, session: str, normalized: NormalizedPicture, name: str) -> Picture:
        """Keep a picture with *session*; it is on disk on return. Raises `UserError`."""
        picture = normalized.to_picture(name)
        self.put(session, picture, normalized.data)
        return picture

    def put(self, session: str, picture: Picture, data: bytes) -> None:
        """Keep *data* as what *picture* refers to. Raises `UserError`."""
        session_folder = self._folder / session
        with self._as_user_errors():
            session_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (session_folder / picture.digest).exists():
                write_atomically(session_folder / picture.digest, data)
            metadata = json.dumps(to_plain(picture), ensure_ascii=False)
            write_atomically(
                session_folder / f"{picture.digest}.json", metadata.encode("utf-8", "replace")
            )

    def read(self, session: str, digest: str) -> bytes:
        """Return the bytes of a picture. Raises `PictureGone`, also where they are others now."""
        try:
            data = self._file(session, digest).read_bytes()
        except OSError:
            raise PictureGone(digest) from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise PictureGone(digest)
        return data

    def find(self, session: str, digest: str) -> Picture:
        """Return a picture as it was kept last. Raises `PictureGone`."""
        try:
            metadata = read_json(self._file(session, digest).with_suffix(".json").read_bytes())
            picture: Picture = from_plain(Picture, metadata)
        except (OSError, ValueError, TypeError):
            raise PictureGone(digest) from None
        return picture

    def copy(self, session: str, to: PictureStore, copy: str) -> None:
        """Copy the pictures of *session* to *copy* in the store *to*. Raises `UserError`."""
        source, target = self._folder / session, to._folder / copy
        if not source.is_dir():
            return
        with self._as_user_errors():
            shutil.copytree(source, target, copy_function=_link_or_copy, dirs_exist_ok=True)
            target.chmod(0o700)

    def forget(self, session: str) -> None:
        """Delete all that is kept with *session*."""
        shutil.rmtree(self._folder / session, ignore_errors=True)

    def _file(self, session: str, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest) or not session:
            raise PictureGone(digest)
        return self._folder / session / digest

    @contextmanager
    def _as_user_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError(
                phrase(
                    "Cannot save the picture in {path}: {why}.",
                    path=str(self._folder),
                    why=reason,
                )
            ) from error


def _link_or_copy(source: str, target: str) -> None:
    """Have *target* be the same file as *source*, or a copy where there can be no link."""
    with suppress(FileExistsError):
        try:
            os.link(source, target)
        except FileExistsError:
            raise
        except OSError:
            shutil.copyfile(source, target)
