"""The launcher ends when it is told to, at whatever moment that comes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
TOLD_BEFORE = """
import os, signal, sys
from modules.sandbox.backends import launcher

where, name = sys.argv.pop(1).split(".")
module = {"os": os, "signal": signal}[where]
real = getattr(module, name)

def told(*values):
    setattr(module, name, real)
    os.kill(os.getpid(), signal.SIGTERM)
    return real(*values)

setattr(module, name, told)
launcher.main()
"""


@pytest.mark.parametrize("step", ["os.pipe", "signal.set_wakeup_fd", "signal.signal", "os.fork"])
def test_it_ends_when_it_is_told_to_as_it_begins(step: str) -> None:
    with ExitStack() as stack:
        gate, ours = os.pipe()
        status, nothing = (os.open(os.devnull, os.O_RDWR) for _ in range(2))
        for descriptor in (gate, ours, status, nothing):
            stack.callback(os.close, descriptor)
        os.write(ours, b"1")
        settings = {
            "status": status, "gate": gate, "filter": nothing, "confine": False, "limits": {},
            "folder": "/", "environment": {},
        }  # fmt: skip
        command = [
            sys.executable, "-c", TOLD_BEFORE, step, json.dumps(settings), "/bin/sleep", "600",
        ]  # fmt: skip
        with subprocess.Popen(command, cwd=ROOT, pass_fds=(gate, status, nothing)) as launcher:
            try:
                assert launcher.wait(60) != 0
            finally:
                launcher.kill()
