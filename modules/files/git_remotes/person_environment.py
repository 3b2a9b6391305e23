"""The person's own environment, for git with their credentials."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from utils.frozen import frozen
from utils.system.programs import search_path_outside


@frozen
class PersonEnvironment:
    """The person's own *variables*, for programs of theirs; *seconds* is the time for a run."""

    variables: Mapping[str, str]
    seconds: float

    def without(self, project: Path) -> PersonEnvironment:
        """Return the same, with no folder of *project* among those that programs come from."""
        path = search_path_outside(self.variables.get("PATH", os.defpath), project)
        return replace(self, variables={**self.variables, "PATH": path})
