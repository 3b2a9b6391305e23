"""A model of a page's server that stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modules.models.local_servers import LocalServer


@dataclass(frozen=True)
class FixedModel:
    """The one model *name*, which wants no key; nothing is chosen in its place."""

    name: str = "scripted"
    is_practice: bool = False
    needs_key: bool = False

    def local_servers(self) -> Sequence[LocalServer]:
        return ()

    def practise(self) -> None:
        raise AssertionError("nobody practises here")
