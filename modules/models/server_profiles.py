"""Profiles of the servers of models: learnt from them, or said in the settings."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from utils.i18n import UserError
from utils.llm.profiles.server_profile import ServerProfile, changed
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json

_Table = dict[str, Any]
_ProfileTable = dict[str, dict[str, _Table]]
"""What was learnt or said, by address and model."""


class ServerProfiles:
    """Profiles kept in *file* for all projects; what *settings* say of a model, by its name, wins.

    *protocol* is that of all other models, "" for what is kept or usual; what is learnt or said of
    one from now on goes before it. A file that cannot be read or written is as if it were empty:
    all is learnt again.
    """

    def __init__(
        self, file: Path, settings: Mapping[str, Mapping[str, Any]], *, protocol: str = ""
    ) -> None:
        self._file = SharedFile(file)
        self._protocol = {"protocol": protocol} if protocol else {}
        self._own_protocols: set[tuple[str, str]] = set()
        self._settings = settings
        self._table: _ProfileTable | None = None
        self._lock = threading.Lock()

    def find(self, base_url: str, model: str, usual: ServerProfile) -> ServerProfile:
        with self._lock:
            if self._table is None:
                self._table = self._read()
            kept = self._table.get(base_url, {}).get(model)
        general = {} if (base_url, model) in self._own_protocols else self._protocol
        known = {**(_fitting(kept) if kept else {}), **general, **self._settings.get(model, {})}
        return replace(usual, **known) if known else usual  # asked for several times a step

    def save(
        self,
        base_url: str,
        model: str,
        changes: Mapping[str, Any],
        *,
        only_new: bool = False,
    ) -> None:
        if "protocol" in changes:
            self._own_protocols.add((base_url, model))
        self._change(base_url, model, lambda kept: changed(kept, changes, only_new=only_new))

    def forget(self, base_url: str, model: str) -> None:
        """Drop what was learnt of *model* there; what the settings say stays."""
        self._own_protocols.discard((base_url, model))
        self._change(base_url, model, lambda _: {})

    def _change(self, base_url: str, model: str, change: Callable[[_Table], _Table]) -> None:
        def apply(known: _ProfileTable) -> None:
            models = known.setdefault(base_url, {})
            models[model] = change(_fitting(models.get(model, {})))
            if not models[model]:
                del models[model]

        def edit(before: bytes) -> bytes:
            self._table = _parse_table(before)
            apply(self._table)
            return json.dumps(self._table, indent=1, ensure_ascii=False).encode()

        with self._lock:
            self._table = self._read() if self._table is None else self._table
            apply(self._table)
            with suppress(UserError):  # a full disk: it holds for this process, and is learnt again
                self._file.change(edit)

    def _read(self) -> _ProfileTable:
        try:
            return _parse_table(self._file.read())
        except UserError:
            return {}


def _parse_table(text: bytes) -> _ProfileTable:
    """Return what the file says; what is no such table in it is left out."""
    try:
        known = read_json(text)
    except ValueError:
        return {}
    if not isinstance(known, dict):
        return {}
    return {
        url: {model: table for model, table in models.items() if isinstance(table, dict)}
        for url, models in known.items()
        if isinstance(models, dict)
    }


def _fitting(table: _Table) -> _Table:
    """Return a kept *table*; one of another Onefold's that does not fit is empty."""
    try:
        ServerProfile.parse(table)
    except ValueError:
        return {}
    return table
