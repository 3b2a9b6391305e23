"""Handles on processes, which Linux has: a number may become another's, a handle may not."""

from __future__ import annotations

import os
import signal
import sys

HAS_PIDFD = hasattr(os, "pidfd_open")
"""Whether a process can be held on to; else it is ended by the one that we started."""


def open_pidfd(process: int) -> int:
    """Return a handle on *process*, readable once it has ended; the caller closes it.

    Raises `ProcessLookupError`; ask `HAS_PIDFD` first.
    """
    if sys.platform == "linux":
        return os.pidfd_open(process)
    raise NotImplementedError


def signal_pidfd(pidfd: int, number: signal.Signals) -> None:
    """Send the signal *number* to the process *pidfd*. Raises `ProcessLookupError`."""
    if sys.platform == "linux":
        signal.pidfd_send_signal(pidfd, number)
        return
    raise NotImplementedError
