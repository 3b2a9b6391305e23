"""Approval of the Python installation outside the project that its programs may see.

The one that is there before the first run is the person's own doing. From then on the environment
that names it lies where programs write, so another one is a matter for the person, and so is a
first one where there was none.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

from modules.sandbox.filesystem.interpreter import Interpreter
from utils.system.atomic_write import write_atomically

_MAX_BYTES = 100_000  # bytes


class ApprovedPython:
    """Approved Python of *project*, remembered in *cache_folder*."""

    def __init__(self, project: Path, cache_folder: Path) -> None:
        name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        self._file = cache_folder / f"python-{name}.json"

    def needs_approval(self, interpreter: Interpreter | None) -> bool:
        """Return whether *interpreter* would show another installation than was approved."""
        identity = _identity(interpreter)
        approved = self._approved()
        return identity is not None and approved is not None and approved != identity

    def approve(self, interpreter: Interpreter | None) -> None:
        """Take *interpreter* for approved from now on; without one, that there was none."""
        identity, approved = _identity(interpreter), self._approved()
        if identity is None and approved is None:
            identity = []
        if identity is not None and identity != approved:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps(identity).encode())

    def _approved(self) -> object:
        try:
            return json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


def _identity(interpreter: Interpreter | None) -> list[str | int] | None:
    """Return what tells the installation and the environment from others, None if there is none."""
    if interpreter is None or interpreter.prefix is None or interpreter.environment is None:
        return None
    try:
        status = interpreter.prefix.stat()
    except OSError:
        return None
    settings = _read_head(interpreter.environment / "pyvenv.cfg")
    return [
        os.fspath(interpreter.environment),
        os.path.realpath(interpreter.python),
        status.st_dev,
        status.st_ino,
        hashlib.sha256(settings).hexdigest(),
    ]


def _read_head(path: Path) -> bytes:
    """Return what *path* begins with, b"" if it is no file; a program may have made it anything."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return file.read(_MAX_BYTES) if is_file else b""
