"""Hooks of hatchling: what the package requires, and the commit that it was built from.

The build runs this in an environment of its own, with the checkout or an unpacked source archive as
the current folder; nothing of it is installed.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PIN = re.compile(r"[A-Za-z0-9][\w.-]*==\S+")
_EXTRA = re.compile(rf"({_PIN.pattern})\s+# \[([\w-]+)\]")
_END_OF_RUNNING = "# What the others bring along:"


class Requirements(MetadataHookInterface):
    """Requires the very versions that a checkout installs, with all that they bring along."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        constraints = (root / "constraints.txt").read_text("utf-8")
        running, _, _ = constraints.partition(_END_OF_RUNNING)
        metadata["dependencies"] = [
            *_pins((root / "requirements.txt").read_text("utf-8")),
            *_pins(running),
        ]
        extras: dict[str, list[str]] = {}
        for name, pin in _extras((root / "requirements-extras.txt").read_text("utf-8")):
            extras.setdefault(name, []).append(pin)
        metadata["optional-dependencies"] = {"all": [*chain(*extras.values())], **extras}


class Commit(BuildHookInterface):  # type: ignore[type-arg]  # of its configuration nothing is used
    """Puts the commit beside `main.py`, in a file that `--version` reads."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError("Onefold is not installed to be edited: start its main.py instead.")
        sys.path.insert(0, self.root)
        from utils.system.installation import COMMIT_FILE, commit_of

        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name, COMMIT_FILE)
        file.write_text(f"{commit_of(Path(self.root))}\n", encoding="utf-8")
        build_data["force_include"][str(file)] = COMMIT_FILE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's
        self._folder.cleanup()


def _extras(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name in brackets of each line that has a pin, and the pin."""
    return ((found[2], found[1]) for line in text.splitlines() if (found := _EXTRA.match(line)))


def _pins(text: str) -> Iterator[str]:
    """Yield `name==version` of each line that has one."""
    return (found[0] for line in text.splitlines() if (found := _PIN.match(line)))
