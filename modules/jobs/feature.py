"""Jobs of a session: the tool, the command, and who is told when one ends or opens a port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, assert_never

from core.cards import Card, RunCard, TableCard, TextCard
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import (
    BindsToSession,
    FinishesTurns,
    FlagsCalls,
    FollowsSession,
    HoldsResources,
    KeepsState,
    MarksProgress,
    PreparesTurns,
    ProvidesContext,
    ProvidesNews,
    ProvidesStatus,
    RecordsCalls,
)
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, Risk, RunningTool, Tool, ToolError, tool
from modules.jobs.job_news import JobNews
from modules.jobs.job_text import (
    COLUMNS,
    count_for_person,
    line_for_model,
    names_of,
    notes_for_person,
    row_for_person,
    row_of_gone,
    shown_command,
    state_for_model,
    state_for_person,
    wait_hint,
)
from modules.outputs import Outputs
from modules.sandbox.types import TierName
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.lines import parse_number
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.jobs.job import BackgroundJob, JobChange, WaitEnd
    from modules.sandbox.late_sandbox import LateSandbox
    from modules.sandbox.types import Network

MAX_RUNNING = 8
"""Jobs of a session that may run at once."""
MAX_KNOWN = 50
"""Jobs of a session that are known, those that ended included; then the oldest are forgotten."""
_MAX_SECONDS = 600
_START_SECONDS = 1.0  # in which a job may fail or open its port before the call is answered
_SCREEN_SECONDS = 5.0  # that a program may go on drawing after a key
_TAIL = 2_000  # characters shown of a job to a person
_SECTION = "jobs"
_KEYS_HINT = (
    "It has a terminal. jobs input types text as it is, without Enter; keys by name: <Enter> <Tab> "
    "<Esc> <Up> <Backspace> <PageDown> <F1> <C-c> <M-x>, <lt> for <."
)
_LANDLOCK_HINT = (
    "In this sandbox a job only reads .git, and makes, renames or removes nothing directly in the "
    "project's own folder."
)
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
    MarksProgress,
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
        sandbox: LateSandbox,
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
        self._lost: list[tuple[int, str, bool]] = []
        """Jobs that ended with another Onefold, untold so far, and whether each had a terminal."""
        self._gone: dict[int, str] = {}  # those too that were told
        self._call_id = ""
        self._answer_to_input = ""  # what a program wrote when something was typed last
        self._news = JobNews(_SECTION)
        self._watchers: list[Callable[[BackgroundJob, JobChange], None]] = []
        self.hints_on: Callable[[BackgroundJob], Iterable[Text]] = lambda _: ()
        """Returns what the person can do with a job beside what is said here."""

    # --- the model -------------------------------------------------------------------------------

    def begin(
        self,
        command: str,
        network: Network | None,
        *,
        screen_seconds: float | None = None,
        at_end: Callable[[], Sequence[Phrase]] = tuple,
    ) -> RunningTool:
        """Start *command* as a job; answer when it had a moment to fail or to open a port.

        With *screen_seconds* it has a terminal; answer when its screen is there, or after these.
        *at_end* is called when nothing of it is alive any more, and returns notes on its result.
        """
        job = self._new_job(command)
        job.start(
            self._sandbox.get(), network, has_terminal=screen_seconds is not None, at_end=at_end
        )
        job.wait_for_start(self._stop)
        if screen_seconds is not None:
            end = yield from job.wait_for_screen("", screen_seconds, self._stop, since=0)
            self._check_started(job)
            hint = _KEYS_HINT if job.is_running else ""
            return self._screen_outcome(job, end, self._with_tier_hint(hint, job))
        output, _ = yield from _collected(
            job.outputs_until("", _START_SECONDS, self._stop, until_port=True)
        )
        self._check_started(job)
        hint = "Its network is its own: other calls do not reach its ports." if network else ""
        hint = self._with_tier_hint(hint, job)
        return self._outcome(job, output, hint, ok=job.is_running or _has_done_well(job))

    def _with_tier_hint(self, hint: str, job: BackgroundJob) -> str:
        """Return *hint* with what *job* cannot do in this sandbox."""
        if not job.is_running or self._sandbox.report().tier is not TierName.LANDLOCK:
            return hint
        return "\n".join(filter(None, (hint, _LANDLOCK_HINT)))

    def _check_started(self, job: BackgroundJob) -> None:
        if job.failure:
            self._outcome(job, "")  # it is told now
            raise ToolError(job.failure)

    @tool(
        Risk.RUN,
        phrase("Watch, type into and stop background jobs."),
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
            gone = (_gone(number, command) for number, command in self._gone.items())
            listed = "\n".join([*map(str, gone), *map(line_for_model, self._known())])
            return Outcome(listed or "There are no jobs.", self._table())
        one = self._find(job)
        if one.terminal:
            return (yield from self._see_to_screen(one, operation, text, timeout))
        match operation:
            case "output":
                waiting = one.outputs_until("", 0, self._stop)
            case "wait":
                seconds = min(max(timeout, 0), _MAX_SECONDS)
                output, end = yield from _collected(
                    one.outputs_until(text or "", seconds, self._stop)
                )
                hint = wait_hint(end, text, seconds)
                return self._outcome(one, output, hint, ok=end != "stopped")
            case "input":
                one.type(_to_type(text), self._stop)
                waiting = one.outputs_until("", _START_SECONDS, self._stop)
            case "stop":
                one.stop()
                waiting = one.outputs_until("", 0, self._stop)
            case _:
                assert_never(operation)
        output, _ = yield from _collected(waiting)
        if operation == "input":
            self._answer_to_input = output
        return self._outcome(one, output)

    def _see_to_screen(
        self, job: BackgroundJob, operation: Operation, text: str | None, timeout: int
    ) -> RunningTool:
        """Do *operation* with a job that has a terminal: the answer is its screen."""
        end: WaitEnd = "quiet"
        hint = ""
        match operation:
            case "wait":
                seconds = min(max(timeout, 0), _MAX_SECONDS)
                end = yield from job.wait_for_screen(text or "", seconds, self._stop)
                hint = wait_hint(end, text, seconds)
            case "input":
                written = job.written
                job.type(_to_type(text), self._stop)
                end = yield from job.wait_for_screen("", _SCREEN_SECONDS, self._stop, since=written)
            case "stop":
                job.stop()
            case "output" | "list":
                pass
        return self._screen_outcome(job, end, hint, operation)

    def _screen_outcome(
        self, job: BackgroundJob, end: WaitEnd, hint: str, operation: Operation | None = None
    ) -> Outcome:
        assert job.terminal  # noqa: S101 - only such jobs come here
        text = job.terminal.take_text()
        if operation == "input":
            self._answer_to_input = text
        if job.is_running:
            hint = "\n".join(filter(None, (job.terminal.place_for_model(), hint)))
        is_well = job.is_running or job.was_stopped or _has_done_well(job)
        return self._outcome(job, text, hint, ok=is_well and end != "stopped")

    def state_fingerprint(self) -> str:
        """Return another text when a program answered a key in another way: then the same key once
        more (Enter in a dialogue, "next" in a debugger) is no loop.
        """
        answer = self._answer_to_input.rstrip().encode("utf-8", "surrogatepass")
        return sha256(answer).hexdigest() if answer else ""

    def only_sees(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call only sees to what runs already, and has it do nothing."""
        return tool.name == self.jobs.__name__ and arguments.get("operation") != "input"

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
        self._news.is_told(job.number)
        text = output.rstrip("\n") if job.terminal else output.strip("\n")
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
        notes = map(str, job.result.notes) if job.result else ()
        lines = filter(None, (state_for_model(job), *notes, hint, shown))
        return Outcome(
            "\n".join(lines), card, ok, error_code=job.result.error_code if job.result else None
        )

    def _new_job(self, command: str) -> BackgroundJob:
        from modules.jobs.job import BackgroundJob  # with the sandbox: few sessions have jobs

        with self._lock:
            if len(self._running()) >= MAX_RUNNING:
                raise ToolError(
                    f"{MAX_RUNNING} jobs run, and no more may. Nothing was run; stop one first."
                )
            number = self._last_number + 1
            place = self._sandbox.get().place
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
        if number in self._gone:
            raise ToolError(
                f"{_gone(number, self._gone[number])}. Its output is gone.", "not_found"
            )
        if number not in self._jobs:
            known = names_of([job.number for job in self._known()])
            hint = f" Known: {known}." if known else ""
            raise ToolError(f"There is no job {number}.{hint}", "not_found")
        return self._jobs[number]

    def _known(self) -> Sequence[BackgroundJob]:
        return list(self._jobs.values())

    def _running(self) -> list[BackgroundJob]:
        return [job for job in self._known() if job.is_running]

    def running(self) -> Sequence[BackgroundJob]:
        """Return the jobs that run now."""
        return self._running()

    # --- who is told -----------------------------------------------------------------------------

    def _on_change(self, job: BackgroundJob, change: JobChange) -> None:
        """Take note of what happened to *job*; called by its own threads."""
        if self._jobs.get(job.number) is job:  # else the session was left
            self._tell_of(job, change)
        for watch in self._watchers:
            watch(job, change)

    def _tell_of(self, job: BackgroundJob, change: JobChange) -> None:
        if change != "output":
            self._news.tell_model(job.number, line_for_model(job))
        if change != "output" and not job.was_stopped:  # who stopped it saw that
            command = shown_command(job.command)
            self.tell_person(
                phrase("{state}: {command}", state=state_for_person(job), command=command)
            )
        if change == "end":
            for note in notes_for_person(job):
                self.tell_person(note)
        self._news.refresh()

    def watch(self, on_change: Callable[[BackgroundJob, JobChange], None]) -> None:
        """Have *on_change* called, by threads of a job's, when something happened to it."""
        self._watchers.append(on_change)

    def tell_person(self, what: Phrase) -> None:
        """Tell the person at once where the screen can, else with the next event of a turn."""
        self._news.tell_person(what)

    def news(self) -> Sequence[Phrase]:
        return self._news.take_for_person()

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._news.take_for_model())]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        for job in self._running():
            state = state_for_person(job)
            yield (
                phrase("Jobs"),
                phrase("{state}: {command}", state=state, command=shown_command(job.command)),
            )

    def running_names(self) -> Text:
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
                **({"screen": True} if job.terminal else {}),
            }
            for job in self._known()
        ]

    # --- the person ------------------------------------------------------------------------------

    @command(
        "/jobs [N|stop [N]]",
        "Show the background jobs, the last output of one, or stop them.",
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
                raise UserError(phrase("Usage: /jobs, /jobs 1, /jobs stop or /jobs stop 1."))

    def _numbered(self, word: str) -> BackgroundJob:
        number = parse_number(word)
        if number in self._gone:
            raise UserError(_gone(number, self._gone[number]))
        if number is None or number not in self._jobs:
            raise UserError(phrase("No job {n}; /jobs lists them.", n=word))
        return self._jobs[number]

    def _stopped(self, jobs: Sequence[BackgroundJob]) -> Card:
        for job in jobs:
            job.stop()
        if not jobs:
            return TextCard(phrase("No background jobs."))
        return self._table(jobs)

    def _table(self, jobs: Sequence[BackgroundJob] | None = None) -> Card:
        rows: list[tuple[Text, ...]] = []
        if jobs is None:
            jobs = self._known()
            rows = [row_of_gone(number, command) for number, command in self._gone.items()]
        if not jobs and not rows:
            return TextCard(phrase("No background jobs."))
        for job in jobs:
            rows.append(row_for_person(job))
            rows += [("", hint, "", "", "") for hint in self.hints_on(job)]
        return TableCard(phrase("Jobs"), tuple(rows), COLUMNS)

    # --- the session -----------------------------------------------------------------------------

    def bind(self, session_handle: SessionHandle) -> None:
        self._news.bind(session_handle)

    def before_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002 - one call at a time
        self._call_id = call_id

    def after_call(self, call_id: str, turn: int) -> None:
        """Do nothing: what a job changes from now on is looked at with the next call."""

    def on_turn_start(self) -> None:
        """Tell of the jobs that ended with the Onefold that ran them."""
        for number, lost, had_terminal in self._lost:
            what = _gone(number, lost)
            if had_terminal:  # the others cannot write to the repository
                what = phrase(
                    "{what}. If Onefold was killed, what git did in its terminal was not kept.",
                    what=what,
                )
            self._news.tell_model(number, str(what))
            self._news.tell_person_later(what)
        self._lost = []

    def on_turn_finished(self) -> None:
        numbers = ", ".join(str(job.number) for job in self._running())
        if numbers and self.ends_with_task:
            self._news.tell_person_later(
                phrase("Background jobs ended with the task: {n}", n=numbers)
            )
        elif numbers and self._stop.is_set():
            self._news.tell_person_later(
                phrase("Background jobs keep running: {n}. See /jobs.", n=numbers)
            )

    def on_session_changed(self, session: str) -> None:  # noqa: ARG002 - whichever it is
        notes = self._end_all()
        self._jobs, self._last_number, self._lost, self._gone = {}, 0, [], {}
        self._news.clear()
        for note in notes:
            self.tell_person(note)

    def state(self) -> dict[str, Any]:
        if not self._last_number:
            return {}
        running = [(job.number, job.command, job.terminal is not None) for job in self._running()]
        kept = {"last": self._last_number, "running": [*self._lost, *running]}
        return {_SECTION: kept | {"notice": self._news.notice}}

    def restore(self, state: dict[str, Any]) -> None:
        kept = state.get(_SECTION, {})
        self._last_number = kept.get("last", 0)
        self._news.notice = kept.get("notice", "")
        lost = kept.get("running", [])  # of older versions without its last part
        self._lost = [(number, command, any(rest)) for number, command, *rest in lost]
        self._gone = {number: command for number, command, _ in self._lost}

    def on_rewind(self, state: dict[str, Any]) -> None:  # noqa: ARG002 - processes do not go back
        """Tell the model of what runs, which it may not know any more."""
        running = self._running()
        self._news.replace_for_model((job.number, line_for_model(job)) for job in running)

    def close(self) -> None:
        self._end_all()

    def _end_all(self) -> list[Phrase]:
        """End all jobs; return what the person is to be told of those that ran till now."""
        running = self._running()
        jobs, self._jobs = self._known(), {}
        for job in jobs:
            job.close()
        return [note for job in running for note in notes_for_person(job)]


def _gone(number: int, command: str) -> Phrase:
    return phrase(
        "job {n} ended with the Onefold that ran it: {command}",
        n=number,
        command=shown_command(command),
    )


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


def _to_type(text: str | None) -> str:
    if text is None:
        raise ToolError("Say the text to type; an empty one ends the input.")
    return text


def _has_done_well(job: BackgroundJob) -> bool:
    return job.result is not None and job.result.exit_code == 0
