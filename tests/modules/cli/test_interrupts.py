import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os, signal, threading
from modules.cli.interrupts import stopping
from utils.waiting import Stop

signal.signal(signal.SIGINT, lambda *_: os._exit(130))
stop = Stop()
told = threading.Event()
with stop.calling(told.set), stopping(stop):
    os.kill(os.getpid(), signal.SIGINT)
    told.wait(10)
    print("stopped", flush=True)
os.kill(os.getpid(), signal.SIGINT)
print("still here")
"""


def test_outside_of_a_task_ctrl_c_leaves_without_a_word() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, timeout=20, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"stopped\n", b"")
