"""The command that starts this very program, to be shown to the person."""

from __future__ import annotations

import shlex
from pathlib import Path

_MAIN = Path(__file__).resolve().parents[2] / "main.py"


def own_command(*options: str) -> str:
    """Return a line for a shell, in any folder, that starts Onefold with *options*."""
    return shlex.join(["python3", str(_MAIN), *options])
