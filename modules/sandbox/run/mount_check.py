"""Check that the mounts of a sandbox are of what they should be, before its program runs.

bubblewrap follows links, in what it shows and in where it does. A program that already runs in the
project could put one where a folder was, just when another sandbox is set up around that.
"""

from __future__ import annotations

import re
import select
import time
from collections.abc import Sequence
from pathlib import Path

_SETUP_SECONDS = 30.0  # that bubblewrap may take to mount all
_ESCAPED = re.compile(r"\\([0-7]{3})")
_NEW_ROOT = "/newroot"  # where bubblewrap sets up what is to be the root
_POLL = 50  # milliseconds; that the root itself is another by now is no news of a mount

Mounts = dict[str, tuple[str, str, str]]
"""By mount point: the device, the folder on it, and the options."""


def wrong_mount(process: int, paths: Sequence[Path]) -> str | None:
    """Wait until bubblewrap, *process*, has mounted all; return which of *paths* it shows wrongly.

    None if each is what has that name outside. Raises `OSError` where *process* has ended, or takes
    too long.
    """
    mounts, own = _all_mounted(process), _mounts_of("self")
    for path in map(str, paths):
        if path not in mounts or mounts[path][:2] != _place_of(path, own):
            return path
    return None


def _all_mounted(process: int) -> Mounts:
    """Return the mounts of *process* once its root is closed, which comes last."""
    end = time.monotonic() + _SETUP_SECONDS
    with Path(f"/proc/{process}/mountinfo").open("rb") as news:
        poll = select.poll()
        poll.register(news, select.POLLPRI | select.POLLERR)
        while time.monotonic() < end:
            mounts = _mounts_of(
                process
            )  # opened anew: it shows what the root at that time leads to
            _, folder, options = mounts.get("/", ("", "", ""))
            if folder == _NEW_ROOT and "ro" in options.split(","):
                return mounts
            poll.poll(_POLL)
    raise TimeoutError


def _mounts_of(process: int | str) -> Mounts:
    return _parsed(Path(f"/proc/{process}/mountinfo").read_bytes())


def _parsed(table: bytes) -> Mounts:
    """Return the mounts of a `mountinfo`; of those at one place the last, which is on top."""
    mounts: Mounts = {}
    for line in table.decode("utf-8", "surrogateescape").rstrip("\n").split("\n"):
        if not line:  # the root it began with has no mounts any more
            continue
        _, _, device, folder, place, options, *_ = line.split(" ")
        mounts[_unescaped(place)] = device, _unescaped(folder), options
    return mounts


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)


def _place_of(path: str, mounts: Mounts) -> tuple[str, str]:
    """Return the device of *path*, and what it is there, no link followed."""
    above = max(
        (place for place in mounts if f"{path}/".startswith(f"{place.rstrip('/')}/")), key=len
    )
    device, folder, _ = mounts[above]
    return device, folder.rstrip("/") + path[len(above.rstrip("/")) :]
