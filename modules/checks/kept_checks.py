"""Check commands as a project keeps them, until the person says others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from utils.frozen import frozen
from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json


@frozen
class CheckCommands:
    """The *commands* that check a project; *is_said*: by the person, not found in its files."""

    commands: tuple[str, ...] = ()
    is_said: bool = False


class KeptChecks:
    """Check commands in the file *path*, which all Onefolds on the project share.

    What cannot be read raises `UserError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = SharedFile(path)

    def read(self) -> CheckCommands | None:
        """Return what is kept, None for nothing."""
        text = self._file.read()
        if not text.strip():
            return None
        try:
            value = read_json(text)
            commands, is_said = value["commands"], value["said"]
            if not isinstance(is_said, bool) or not all(isinstance(c, str) for c in commands):
                raise ValueError("no commands")
        except (ValueError, TypeError, LookupError):
            raise UserError(
                phrase(
                    "{path} is not a valid list of checks, so no checks run. “/check auto” "
                    "resets it.",
                    path=str(self._path),
                )
            ) from None
        return CheckCommands(tuple(commands), is_said)

    def keep(self, commands: Sequence[str], *, is_said: bool) -> None:
        value = {"commands": list(commands), "said": is_said}
        text = json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "replace")
        self._file.change(lambda _: text)

    def forget(self) -> None:
        self._file.change(lambda _: b"")
