"""What hangs of a sandbox that was killed while it began is ended by the next."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.sandbox.run.orphan_cleanup import end_orphans
from modules.sandbox.run.pidfd import open_pidfd, signal_pidfd
from modules.sandbox.sandbox import Program
from tests.modules.sandbox.sandbox_home import (
    SandboxHome,
    children_of,
    is_alive,
    run_to_end,
    wait_until,
)


@contextmanager
def hanging(folder: Path) -> Iterator[int]:
    """Yield an inner process of bubblewrap whose outer one was killed before it let it go on."""
    shown = folder / "etc"
    shown.mkdir(parents=True)
    gate, opener = os.pipe()
    told, tell = os.pipe()
    blocked = ["--userns-block-fd", str(gate), "--info-fd", str(tell)]
    with subprocess.Popen(
        ["bwrap", "--unshare-user", "--unshare-pid", "--die-with-parent", *blocked,
         "--bind", "/", "/", "--ro-bind", str(shown), str(shown), "true"],
        pass_fds=(gate, tell),
    ) as outer:  # fmt: skip
        try:
            assert b"child-pid" in os.read(told, 1_000)
            (inner,) = children_of(outer.pid)
            handle = open_pidfd(inner)
        finally:
            outer.kill()
    for descriptor in (gate, opener, told, tell):
        os.close(descriptor)
    try:
        yield inner
    finally:
        with suppress(ProcessLookupError):
            signal_pidfd(handle, signal.SIGKILL)
        os.close(handle)


def test_one_that_hangs_is_ended_by_the_next_run(sandbox_home: SandboxHome) -> None:
    ours, elsewhere = sandbox_home.data / "sandbox", sandbox_home.home / "elsewhere"
    with hanging(ours) as inner, hanging(elsewhere) as other:
        assert is_alive(inner)
        sandbox = sandbox_home.sandbox()
        run_to_end(sandbox, Program("python", "pass"))
        assert wait_until(lambda: not is_alive(inner))
        assert wait_until(lambda: sandbox._warm._execution is not None)  # a living one stays
        end_orphans(ours)
        assert run_to_end(sandbox, Program("python", "print('on')")).output == "on\n"
        assert is_alive(other)
        end_orphans(elsewhere)
        assert wait_until(lambda: not is_alive(other))
