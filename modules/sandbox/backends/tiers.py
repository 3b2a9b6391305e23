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
from modules.sandbox.filesystem.etc import shown_of
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.limits.rlimits import inner_limits
from modules.sandbox.network.proxy import INSIDE, PORT
from modules.sandbox.run.process import Order
from modules.sandbox.run.python_runner import runner
from modules.sandbox.types import LONGEST, Limits, Program, TierName
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible

_LAUNCHER = Path(__file__).with_name("launcher.py")
_RELAY = Path(__file__).parents[1] / "network" / "relay.py"
# `read` and `eval` are built in: the command needs no file and no second process.
_BASH = 'IFS= read -r -d "" -u {0} code; exec {0}<&- </dev/null; eval "unset -v code; $code"'


class Tier(Protocol):
    """One way to confine programs."""

    @property
    def name(self) -> TierName: ...

    @property
    def has_mounts(self) -> bool:
        """Whether it can put something else in the place of what is in the project."""
        ...

    def order(self, view: MountPlan, program: Program, *, waits: bool = False) -> Order:
        """Return what to start for *program*; if it *waits*, its code is given to it later."""
        ...


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Tiers A and B: bubblewrap, with a /proc of its own or with none."""

    bubblewrap: Bubblewrap

    @property
    def name(self) -> TierName:
        return "A" if self.bubblewrap.has_proc else "B"

    @property
    def has_mounts(self) -> bool:
        return True

    def order(self, view: MountPlan, program: Program, *, waits: bool = False) -> Order:
        return Order(
            confined=lambda descriptors: self.bubblewrap.arguments(view, descriptors),
            command=lambda text, line: [
                *_relayed(view),
                *command_for(program, view, text, line),
            ],
            text=program.code,
            filter=filter_program("namespaces"),
            folders=(view.project,),
            temporary=(Path("/tmp"), Path("/dev/shm"), view.home),  # noqa: S108
            notes=_notes(view, view.fixed),
            waits=waits,
            has_own_users=True,
        )


@dataclass(frozen=True, slots=True)
class Launched:
    """Tiers C (Landlock and the filter), M (Seatbelt of macOS) and D (limits only).

    In *folder* each call gets a folder of its own for home and temporary files.
    """

    name: Literal["C", "M", "D"]
    folder: Path

    @property
    def has_mounts(self) -> bool:
        return False

    def order(self, view: MountPlan, program: Program, *, waits: bool = False) -> Order:
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.folder))
        return Order(
            confined=lambda descriptors: self._arguments(view, scratch, descriptors),
            command=lambda text, line: [
                *(seatbelt(view, scratch) if self.name == "M" else ()),
                *command_for(program, view, text, line),
            ],
            text=program.code,
            filter=filter_program("none") if self.name == "C" else b"",
            folders=(view.project, scratch),
            notes=_notes(view, _closed(view) if self.name == "C" else ()),
            end_signal=signal.SIGTERM,
            waits=waits,
        )

    def _arguments(self, view: MountPlan, scratch: Path, descriptors: Descriptors) -> list[str]:
        settings = {
            "status": descriptors.status,
            "gate": descriptors.gate,
            "filter": descriptors.filter,
            "confine": self.name == "C",
            "limits": inner_limits(Limits(seconds=LONGEST)),
            "folder": str(view.project),
            "parent": os.getpid(),
            "environment": {
                **environment_of(view),
                **{"HOME": str(scratch), "TMPDIR": str(scratch)},
                "GIT_CONFIG_NOSYSTEM": "1",  # git gives up where it is there and may not be read
            },
            "read": _readable(view),
            "write": [str(view.project), str(scratch), "/dev/null"],
            "own": [str(path) for path in (*view.own, *view.names)],
            "hidden": [str(path) for path in view.covered],
        }
        return [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(settings)]


def command_for(
    program: Program, view: MountPlan, text: int, line: int | None = None
) -> Sequence[str]:
    """Return the command that runs *program*, whose code is read from the descriptor *text*.

    With a *line* it is Python that waits there (see `python_runner`).
    """
    if program.language == "bash":
        return ["/bin/bash", "-c", _BASH.format(text), "bash"]
    if view.interpreter is None:
        raise UserError(phrase("There is no Python 3 on this machine that programs may use."))
    if line is None:
        return [str(view.interpreter.python), "-c", runner(text)]
    found = view.interpreter
    bare = [str(found.python.resolve()), "-S"] if found.environment else [str(found.python)]
    return [*bare, "-c", runner(text, line, found)]


def _relayed(view: MountPlan) -> list[str]:
    """Return what goes before a command that shall reach the network."""
    if not view.network:
        return []
    if view.interpreter is None:
        raise UserError(phrase("There is no Python 3 on this machine that programs may use."))
    python = str(view.interpreter.python.resolve())
    return [python, "-I", "-S", "-c", _RELAY.read_text("utf-8"), INSIDE, str(PORT)]


def _readable(view: MountPlan) -> list[str]:
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"]
    devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
    found = view.interpreter
    prefix = [str(found.prefix)] if found and found.prefix else []
    names = [
        *shown_of(Path("/etc")),
        *(Path("/etc", name) for name in ("passwd", "group", "hosts")),
    ]
    return [*system, *devices, *prefix, *(os.path.realpath(path) for path in names)]


def _closed(view: MountPlan) -> tuple[Path, ...]:
    """Return the folders in which Landlock, which only ever allows, can allow nothing new."""
    kept = (*view.own, *view.names, *view.covered)
    above = (view.project, *view.leading_to(kept)) if kept else ()
    is_own = {*view.own}.intersection
    return tuple(path for path in above if path.exists() and not is_own({path, *path.parents}))


def _notes(view: MountPlan, fixed: Sequence[Path]) -> tuple[Phrase, ...]:
    """Return what to say of a run in which nothing can change directly in the folders *fixed*."""
    note = view.interpreter.note if view.interpreter else None
    if not fixed:
        return (note,) if note else ()
    closed = phrase(
        "Nothing can be made, renamed or removed directly in {folders} by a program: Onefold is "
        "loaded from there. In the other folders inside it can.",
        folders=", ".join(visible(str(path)) for path in fixed),
    )
    return (note, closed) if note else (closed,)


def name_of(tier: TierName, *, has_group: bool = False) -> Phrase:
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


_WATCHED_ALL = phrase(
    "memory and disk use beyond the limits for up to a second, until it is noticed"
)
_WATCHED_DISK = phrase("disk use beyond the limit for up to a second, until it is noticed")
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
    """Return what programs of *tier* may still reach."""
    watched = _WATCHED_DISK if has_group else _WATCHED_ALL
    match tier:
        case "A" | "B":
            return (watched, *_WITH_NAMESPACES)
        case "C":
            return (*_WITH_LANDLOCK, watched)
        case "M":
            return _WITH_SEATBELT
        case "D":
            return _WITH_NOTHING
