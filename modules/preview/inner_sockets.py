"""Sockets in the network of a sandbox, connected by us to what listens there.

A socket belongs for good to the network in which it was made, whoever holds it. So a small process
of ours enters the network, makes sockets, and hands them out; they reach what listens inside, and
never anything of this machine. What runs inside gets no way out by that: nobody there can see the
process or its end of the line.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from modules.sandbox.network.shared_network import Namespaces

_SCRIPT = Path(__file__).with_name("socket_maker.py")
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
_MAKE_SECONDS = 20.0  # that the process may take to begin, on a busy machine
_CONNECT_SECONDS = 5.0
_ADDRESSES = ((b"4", "127.0.0.1"), (b"6", "::1"))
OpenNetwork = Callable[[ExitStack], Namespaces | None]
"""Returns the namespaces of a program's network, on the stack; None when it has ended."""


class InnerSockets:
    """Connects to the ports of one sandbox. Threads may share it; a process begins with it."""

    def __init__(self, open_network: OpenNetwork) -> None:
        """Raises `OSError` where the network is gone or cannot be entered, `UserError` if a program
        is missing."""
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_MAKE_SECONDS)
        with theirs, ExitStack() as stack:
            namespaces = open_network(stack)
            if namespaces is None or _is_ours(namespaces):
                self._control.close()
                raise OSError(errno.ENETDOWN, os.strerror(errno.ENETDOWN))
            self._process = subprocess.Popen(  # noqa: S603 - the arguments are ours
                [*namespaces.arguments(), sys.executable, "-I", "-S", str(_SCRIPT)],
                env=_ENVIRONMENT,
                cwd="/",
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            theirs.close()
            try:
                self._new_socket(b"4").close()  # it has entered: the namespaces may be closed
            except OSError:
                self.close()
                raise

    def connect(self, port: int) -> socket.socket:
        """Return a connection to *port*, of IPv4 or IPv6. Raises `OSError`."""
        refused = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        for family, address in _ADDRESSES:
            made = self._new_socket(family)
            try:
                made.settimeout(_CONNECT_SECONDS)
                made.connect((address, port))
            except OSError as error:
                made.close()
                refused = error
                continue
            made.settimeout(None)
            return made
        raise refused

    def _new_socket(self, family: bytes) -> socket.socket:
        with self._lock:
            self._control.sendall(family)
            _, descriptors, _, _ = socket.recv_fds(self._control, 16, 1)
        if not descriptors:
            raise OSError(errno.ENETDOWN, os.strerror(errno.ENETDOWN))
        return socket.socket(fileno=descriptors[0])

    def close(self) -> None:
        """End the process; connections that were made go on."""
        self._control.close()
        self._process.wait()


def _is_ours(namespaces: Namespaces) -> bool:
    """Return whether that is the network of this very process, which nobody may be led to."""
    return os.path.samestat(os.fstat(namespaces.net), Path("/proc/self/ns/net").stat())
