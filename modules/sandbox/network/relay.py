"""Relay inside the sandbox to `proxy`: a port on its loopback, joined to the socket.

Run as a script (`python3 -I -S relay.py SOCKET PORT COMMAND…`): it listens, leaves the relaying to
a child, and becomes the command. It imports nothing of ours.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def main() -> None:
    path, port, *command = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", int(port)))
    if os.fork():
        listener.close()
        os.execvp(command[0], command)  # noqa: S606 - meant so
    os.setsid()  # what is typed at the command's terminal is not for this one
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    os.closerange(3, listener.fileno())
    os.closerange(listener.fileno() + 1, 64)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_relay, args=(client, path), daemon=True).start()


def _relay(client: socket.socket, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as proxy:
        try:
            proxy.connect(path)
            back = threading.Thread(target=_copy_bytes, args=(proxy, client), daemon=True)
            back.start()
            _copy_bytes(client, proxy)
            back.join()
        except OSError:
            return


def _copy_bytes(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


if __name__ == "__main__":
    main()
