"""What /proc tells of a process counts for what it has, not for what cannot be read any more."""

from __future__ import annotations

import subprocess
import sys

from modules.sandbox.limits.procfs import may_share_memory
from tests.modules.sandbox.sandbox_home import wait_until

SHARING = "import mmap; memory = mmap.mmap(-1, 4096); print(flush=True); input()"


def test_who_shares_memory_is_told_until_it_ends() -> None:
    command = [sys.executable, "-c", SHARING]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        assert may_share_memory(f"/proc/{process.pid}")
        process.kill()
        # It has ended soon, and nobody has waited for it.
        assert wait_until(lambda: not may_share_memory(f"/proc/{process.pid}"))
