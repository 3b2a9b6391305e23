"""Print what a digest still knows: `python -m tests.bench.bench_compaction [--show]`.

Sessions with real tools are summed up; probes of four kinds (recall, artefacts, continuation,
decisions) are then answered from what the next request holds, and from nothing else. Once the model
says next to nothing, so that what is known without it is measured, and once it sums up well. The
public figures of such probes, of other agents with real models, are 3.4 to 3.7 of 5, and weakest
for the files that were touched.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench.compaction_probes import KINDS, SESSIONS, answers, held, scores
from utils.text.tokens import estimate_tokens


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="show what is held, and what is missed")
    options = parser.parse_args()
    figures: dict[str, list[int]] = {kind: [0, 0, 0] for kind in KINDS}
    for session in SESSIONS:
        for column, summary in enumerate(("- we talked", session.summary)):
            with tempfile.TemporaryDirectory() as folder:
                text = held(Path(folder), session, summary)
            for kind, (known, asked) in scores(session, text).items():
                figures[kind][column] += known
                figures[kind][2] += 0 if column else asked
            missed = [one for one in session.probes if not answers(one, text)]
            say(f"{session.name}: about {estimate_tokens(text):,} tokens; missed: {len(missed)}")
            for probe in missed:
                say(f"  {probe.kind}: {probe.question}")
            if options.show:
                say(text)
    figures["all"] = [sum(row[n] for row in figures.values()) for n in range(3)]
    say(f"{'of 5':14}without a model  with a summary  probes")
    for name, (without, with_summary, asked) in figures.items():
        say(f"{name:14}{5 * without / asked:15.2f}{5 * with_summary / asked:16.2f}{asked:8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
