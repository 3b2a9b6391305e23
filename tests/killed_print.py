"""One task after the other by `-p`, each in a program that is killed, in the same session."""

from __future__ import annotations

import random
import subprocess
import threading

from tests.session_kills import TIMEOUT_SECONDS, KilledSession, kill


def run_rounds(stage: KilledSession, rng: random.Random, times: int) -> None:
    """Begin a task *times* times and kill it each time; the last one is left to its end."""
    for round_ in range(times + 1):
        is_last = round_ == times
        number = stage.log.next()
        stage.log.sent.add(number)
        change = rng.randint(1, 120) if not is_last and rng.random() < 0.6 else 0
        options = ["--resume"] if stage.session() else []
        process = stage.start(change, "-p", stage.text(number), *options, stdout=subprocess.PIPE)
        timer = threading.Timer(rng.uniform(0, 2.5), process.kill)
        try:
            if not change and not is_last:
                timer.start()
            said = process.communicate(timeout=TIMEOUT_SECONDS)[0]
        finally:
            timer.cancel()
            kill(process)
        if number in stage.responder.asked_tasks:  # what the model was asked is on disk
            stage.log.acknowledged.add(number)
        stage.check([])
        stage.killed += not is_last
    assert f"Did {number}, and that is all.".encode() in said
