"""The tools that run programs, in the sandbox, and say what these did to the files."""

from __future__ import annotations

import sys
import threading
from collections.abc import (
    Callable,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from core.cards import MACHINE_PLACE, OUTSIDE_PLACE, Change, RunCard
from core.feature import Feature, Section
from core.hooks import (
    ConfinesRuns,
    FlagsCalls,
    HoldsResources,
    ProvidesContext,
    ProvidesStatus,
    ProvidesWarnings,
    RunsForPerson,
)
from core.loop.approval import NO_BACKGROUND_OUTSIDE, AlwaysAskReason
from core.tool_spec import OUTSIDE, OtherNames
from core.tools import Outcome, ProgramArgument, Risk, RunningTool, Tool, ToolError, tool
from modules.files.own_code import OwnCode
from modules.runs.approval_reasons import network_reason, other_python, weak_sandbox_reason
from modules.runs.call_seconds import with_seconds
from modules.runs.run_texts import (
    NO_OUTPUT,
    describe_changes,
    ending_for_model,
    ending_for_person,
)
from modules.runs.run_watch import RunWatch
from modules.runs.sandbox_status import sandbox_status
from modules.sandbox.limits.capacity import fit_to_machine
from modules.sandbox.types import (
    MAX_SECONDS,
    NO_TIME_LIMIT,
    Limits,
    Network,
    Program,
    Report,
    Result,
)
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.programs import search_path_outside
from utils.text.clean import clean
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.sandbox.late_sandbox import LateSandbox
    from modules.sandbox.run.execution import Background
    from modules.sandbox.run.file_changes import FileChanges, FolderState

_MIN_SECONDS, _DEFAULT_SECONDS, _MAX_SECONDS = 1, 60, 600  # seconds
_DEFAULT_LIMITS = Limits()
_OWN_MACHINE = (
    "This machine is yours. Commands run on it without a sandbox: they reach all of it and the "
    "network, and what one starts with & and its output redirected goes on after the call. Jobs "
    "end with the session."
)


class RunFolder(Protocol):
    """The project, as far as it matters here."""

    root: Path
    own_code: OwnCode


class OutputShortener(Protocol):
    """Makes long texts short and keeps the rest readable."""

    def shorten(self, text: str, limit: int = ...) -> str: ...


class JobStarter(Protocol):
    """Runs commands in the background."""

    def begin(
        self,
        command: str,
        network: Network | None,
        *,
        screen_seconds: float | None = None,
        at_end: Callable[[], Sequence[Phrase]] = ...,
    ) -> RunningTool: ...

    def only_sees(self, tool: Tool, arguments: Mapping[str, Any]) -> bool: ...


class TerminalOps(
    Feature,
    HoldsResources,
    ProvidesWarnings,
    FlagsCalls,
    ConfinesRuns,
    ProvidesContext,
    ProvidesStatus,
    RunsForPerson,
):
    """Runs Python and shell commands of the model in the project folder."""

    def __init__(
        self,
        project: RunFolder,
        sandbox: LateSandbox,
        stop: Stop,
        outputs: OutputShortener,
        *,
        jobs: JobStarter | None = None,
        network_hosts: Sequence[str] = (),
        package_variables: Mapping[str, str] | None = None,
        run_seconds: int = _DEFAULT_SECONDS,
        call_seconds: int = _MAX_SECONDS,
        limits: Limits = _DEFAULT_LIMITS,
        environment: Mapping[str, str] | None = None,
        secret_names: Container[str] = (),
        remote_tool: str = "",
    ) -> None:
        """*network_hosts* may be reached beside the package index when the person allows it.

        A call that names no time gets *run_seconds*, none more than *call_seconds*; of *limits*
        it gets as much as this machine has.

        *package_variables* are those of the person's environment, for their package managers. What
        they run outside of the sandbox has all of their *environment*, what the model runs there
        all but *secret_names*. *remote_tool* is the tool that talks to the remotes of git.
        """
        self._remote_tool = remote_tool
        self._person_environment = dict(environment or {})
        self._outside_environment = {
            name: value
            for name, value in self._person_environment.items()
            if name not in secret_names and name != "VIRTUAL_ENV"
        }
        if "PATH" in self._outside_environment:  # a program in the project may be the model's
            own_path = self._outside_environment["PATH"]
            self._outside_environment["PATH"] = search_path_outside(own_path, project.root)
        self._package_variables = package_variables or {}
        self._network_hosts = network_hosts
        self._network_access: Network | None = None
        self._untold: tuple[Phrase, ...] = ()
        self.on_begin: Callable[[Callable[[], None]], None] | None = None
        """Told of each program that a call waits for when it begins, and what stops it alone."""
        self._root, self._own_code = project.root, project.own_code
        self._sandbox = sandbox
        self._stop = stop
        self._outputs = outputs
        self._jobs = jobs
        self._shells_watched = threading.Lock()
        self._watch = RunWatch(project.root, project.own_code, sandbox)
        self.limit_runs(limits)
        self._run_seconds, self._max_seconds = min(run_seconds, call_seconds), call_seconds
        if (run_seconds, call_seconds) != (_DEFAULT_SECONDS, _MAX_SECONDS):
            for method in (self.run_python, self.run_command):
                timed = with_seconds(method, self._run_seconds, call_seconds)
                setattr(self, method.__name__, timed)

    def limit_runs(self, limits: Limits) -> None:
        """Give runs that begin from now on *limits*, as far as the machine has so much."""
        self._wanted_limits, self._limits = limits, fit_to_machine(limits, self._root)

    def allow_hosts(self, hosts: Sequence[str]) -> None:
        """Let runs that begin from now on reach *hosts*, once the person allows the network."""
        self._network_hosts, self._network_access = hosts, None

    def close(self) -> None:
        self._sandbox.close()

    def warnings(self) -> Sequence[Phrase]:
        untold, self._untold = self._untold, ()
        return [*self._sandbox.warnings(), *untold]

    @tool(
        Risk.RUN,
        phrase("Run Python in the sandbox."),
        verb=phrase("Run Python"),
        icon="play",
        subject="",
        program=ProgramArgument("python", "code"),
        unredacted=("code",),
        other_names=(
            OtherNames("python, ipython, execute python, python interpreter, code interpreter"),
            OtherNames("execute python code, run python code, python exec, execute ipython cell"),
        ),
    )
    def run_python(
        self,
        code: str,
        timeout: Annotated[int, f"seconds, up to {_MAX_SECONDS}"] = _DEFAULT_SECONDS,
        network: Annotated[bool, "asks the person; package index and allowed hosts"] = False,
    ) -> RunningTool:
        """Run Python in the project folder (its virtual environment if it has one; no network,
        no input, nothing kept between calls). A last expression's value is shown."""
        return (yield from self._run(Program("python", code), timeout, network))

    @tool(
        Risk.RUN,
        phrase("Run a command in the sandbox."),
        verb=phrase("Run"),
        icon="terminal",
        subject="{command}",
        program=ProgramArgument("bash", "command"),
        unredacted=("command",),
        outside="where",
        other_names=(
            OtherNames("bash, sh, shell, terminal, exec command, execute command, execute bash"),
            OtherNames(
                "run terminal cmd, run terminal command, run in terminal, run shell command"
            ),
            OtherNames("run bash, bash command, shell command, execute shell command, local shell"),
        ),
    )
    def run_command(
        self,
        command: str,
        timeout: Annotated[int, f"seconds, up to {_MAX_SECONDS}"] = _DEFAULT_SECONDS,
        network: Annotated[bool, "as for run_python"] = False,
        background: Annotated[bool, "run on as a job; later calls reach its ports"] = False,
        tty: Annotated[bool, "with a terminal, as a job"] = False,
        where: Annotated[
            Literal["sandbox", "outside"], "outside asks the person: docker, systemctl, devices"
        ] = "sandbox",
    ) -> RunningTool:
        """Run a bash command in the project folder (no network, no input; its processes end with
        the call)."""
        if "\0" in command:
            raise ToolError("A command cannot hold a NUL character. Nothing was run.")
        outside = self._outside_environment if where == OUTSIDE else None
        if (background or tty) and self._jobs:
            if outside is not None:
                raise ToolError(NO_BACKGROUND_OUTSIDE)
            before = self._watch.begin()
            seconds = min(max(timeout, _MIN_SECONDS), self._max_seconds) if tty else None
            job = self._jobs.begin(
                command,
                self._network() if network else None,
                screen_seconds=seconds,
                at_end=lambda: self._watch.disarm(before),
            )
            return (yield from job)
        return (yield from self._run(Program("bash", command), timeout, network, outside))

    def run_for_person(self, command: str, *, is_private: bool) -> RunningTool:
        if "\0" in command:
            raise ToolError(phrase("A command cannot hold a NUL character. Nothing was run."))
        program, limits = Program("bash", command), replace(self._limits, seconds=MAX_SECONDS)
        before = self._watch.scan()
        result = yield from self._run_outside(program, limits, self._stop, self._person_environment)
        lines = [] if is_private else [ending_for_model(result, limits, MAX_SECONDS)]
        outcome = self._outcome(
            program, result, OUTSIDE_PLACE, before, lines, ending_for_person(result)
        )
        if isinstance(outcome.card, RunCard) and outcome.card.changes:
            note = phrase("/undo does not cover this")
            return replace(outcome, card=replace(outcome.card, note=note))
        return outcome

    def run_quietly(self, code: str, seconds: float) -> tuple[Result, tuple[Change, ...]]:
        """Run *code* as `run_command` runs a command, with no card; return what it changed as well.

        Raises `UserError` where it cannot be run.
        """
        sandbox = self._sandbox.get()
        if prefix := sandbox.unapproved_python():
            raise UserError(other_python(prefix))
        limits = replace(self._limits, seconds=min(seconds, self._max_seconds))
        before = self._watch.begin()
        running = sandbox.run(Program("bash", code), limits, self._stop)
        with self._watch.disarming_failed(before):
            result = _result_of(running)
        return result, self._watch.end(before)[0].changes

    def _run(
        self,
        program: Program,
        timeout: int,
        with_network: bool,
        outside: Mapping[str, str] | None = None,
    ) -> RunningTool:
        """Run *program* in the sandbox, or with the environment *outside* of it."""
        seconds = min(max(timeout, _MIN_SECONDS), self._max_seconds)
        limits = replace(self._limits, seconds=seconds)
        report = self._report() if outside is None else None
        place = self._sandbox.get().place if report else OUTSIDE_PLACE
        before = self._watch.begin()
        network = self._network() if with_network and outside is None else None
        with self._stop_of_run() as stop:
            if outside is None:
                with self._watch.disarming_failed(before):
                    result = yield from self._run_sandboxed(program, limits, stop, network)
            else:
                result = yield from self._run_outside(program, limits, stop, outside)
        lines = [ending_for_model(result, limits, self._max_seconds)]
        if seconds != timeout:
            lines.append(
                f"(timeout set to {seconds} s; {_MIN_SECONDS} to {self._max_seconds} are allowed)"
            )
        ending = ending_for_person(result)
        if network and result.exit_code:
            lines += map(str, network.notes)
        if report:
            from modules.runs.failure_hints import failure_hints  # its patterns: for runs only

            hints, failure = failure_hints(
                *(program, result, report, limits),
                with_network=network is not None,
                remote_tool=self._remote_tool,
            )
            lines, ending = [*lines, *hints], failure or ending
        return self._outcome(program, result, place, before, lines, ending)

    def _outcome(
        self,
        program: Program,
        result: Result,
        place: str,
        before: FolderState | None,
        lines: Sequence[str],
        ending: Phrase,
    ) -> Outcome:
        """Return what came of *program*: for the model *lines* first, for people what they see.

        Without *lines* nothing is kept for the model.
        """
        from modules.pictures.run_pictures import run_pictures  # for runs only

        is_confined = place not in (MACHINE_PLACE, OUTSIDE_PLACE)
        file_changes, disarmed = self._watch.end(before, is_outside=not is_confined)
        notes = [*result.notes, *disarmed]
        told = [*lines, *map(str, notes)]
        text = clean(result.whole).strip("\n")
        if lines:
            told.append(self._outputs.shorten(text) if text else NO_OUTPUT)
            told += describe_changes(file_changes)
        toolchains = self._sandbox.get().toolchains()
        shown = toolchains.folders if is_confined else ()
        card = RunCard(
            program.language,
            program.code,
            result.output,
            result.exit_code,
            ending,
            result.seconds,
            place,
            file_changes.run_later_first(),
            pictures=run_pictures(self._root, file_changes.changes),
            shown_folders=tuple(map(toolchains.shortened, shown)),
        )
        return Outcome(
            *("\n".join(told), card, result.exit_code == 0, file_changes.changes),
            error_code=result.error_code,
        )

    def run_shell(
        self,
        command: str,
        stop: Stop,
        background: Background,
        environment: Mapping[str, str] | None,
    ) -> Generator[str, None, Result]:
        """Run *command*, a shell of the person's, with a terminal until it ends or *stop* is set.

        That is in the sandbox, without the network, or outside of it with *environment*. Raises
        `UserError` where it cannot be run.
        """
        program = Program("bash", command, has_terminal=True)
        limits = replace(self._limits, seconds=NO_TIME_LIMIT, total_output=sys.maxsize)
        sandbox = self._sandbox.get()
        if environment is not None:
            return (yield from sandbox.run_outside(program, limits, stop, environment, background))
        if prefix := sandbox.unapproved_python():
            raise UserError(other_python(prefix))
        with self._shells_watched:
            before = self._watch.begin()
        try:
            return (yield from sandbox.run(program, limits, stop, None, background))
        finally:
            with self._shells_watched:
                self._watch.disarm(before)

    def begin_watch(self) -> FolderState | None:
        """Return the state of the folder before a program that is not run here works in it."""
        return self._watch.begin()

    def end_watch(self, before: FolderState | None) -> tuple[FileChanges, Sequence[Phrase]]:
        """Return what changed since, and what was taken out of new repositories for our safety."""
        return self._watch.end(before)

    def outside_environment(self) -> Mapping[str, str]:
        """Return the environment of what runs outside the sandbox, without the person's secrets."""
        return self._outside_environment

    def guard_repository(self, folder: str) -> None:
        """Keep the repository in *folder* of the project as well, which is not a program's own."""
        self._watch.guard(folder)

    def _network(self) -> Network:
        """Return the way to packages, as the person gets them, and to hosts in the settings."""
        if self._network_access is None:
            from modules.sandbox.network.packages import package_network  # used by few

            self._network_access = package_network(
                self._root, self._package_variables, tuple(self._network_hosts)
            )
            self._untold = self._network_access.notes
        return self._network_access

    @contextmanager
    def _stop_of_run(self) -> Iterator[Stop]:
        """Yield what stops the program of a call, which whoever shows it may do as well."""
        if self.on_begin is None:
            yield self._stop
            return
        stop = Stop()
        with self._stop.on_stop(stop.set):
            self.on_begin(stop.set)
            yield stop

    def _run_sandboxed(
        self, program: Program, limits: Limits, stop: Stop, network: Network | None
    ) -> Generator[str, None, Result]:
        try:
            return (yield from self._sandbox.get().run(program, limits, stop, network))
        except UserError as error:
            raise ToolError(error.message, "sandbox") from error

    def _run_outside(
        self, program: Program, limits: Limits, stop: Stop, environment: Mapping[str, str]
    ) -> Generator[str, None, Result]:
        try:
            sandbox = self._sandbox.get()
            return (yield from sandbox.run_outside(program, limits, stop, environment))
        except UserError as error:
            raise ToolError(error.message) from error

    def _report(self) -> Report:
        try:
            return self._sandbox.report()
        except UserError as error:
            raise ToolError(error.message, "sandbox") from error

    def weak_sandbox_reason(self) -> Phrase | None:
        """Return why running must be asked about even where confined work is not, or None."""
        return weak_sandbox_reason(self._sandbox.report())

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.risk is not Risk.RUN or (self._jobs and self._jobs.only_sees(tool, arguments)):
            return None
        if prefix := self._sandbox.get().unapproved_python():
            reason = other_python(prefix)
            return AlwaysAskReason(reason.template, reason.values)
        if arguments.get("network"):
            return network_reason(self._network(), self._sandbox.report())
        return self.weak_sandbox_reason()

    def run_tier(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        if tool.spec.program is None:
            return ""
        if tool.spec.is_outside(arguments):
            return OUTSIDE_PLACE
        try:
            return self._sandbox.get().place
        except UserError:
            return ""  # the run itself says what is wrong

    def announcement(self) -> Phrase:
        """Return the tier in use, with what would make it better: a line for the start."""
        report = self._sandbox.report()
        if report.advice:
            return phrase("Sandbox {name} · {advice}", name=report.name, advice=report.advice)
        return phrase("Sandbox {name} · /status says what it does not protect", name=report.name)

    def context(self) -> Iterable[Section]:
        return [Section("machine", _OWN_MACHINE)] if self._sandbox.is_for_agent else []

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        yield from sandbox_status(
            *(self._sandbox, self._limits, self._wanted_limits),
            run_seconds=self._run_seconds,
            max_seconds=self._max_seconds,
        )
        if self._own_code.is_present and not self._sandbox.is_for_agent:
            yield phrase("Protected folders"), self._own_code.shown_paths()


def _result_of(running: Generator[str, None, Result]) -> Result:
    """Have *running* go on to its end, and return its result."""
    while True:
        try:
            next(running)
        except StopIteration as finished:
            result: Result = finished.value
            return result
