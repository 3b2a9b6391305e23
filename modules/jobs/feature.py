"""Jobs of a session: the tool, the command, and who is told when one ends or opens a port."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, assert_never

from core.cards import Card, RunCard, TableCard, TextCard
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import (
    BindsToSession,
    FinishesTurns,
    FlagsCalls,
    FollowsSession,
    HoldsResources,
    KeepsState,
    PreparesTurns,
    ProvidesContext,
    ProvidesNews,
    ProvidesStatus,
    RecordsCalls,
)
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Risk, RunningTool, Tool, ToolError, tool
from modules.jobs.job import BackgroundJob, JobChange, WaitEnd
from modules.jobs.job_text import (
    count_for_person,
    line_for_model,
    names_of,
    shown_command,
    state_for_model,
    state_for_person,
)
from modules.outputs import Outputs
from modules.sandbox.sandbox import Network, Sandbox
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.lines import parse_number
from utils.waiting import Stop

MAX_RUNNING = 8
"""Jobs of a session that may run at once."""
MAX_KNOWN = 50
"""Jobs of a session that are known, those that ended included; then the oldest are forgotten."""
_MAX_SECONDS = 600
_START_SECONDS = 1.0  # in which a job may fail or open its port before the call is answered
_MAX_NOTICES = 12
_TAIL = 2_000  # characters shown of a job to a person
_SECTION = "jobs"
_NETWORK_REASON = phrase("It types into a program that may reach the network.")

Operation = Literal["list", "output", "wait", "input", "stop"]


class Jobs(
    Feature,
    BindsToSession,
    ProvidesContext,
    ProvidesNews,
    ProvidesStatus,
    PreparesTurns,
    FinishesTurns,
    KeepsState,
    FollowsSession,
    RecordsCalls,
    FlagsCalls,
    HoldsResources,
):
    """Holds the jobs of the session; all end when that is left.

    The model learns with its next request that a job ended or opened a port, the person at once
    where the screen can tell them, else with the next event of a turn.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        folder: Path,
        stop: Stop,
        outputs: Outputs,
    ) -> None:
        """*folder* takes what jobs write, in files without a name."""
        self._sandbox = sandbox
        self._folder = folder
        self._stop = stop
        self._outputs = outputs
        self.ends_with_task = False
        """Whether the session ends with its first task; the person is told then of its jobs."""
        self._lock = threading.Lock()
        self._jobs: dict[int, BackgroundJob] = {}
        self._last_number = 0
        self._lost: list[tuple[int, str]] = []
        self._call_id = ""
        self._untold: list[tuple[int, str]] = []  # to the model, each of a job
        self._notice = ""
        self._news: list[Phrase] = []
        self._session_handle: SessionHandle | None = None

    # --- the model -------------------------------------------------------------------------------

    def begin(self, command: str, network: Network | None) -> RunningTool:
        """Start *command* as a job; answer when it had a moment to fail or to open a port."""
        job = self._new_job(command)
        job.start(self._sandbox, network)
        output, _ = yield from _collected(
            job.outputs_until("", _START_SECONDS, self._stop, until_port=True)
        )
        if job.failure:
            self._outcome(job, "")  # it is told now
            raise ToolError(job.failure)
        hint = "Its network is its own: other calls do not reach its ports." if network else ""
        is_well = job.is_running or (job.result is not None and job.result.exit_code == 0)
        return self._outcome(job, output, hint, ok=is_well)

    @tool(
        Risk.RUN,
        phrase("See to the programs that run in the background."),
        verb=phrase("Job"),
        icon="terminal",
        subject="{job} {operation}",
        unredacted=("text",),
        is_exact=True,
    )
    def jobs(
        self,
        operation: Operation,
        job: int = 1,
        text: Annotated[str | None, "waited for (none: the end), or the line typed"] = None,
        timeout: Annotated[int, "seconds to wait"] = 60,
    ) -> RunningTool:
        """See to background jobs; output is what came since last asked."""
        if operation == "list":
            listed = "\n".join(map(line_for_model, self._known()))
            return Outcome(listed or "There are no jobs.", self._table())
        one = self._find(job)
        match operation:
            case "output":
                waiting = one.outputs_until("", 0, self._stop)
            case "wait":
                seconds = min(max(timeout, 0), _MAX_SECONDS)
                output, end = yield from _collected(
                    one.outputs_until(text or "", seconds, self._stop)
                )
                hint = _wait_hint(end, text, seconds)
                return self._outcome(one, output, hint, ok=end != "stopped")
            case "input":
                if text is None:
                    raise ToolError("Say the text to type; an empty one ends the input.")
                one.type(text, self._stop)
                waiting = one.outputs_until("", _START_SECONDS, self._stop)
            case "stop":
                one.stop()
                waiting = one.outputs_until("", 0, self._stop)
            case _:
                assert_never(operation)
        output, _ = yield from _collected(waiting)
        return self._outcome(one, output)

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        """Return why to ask before something is typed into a job that may reach the network."""
        if tool.name != self.jobs.__name__ or arguments.get("operation") != "input":
            return None
        job = self._jobs.get(arguments.get("job", 1))
        if job is None or not job.has_network:
            return None
        return AlwaysAskReason(_NETWORK_REASON.template)

    def _outcome(
        self, job: BackgroundJob, output: str, hint: str = "", *, ok: bool = True
    ) -> Outcome:
        """Return what the model and the person see of *job*; what it tells is news no more."""
        with self._lock:
            self._untold = [(number, line) for number, line in self._untold if number != job.number]
        text = output.strip("\n")
        shown = self._outputs.shorten(text) if text else "(no new output)"
        card = RunCard(
            "bash",
            job.command,
            output,
            job.result.exit_code if job.result else None,
            state_for_person(job),
            job.seconds,
            job.tier,
            job=job.number if job.is_running else 0,
        )
        lines = filter(None, (state_for_model(job), hint, shown))
        return Outcome("\n".join(lines), card, ok=ok)

    def _new_job(self, command: str) -> BackgroundJob:
        with self._lock:
            if len(self._running()) >= MAX_RUNNING:
                raise ToolError(
                    f"{MAX_RUNNING} jobs run, and no more may. Nothing was run; stop one first."
                )
            number = self._last_number + 1
            place = self._sandbox.place
            try:
                job = BackgroundJob(
                    number, self._call_id, command, place, self._folder, self._on_change
                )
            except OSError as error:
                raise ToolError(
                    f"Its output cannot be kept: {error.strerror}. Nothing was run."
                ) from error
            self._last_number = number
            self._jobs[number] = job
            self._forget_oldest()
        return job

    def _forget_oldest(self) -> None:
        ended = [number for number, job in self._jobs.items() if not job.is_running]
        for number in ended[: max(0, len(self._jobs) - MAX_KNOWN)]:
            self._jobs.pop(number).close()

    def _find(self, number: int) -> BackgroundJob:
        if number not in self._jobs:
            known = names_of([job.number for job in self._known()])
            raise ToolError(f"There is no job {number}. " + (f"Known: {known}." if known else ""))
        return self._jobs[number]

    def _known(self) -> Sequence[BackgroundJob]:
        return list(self._jobs.values())

    def _running(self) -> list[BackgroundJob]:
        return [job for job in self._known() if job.is_running]

    # --- who is told -----------------------------------------------------------------------------

    def _on_change(self, job: BackgroundJob, change: JobChange) -> None:
        """Take note of what happened to *job*; called by its own threads."""
        if self._jobs.get(job.number) is not job:  # the session was left
            return
        if change != "output":
            with self._lock:
                self._untold.append((job.number, line_for_model(job)))
        if change != "output" and not job.was_stopped:  # who stopped it saw that
            command = shown_command(job.command)
            self._tell_person(
                phrase("{state}: {command}", state=state_for_person(job), command=command)
            )
        if self._session_handle is not None:
            self._session_handle.refresh()

    def _tell_person(self, what: Phrase) -> None:
        if self._session_handle is None or not self._session_handle.announce(what):
            with self._lock:
                self._news.append(what)

    def news(self) -> Sequence[Phrase]:
        with self._lock:
            news, self._news = self._news, []
        return news

    def context(self) -> Iterable[Section]:
        with self._lock:
            new_lines, self._untold = [line for _, line in self._untold], []
        if new_lines:
            sent = None
            if self._session_handle is not None:
                sent = self._session_handle.history.context_sent.get(_SECTION)
            unsent = self._notice.split("\n") if self._notice not in ("", sent) else []
            self._notice = "\n".join([*unsent, *new_lines][-_MAX_NOTICES:])
        return [Section(_SECTION, self._notice)]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        for job in self._running():
            state = state_for_person(job)
            yield (
                phrase("Jobs"),
                phrase("{state}: {command}", state=state, command=shown_command(job.command)),
            )

    def running_names(self) -> str:
        """Return who may change files at any moment: "job 1", "jobs 1, 2", "" for nobody."""
        return names_of([job.number for job in self._running()])

    def running_count(self) -> Text:
        """Return how many run, for the line below the prompt, "" for none."""
        return count_for_person([job.number for job in self._running()])

    def rows(self) -> list[dict[str, Any]]:
        """Return the jobs for the page, those that ended included."""
        return [
            {
                "job": job.number,
                "call_id": job.call_id,
                "running": job.is_running,
                "state": state_for_person(job),
                "command": job.command,
                "ports": list(job.ports),
                "tail": job.tail(_TAIL),
            }
            for job in self._known()
        ]

    # --- the person ------------------------------------------------------------------------------

    @command(
        "/jobs [N|stop [N]]",
        "Show what runs in the background, the end of one's output, or stop it.",
        is_concurrent=True,
        belongs_to_session=True,
        button="background",
    )
    def show(self, argument: str) -> Card:
        match argument.split():
            case []:
                return self._table()
            case ["stop"]:
                return self._stopped(self._running())
            case ["stop", number]:
                return self._stopped([self._numbered(number)])
            case [number]:
                job = self._numbered(number)
                return TextCard(state_for_person(job), job.tail(_TAIL))
            case _:
                raise UserError(phrase("Say /jobs, /jobs 1, /jobs stop or /jobs stop 1."))

    def _numbered(self, word: str) -> BackgroundJob:
        number = parse_number(word)
        if number is None or number not in self._jobs:
            raise UserError(phrase("There is no job {n}; /jobs shows them.", n=word))
        return self._jobs[number]

    def _stopped(self, jobs: Sequence[BackgroundJob]) -> Card:
        for job in jobs:
            job.stop()
        if not jobs:
            return TextCard(phrase("Nothing runs in the background."))
        return self._table(jobs)

    def _table(self, jobs: Sequence[BackgroundJob] | None = None) -> Card:
        jobs = self._known() if jobs is None else jobs
        if not jobs:
            return TextCard(phrase("Nothing runs in the background."))
        rows = tuple(
            (str(job.number), state_for_person(job), shown_command(job.command)) for job in jobs
        )
        return TableCard(phrase("Jobs"), rows)

    # --- the session -----------------------------------------------------------------------------

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def before_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002 - one call at a time
        self._call_id = call_id

    def after_call(self, call_id: str, turn: int) -> None:
        """Do nothing: what a job changes from now on is looked at with the next call."""

    def on_turn_start(self) -> None:
        """Tell of the jobs that ended with the Onefold that ran them."""
        for number, lost in self._lost:
            what = phrase(
                "job {n} ended with the Onefold that ran it: {command}",
                n=number,
                command=shown_command(lost),
            )
            with self._lock:
                self._untold.append((number, str(what)))
                self._news.append(what)
        self._lost = []

    def on_turn_finished(self) -> None:
        numbers = ", ".join(str(job.number) for job in self._running())
        if numbers and self.ends_with_task:
            self._news.append(phrase("Jobs that end now, with the task: {n}", n=numbers))
        elif numbers and self._stop.is_set():
            self._news.append(
                phrase("Stopping a task stops no job; {n} runs, see /jobs.", n=numbers)
            )

    def on_session_changed(self, session: str) -> None:  # noqa: ARG002 - whichever it is
        self.close()
        self._jobs, self._last_number, self._lost = {}, 0, []
        self._untold, self._news, self._notice = [], [], ""

    def state(self) -> dict[str, Any]:
        if not self._last_number:
            return {}
        running = [[job.number, job.command] for job in self._running()]
        kept = {"last": self._last_number, "running": [*self._lost, *running]}
        return {_SECTION: kept | {"notice": self._notice}}

    def restore(self, state: dict[str, Any]) -> None:
        kept = state.get(_SECTION, {})
        self._last_number = kept.get("last", 0)
        self._notice = kept.get("notice", "")
        self._lost = [(number, command) for number, command in kept.get("running", [])]

    def on_rewind(self, state: dict[str, Any]) -> None:  # noqa: ARG002 - processes do not go back
        """Tell the model of what runs, which it may not know any more."""
        with self._lock:
            self._untold = [(job.number, line_for_model(job)) for job in self._running()]

    def close(self) -> None:
        jobs, self._jobs = self._known(), {}
        for job in jobs:
            job.close()


def _collected(
    waiting: Generator[str, None, WaitEnd],
) -> Generator[str, None, tuple[str, WaitEnd]]:
    """Yield what *waiting* yields; return all of it, and how the waiting ended."""
    output = ""
    while True:
        try:
            new = next(waiting)
        except StopIteration as end:
            return output, end.value
        output += new
        yield new


def _wait_hint(end: WaitEnd, text: str | None, seconds: float) -> str:
    """Return what came of waiting for *text*, "" where the state says it."""
    match end:
        case "found":
            return f"{text!r} is there."
        case "timed out":
            return f"{repr(text) if text else 'The end'} did not come in {seconds} s."
        case "stopped":
            return "The person stopped the waiting."
        case "ended":
            return f"{text!r} did not come." if text else ""
