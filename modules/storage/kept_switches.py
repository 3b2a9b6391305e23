"""Switches of the tools as a project keeps them: for all its sessions, until they are changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.tool_switches import ToolSwitches
from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.strict_json import read_json


class KeptSwitches:
    """Switches in the file *path*, which all Onefolds on the project share; none is there at first.

    What cannot be read raises `UserError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = SharedFile(path)

    @property
    def stamp(self) -> Stamp | None:
        """What is another value after each change."""
        return self._file.stamp()

    def read(self) -> ToolSwitches:
        return self._parse(self._file.read())

    def change(self, change: Callable[[ToolSwitches], ToolSwitches]) -> ToolSwitches:
        """Keep what *change* makes of the switches as they stand; return it."""
        changed: list[ToolSwitches] = []

        def edit(before: bytes) -> bytes:
            changed.append(change(self._parse(before)))
            return _to_json(changed[-1])

        self._file.change(edit)
        return changed[-1]

    def reset(self, switches: ToolSwitches) -> None:
        """Keep *switches*, whatever is in the file."""
        self._file.change(lambda _: _to_json(switches))

    def _parse(self, text: bytes) -> ToolSwitches:
        if not text.strip():
            return ToolSwitches()
        try:
            return _from_json(read_json(text))
        except ValueError:
            raise UserError(
                phrase(
                    "{path} is not a valid list of switches, so all tools are off. “/tools "
                    "on” resets it and turns all tools on.",
                    path=str(self._path),
                )
            ) from None


def _to_json(switches: ToolSwitches) -> bytes:
    value = {
        "on": switches.is_on,
        "new": switches.new_is_on,
        "tools": dict(sorted(switches.by_name.items())),
    }
    return json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "replace")


def _from_json(value: Any) -> ToolSwitches:
    """Return the switches that *value* says. Raises `ValueError`."""
    if not isinstance(value, dict) or not isinstance(value.get("tools", {}), dict):
        raise ValueError("no object")
    is_on, new_is_on = value.get("on", True), value.get("new", True)
    by_name = value.get("tools", {})
    if not all(isinstance(one, bool) for one in (is_on, new_is_on, *by_name.values())):
        raise ValueError("no switch")
    return ToolSwitches(is_on, new_is_on, by_name)
