"""The tools that run programs, in the sandbox, and say what these did to the files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from core.cards import Change, RunCard
from core.feature import Feature
from core.hooks import FlagsCalls, HoldsResources, ProvidesStatus, ProvidesWarnings
from core.loop.approval import AlwaysAskReason
from core.tools import Outcome, ProgramArgument, Risk, Running, Tool, ToolError, tool
from modules.files.own_code import OwnCode
from modules.sandbox.network.package_index import network_of, pip_settings
from modules.sandbox.run.file_changes import FileChanges, FolderState, effects, look
from modules.sandbox.sandbox import Limits, Network, Program, Report, Result, Sandbox
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import clean, visible
from utils.waiting import Stop

_SHORTEST, _DEFAULT, _LARGEST = 1, 60, 600  # seconds
_MOST_NAMED = 30  # paths in one list for the model
_LONGEST_NAME = 300  # characters of each
_MOST_GUARDED = 200  # repositories inside the project
_TOO_BIG_A_FILE = 128 + 25  # the exit code of a program ended by SIGXFSZ


class RunFolder(Protocol):
    """The project, as far as it matters here."""

    root: Path
    own: OwnCode


class Fitter(Protocol):
    """Makes long texts short and keeps the rest readable."""

    def fit(self, text: str, limit: int = ...) -> str: ...


class TerminalOps(Feature, HoldsResources, ProvidesWarnings, FlagsCalls, ProvidesStatus):
    """Runs Python and shell commands of the model in the project folder."""

    def __init__(
        self,
        project: RunFolder,
        sandbox: Sandbox,
        stop: Stop,
        outputs: Fitter,
        *,
        network_hosts: Sequence[str] = (),
        pip_variables: Mapping[str, str] | None = None,
        run_seconds: int = _DEFAULT,
        call_seconds: int = _LARGEST,
    ) -> None:
        """*network_hosts* may be reached beside the package index when the person allows it.

        A call that names no time gets *run_seconds*, none more than *call_seconds*.

        *pip_variables* are those of the person's environment that pip obeys.
        """
        self._pip_variables = pip_variables or {}
        self._network_hosts = network_hosts
        self._way_out: Network | None = None
        self._root, self._own = project.root, project.own
        self._sandbox = sandbox
        self._stop = stop
        self._outputs = outputs
        self._has_guarded = False
        self._largest = call_seconds
        if (run_seconds, call_seconds) != (_DEFAULT, _LARGEST):
            default = min(run_seconds, call_seconds)
            for method in (self.run_python, self.run_command):
                setattr(self, method.__name__, _with_times(method, default, call_seconds))

    def close(self) -> None:
        self._sandbox.close()

    def warnings(self) -> Sequence[Phrase]:
        return self._sandbox.news()

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
        timeout: Annotated[int, f"seconds, up to {_LARGEST}"] = _DEFAULT,
        network: Annotated[bool, "asks the person; package index and allowed hosts"] = False,
    ) -> Running:
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
    )
    def run_command(
        self,
        command: str,
        timeout: Annotated[int, f"seconds, up to {_LARGEST}"] = _DEFAULT,
        network: Annotated[bool, "as for run_python"] = False,
    ) -> Running:
        """Run a bash command in the project folder (no network, no input; .git is read-only;
        background processes end with the call)."""
        if "\0" in command:
            raise ToolError("A command cannot hold a NUL character. Nothing was run.")
        return (yield from self._run(Program("bash", command), timeout, network))

    def _run(self, program: Program, timeout: int, with_network: bool) -> Running:
        seconds = min(max(timeout, _SHORTEST), self._largest)
        report, limits = self._report(), Limits(seconds=seconds)
        before = look(self._root, self._own.paths)
        self._guard(before)
        network = self._network() if with_network else None
        result = yield from self._result(program, limits, network)
        done = effects(before, look(self._root, self._own.paths))
        told = [_ending(result, limits, self._largest)]
        if seconds != timeout:
            told.append(f"(timeout set to {seconds} s; {_SHORTEST} to {self._largest} are allowed)")
        told += [str(note) for note in result.notes]
        text = clean(result.whole).strip("\n")
        told += [self._outputs.fit(text) if text else "(no output)", *_in_words(done)]
        card = RunCard(
            program.language,
            program.code,
            result.output,
            result.exit_code,
            _why(result),
            result.seconds,
            str(report.name),
            done.for_people(),
        )
        return Outcome("\n".join(told), card, ok=result.exit_code == 0, changes=done.changes)

    def _guard(self, found: FolderState | None) -> None:
        """Keep the repositories inside the project, those that were there before we ran anything.

        Undo never holds what is in a `.git`; one that a program made itself is its own to change.
        """
        if not self._has_guarded and found is not None:
            self._has_guarded = True
            inner = sorted(path for path in found.folders if path.endswith("/.git"))
            self._sandbox.guard(inner[:_MOST_GUARDED])

    def _network(self) -> Network:
        """Return the way to the hosts that the person's pip uses, and to those in the settings."""
        if self._way_out is None:
            settings = pip_settings(self._pip_variables)
            self._way_out = network_of(settings, tuple(self._network_hosts))
        return self._way_out

    def _result(
        self, program: Program, limits: Limits, network: Network | None
    ) -> Generator[str, None, Result]:
        try:
            return (yield from self._sandbox.run(program, limits, self._stop, network))
        except UserError as problem:
            raise ToolError(problem.what) from problem

    def _report(self) -> Report:
        try:
            return self._sandbox.report()
        except UserError as problem:
            raise ToolError(problem.what) from problem

    def needs_leave(self) -> Phrase | None:
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

    def concern(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.risk is not Risk.RUN:
            return None
        if prefix := self._sandbox.other_python():
            what = phrase(
                "The project's environment names another Python than before: programs would be "
                "able to read {path}.",
                path=visible(str(prefix)),
            )
            return AlwaysAskReason(what.template, what.values)
        if arguments.get("network"):
            hosts = ", ".join(self._network().names())
            return phrase(
                "It may reach these hosts and send them what it reads: {hosts}", hosts=hosts
            )
        return self.needs_leave()

    def announcement(self) -> Phrase:
        """Return the tier in use, with what would make it better: a line for the start."""
        report = self._sandbox.report()
        if report.advice:
            return phrase("Sandbox {name} · {advice}", name=report.name, advice=report.advice)
        return phrase("Sandbox {name} · /status says what it does not protect", name=report.name)

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        report = self._sandbox.report()
        yield phrase("Sandbox"), report.name
        for what in report.does_not_protect:
            yield phrase("Not protected"), what
        if report.advice:
            yield phrase("For a better sandbox"), report.advice
        if self._own.is_some:
            yield phrase("Protected folders"), self._own.named()


def _with_times(run: Callable[..., Running], default: int, largest: int) -> Callable[..., Running]:
    """Return the tool *run* with other times than those it was written with, said in its schema."""

    @wraps(run)
    def timed(*arguments: Any, **named: Any) -> Running:
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        return run(*given.args, **given.kwargs)

    written = inspect.signature(run)
    time = written.parameters["timeout"].replace(default=default)
    signature = written.replace(parameters=list((written.parameters | {"timeout": time}).values()))
    timed.__signature__ = signature  # type: ignore[attr-defined]
    timeout = Annotated[int, f"seconds, up to {largest}"]
    timed.__annotations__ = {**run.__annotations__, "timeout": timeout}
    return timed


def _ending(result: Result, limits: Limits, largest: int) -> str:
    """Say for the model how the run ended; no call may take more than *largest* seconds."""
    seconds = f"{result.seconds:.1f} s"
    match result.why:
        case "exited":
            over = ": a file grew too large" if result.exit_code == _TOO_BIG_A_FILE else ""
            return f"exit code {result.exit_code} ({seconds}){over}"
        case "timed out":
            is_longest = limits.seconds >= largest
            more = "is not allowed" if is_longest else f"(up to {largest}) can be asked for"
            return f"Killed after {limits.seconds:g} s, the timeout; a longer one {more}."
        case "stopped":
            return f"Stopped by the person after {seconds}."
        case "memory":
            return f"Killed: it used more than {limits.memory >> 20:,} MiB of memory ({seconds})."
        case "processes":
            return f"Killed: it had more than {limits.processes} processes ({seconds})."
        case "output":
            return f"Killed: it wrote over {limits.output_at_all:,} bytes of output ({seconds})."
        case "disk":
            return f"Killed: it wrote over {limits.disk_growth >> 20:,} MiB to disk ({seconds})."
        case "files":
            return f"Killed: it made too many files ({seconds})."
        case "killed":
            return f"Killed by the system, maybe for lack of memory ({seconds})."


def _why(result: Result) -> Phrase:
    """Say for people how the run ended."""
    match result.why:
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


def _in_words(done: FileChanges) -> list[str]:
    """Say for the model what the run did to the files."""
    if not done.are_known:
        return ["(the folder is too large to tell which files the run changed)"]
    lines = []
    kinds: tuple[Literal["created", "modified", "deleted", "renamed"], ...]
    kinds = ("created", "modified", "deleted", "renamed")
    for kind in kinds:
        if names := [_named(change) for change in done.changes if change.kind == kind]:
            lines.append(f"Files {kind}: {_listed(names)}")
    if done.run_later:
        names = [_name(path) for path in done.run_later]
        lines.append(f"Of these, other programs may run or obey later: {_listed(names)}")
    return lines


def _named(change: Change) -> str:
    old, new = _name(change.path), _name(change.new_path)
    return f"{old} -> {new}" if change.kind == "renamed" else old


def _name(path: str) -> str:
    """Return *path* as it is told; of one without end, both ends."""
    text = visible(path)
    half = _LONGEST_NAME // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[:half]}…{text[-half:]}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
