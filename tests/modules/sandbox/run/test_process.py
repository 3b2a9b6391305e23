"""Ending a sandbox at any moment leaves nothing of it alive."""

from __future__ import annotations

import os
import select
from contextlib import ExitStack

from modules.sandbox.run.process import LaunchSpec, Process

TEN_MINUTES = "600"


def test_a_kill_ends_a_first_process_that_nobody_has_told_of() -> None:
    """As when bubblewrap is killed before its child has got its rights, for which it waits."""
    still_open, held_by_child = os.pipe()
    script = f"sleep {TEN_MINUTES} & echo ready; wait"
    spec = LaunchSpec(
        lambda _: ["/bin/sh", "-c"], lambda _code, _control: [script], "", b"", (),
        sync_fd=held_by_child,
    )  # fmt: skip
    with ExitStack() as stack:
        process = Process(spec, stack)
        os.close(held_by_child)
        select.select([process.output_fd], [], [], 60)
        assert not select.select([still_open], [], [], 0)[0]
        process.kill()
        assert process.wait(60)
        assert select.select([still_open], [], [], 60)[0], "the child is alive"
        process.kill()  # its number may be another's by now
    os.close(still_open)
