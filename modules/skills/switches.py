"""Switches of the skills as a project keeps them: for all its sessions, until they are changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from utils.i18n import UserError
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json


class SkillSwitches:
    """Switches by the skill's name, in the file *path*, which all Onefolds on the project share."""

    def __init__(self, path: Path) -> None:
        self._file = SharedFile(path)

    def read(self) -> Mapping[str, bool]:
        """Return what was switched; what cannot be read switches nothing."""
        if self._file.stamp() is None:
            return {}
        try:
            return _parse(self._file.read())
        except UserError:
            return {}

    def set(self, name: str, is_on: bool) -> None:  # noqa: FBT001 - the value itself
        """Keep the switch of the skill *name*. Raises `UserError` when it cannot be kept."""

        def edit(before: bytes) -> bytes:
            switches = {**_parse(before), name: is_on}
            return json.dumps(switches, indent=1, ensure_ascii=False).encode("utf-8", "replace")

        self._file.change(edit)


def _parse(text: bytes) -> Mapping[str, bool]:
    try:
        values = read_json(text) if text.strip() else {}
    except ValueError:
        return {}
    if not isinstance(values, dict):
        return {}
    return {name: value for name, value in values.items() if isinstance(value, bool)}
