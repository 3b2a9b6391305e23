"""Eventlet beside ordinary threads: what is not its own stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from modules.web.servers.event_loop import ThreadingLoop

ROOT = Path(__file__).resolve().parents[4]
LOOKS = """
import json, os, sys, types
from modules.web.servers.event_loop import load_eventlet

load_eventlet()
import dns.resolver, http.client, http.server, queue, socketserver, tempfile

REAL = ("http.server", "os", "queue", "select", "socket", "ssl", "subprocess", "threading", "time")
others = []
for name, module in list(sys.modules.items()):
    if name.startswith(("eventlet", "__patched_module_", "__original_module_")):
        continue
    for value in list(vars(module).values()) if module else ():
        is_module = isinstance(value, types.ModuleType)
        maker = value.__name__ if is_module else getattr(value, "__module__", None)
        if isinstance(maker, str) and maker.startswith("eventlet"):
            others.append(f"{name}: {value!r}")
        elif maker in REAL and is_module and sys.modules[maker] is not value:
            others.append(f"{name}: another {maker}")
print(json.dumps([others, "EVENTLET_NO_GREENDNS" in os.environ]))
"""

STARTS = """
import json, sys, threading
from modules.assembly.start import run
from modules.translator import Translator
from modules.web.server import WebServer

threads = []
start = threading.Thread.start

def note(thread):
    threads.append((thread.name, "eventlet.wsgi" in sys.modules))
    start(thread)

threading.Thread.start = note
WebServer.run = lambda server: server.registry.close()
run(["--web", "--port", "0", "--offline", "--project", sys.argv[1]], Translator.of("en"))
print(json.dumps(threads))
"""


def test_what_cannot_be_delivered_is_no_failure_of_who_tells_it() -> None:
    failures: list[BaseException] = []
    hub = ThreadingLoop(failures.append)
    hub.call(lambda: 1 // 0)
    assert [type(failure) for failure in failures] == [ZeroDivisionError]


def test_no_other_module_gets_sockets_locks_or_a_clock_of_eventlet() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LOOKS], cwd=ROOT, env=os.environ, capture_output=True, check=True
    )
    assert json.loads(told.stdout) == [[], False]


def test_no_thread_can_import_anything_before_eventlet_is_loaded(tmp_path: Path) -> None:
    """It would get eventlet's `select`, without `poll`, for the standard one."""
    environment = {**os.environ, "ONEFOLD_DATA_DIR": str(tmp_path / "data")}
    folder = tmp_path / "project"
    folder.mkdir()
    told = subprocess.run(
        [sys.executable, "-c", STARTS, str(folder)],
        cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True,
    )  # fmt: skip
    threads = json.loads(told.stdout.splitlines()[-1])
    assert "warm" in dict(threads)
    assert [name for name, is_loaded in threads if not is_loaded] == []
