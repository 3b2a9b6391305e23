"""The simulator by hand: DeepSeek's API on this machine, for trying the product without a key.

    python -m tests.simulator --port 9000
    DEEPSEEK_BASE_URL=http://127.0.0.1:9000 DEEPSEEK_API_KEY=any python main.py --cli

Without steps it repeats what it is told. Steps are written as in the tests (see the package), one
for each request, and then over again:

    python -m tests.simulator --step 'Call("list_files")' --step 'Say("A nice folder.")'
    python -m tests.simulator --step '(Think("Hm."), Say("Hel"), Cut())' --step 'Say("Hello.")'
    python -m tests.simulator --steps-from FILE          one step a line

Knobs: `--key KEY` accepts that key only, `--lenient` takes thinking requests without their
reasoning, `--request-id` ends the message of a 400 as the live API does, `--context TOKENS` is how
much fits. Every request is told on a line of its own.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from tests import simulator
from tests.simulator import ReceivedRequest, Say, Simulator, Step
from tests.simulator.cache import render_prompt, tokens


def main() -> None:
    options = _options()
    with Simulator(
        _script(options),
        api_key=options.key,
        is_strict=not options.lenient,
        request_id=options.request_id,
        context_limit=options.context,
        is_validated=False,
        port=options.port,
    ) as server:
        sys.stderr.write(f"DEEPSEEK_BASE_URL={server.url}  (Ctrl-C ends it)\n")
        try:
            server.closing.wait()
        except KeyboardInterrupt:
            return


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--step", action="append", default=[], metavar="STEP")
    parser.add_argument("--steps-from", type=Path, metavar="FILE")
    parser.add_argument("--key")
    parser.add_argument("--lenient", action="store_true")
    parser.add_argument("--request-id", action="store_true")
    parser.add_argument("--context", type=int, default=1_048_576, metavar="TOKENS")
    return parser.parse_args()


def _script(options: argparse.Namespace) -> Any:
    lines = list(options.step)
    if options.steps_from:
        lines += options.steps_from.read_text(encoding="utf-8").splitlines()
    words = {name: getattr(simulator, name) for name in simulator.__all__}
    steps = itertools.cycle([eval(line, words) for line in lines if line.strip()] or [None])

    def choose(received: ReceivedRequest) -> Step:
        prompt = tokens(render_prompt(received.body))
        mode = "thinking" if received.is_thinking else "fast"
        count = len(received.messages)
        told = f"{mode}, {count} messages, {prompt} tokens: {received.last_user!r}"
        sys.stderr.write(f"{received.number}: {told}\n")
        return next(steps) or Say(f"You said: {received.last_user}")

    return choose


if __name__ == "__main__":
    main()
