"""Maker of sockets inside the network of a sandbox, for `inner_sockets`.

Run as a script (`python3 -I -S socket_maker.py`) that has entered the network: for each byte on
its standard input, "4" or "6", it sends a new TCP socket of that family back. It connects nothing,
reads nothing else, and ends with whoever holds the other end. It imports nothing of ours.
"""

from __future__ import annotations

import socket

FAMILIES = {b"4": socket.AF_INET, b"6": socket.AF_INET6}


def main() -> None:
    control = socket.socket(fileno=0)
    while family := FAMILIES.get(control.recv(1)):
        try:
            made = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            control.sendall(str(error.errno).encode())
            continue
        with made:
            socket.send_fds(control, [b"+"], [made.fileno()])


if __name__ == "__main__":
    main()
