"""Runs a program of the system on one document, in the sandbox and in a folder that is thrown away.

It sees the system read-only, the files given and nothing of the project, and reaches no network.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from modules.documents.problems import DocumentError, problem
from modules.sandbox.sandbox import Sandbox
from modules.sandbox.types import MEBIBYTE, Limits, Program, TierName
from utils.i18n import phrase
from utils.waiting import Stop

_LIMITS = Limits(seconds=180, memory=3072 * MEBIBYTE, file_size=300 * MEBIBYTE)
_MAX_RESULT_BYTES = 200_000_000
_ALLOWED = (TierName.BUBBLEWRAP, TierName.BUBBLEWRAP_WITHOUT_PROC)
"""Only these show a program nothing of the person's."""


@dataclass(frozen=True, slots=True)
class ContainedRuns:
    """Runs programs on documents; *cache_folder* is that of the sandbox."""

    cache_folder: Path

    def run(self, command: str, files: Mapping[str, bytes], name: str) -> Mapping[str, bytes]:
        """Run the bash *command* beside *files*; return the files that it made, by their names.

        *name* is what to call the document in a failure. Raises `DocumentError`, `UserError` where
        there is no sandbox.
        """
        with tempfile.TemporaryDirectory(prefix="onefold-document-") as folder:
            for file, data in files.items():
                Path(folder, file).write_bytes(data)
            sandbox = Sandbox(Path(folder), cache_folder=self.cache_folder)
            try:
                if sandbox.report().tier not in _ALLOWED:
                    raise DocumentError(
                        phrase("Documents are shown as pages only where bubblewrap is installed.")
                    )
                running = sandbox.run(Program("bash", command), _LIMITS, Stop())
                for _ in running:  # what the program says is of no use to anybody
                    pass
            finally:
                sandbox.close()
            return _made_files(Path(folder), files, name)


def _made_files(folder: Path, given: Mapping[str, bytes], name: str) -> Mapping[str, bytes]:
    """Return the regular files in *folder* but those *given*; a program may have made anything."""
    made: dict[str, bytes] = {}
    left = _MAX_RESULT_BYTES
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if entry.name in given or not entry.is_file(follow_symlinks=False):
            continue
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(left + 1)
        left -= len(data)
        if left < 0:
            raise problem(name, {"error": "memory"})
        made[entry.name] = data
    return made
