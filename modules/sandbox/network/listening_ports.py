"""The TCP ports on which a program in a sandbox listens, as the kernel tells of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from modules.sandbox.limits.procfs import children_of, read_proc, threads_of
from modules.sandbox.types import PORT as PROXY_PORT

_LISTEN = "0A"  # include/net/tcp_states.h
_SOCKET = "socket:["


def listening_ports(process: int) -> dict[str, int]:
    """Return the ports by socket that anybody listens on in the network of *process*.

    The relay to our own proxy does not count.
    """
    found = {}
    for name in ("tcp", "tcp6"):
        for line in read_proc(f"/proc/{process}/net/{name}").splitlines()[1:]:
            fields = line.split()
            port = int(fields[1].rpartition(":")[2], 16)
            if fields[3] == _LISTEN and port != PROXY_PORT:
                found[fields[9]] = port
    return found


def sockets_of(process: int) -> set[str]:
    """Return the sockets that *process* and all that it has started have open."""
    found: set[str] = set()
    for one in _tree(process):
        with suppress(OSError):  # it has ended
            for name in os.listdir(f"/proc/{one}/fd"):  # noqa: PTH208 - names only
                with suppress(OSError):
                    target = os.readlink(f"/proc/{one}/fd/{name}")  # noqa: PTH115
                    if target.startswith(_SOCKET):
                        found.add(target[len(_SOCKET) : -1])
    return found


def _tree(process: int) -> Iterator[int]:
    yield process
    for child in children_of(process, threads_of(process)):
        yield from _tree(child)
