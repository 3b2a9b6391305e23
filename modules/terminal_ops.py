"""The tools that run programs, in the sandbox, and say what these did to the files."""

from __future__ import annotations

import inspect
from collections.abc import (
    Callable,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from core.cards import MACHINE_PLACE, OUTSIDE_PLACE, Alarm, Change, RunCard
from core.feature import Feature
from core.hooks import (
    FlagsCalls,
    HoldsResources,
    ProvidesStatus,
    ProvidesWarnings,
    RunsForPerson,
)
from core.loop.approval import NO_BACKGROUND_OUTSIDE, AlwaysAskReason, PackagesReason
from core.tool_spec import OUTSIDE
from core.tools import Outcome, ProgramArgument, Risk, RunningTool, Tool, ToolError, tool
from modules.files.own_code import OwnCode
from modules.pictures.run_pictures import run_pictures
from modules.sandbox.limits.capacity import exceeding, fit_to_machine
from modules.sandbox.run.file_changes import FileChanges, FolderState, compare_scans, scan_files
from modules.sandbox.sandbox import Limits, Network, Program, Report, Result, Sandbox
from modules.sandbox.types import MAX_SECONDS, MEBIBYTE, TierName
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.programs import search_path_outside
from utils.text.clean import clean, visible
from utils.waiting import Stop

NO_OUTPUT = "(no output)"
SUCCESS_PREFIX = "exit code 0 "
STOPPED_RUN_PREFIX = "Stopped by the person"
FILES_PREFIXES: Mapping[Literal["created", "modified", "deleted", "renamed"], str] = {
    "created": "Files created: ",
    "modified": "Files modified: ",
    "deleted": "Files deleted: ",
    "renamed": "Files renamed: ",
}
RUN_LATER_PREFIX = "Of these, other programs may run or obey later: "
CHANGES_UNKNOWN = "(the folder is too large to tell which files the run changed)"
"""Words of the answer, by which the practice model knows its parts."""

_MIN_SECONDS, _DEFAULT_SECONDS, _MAX_SECONDS = 1, 60, 600  # seconds
_DEFAULT_LIMITS = Limits()
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


class JobStarter(Protocol):
    """Runs a command in the background."""

    def begin(self, command: str, network: Network | None) -> RunningTool: ...


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
        jobs: JobStarter | None = None,
        network_hosts: Sequence[str] = (),
        package_variables: Mapping[str, str] | None = None,
        run_seconds: int = _DEFAULT_SECONDS,
        call_seconds: int = _MAX_SECONDS,
        limits: Limits = _DEFAULT_LIMITS,
        environment: Mapping[str, str] | None = None,
        secret_names: Container[str] = (),
    ) -> None:
        """*network_hosts* may be reached beside the package index when the person allows it.

        A call that names no time gets *run_seconds*, none more than *call_seconds*; of *limits*
        it gets as much as this machine has.

        *package_variables* are those of the person's environment, for their package managers. What
        they run outside of the sandbox has all of their *environment*, what the model runs there
        all but *secret_names*.
        """
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
        self._root, self._own_code = project.root, project.own_code
        self._sandbox = sandbox
        self._stop = stop
        self._outputs = outputs
        self._jobs = jobs
        self._has_guarded = False
        self._guarded: list[str] = []
        self._wanted_limits, self._limits = limits, fit_to_machine(limits, project.root)
        self._run_seconds, self._max_seconds = min(run_seconds, call_seconds), call_seconds
        if (run_seconds, call_seconds) != (_DEFAULT_SECONDS, _MAX_SECONDS):
            for method in (self.run_python, self.run_command):
                timed = _with_timeouts(method, self._run_seconds, call_seconds)
                setattr(self, method.__name__, timed)

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
        background: Annotated[bool, "run on as a job; later calls reach its ports"] = False,
        where: Annotated[
            Literal["sandbox", "outside"], "outside asks the person: docker, systemctl, devices"
        ] = "sandbox",
    ) -> RunningTool:
        """Run a bash command in the project folder (no network, no input; its processes end with
        the call)."""
        if "\0" in command:
            raise ToolError("A command cannot hold a NUL character. Nothing was run.")
        outside = self._outside_environment if where == OUTSIDE else None
        if background and self._jobs:
            if outside is not None:
                raise ToolError(NO_BACKGROUND_OUTSIDE)
            self._guard_repositories(scan_files(self._root, self._own_code.paths))
            return (yield from self._jobs.begin(command, self._network() if network else None))
        return (yield from self._run(Program("bash", command), timeout, network, outside))

    def run_for_person(self, command: str, *, is_private: bool) -> RunningTool:
        if "\0" in command:
            raise ToolError(phrase("A command cannot hold a NUL character. Nothing was run."))
        program, limits = Program("bash", command), replace(self._limits, seconds=MAX_SECONDS)
        before = scan_files(self._root, self._own_code.paths)
        result = yield from self._run_outside(program, limits, self._person_environment)
        lines = [] if is_private else [ending_for_model(result, limits, MAX_SECONDS)]
        outcome = self._outcome(
            program, result, OUTSIDE_PLACE, before, lines, ending_for_person(result)
        )
        if isinstance(outcome.card, RunCard) and outcome.card.changes:
            note = phrase("/undo does not take this back")
            return replace(outcome, card=replace(outcome.card, note=note))
        return outcome

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
        place = self._sandbox.place if report else OUTSIDE_PLACE
        before = scan_files(self._root, self._own_code.paths)
        self._guard_repositories(before)
        network = self._network() if with_network and outside is None else None
        if outside is None:
            result = yield from self._run_sandboxed(program, limits, network)
        else:
            result = yield from self._run_outside(program, limits, outside)
        lines = [ending_for_model(result, limits, self._max_seconds)]
        if seconds != timeout:
            lines.append(
                f"(timeout set to {seconds} s; {_MIN_SECONDS} to {self._max_seconds} are allowed)"
            )
        ending = ending_for_person(result)
        if report and network is None and _is_for_network(result, report):
            lines.append(_network_hint(report))
            ending = _failed_for_network(report)
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
        file_changes = compare_scans(before, scan_files(self._root, self._own_code.paths))
        told = [*lines, *map(str, result.notes)]
        text = clean(result.whole).strip("\n")
        if lines:
            told.append(self._outputs.shorten(text) if text else NO_OUTPUT)
            told += _describe_changes(file_changes)
        toolchains = self._sandbox.toolchains()
        shown = () if place in (MACHINE_PLACE, OUTSIDE_PLACE) else toolchains.folders
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
            "\n".join(told), card, ok=result.exit_code == 0, changes=file_changes.changes
        )

    def _guard_repositories(self, state: FolderState | None) -> None:
        """Keep the repositories inside the project, those that were there before we ran anything.

        Undo never holds what is in a `.git`; one that a program made itself is its own to change.
        """
        if not self._has_guarded and state is not None:
            self._has_guarded = True
            found = sorted(path for path in state.folders if path.endswith("/.git"))
            self._guarded += found[:_MAX_GUARDED]
            self._sandbox.protect(self._guarded)

    def guard_repository(self, folder: str) -> None:
        """Keep the repository in *folder* of the project as well, which is not a program's own."""
        self._guarded.append(f"{folder}/.git")
        self._sandbox.protect(self._guarded)

    def _network(self) -> Network:
        """Return the way to packages, as the person gets them, and to hosts in the settings."""
        if self._network_access is None:
            from modules.sandbox.network.packages import package_network  # used by few

            self._network_access = package_network(
                self._root, self._package_variables, tuple(self._network_hosts)
            )
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
            case TierName.BUBBLEWRAP | TierName.BUBBLEWRAP_WITHOUT_PROC:
                return None
            case TierName.LANDLOCK:
                return phrase(
                    "Here the sandbox is a weaker one: programs can change permissions and times "
                    "of files outside the project."
                )
            case TierName.SEATBELT:
                return phrase(
                    "Here the sandbox is one that was written from books and never tried out."
                )
            case TierName.LIMITS_ONLY:
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
            return self._network_reason()
        return self.weak_sandbox_reason()

    def _network_reason(self) -> Phrase:
        """Return why a run with the network is asked about."""
        network = self._network()
        hosts = ", ".join(network.names())
        if self._sandbox.report().tier not in ("A", "B"):
            return phrase(
                "It may reach these hosts and send them what it reads: {hosts}", hosts=hosts
            )
        if network.hosts:
            return phrase(
                "It may read packages from the usual indexes and yours, and reach these hosts and "
                "send them what it reads: {hosts}",
                hosts=", ".join(network.hosts),
            )
        reason = phrase(
            "It may read packages from the usual indexes and yours ({hosts}); what it asks for can "
            "tell them of what it reads.",
            hosts=hosts,
        )
        return PackagesReason(reason.template, reason.values)

    def announcement(self) -> Phrase:
        """Return the tier in use, with what would make it better: a line for the start."""
        report = self._sandbox.report()
        if report.advice:
            return phrase("Sandbox {name} · {advice}", name=report.name, advice=report.advice)
        return phrase("Sandbox {name} · /status says what it does not protect", name=report.name)

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        report = self._sandbox.report()
        name, is_unconfined = report.name, report.tier is TierName.LIMITS_ONLY
        yield (
            phrase("Sandbox"),
            Alarm(name.template, name.values) if is_unconfined else name,
        )
        for gap in report.does_not_protect:
            yield phrase("Not protected"), gap
        if report.advice:
            yield phrase("For a better sandbox"), report.advice
        yield from self._shown_folders()
        yield phrase("Limits of a run"), self._limits_in_words()
        if exceeding_settings := exceeding(self._wanted_limits, self._limits):
            yield (
                phrase("All that this machine has"),
                phrase("{settings} say more", settings=", ".join(exceeding_settings)),
            )
        if self._own_code.is_present:
            yield phrase("Protected folders"), self._own_code.shown_paths()

    def _limits_in_words(self) -> Phrase:
        limits = self._limits
        return phrase(
            "{seconds} s unless it asks for up to {longest}, {memory} MiB of memory, {processes} "
            "processes, {disk} MiB of disk, {tmp} MiB in /tmp, {output} MB of output",
            seconds=self._run_seconds,
            longest=self._max_seconds,
            memory=f"{limits.memory // MEBIBYTE:,}",
            processes=f"{limits.processes:,}",
            disk=f"{limits.disk_growth // MEBIBYTE:,}",
            tmp=f"{limits.tmp_size // MEBIBYTE:,}",
            output=limits.total_output // 1_000_000,
        )

    def _shown_folders(self) -> Iterator[tuple[Phrase, Text]]:
        """Yield the person's folders that programs read, and what of them is kept from them."""
        toolchains = self._sandbox.toolchains()

        def join(paths: Sequence[Path]) -> str:
            return _join_names([visible(toolchains.shortened(path)) for path in paths])

        if toolchains.folders:
            yield phrase("Shown folders"), join(toolchains.folders)
        if toolchains.covered:
            yield phrase("Hidden in them"), join(toolchains.covered)
        for path, why in toolchains.refused[:_MAX_NAMED]:
            yield phrase("Not shown"), phrase("{path}: {why}", path=join([path]), why=why)


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


def ending_for_model(result: Result, limits: Limits, largest: int) -> str:
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
            return f"{STOPPED_RUN_PREFIX} after {seconds}."
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


def ending_for_person(result: Result) -> Phrase:
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


def _is_for_network(result: Result, report: Report) -> bool:
    """Return whether a run without the network looks as if it failed for want of that."""
    from modules.sandbox.network.offline import lacks_network  # its patterns: for failures only

    is_failure = result.exit_reason == "timed out" or bool(result.exit_code)
    is_cut_off = report.tier is not TierName.LIMITS_ONLY
    return is_failure and is_cut_off and lacks_network(result.head + result.tail)


def _network_hint(report: Report) -> str:
    if report.tier in (TierName.LANDLOCK, TierName.SEATBELT):
        return "It looks like want of network, to which there is no way in this sandbox."
    return "It looks like want of network: call again with network=true to ask the person for it."


def _failed_for_network(report: Report) -> Phrase:
    if report.tier in (TierName.LANDLOCK, TierName.SEATBELT):
        return phrase("failed: in this sandbox there is no way to the network")
    return phrase("failed: it had no network (network=true asks for it)")


def _describe_changes(file_changes: FileChanges) -> list[str]:
    """Say for the model what the run did to the files."""
    if not file_changes.are_known:
        return [CHANGES_UNKNOWN]
    lines = []
    for kind, prefix in FILES_PREFIXES.items():
        if names := [
            _describe_change(change) for change in file_changes.changes if change.kind == kind
        ]:
            lines.append(f"{prefix}{_join_names(names)}")
    if file_changes.run_later:
        names = [_shown_path(path) for path in file_changes.run_later]
        lines.append(f"{RUN_LATER_PREFIX}{_join_names(names)}")
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
