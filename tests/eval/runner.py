"""The runner: who attempts what, side by side, and what is left after an interruption."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tests.eval.agents import ORACLE, Agent, scripted_server
from tests.eval.judge import Judge
from tests.eval.results import Results
from tests.eval.tasks import Attempt, Submission, SubmissionError, Task, TaskError, Verdict
from tests.eval.wire import Count, CountingProxy
from utils.llm.prices import PriceList

_ORACLE_MODEL = "deepseek-flash"


@dataclass(frozen=True)
class Rules:
    """*seconds* that an agent may take, *tries* at a task, *jobs* side by side.

    *server* is the base URL of the model's server, *model* its name there.
    """

    server: str
    model: str
    seconds: float
    tries: int
    jobs: int


class Runner:
    """Has agents attempt tasks in fresh folders below *folder*; *results* gets each attempt."""

    def __init__(self, results: Results, judge: Judge, folder: Path, rules: Rules) -> None:
        self._results = results
        self._judge = judge
        self._logs = folder / "logs"
        self._work = folder / "work"
        self._rules = rules
        self._prices = PriceList()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def run(self, agents: Sequence[Agent], tasks: Sequence[Task]) -> None:
        """Make every attempt that is not among the results yet.

        When this returns or raises, no agent runs any more.
        """
        shutil.rmtree(self._work, ignore_errors=True)  # of an evaluation that was killed
        self._work.mkdir(parents=True)
        with ThreadPoolExecutor(self._rules.jobs) as pool:
            pending = [pool.submit(self._solve, agent, task) for task in tasks for agent in agents]
            try:
                for one in as_completed(pending):
                    one.result()
            except BaseException:
                self._stop()
                pool.shutdown(cancel_futures=True)
                raise

    def _solve(self, agent: Agent, task: Task) -> None:
        """Have *agent* try until the tests pass, or it may try no more."""
        earlier: Attempt | None = None
        for number in range(1, self._rules.tries + 1):
            attempt = self._results.find(agent.name, task.id, number)
            if attempt is None:
                attempt = self._attempt(agent, task, number, earlier)
                if self._is_stopped:
                    return
                self._results.add(attempt)
                _print(attempt)
            if attempt.state != "failed":
                return
            earlier = attempt

    def _attempt(self, agent: Agent, task: Task, number: int, earlier: Attempt | None) -> Attempt:
        is_oracle = agent.name == ORACLE
        served = scripted_server(task) if is_oracle else nullcontext(self._rules.server)
        with tempfile.TemporaryDirectory(dir=self._work, ignore_cleanup_errors=True) as made:
            project, home = Path(made, task.id.rpartition("/")[2]), Path(made, "home")
            project.mkdir()
            home.mkdir()
            task.lay(project, earlier.submission if earlier else {})
            with served as server, CountingProxy(server) as proxy:
                values = {
                    "prompt": task.prompt(earlier.note if earlier else ""),
                    "project": str(project),
                    "home": str(home),
                    "base_url": proxy.url,
                    "model": _ORACLE_MODEL if is_oracle else self._rules.model,
                }
                log = self._logs / agent.name / f"{task.id.replace('/', '-')}-{number}.txt"
                began = time.monotonic()
                ending = self._run_agent(agent, values, log)
                seconds = time.monotonic() - began
            submission, verdict = self._judged(task, project)
        attempt = Attempt(
            agent.name,
            task.id,
            task.group,
            number,
            verdict.state,
            round(seconds, 1),
            ending,
            verdict.output,
            submission=submission,
        )
        return self._with_count(attempt, proxy.count, values["model"])

    def _judged(self, task: Task, project: Path) -> tuple[Submission, Verdict]:
        """Return what *project* hands in, and what the judge says of it."""
        try:
            submission = task.collect(project)
        except SubmissionError as error:
            return {}, Verdict("failed", str(error))
        return submission, task.judge(submission, self._judge)

    def _run_agent(self, agent: Agent, values: Mapping[str, str], log: Path) -> str:
        """Run *agent* until it ends or its time is over; return how it ended."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            try:
                process = subprocess.Popen(
                    agent.command_line(values),
                    cwd=values["project"],
                    env=agent.environment(values),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise TaskError(f"{agent.name} does not start: {error}.") from None
        with self._lock:
            self._running.add(process)
            if self._is_stopped:
                _kill(process)
        try:
            process.wait(self._rules.seconds)
        except subprocess.TimeoutExpired:
            return "out of time"
        finally:
            _kill(process)  # what it left behind as well
            process.wait()
            with self._lock:
                self._running.discard(process)
        return f"exit code {process.returncode}"

    def _stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                _kill(process)

    def _with_count(self, attempt: Attempt, count: Count, model: str) -> Attempt:
        """Return *attempt* with its requests, and with tokens and cost where they are known."""
        attempt = replace(attempt, requests=count.requests)
        if count.untold or not count.requests:
            return attempt
        hit, miss, output = count.hit, count.miss, count.output
        attempt = replace(attempt, hit=hit, miss=miss, output=output)
        if attempt.agent == ORACLE or not self._prices.has_price(model):
            return attempt
        cost = self._prices.cost(model, hit=hit, miss=miss, output=output, timestamp=time.time())
        return replace(attempt, cost=cost)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _print(attempt: Attempt) -> None:
    row = f"{attempt.agent:12} {attempt.task:34} {attempt.number} {attempt.state:9}"
    sys.stderr.write(f"{row} {attempt.seconds:7.1f} s  {attempt.ending}\n")
    sys.stderr.flush()
