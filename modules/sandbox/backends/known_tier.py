"""The best tier of this machine as it was found last, on disk until something changes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from modules.sandbox.types import TierName
from utils.frozen import frozen

BWRAP_PATHS = (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap"), Path("/bin/bwrap"))
"""Paths where bubblewrap may be; PATH is not used, where a project may have put its own."""
_FORMAT_VERSION = 4  # raise it when what a tier promises changes


@frozen
class KnownTier:
    """The best tier that works; *program* is bubblewrap where it has part in that.

    *failure* is what the first better one said ("": not there), None where there is none.
    """

    name: TierName
    failure: str | None = None
    program: Path | None = None
    locks_namespaces: bool = False


def read_known_tier(cache_folder: Path, bwrap_paths: Sequence[Path]) -> KnownTier | None:
    """Return what was found on this machine as it is now, None where nothing was."""
    try:
        stored = json.loads(_file(cache_folder).read_text(encoding="utf-8"))
        return _from_json(stored) if stored["key"] == _machine_key(bwrap_paths) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_known_tier(cache_folder: Path, bwrap_paths: Sequence[Path], known: KnownTier) -> None:
    """Keep *known*; where that cannot be, the next start tests again."""
    stored = {"key": _machine_key(bwrap_paths), "tier": _as_json(known), "failure": known.failure}
    new = _file(cache_folder).with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        cache_folder.mkdir(parents=True, exist_ok=True)
        new.touch(mode=0o600)
        new.write_text(json.dumps(stored), encoding="utf-8")
        new.rename(_file(cache_folder))


def forget_known_tier(cache_folder: Path) -> None:
    _file(cache_folder).unlink(missing_ok=True)


def _file(cache_folder: Path) -> Path:
    return cache_folder / "tier.json"


def _from_json(stored: dict[str, Any]) -> KnownTier:
    tier, failure = stored["tier"], stored["failure"]
    if "program" in tier:
        name = TierName.BUBBLEWRAP if tier["proc"] else TierName.BUBBLEWRAP_WITHOUT_PROC
        return KnownTier(name, failure, Path(tier["program"]), bool(tier["locks"]))
    name = TierName(tier["tier"])
    if name in (TierName.BUBBLEWRAP, TierName.BUBBLEWRAP_WITHOUT_PROC):
        raise ValueError(name)
    return KnownTier(name, failure)


def _as_json(known: KnownTier) -> dict[str, str | bool]:
    if known.program is None:
        return {"tier": known.name}
    return {
        "program": str(known.program),
        "proc": known.name is TierName.BUBBLEWRAP,
        "locks": known.locks_namespaces,
    }


def _machine_key(bwrap_paths: Sequence[Path]) -> list[str]:
    """Return what, when it changes, makes a new test necessary."""
    facts = [str(_FORMAT_VERSION), os.uname().release, str(os.getuid())]
    for path in bwrap_paths:
        if path.is_file():
            status = path.stat()
            facts.append(f"{path} {status.st_ino} {status.st_mtime_ns}")
    try:
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    except OSError:
        facts.append("")
    return facts
