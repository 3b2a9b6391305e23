"""What a race of three misses of the prompt cache: `python -m tests.bench.bench_race`.

What racers have to themselves (their calls, and what those answer) is new to every cache: that is
missed three times, by whatever client. What a client is to blame for is the rest, so three figures
are printed of each case:

- *one run*: missed tokens of the race over those of one run of the same task, as on the bill.
- *beginning*: the same of first requests alone, which are all that racers have in common.
- *over new*: missed tokens over those that no request had before, of the race over that of one run.

Racers that read change no file, so no pair of results is read. Those that write do all the same but
for the last file, and of them a fourth figure is printed, which is part of the first:

- *pairs*: missed tokens of the reading of pairs over those of one run.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.racing import Answer, Responder, racing
from tests.simulator import Call, Say
from tests.simulator.cache import render_prompt, tokens
from tests.simulator.script import Step
from tests.simulator.server import ReceivedRequest

RACERS = 3
TASK = "Do it."
_LINE = "a line of some file that the racer reads, long enough to be one\n"


class Missed(NamedTuple):
    """Tokens that the requests of a task missed, of its first ones, and what all had to miss;
    *pairs* is what reading pairs of results missed, of which *all* has a share."""

    all: int
    first: int
    new: int
    pairs: int


def works(steps: int, lines: int) -> Answer:
    """Return a racer that reads *lines* lines in each of *steps* steps."""

    def answer(_: ReceivedRequest, step: int) -> Step:
        if step >= steps:
            return Say("Done.")
        return Call("run_command", command=f"yes '{_LINE.strip()} {step}' | head -{lines}")

    return answer


def writes_files(steps: int) -> Sequence[Answer]:
    """Return racers that write a file in each of *steps* steps, the last one in their own way."""
    return [partial(_write, steps, number) for number in range(1, RACERS + 1)]


def _write(steps: int, number: int, _: ReceivedRequest, step: int) -> Step:
    if step > steps:
        return Say("Done: the files are written.")
    factor = number if step == steps else 1
    parts = (f"def part_{step}_{n}():\n    return {n * factor}\n\n\n" for n in range(10))
    return Call("create_file", path=f"part_{step}.py", content="".join(parts))


def missed(
    base: Path, count: int, answers: Sequence[Answer], words: int, *, is_warm: bool
) -> Missed:
    """Do the task *count* times behind a conversation of *words*; the cache has that if *is_warm*.

    Each of those is one racer, one alone a usual turn, by the first of *answers*.
    """
    line = f"/race {count} {TASK}" if count > 1 else TASK
    if words:
        with racing(base, Responder([])) as at:
            at.run(f"Remember this: {' '.join(map(str, range(words)))}")
    with racing(base, Responder(answers[:count])) as at:
        if words:
            at.terminal.resume()
        if is_warm:
            at.run("Hello.")
        known = [render_prompt(one.body) for one in at.server.requests]
        at.run(line)
        return _added(at.server.requests[len(known) :], known, count)


def _added(requests: Sequence[ReceivedRequest], known: Sequence[str], count: int) -> Missed:
    pairs = [one for one in requests if not one.body.get("tools")]
    numbers = {one.number for one in pairs}
    by_length = sorted(requests, key=lambda one: (one.number in numbers, len(one.messages)))
    first = sum(map(_missed_by, by_length[:count]))
    new = _new([render_prompt(one.body) for one in by_length], known)
    return Missed(sum(map(_missed_by, requests)), first, new, sum(map(_missed_by, pairs)))


def _missed_by(request: ReceivedRequest) -> int:
    return int(request.usage["prompt_cache_miss_tokens"])


def _new(prompts: Sequence[str], known: Sequence[str]) -> int:
    """Return the tokens of *prompts* that none before, nor of *known*, had at the same place."""
    found, before = 0, [*known]
    for prompt in prompts:
        shared = max((len(os.path.commonprefix([one, prompt])) for one in before), default=0)
        found += tokens(prompt[shared:])
        before.append(prompt)
    return found


def row(name: str, *values: str) -> None:
    sys.stdout.write(f"  {name:44} " + " ".join(f"{value:>10}" for value in values) + "\n")
    sys.stdout.flush()


def main() -> None:
    logging.disable()
    row("race of three", "one run", "beginning", "over new", "pairs")
    for steps, lines in ((2, 1), (3, 1), (10, 20)):
        for words, is_warm in ((8_000, False), (0, False), (0, True)):
            past = "known" if is_warm else "long" if words else "none"
            name = f"{steps} steps of {lines} lines, conversation: {past}"
            compare(name, [works(steps, lines)] * RACERS, words, is_warm=is_warm)
    for steps in (1, 5, 12):
        for words in (8_000, 0):
            name = f"{steps} files written, conversation: {'long' if words else 'none'}"
            compare(name, writes_files(steps), words)


def compare(name: str, answers: Sequence[Answer], words: int, *, is_warm: bool = False) -> None:
    """Print what racers that give *answers* miss, against one run."""
    with tempfile.TemporaryDirectory() as folder:
        one, three = (
            missed(Path(folder, str(count)), count, answers, words, is_warm=is_warm)
            for count in (1, RACERS)
        )
    over_new = three.all / three.new / (one.all / one.new)
    ratios = (three.all / one.all, three.first / one.first, over_new, three.pairs / one.all)
    row(name, *(f"{ratio:.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
