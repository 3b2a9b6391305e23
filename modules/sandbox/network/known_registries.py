"""Registries that the programs of a project know of, with the network and without.

Cargo, maven, uv and their like keep what they have read by where it came from. A run without the
network finds that again only if it is told of the same registries as the run that had it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from modules.sandbox.network.variables import OFFLINE_VARIABLES
from modules.sandbox.types import Network
from utils.system.atomic_write import write_atomically

_NOT_OF_CACHES = "PIP_"
"""What pip is told is of no use to it without an index, and names certificates."""


class ToldRegistries(NamedTuple):
    """The *variables* and *files* (see `Network`) that say to programs where registries are."""

    variables: Mapping[str, str]
    files: Mapping[str, str]


class KnownRegistries:
    """What the last run of *project* with the network was told, remembered in *cache_folder*."""

    def __init__(self, project: Path, cache_folder: Path) -> None:
        name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        self._file = cache_folder / f"registries-{name}.json"

    def keep(self, network: Network) -> None:
        """Remember what *network* tells of registries; it holds no logins."""
        told = ToldRegistries(_lasting(network.variables), dict(network.files))
        if told != self.told():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps(told._asdict()).encode())

    def told(self) -> ToldRegistries:
        """Return what was remembered, nothing before the first run with the network."""
        try:
            return ToldRegistries(**json.loads(self._file.read_bytes()))
        except (OSError, ValueError, TypeError):
            return ToldRegistries({}, {})


def _lasting(variables: Mapping[str, str]) -> dict[str, str]:
    """Return those of *variables* that say where registries are, and do not unsay being offline."""
    return {
        name: value
        for name, value in variables.items()
        if name not in OFFLINE_VARIABLES and not name.startswith(_NOT_OF_CACHES)
    }
