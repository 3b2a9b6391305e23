"""Viewer of a run, for the terminal of a client: it shows what comes, and runs nothing itself.

Run as a script (`python3 -I -S run_viewer.py FOLDER SOCKET`), it writes what it is sent and exits
with the code that it is told. When it is ended before, the run is stopped. It imports nothing of
ours.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys


def main(folder: str, name: str) -> int:
    """Return the exit code; the connection stays open until the process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(folder)  # the name of a socket is short
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(name)
    for line in connection.makefile("rb"):
        said = json.loads(line)
        if "exit_code" in said:
            os._exit(int(said["exit_code"]))
        sys.stdout.buffer.write(said["text"].encode())
        sys.stdout.buffer.flush()
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except OSError as error:
        sys.exit(f"Onefold shows this run elsewhere: {error.strerror}")
