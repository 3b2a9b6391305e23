from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from modules.sandbox.backends.known_tier import BWRAP_PATHS
from modules.sandbox.network.listening_ports import listening_ports, sockets_of
from modules.sandbox.network.shared_network import SharedNetwork
from modules.sandbox.run.execution import Background, Execution
from modules.sandbox.run.ring_output import RingOutput
from modules.sandbox.sandbox import Limits, Program, Sandbox
from modules.sandbox.types import NO_TIME_LIMIT
from tests.modules.sandbox.sandbox_home import SandboxHome, run_to_end, wait_until
from utils.i18n import UserError
from utils.waiting import Stop

BWRAP = next(path for path in BWRAP_PATHS if path.exists())
ENDLESS = Limits(seconds=NO_TIME_LIMIT, total_output=sys.maxsize)
SERVE = "python3 -um http.server {port} --bind 127.0.0.1"
ESCAPES = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, call):
    try:
        print(name, call())
    except OSError as error:
        print(name, "refused", error.errno)
for family in (16, 17, 40):
    tried(f"family {family}", lambda: bool(socket.socket(family, socket.SOCK_RAW)))
print("capabilities", [line.split()[1] for line in open("/proc/self/status") if line[:3] == "Cap"])
print("unshare", libc.unshare(0x40000000), "setns", libc.setns(0, 0x40000000))
print("namespaces open", [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
                          if os.path.exists(f"/proc/self/fd/{n}")
                          and os.readlink(f"/proc/self/fd/{n}").startswith(("net:", "user:"))])
lines = [line for line in open("/proc/net/dev") if ":" in line]
print("interfaces", sorted(line.split(":")[0].strip() for line in lines))
"""


@contextmanager
def in_background(sandbox: Sandbox, house: SandboxHome, command: str) -> Iterator[Execution]:
    """Run *command* while the block lasts."""
    started, stop = threading.Event(), Stop()
    found: list[Execution] = []

    def on_start(execution: Execution) -> None:
        found.append(execution)
        started.set()

    output = RingOutput(house.data, 10_000, lambda: None)
    background = Background(output, on_start)
    program = Program("bash", command, reads_input=True)

    def run() -> None:
        for _ in sandbox.run(program, ENDLESS, stop, None, background):
            pass

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(60)
    assert wait_until(lambda: found[0].inner_pid is not None)
    try:
        yield found[0]
    finally:
        stop.set()
        thread.join()
        output.close()


def open_files() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def ports_of(execution: Execution) -> set[int]:
    process = execution.inner_pid
    if process is None:
        return set()
    own = sockets_of(process)
    return {port for socket, port in listening_ports(process).items() if socket in own}


def test_each_program_has_its_own_ports_though_all_share_a_network(
    sandbox_home: SandboxHome,
) -> None:
    sandbox = sandbox_home.sandbox()
    with (
        in_background(sandbox, sandbox_home, SERVE.format(port=8001)) as one,
        in_background(sandbox, sandbox_home, SERVE.format(port=8002)) as two,
    ):
        assert wait_until(lambda: (ports_of(one), ports_of(two)) == ({8001}, {8002}))
        assert one.inner_pid is not None
        assert set(listening_ports(one.inner_pid).values()) == {8001, 8002}


def test_who_joins_gets_no_more_than_without(sandbox_home: SandboxHome) -> None:
    sandbox = sandbox_home.sandbox()
    alone = run_to_end(sandbox, Program("python", ESCAPES)).whole
    with in_background(sandbox, sandbox_home, "sleep 300"):
        joined = run_to_end(sandbox, Program("python", ESCAPES)).whole
    assert joined == alone
    assert "namespaces open []" in joined
    assert "interfaces ['lo']" in joined
    assert "0000000000000000', '0000000000000000'" in joined


def test_a_process_of_a_job_is_not_seen_by_who_joins_its_network(
    sandbox_home: SandboxHome,
) -> None:
    sandbox = sandbox_home.sandbox()
    with in_background(sandbox, sandbox_home, "sleep 4321"):
        seen = run_to_end(sandbox, Program("bash", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).whole
    assert "4321" not in seen


def test_it_lasts_until_the_last_has_left(sandbox_home: SandboxHome) -> None:
    network = SharedNetwork()
    before = open_files()
    with network.joined(BWRAP, makes=False) as none:
        assert none is None
    with network.joined(BWRAP, makes=True) as first:
        with network.joined(BWRAP, makes=False) as second:
            assert first == second
        assert first is not None
        assert Path(f"/proc/self/fd/{first.net}").readlink() != Path("/proc/self/ns/net").readlink()
    assert open_files() == before
    with network.joined(BWRAP, makes=False) as none:
        assert none is None


def test_where_none_can_be_made_that_is_said_and_nothing_stays_open() -> None:
    before = open_files()
    with (
        pytest.raises(UserError, match="cannot be made here"),
        SharedNetwork().joined(Path("/bin/false"), makes=True),
    ):
        pass
    assert open_files() == before
