"""Print what a long session costs: `python -m tests.bench.bench_soak [TURNS]`.

One session of TURNS turns, each with two calls, on a model that answers at once. What counts is how
the figures of the last tenth compare with those of the first: they may grow with the history only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from core.conversation.messages import Wire
from core.events import TurnFinished
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import ScriptedModel, run_turn
from utils.llm.completion import Completion, Delta, RawCall, Usage
from utils.waiting import Stop


class InstantModel(ScriptedModel):
    """Two calls a turn, then a word; its own time is a part of the figures, and small."""

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,  # noqa: ARG002
        effort: str = "",  # noqa: ARG002
    ) -> Iterator[Delta | Completion]:
        last = max(n for n, message in enumerate(messages) if message["role"] == "user")
        turn = int(str(messages[last]["content"]).split()[1])
        step = sum(message["role"] == "tool" for message in messages[last:])
        used = Usage(len(messages), 0, len(messages), 5, 0, 1, 0.0)
        path = f"f{turn % 20}.txt"
        arguments = [
            {"path": path, "content": f"turn {turn}\n" * 20, "overwrite": True},
            {"path": path},
        ]
        names = ["create_file", "read_file"]
        if step < len(names):
            call = RawCall(f"call{turn}.{step}", names[step], json.dumps(arguments[step]))
            yield Completion("", "", (call,), used)
        else:
            yield Delta("ok")
            yield Completion("ok", "", (), used)


def measure_turns(env: AssembledTerminal, turns: int) -> list[float]:
    """Play *turns* turns; return the seconds that each took."""
    env.terminal.model = InstantModel()
    seconds = []
    for turn in range(turns):
        began = time.perf_counter()
        events = run_turn(env.terminal, f"turn {turn}")
        seconds.append(time.perf_counter() - began)
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].why == "done", events[-1]
    return seconds


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> set[str]:
    """Return the processes that any thread of this one has started."""
    found: set[str] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread ends at this moment
            found.update(file.read_text().split())
    return found


def memory() -> int:
    """Return the bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def print_row(label: str, value: str) -> None:
    sys.stdout.write(f"{label:44}{value:>24}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", nargs="?", type=int, default=1_000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder, assembled_terminal(Path(folder)) as env:
        first_tenth = measure_turns(env, turns // 10)
        descriptors_before, bytes_before = descriptors(), memory()
        disk = size(env.data.path)
        measure_turns(env, turns - 2 * (turns // 10))
        last = measure_turns(env, turns // 10)
        print_row("turns", f"{turns}")
        first, end = statistics.median(first_tenth), statistics.median(last)
        print_row("seconds a turn, first and last tenth", f"{first:.4f}  {end:.4f}")
        grown, now = memory() - bytes_before, size(env.data.path)
        print_row("memory grown by", f"{grown / 1e6:.1f} MB")
        print_row("disk after the first tenth, at the end", f"{disk / 1e6:.1f}  {now / 1e6:.1f} MB")
        print_row("descriptors then and now", f"{descriptors_before}  {descriptors()}")
        print_row("threads, child processes", f"{threading.active_count()}  {len(children())}")


if __name__ == "__main__":
    main()
