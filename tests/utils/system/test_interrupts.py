import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from utils.system.interrupts import stopping_on_signals, wakeup_fd_released
from utils.waiting import Stop

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os, signal, threading
from utils.system.interrupts import stopping_on_signals
from utils.waiting import Stop

signal.signal(signal.SIGINT, lambda *_: os._exit(130))
stop = Stop()
told = threading.Event()
with stop.on_stop(told.set), stopping_on_signals(stop.set):
    os.kill(os.getpid(), signal.SIGINT)
    told.wait(120)
    print("stopped", flush=True)
os.kill(os.getpid(), signal.SIGINT)
print("still here")
"""


def test_outside_of_a_task_ctrl_c_leaves_without_a_word() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, timeout=300, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"stopped\n", b"")


def signal_another_thread(is_going_to_sleep: threading.Event) -> None:
    """Send this process a signal that another thread gets, once the main thread sleeps.

    Its frames do not tell that: to look at them can lock up Python 3.11.2 (gh-106883).
    """
    is_going_to_sleep.wait(60)
    main = Path(f"/proc/self/task/{os.getpid()}/stat")
    while main.read_text().rpartition(")")[2].split()[0] != "S":
        os.sched_yield()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)


def test_a_signal_that_another_thread_gets_stops_the_task() -> None:
    stop = Stop()
    told: SimpleQueue[bool] = SimpleQueue()
    with stopping_on_signals(stop.set), stop.on_stop(lambda: told.put(True)):
        with wakeup_fd_released():  # as to a prompt in the midst of the task
            signal.set_wakeup_fd(-1)
        is_going_to_sleep = threading.Event()
        other = threading.Thread(target=signal_another_thread, args=[is_going_to_sleep])
        other.start()
        is_going_to_sleep.set()
        assert told.get(timeout=60)
        other.join()


def test_a_signal_that_comes_while_the_signals_are_lent_stops_the_task_too() -> None:
    told: SimpleQueue[bool] = SimpleQueue()
    with stopping_on_signals(lambda: told.put(True)), wakeup_fd_released():
        signal.raise_signal(signal.SIGTERM)
        assert told.get(timeout=60)


def test_a_task_is_stopped_once_and_a_second_signal_leaves_it() -> None:
    told: SimpleQueue[bool] = SimpleQueue()
    before = signal.getsignal(signal.SIGTERM)
    with suppress(KeyboardInterrupt), stopping_on_signals(lambda: told.put(True)):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError
    assert told.get(timeout=60)
    assert told.empty()
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.set_wakeup_fd(-1) == -1


def test_only_what_is_named_stops_it() -> None:
    before = signal.getsignal(signal.SIGHUP)
    with stopping_on_signals(lambda: None, ("SIGINT", "SIGTERM")):
        assert signal.getsignal(signal.SIGHUP) == before
