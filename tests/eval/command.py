"""Evaluation of agents on public exercises, or on issues of repositories.

    git clone https://github.com/Aider-AI/polyglot-benchmark
    python3 -m tests.eval --exercises polyglot-benchmark --agent oracle       # has to pass all
    DEEPSEEK_API_KEY=… python3 -m tests.eval --exercises polyglot-benchmark --tries 2
    python3 -m tests.eval --exercises polyglot-benchmark --server http://127.0.0.1:8080/v1 \\
        --model qwen3 --agent onefold --agent 'mini=mini -y -t {prompt} -m openai/{model}'
    python3 -m tests.eval --issues instances.jsonl      # patches go to OUT/AGENT/preds.json

With --race 3 our agent does each task three times beside each other and takes the best.

The same command again goes on where it was. In a command of another agent {prompt} is the task,
{project} the folder to work in, {base_url} and {model} say where the model is, {home} is an empty
folder; OPENAI_BASE_URL and OPENAI_API_KEY are set. Such an agent runs as you, with no sandbox of
ours around it: have it in a container. What it wrote is tested in the sandbox.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from modules.race.race_line import FEWEST, MOST
from tests.eval.agents import ORACLE, OURS, Agent, parse_agent
from tests.eval.exercises import find_exercises
from tests.eval.issues import predictions, read_issues
from tests.eval.judge import Judge
from tests.eval.languages import LANGUAGES
from tests.eval.page import page
from tests.eval.results import Results
from tests.eval.runner import Rules, Runner
from tests.eval.summary import summarize, table
from tests.eval.tasks import Task, TaskError
from utils.i18n import UserError
from utils.system.atomic_write import write_atomically


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate; return the exit code: 0 when every attempt was made, whatever came of it."""
    options = _parse(arguments)
    try:
        return _evaluate(options)
    except (TaskError, UserError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. The same command goes on from here.\n")
        return 130


def _evaluate(options: argparse.Namespace) -> int:
    key = os.environ.get("OPENAI_API_KEY") or os.environ.get("DEEPSEEK_API_KEY") or "none"
    agents = [parse_agent(text, key, options.race) for text in options.agent or [OURS]]
    if len({one.name for one in agents}) < len(agents):
        raise TaskError("Two agents have the same name.")
    out = options.out.absolute()
    tasks = _tasks(options, out)
    rules = Rules(options.server, options.model, options.seconds, options.tries, options.jobs)
    with Results(out / "results.jsonl") as results:
        results.settle(_settings(rules, agents))
        judge = Judge(out, options.judge_seconds)
        try:
            Runner(results, judge, out, rules).run(agents, tasks)
        finally:
            _report(results, out, rules)
    return 0


def _settings(rules: Rules, agents: Sequence[Agent]) -> dict[str, str]:
    """Return what has to be the same when an evaluation goes on."""
    settings = {
        f"agent {one.name}": " ".join(one.command)
        for one in agents
        if not (one.name == ORACLE or one.name.startswith(OURS))
    }
    if any(one.name != ORACLE for one in agents):
        settings |= {"model": rules.model, "seconds": f"{rules.seconds:g}"}
    return settings


def _tasks(options: argparse.Namespace, out: Path) -> list[Task]:
    tasks: list[Task] = []
    if options.exercises:
        tasks += _exercises(options.exercises.absolute(), options.language)
    if options.issues:
        tasks += read_issues(options.issues, out / "repositories")
    if options.only:
        known = {one.id for one in tasks} | {one.id.rpartition("/")[2] for one in tasks}
        if unknown := set(options.only) - known:
            raise TaskError(f"There is no task {sorted(unknown)[0]!r}.")
        tasks = [one for one in tasks if {one.id, one.id.rpartition("/")[2]} & {*options.only}]
    if not tasks:
        raise TaskError("There is nothing to solve: name --exercises DIR or --issues FILE.")
    return tasks


def _exercises(tracks: Path, languages: Sequence[str] | None) -> list[Task]:
    """Return the exercises whose tests can be run here; what is left out is said."""
    present = [one for one in languages or LANGUAGES if (tracks / one / "exercises").is_dir()]
    able = []
    for language in present or languages or LANGUAGES:
        if why := LANGUAGES[language].missing(tracks / language):
            sys.stderr.write(f"{language} is left out: {why}.\n")
        else:
            able.append(language)
    return list(find_exercises(tracks, able))


def _report(results: Results, out: Path, rules: Rules) -> None:
    """Print the table, and write the page and the predictions."""
    attempts = results.attempts
    if not attempts:
        return
    sys.stdout.write(table(summarize(attempts)))
    write_atomically(out / "results.html", page(attempts, results.settings).encode())
    for agent in dict.fromkeys(one.agent for one in attempts):
        found = predictions([one for one in attempts if one.agent == agent], rules.model)
        if found:
            (out / agent).mkdir(exist_ok=True)
            write_atomically(out / agent / "preds.json", json.dumps(found, indent=1).encode())
    sys.stderr.write(f"The page: {out / 'results.html'}\n")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.eval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--exercises", type=Path, metavar="DIR", help="tracks in Exercism's layout")
    add("--language", action="append", choices=LANGUAGES, help="one of them; may be repeated")
    add("--issues", type=Path, metavar="FILE", help="instances in SWE-bench's layout, one a line")
    add("--only", nargs="+", metavar="TASK", help="these tasks alone")
    add("--agent", action="append", metavar="AGENT", help=f"{OURS}, {ORACLE} or NAME=COMMAND")
    add(
        "--race",
        type=_race,
        default=0,
        metavar="N",
        help=f"{OURS} does each task N times, takes one",
    )
    add("--out", type=Path, default=Path("eval-results"), metavar="DIR", help="where results go")
    server = os.environ.get("DEEPSEEK_BASE_URL", "https://api.deepseek.com")
    add("--server", default=server, metavar="URL", help="base URL of the model's server")
    add("--model", default=os.environ.get("ONEFOLD_MODEL", "deepseek-flash"))
    add("--tries", type=_whole, default=1, help="2: once more, with what the tests said")
    add("--jobs", type=_whole, default=os.cpu_count() or 1, help="attempts side by side")
    add("--seconds", type=float, default=900.0, help="for each attempt of an agent")
    add("--judge-seconds", type=float, default=180.0, help="for the tests of an attempt")
    return parser.parse_args(arguments)


def _race(text: str) -> int:
    number = int(text)
    if not FEWEST <= number <= MOST:
        raise argparse.ArgumentTypeError(f"{FEWEST} to {MOST}")
    return number


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("1 or more")
    return number
