"""The tiers of confinement: how a program is started in each, and what each does not protect."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from modules.sandbox.backends.bubblewrap import Bubblewrap, Descriptors, environment_of
from modules.sandbox.backends.seatbelt import arguments as seatbelt
from modules.sandbox.backends.seccomp import filter_program
from modules.sandbox.filesystem.etc import exposed_paths
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.limits.rlimits import inner_limits
from modules.sandbox.network.proxy import SOCKET_IN_SANDBOX
from modules.sandbox.run.process import LaunchSpec
from modules.sandbox.run.python_runner import runner
from modules.sandbox.types import MAX_SECONDS, PORT, Limits, Program, TierName
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible

_LAUNCHER = Path(__file__).with_name("launcher.py")
_RELAY = Path(__file__).parents[1] / "network" / "relay.py"
# `read` and `eval` are built in: the command needs no file and no second process.
_BASH = 'IFS= read -r -d "" -u {0} code; exec {0}<&- </dev/null; eval "unset -v code; $code"'


class Tier(Protocol):
    """Backend that confines programs in one way."""

    @property
    def name(self) -> TierName: ...

    @property
    def has_mounts(self) -> bool:
        """Whether it can mount something else in the place of what is in the project."""
        ...

    def launch_spec(
        self, plan: MountPlan, program: Program, *, is_prewarmed: bool = False
    ) -> LaunchSpec:
        """Return how to launch *program*; if it *waits*, its code is sent to it later."""
        ...


@dataclass(frozen=True, slots=True)
class BubblewrapTier:
    """Tiers A and B: bubblewrap, with a /proc of its own or with none."""

    bubblewrap: Bubblewrap

    @property
    def name(self) -> TierName:
        return "A" if self.bubblewrap.has_proc else "B"

    @property
    def has_mounts(self) -> bool:
        return True

    def launch_spec(
        self, plan: MountPlan, program: Program, *, is_prewarmed: bool = False
    ) -> LaunchSpec:
        return LaunchSpec(
            wrapper=lambda descriptors: self.bubblewrap.arguments(plan, descriptors),
            command=lambda code_fd, control_fd: [
                *_relay_command(plan),
                *command_for(program, plan, code_fd, control_fd),
            ],
            code=program.code,
            seccomp=filter_program("namespaces"),
            folders=(plan.project,),
            tmpfs_folders=(Path("/tmp"), Path("/dev/shm"), plan.home),  # noqa: S108
            notes=_notes(plan, plan.read_only_folders),
            is_prewarmed=is_prewarmed,
            has_user_namespace=True,
        )


@dataclass(frozen=True, slots=True)
class LauncherTier:
    """Tiers C (Landlock and the filter), M (Seatbelt of macOS) and D (limits only).

    In *folder* each call gets a folder of its own for home and temporary files.
    """

    name: Literal["C", "M", "D"]
    folder: Path

    @property
    def has_mounts(self) -> bool:
        return False

    def launch_spec(
        self, plan: MountPlan, program: Program, *, is_prewarmed: bool = False
    ) -> LaunchSpec:
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.folder))
        return LaunchSpec(
            wrapper=lambda descriptors: self._arguments(plan, scratch, descriptors),
            command=lambda code_fd, control_fd: [
                *(seatbelt(plan, scratch) if self.name == "M" else ()),
                *command_for(program, plan, code_fd, control_fd),
            ],
            code=program.code,
            seccomp=filter_program("none") if self.name == "C" else b"",
            folders=(plan.project, scratch),
            notes=_notes(plan, _unwritable_folders(plan) if self.name == "C" else ()),
            end_signal=signal.SIGTERM,
            is_prewarmed=is_prewarmed,
        )

    def _arguments(self, plan: MountPlan, scratch: Path, descriptors: Descriptors) -> list[str]:
        settings = {
            "status": descriptors.status,
            "gate": descriptors.block,
            "filter": descriptors.seccomp,
            "confine": self.name == "C",
            "limits": inner_limits(Limits(seconds=MAX_SECONDS)),
            "folder": str(plan.project),
            "parent": os.getpid(),
            "environment": {
                **environment_of(plan, is_cut_off=self.name != "D"),
                **{"HOME": str(scratch), "TMPDIR": str(scratch)},
                "GIT_CONFIG_NOSYSTEM": "1",  # git gives up where it is there and may not be read
            },
            "read": _readable_paths(plan),
            "write": [str(plan.project), str(scratch), "/dev/null"],
            "own": [str(path) for path in (*plan.own_code, *plan.protected_links)],
            "hidden": [str(path) for path in plan.hidden],
        }
        return [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(settings)]


def command_for(
    program: Program, plan: MountPlan, code_fd: int, control_fd: int | None = None
) -> Sequence[str]:
    """Return the command that runs *program*, whose code is read from the descriptor *code_fd*.

    With a *control_fd* it is Python that waits there (see `python_runner`).
    """
    if program.language == "bash":
        return ["/bin/bash", "-c", _BASH.format(code_fd), "bash"]
    if plan.interpreter is None:
        raise UserError(phrase("There is no Python 3 on this machine that programs may use."))
    if control_fd is None:
        return [str(plan.interpreter.python), "-c", runner(code_fd)]
    interpreter = plan.interpreter
    command = (
        [str(interpreter.python.resolve()), "-S"]
        if interpreter.environment
        else [str(interpreter.python)]
    )
    return [*command, "-c", runner(code_fd, control_fd, interpreter)]


def _relay_command(plan: MountPlan) -> list[str]:
    """Return the relay to put before a command that shall reach the network."""
    if not plan.network:
        return []
    if plan.interpreter is None:
        raise UserError(phrase("There is no Python 3 on this machine that programs may use."))
    python = str(plan.interpreter.python.resolve())
    return [python, "-I", "-S", "-c", _RELAY.read_text("utf-8"), SOCKET_IN_SANDBOX, str(PORT)]


def _readable_paths(plan: MountPlan) -> list[str]:
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"]
    devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
    interpreter = plan.interpreter
    prefix = [str(interpreter.prefix)] if interpreter and interpreter.prefix else []
    names = [
        *exposed_paths(Path("/etc")),
        *(Path("/etc", name) for name in ("passwd", "group", "hosts")),
    ]
    return [*system, *devices, *prefix, *(os.path.realpath(path) for path in names)]


def _unwritable_folders(plan: MountPlan) -> tuple[Path, ...]:
    """Return the folders in which Landlock, which only ever allows, can allow nothing new."""
    protected = (*plan.own_code, *plan.protected_links, *plan.hidden)
    candidates = (plan.project, *plan.leading_to(protected)) if protected else ()
    is_own = {*plan.own_code}.intersection
    return tuple(path for path in candidates if path.exists() and not is_own({path, *path.parents}))


def _notes(plan: MountPlan, read_only: Sequence[Path]) -> tuple[Phrase, ...]:
    """Return the notes of a run in which nothing can change directly in the folders *read_only*."""
    note = plan.interpreter.note if plan.interpreter else None
    if not read_only:
        return (note,) if note else ()
    read_only_note = phrase(
        "Nothing can be made, renamed or removed directly in {folders} by a program: Onefold is "
        "loaded from there. In the other folders inside it can.",
        folders=", ".join(visible(str(path)) for path in read_only),
    )
    return (note, read_only_note) if note else (read_only_note,)


def tier_name(tier: TierName, *, has_group: bool = False) -> Phrase:
    """Return the name for people; with a control group, A is called A+."""
    match tier:
        case "A" if has_group:
            return phrase("A+: bubblewrap and a control group")
        case "A":
            return phrase("A: bubblewrap")
        case "B":
            return phrase("B: bubblewrap without /proc")
        case "C":
            return phrase("C: Landlock")
        case "M":
            return phrase("M: Seatbelt (never tried out by its makers)")
        case "D":
            return phrase("D: limits only")


_LATE_MEMORY_AND_DISK = phrase(
    "memory and disk use beyond the limits for up to a second, until it is noticed"
)
_LATE_DISK = phrase("disk use beyond the limit for up to a second, until it is noticed")
_WITH_NAMESPACES = (
    phrase("the number of files it makes"),
    phrase("files that your other programs run later: hooks, editor tasks, nested repositories"),
    phrase("sockets that your other programs keep inside the project"),
    phrase("errors in the kernel itself"),
)
_WITH_LANDLOCK = (
    phrase("names, sizes and times of files outside the project"),
    phrase("permissions and times of files outside the project, which it can change"),
    phrase("the project's .git while a program runs; git's settings and hooks are put back"),
    phrase("the command lines of your other programs"),
    phrase(".env files: a program reads their real values, though what it prints stays hidden"),
    *_WITH_NAMESPACES,
)
_WITH_SEATBELT = (
    phrase("anything for certain: this way to confine was written from books and never tried"),
    phrase("names, sizes and times of files outside the project"),
    phrase("memory and disk use beyond the limits until it is noticed"),
    phrase("processes that have left their group: these may outlive the call"),
    phrase("files that your other programs run later: hooks, editor tasks, nested repositories"),
    phrase("errors in the kernel itself"),
)
_WITH_NOTHING = (
    phrase("anything but time, output and file size: programs can do all that you can"),
)


def unprotected(tier: TierName, *, has_group: bool = False) -> tuple[Phrase, ...]:
    """Return everything that programs of *tier* may still reach."""
    noticed_late = _LATE_DISK if has_group else _LATE_MEMORY_AND_DISK
    match tier:
        case "A" | "B":
            return (noticed_late, *_WITH_NAMESPACES)
        case "C":
            return (*_WITH_LANDLOCK, noticed_late)
        case "M":
            return _WITH_SEATBELT
        case "D":
            return _WITH_NOTHING
