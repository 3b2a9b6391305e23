"""What hangs of a sandbox that was killed while it began is ended by the next."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.sandbox.run.orphan_cleanup import end_orphans
from modules.sandbox.sandbox import Program
from tests.modules.sandbox.house import House, children_of, finish, is_alive, until


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
            handle = os.pidfd_open(inner)
        finally:
            outer.kill()
    for descriptor in (gate, opener, told, tell):
        os.close(descriptor)
    try:
        yield inner
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)


def test_one_that_hangs_is_ended_by_the_next_run(house: House) -> None:
    ours, elsewhere = house.data / "sandbox", house.home / "elsewhere"
    with hanging(ours) as inner, hanging(elsewhere) as other:
        assert is_alive(inner)
        sandbox = house.sandbox()
        finish(sandbox, Program("python", "pass"))
        assert until(lambda: not is_alive(inner))
        assert until(lambda: sandbox._spare._call is not None)  # a living one stays
        end_orphans(ours)
        assert finish(sandbox, Program("python", "print('on')")).output == "on\n"
        assert is_alive(other)
        end_orphans(elsewhere)
        assert until(lambda: not is_alive(other))
