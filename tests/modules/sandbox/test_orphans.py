"""What hangs of a sandbox that was killed while it began is ended by the next."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from modules.sandbox import Program
from modules.sandbox.orphans import end_orphans
from tests.modules.sandbox.house import House, children_of, finish, is_alive, until


def hanging(folder: Path) -> int:
    """Return an inner process of bubblewrap whose outer one was killed before it let it go on."""
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
        assert b"child-pid" in os.read(told, 1_000)
        (inner,) = children_of(outer.pid)
        outer.kill()
    for descriptor in (gate, opener, told, tell):
        os.close(descriptor)
    return inner


def test_one_that_hangs_is_ended_by_the_next_run(house: House) -> None:
    inner, other = hanging(house.data / "sandbox"), hanging(house.home / "elsewhere")
    assert is_alive(inner)
    sandbox = house.sandbox()
    finish(sandbox, Program("python", "pass"))
    assert until(lambda: not is_alive(inner))
    assert until(lambda: sandbox._spare._call is not None)  # a living one stays
    end_orphans(house.data / "sandbox")
    assert finish(sandbox, Program("python", "print('on')")).output == "on\n"
    assert is_alive(other)
    end_orphans(house.home / "elsewhere")
    assert until(lambda: not is_alive(other))
