"""What is known of the sandbox of this machine is kept, for its owner alone."""

from __future__ import annotations

import stat
from pathlib import Path

from modules.sandbox.backends.known_tier import KnownTier, read_known_tier, write_known_tier
from modules.sandbox.types import TierName


def test_it_is_read_again_and_by_nobody_else(tmp_path: Path) -> None:
    known = KnownTier(TierName.LANDLOCK, "no bubblewrap")
    write_known_tier(tmp_path / "cache", (), known)
    assert read_known_tier(tmp_path / "cache", ()) == known
    (kept,) = (tmp_path / "cache").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
