"""The keyboard while no prompt is open: nothing is echoed, and single keys can be read."""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager

from utils.waiting import Stop

CTRL_C = "\x03"
ESCAPE = "\x1b"
POLL_SECONDS = 0.1


@contextmanager
def quiet(descriptor: int) -> Iterator[None]:
    """Keep the terminal *descriptor* from echoing; what is typed waits for the next prompt."""
    before = termios.tcgetattr(descriptor)
    modes = termios.tcgetattr(descriptor)
    # Without ICRNL the Enter key stays apart from Ctrl-J until the prompt reads it.
    modes[0] &= ~termios.ICRNL
    modes[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def read_key(descriptor: int, stop: Stop) -> str | None:
    """Wait for a key and return what it sends; None on *stop* or when the terminal went away.

    What was typed before is thrown away: it cannot have been meant as an answer to a question that
    was not there yet. Ctrl-C comes as a key.
    """
    before = termios.tcgetattr(descriptor)
    modes = termios.tcgetattr(descriptor)
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
    termios.tcsetattr(descriptor, termios.TCSAFLUSH, modes)
    try:
        while not stop.is_set():
            if select.select([descriptor], [], [], POLL_SECONDS)[0]:
                return os.read(descriptor, 256).decode(errors="replace") or None
        return None
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
