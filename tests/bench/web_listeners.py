"""Many pages in one process: `python -m tests.bench.web_listeners PORT TOKEN SESSION PAGES`.

Prints "ready" when all follow the session, and when its turn has ended the delays of all tokens in
milliseconds, as JSON. What comes is only stamped when it comes, and read at the end, so that the
pages themselves are no part of the delay.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import sys
import time

import websocket

TOKENS = re.compile(rb'"TextDelta","text":"([0-9. ]+)"')
PONG = bytes([0x81, 0x81, 0, 0, 0, 0]) + b"3"


def follow(port: int, token: str, session: str) -> socket.socket:
    """Return the socket of a page that has attached to *session*."""
    page = websocket.create_connection(
        f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket",
        header={"Authorization": f"Bearer {token}"},
    )
    page.recv()
    page.send("40")
    page.recv()
    page.send(f'420["attach",{{"session":"{session}"}}]')
    while not str(page.recv()).startswith("430"):
        pass
    assert page.sock
    page.sock.setblocking(False)
    return page.sock


def listen(pages: list[socket.socket]) -> dict[socket.socket, list[tuple[float, bytes]]]:
    """Return what each page received and when, up to the end of the turn."""
    received: dict[socket.socket, list[tuple[float, bytes]]] = {page: [] for page in pages}
    selector = selectors.DefaultSelector()
    for each in pages:
        selector.register(each, selectors.EVENT_READ, each)
    finished: set[socket.socket] = set()
    while len(finished) < len(pages):
        for key, _ in selector.select():
            page = key.data
            data = page.recv(1_000_000)
            received[page].append((time.monotonic(), data))
            if data.endswith(b"\x012"):
                page.sendall(PONG)
            if b'"TurnFinished"' in data or not data:
                finished.add(page)
                selector.unregister(page)
    return received


def delays(received: list[tuple[float, bytes]]) -> list[float]:
    return [
        1000 * (at - float(token))
        for at, data in received
        for text in TOKENS.findall(data)
        for token in text.split()
    ]


def main(port: int, token: str, session: str, number: int) -> None:
    pages = [follow(port, token, session) for _ in range(number)]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    received = listen(pages)
    all_delays = sorted(delay for page in pages for delay in delays(received[page]))
    sys.stdout.write(json.dumps(all_delays))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
