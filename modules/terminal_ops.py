"""The tools that run programs, in the sandbox, and say what these did to the files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Generator, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from core.cards import OUTSIDE_PLACE, Alarm, Change, RunCard
from core.feature import Feature
from core.hooks import (
    FlagsCalls,
    HoldsResources,
    ProvidesStatus,
    ProvidesWarnings,
    RunsForPerson,
)
from core.loop.approval import AlwaysAskReason
from core.tool_spec import OUTSIDE
from core.tools import Outcome, ProgramArgument, Risk, RunningTool, Tool, ToolError, tool
from modules.files.own_code import OwnCode
from modules.sandbox.network.package_index import network_of, pip_settings
from modules.sandbox.run.file_changes import FileChanges, FolderState, compare_scans, scan_files
from modules.sandbox.sandbox import Limits, Network, Program, Report, Result, Sandbox
from modules.sandbox.types import MAX_SECONDS
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import clean, visible
from utils.waiting import Stop

_MIN_SECONDS, _DEFAULT_SECONDS, _MAX_SECONDS = 1, 60, 600  # seconds
_MAX_NAMED = 30  # paths in one list for the model
_MAX_NAME = 300  # characters of each
_MAX_GUARDED = 200  # repositories inside the project
_SIGXFSZ_EXIT_CODE = 128 + 25  # the exit code of a program ended by SIGXFSZ


class RunFolder(Protocol):
    """The project, as far as it matters here."""

    root: Path
    own_code: OwnCode


class OutputShortener(Protocol):
    """Makes long texts short and keeps the rest readable."""

    def shorten(self, text: str, limit: int = ...) -> str: ...


class TerminalOps(
    Feature, HoldsResources, ProvidesWarnings, FlagsCalls, ProvidesStatus, RunsForPerson
):
    """Runs Python and shell commands of the model in the project folder."""

    def __init__(
        self,
        project: RunFolder,
        sandbox: Sandbox,
        stop: Stop,
        outputs: OutputShortener,
        *,
        network_hosts: Sequence[str] = (),
        pip_variables: Mapping[str, str] | None = None,
        run_seconds: int = _DEFAULT_SECONDS,
        call_seconds: int = _MAX_SECONDS,
        environment: Mapping[str, str] | None = None,
        secret_names: Container[str] = (),
    ) -> None:
        """*network_hosts* may be reached beside the package index when the person allows it.

        A call that names no time gets *run_seconds*, none more than *call_seconds*.

        *pip_variables* are those of the person's environment that pip obeys. What they run outside
        of the sandbox has all of their *environment*, what the model runs there all but
        *secret_names*.
        """
        self._person_environment = dict(environment or {})
        self._outside_environment = {
            name: value
            for name, value in self._person_environment.items()
            if name not in secret_names
        }
        self._pip_variables = pip_variables or {}
        self._network_hosts = network_hosts
        self._network_access: Network | None = None
        self._root, self._own_code = project.root, project.own_code
        self._sandbox = sandbox
        self._stop = stop
        self._outputs = outputs
        self._has_guarded = False
        self._max_seconds = call_seconds
        if (run_seconds, call_seconds) != (_DEFAULT_SECONDS, _MAX_SECONDS):
            default = min(run_seconds, call_seconds)
            for method in (self.run_python, self.run_command):
                setattr(self, method.__name__, _with_timeouts(method, default, call_seconds))

    def close(self) -> None:
        self._sandbox.close()

    def warnings(self) -> Sequence[Phrase]:
        return self._sandbox.warnings()

    @tool(
        Risk.RUN,
        phrase("Run Python in the sandbox."),
        verb=phrase("Run Python"),
        icon="play",
        subject="",
        program=ProgramArgument("python", "code"),
        unredacted=("code",),
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
    )
    def run_command(
        self,
        command: str,
        timeout: Annotated[int, f"seconds, up to {_MAX_SECONDS}"] = _DEFAULT_SECONDS,
        network: Annotated[bool, "as for run_python"] = False,
        where: Annotated[
            Literal["sandbox", "outside"], "outside asks the person: docker, systemctl, devices"
        ] = "sandbox",
    ) -> RunningTool:
        """Run a bash command in the project folder (no network, no input; .git is read-only;
        background processes end with the call)."""
        if "\0" in command:
            raise ToolError("A command cannot hold a NUL character. Nothing was run.")
        outside = self._outside_environment if where == OUTSIDE else None
        return (yield from self._run(Program("bash", command), timeout, network, outside))

    def run_for_person(self, command: str, *, is_private: bool) -> RunningTool:
        if "\0" in command:
            raise ToolError(phrase("A command cannot hold a NUL character. Nothing was run."))
        program, limits = Program("bash", command), Limits(seconds=MAX_SECONDS)
        before = scan_files(self._root, self._own_code.paths)
        result = yield from self._run_outside(program, limits, self._person_environment)
        lines = [] if is_private else [_ending_for_model(result, limits, MAX_SECONDS)]
        return self._outcome(program, result, OUTSIDE_PLACE, before, lines)

    def _run(
        self,
        program: Program,
        timeout: int,
        with_network: bool,
        outside: Mapping[str, str] | None = None,
    ) -> RunningTool:
        """Run *program* in the sandbox, or with the environment *outside* of it."""
        seconds = min(max(timeout, _MIN_SECONDS), self._max_seconds)
        limits = Limits(seconds=seconds)
        place = str(self._report().name) if outside is None else OUTSIDE_PLACE
        before = scan_files(self._root, self._own_code.paths)
        self._guard_repositories(before)
        if outside is None:
            network = self._network() if with_network else None
            result = yield from self._run_sandboxed(program, limits, network)
        else:
            result = yield from self._run_outside(program, limits, outside)
        lines = [_ending_for_model(result, limits, self._max_seconds)]
        if seconds != timeout:
            lines.append(
                f"(timeout set to {seconds} s; {_MIN_SECONDS} to {self._max_seconds} are allowed)"
            )
        return self._outcome(program, result, place, before, lines)

    def _outcome(
        self,
        program: Program,
        result: Result,
        place: str,
        before: FolderState | None,
        lines: Sequence[str],
    ) -> Outcome:
        """Return what came of *program*: for the model *lines* first, for people what they see.

        Without *lines* nothing is kept for the model.
        """
        file_changes = compare_scans(before, scan_files(self._root, self._own_code.paths))
        told = [*lines, *map(str, result.notes)]
        text = clean(result.whole).strip("\n")
        if lines:
            told.append(self._outputs.shorten(text) if text else "(no output)")
            told += _describe_changes(file_changes)
        card = RunCard(
            program.language,
            program.code,
            result.output,
            result.exit_code,
            _ending_for_person(result),
            result.seconds,
            place,
            file_changes.run_later_first(),
        )
        return Outcome(
            "\n".join(told), card, ok=result.exit_code == 0, changes=file_changes.changes
        )

    def _guard_repositories(self, state: FolderState | None) -> None:
        """Keep the repositories inside the project, those that were there before we ran anything.

        Undo never holds what is in a `.git`; one that a program made itself is its own to change.
        """
        if not self._has_guarded and state is not None:
            self._has_guarded = True
            repositories = sorted(path for path in state.folders if path.endswith("/.git"))
            self._sandbox.protect(repositories[:_MAX_GUARDED])

    def _network(self) -> Network:
        """Return the way to the hosts that the person's pip uses, and to those in the settings."""
        if self._network_access is None:
            settings = pip_settings(self._pip_variables)
            self._network_access = network_of(settings, tuple(self._network_hosts))
        return self._network_access

    def _run_sandboxed(
        self, program: Program, limits: Limits, network: Network | None
    ) -> Generator[str, None, Result]:
        try:
            return (yield from self._sandbox.run(program, limits, self._stop, network))
        except UserError as error:
            raise ToolError(error.message) from error

    def _run_outside(
        self, program: Program, limits: Limits, environment: Mapping[str, str]
    ) -> Generator[str, None, Result]:
        try:
            return (yield from self._sandbox.run_outside(program, limits, self._stop, environment))
        except UserError as error:
            raise ToolError(error.message) from error

    def _report(self) -> Report:
        try:
            return self._sandbox.report()
        except UserError as error:
            raise ToolError(error.message) from error

    def weak_sandbox_reason(self) -> Phrase | None:
        """Return why running must be asked about even where confined work is not, or None."""
        match self._sandbox.report().tier:
            case "A" | "B":
                return None
            case "C":
                return phrase(
                    "Here the sandbox is a weaker one: programs can change permissions and times "
                    "of files outside the project."
                )
            case "M":
                return phrase(
                    "Here the sandbox is one that was written from books and never tried out."
                )
            case "D":
                return phrase("Here programs run without a sandbox: they can do all that you can.")

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.risk is not Risk.RUN:
            return None
        if prefix := self._sandbox.unapproved_python():
            reason = phrase(
                "The project's environment names another Python than before: programs would be "
                "able to read {path}.",
                path=visible(str(prefix)),
            )
            return AlwaysAskReason(reason.template, reason.values)
        if arguments.get("network"):
            hosts = ", ".join(self._network().names())
            return phrase(
                "It may reach these hosts and send them what it reads: {hosts}", hosts=hosts
            )
        return self.weak_sandbox_reason()

    def announcement(self) -> Phrase:
        """Return the tier in use, with what would make it better: a line for the start."""
        report = self._sandbox.report()
        if report.advice:
            return phrase("Sandbox {name} · {advice}", name=report.name, advice=report.advice)
        return phrase("Sandbox {name} · /status says what it does not protect", name=report.name)

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        report = self._sandbox.report()
        name = report.name
        yield (
            phrase("Sandbox"),
            Alarm(name.template, name.values) if self._sandbox.is_machine else name,
        )
        for gap in report.does_not_protect:
            yield phrase("Not protected"), gap
        if report.advice:
            yield phrase("For a better sandbox"), report.advice
        if self._own_code.is_present:
            yield phrase("Protected folders"), self._own_code.shown_paths()


def _with_timeouts(
    run: Callable[..., RunningTool], default: int, largest: int
) -> Callable[..., RunningTool]:
    """Return the tool *run* with other times than those it was written with, said in its schema."""

    @wraps(run)
    def wrapper(*arguments: Any, **named: Any) -> RunningTool:
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        return run(*given.args, **given.kwargs)

    original = inspect.signature(run)
    time = original.parameters["timeout"].replace(default=default)
    signature = original.replace(
        parameters=list((original.parameters | {"timeout": time}).values())
    )
    wrapper.__signature__ = signature  # type: ignore[attr-defined]
    timeout = Annotated[int, f"seconds, up to {largest}"]
    wrapper.__annotations__ = {**run.__annotations__, "timeout": timeout}
    return wrapper


def _ending_for_model(result: Result, limits: Limits, largest: int) -> str:
    """Say for the model how the run ended; no call may take more than *largest* seconds."""
    seconds = f"{result.seconds:.1f} s"
    match result.exit_reason:
        case "exited":
            note = ": a file grew too large" if result.exit_code == _SIGXFSZ_EXIT_CODE else ""
            return f"exit code {result.exit_code} ({seconds}){note}"
        case "timed out":
            is_longest = limits.seconds >= largest
            allowance = "is not allowed" if is_longest else f"(up to {largest}) can be asked for"
            return f"Killed after {limits.seconds:g} s, the timeout; a longer one {allowance}."
        case "stopped":
            return f"Stopped by the person after {seconds}."
        case "memory":
            return f"Killed: it used more than {limits.memory >> 20:,} MiB of memory ({seconds})."
        case "processes":
            return f"Killed: it had more than {limits.processes} processes ({seconds})."
        case "output":
            return f"Killed: it wrote over {limits.total_output:,} bytes of output ({seconds})."
        case "disk":
            return f"Killed: it wrote over {limits.disk_growth >> 20:,} MiB to disk ({seconds})."
        case "files":
            return f"Killed: it made too many files ({seconds})."
        case "killed":
            return f"Killed by the system, maybe for lack of memory ({seconds})."


def _ending_for_person(result: Result) -> Phrase:
    """Say for people how the run ended."""
    match result.exit_reason:
        case "exited":
            return phrase("done") if result.exit_code == 0 else phrase("failed")
        case "timed out":
            return phrase("the time was up")
        case "stopped":
            return phrase("broken off")
        case "memory":
            return phrase("it used too much memory")
        case "processes":
            return phrase("it had too many processes")
        case "output":
            return phrase("it wrote too much output")
        case "disk":
            return phrase("it wrote too much to disk")
        case "files":
            return phrase("it made too many files")
        case "killed":
            return phrase("the system killed it")


def _describe_changes(file_changes: FileChanges) -> list[str]:
    """Say for the model what the run did to the files."""
    if not file_changes.are_known:
        return ["(the folder is too large to tell which files the run changed)"]
    lines = []
    kinds: tuple[Literal["created", "modified", "deleted", "renamed"], ...]
    kinds = ("created", "modified", "deleted", "renamed")
    for kind in kinds:
        if names := [
            _describe_change(change) for change in file_changes.changes if change.kind == kind
        ]:
            lines.append(f"Files {kind}: {_join_names(names)}")
    if file_changes.run_later:
        names = [_shown_path(path) for path in file_changes.run_later]
        lines.append(f"Of these, other programs may run or obey later: {_join_names(names)}")
    return lines


def _describe_change(change: Change) -> str:
    old, new = _shown_path(change.path), _shown_path(change.new_path)
    return f"{old} -> {new}" if change.kind == "renamed" else old


def _shown_path(path: str) -> str:
    """Return *path* as it is told; of one without end, both ends."""
    text = visible(path)
    half = _MAX_NAME // 2
    return text if len(text) <= _MAX_NAME else f"{text[:half]}…{text[-half:]}"


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")
