"""The tiers of confinement: how a program is started in each, and what each does not protect."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from modules.sandbox.backends.bubblewrap import (
    Bubblewrap,
    Descriptors,
    environment_of,
    terminal_variables,
)
from modules.sandbox.backends.seatbelt import arguments as seatbelt
from modules.sandbox.backends.seccomp import filter_program
from modules.sandbox.filesystem.etc import exposed_paths
from modules.sandbox.filesystem.interpreter import Interpreter
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.git.person_rules import settings_that_name
from modules.sandbox.home.home_variables import HOME_IN_SANDBOX, WAITING_HOME
from modules.sandbox.limits.rlimits import inner_limits
from modules.sandbox.network.proxy import SOCKET_IN_SANDBOX
from modules.sandbox.network.shared_network import Namespaces
from modules.sandbox.run.process import LaunchSpec
from modules.sandbox.run.python_runner import runner
from modules.sandbox.types import MAX_SECONDS, PORT, LauncherTierName, Limits, Program, TierName
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible

_LAUNCHER = Path(__file__).with_name("launcher.py")
_RELAY = Path(__file__).parents[1] / "network" / "relay.py"
# `read` and `eval` are built in: the command needs no file and no second process.
_TAKE_TERMINAL = (
    *("/usr/bin/setsid", "-c"),  # of util-linux, as nsenter is
    *("/bin/bash", "-c"),
    '[ -c /dev/console ] && exec <>/dev/console >&0 2>&0; exec "$@"',
    "bash",
)
"""Beginning of a command that becomes the leader of a session with the terminal it is given.

bubblewrap shows that as /dev/console; opened there, it has a name that programs find.
"""
_BASH = 'IFS= read -r -d "" -u {0} code; exec {0}<&-{1}; eval "unset -v code; $code"'
_WAIT = '; code=$?; wait; exit "$code"'
"""End of a command that runs on in the background: what it began with `&` is a part of it."""


class Tier(Protocol):
    """Backend that confines programs in one way."""

    @property
    def name(self) -> TierName: ...

    @property
    def has_mounts(self) -> bool:
        """Whether it can mount something else in the place of what is in the project."""
        ...

    def launch_spec(
        self,
        plan: MountPlan,
        program: Program,
        limits: Limits,
        *,
        is_prewarmed: bool = False,
        namespaces: Namespaces | None = None,
    ) -> LaunchSpec:
        """Return how to launch *program*; if it *waits*, its code is sent to it later.

        Of *limits* it keeps what cannot be set or watched from outside. Where there are mounts, it
        may join the network of *namespaces*.
        """
        ...


@dataclass(frozen=True, slots=True)
class BubblewrapTier:
    """Tiers A and B: bubblewrap, with a /proc of its own or with none."""

    bubblewrap: Bubblewrap

    @property
    def name(self) -> TierName:
        has_proc = self.bubblewrap.has_proc
        return TierName.BUBBLEWRAP if has_proc else TierName.BUBBLEWRAP_WITHOUT_PROC

    @property
    def has_mounts(self) -> bool:
        return True

    def launch_spec(
        self,
        plan: MountPlan,
        program: Program,
        limits: Limits,
        *,
        is_prewarmed: bool = False,
        namespaces: Namespaces | None = None,
    ) -> LaunchSpec:
        environment = environment_of(plan, HOME_IN_SANDBOX)
        if is_prewarmed:
            environment["HOME"] = WAITING_HOME
        if program.has_terminal:
            environment |= terminal_variables()
        memory_folders = (Path("/tmp"), Path("/dev/shm"))  # noqa: S108
        return LaunchSpec(
            wrapper=lambda descriptors: [
                *(namespaces.arguments() if namespaces else ()),
                *self.bubblewrap.arguments(
                    plan, limits, environment, descriptors, keeps_network=bool(namespaces)
                ),
            ],
            command=lambda code_fd, control_fd: [
                *(_TAKE_TERMINAL if program.has_terminal else ()),
                *_relay_command(plan),
                *command_for(program, plan, HOME_IN_SANDBOX, code_fd, control_fd),
            ],
            code=program.code,
            seccomp=filter_program("namespaces"),
            folders=tuple(path for path in (plan.project, plan.home, plan.git_stand_in) if path),
            tmpfs_folders=(*memory_folders, *(() if plan.home else (HOME_IN_SANDBOX,))),
            notes=_notes(plan, plan.read_only_folders),
            is_prewarmed=is_prewarmed,
            has_user_namespace=True,
            checked_mounts=plan.inner_repositories,
            reads_input=program.reads_input,
            has_terminal=program.has_terminal,
            separate_errors=program.separate_errors,
        )


@dataclass(frozen=True, slots=True)
class LauncherTier:
    """Tiers C (Landlock and the filter), M (Seatbelt of macOS) and D (limits only).

    In *folder* each call gets a folder of its own for temporary files, and for its home where none
    is kept.
    """

    name: LauncherTierName
    folder: Path

    @property
    def has_mounts(self) -> bool:
        return False

    def launch_spec(
        self,
        plan: MountPlan,
        program: Program,
        limits: Limits,
        *,
        is_prewarmed: bool = False,
        namespaces: Namespaces | None = None,  # noqa: ARG002 - there are none to join
    ) -> LaunchSpec:
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.folder))
        if self.name is TierName.SEATBELT:
            plan = replace(plan, home=None)
        home = plan.home or _home_in(scratch, is_apart=bool(plan.git_settings))
        environment = {
            **environment_of(plan, home, is_cut_off=self.name is not TierName.LIMITS_ONLY),
            "TMPDIR": str(scratch),
            **_git_variables(plan, scratch),
        }
        if is_prewarmed:
            environment["HOME"] = WAITING_HOME
        if program.has_terminal:
            environment |= terminal_variables()
        settings = self._settings(plan, scratch, limits, environment)
        settings["terminal"] = program.has_terminal
        return LaunchSpec(
            wrapper=lambda descriptors: _launcher_command(settings, descriptors),
            command=lambda code_fd, control_fd: [
                *(seatbelt(plan, scratch) if self.name is TierName.SEATBELT else ()),
                *command_for(program, plan, home, code_fd, control_fd),
            ],
            code=program.code,
            seccomp=filter_program("none") if self.name is TierName.LANDLOCK else b"",
            folders=tuple(
                path for path in (plan.project, scratch, plan.home, plan.git_stand_in) if path
            ),
            scratch=scratch,
            notes=_notes(plan, _unwritable_folders(plan) if self.name is TierName.LANDLOCK else ()),
            end_signal=signal.SIGTERM,
            is_prewarmed=is_prewarmed,
            reads_input=program.reads_input,
            has_terminal=program.has_terminal,
            separate_errors=program.separate_errors,
        )

    def _settings(
        self, plan: MountPlan, scratch: Path, limits: Limits, environment: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return what the launcher is told, but for the descriptors."""
        devices = (Path(os.devnull), Path("/dev/tty"))
        written = (plan.project, scratch, plan.home, plan.git_stand_in, *devices)
        kept = (*plan.own_code, *plan.protected_links, *plan.kept_repositories)
        return {
            "outside": False,
            "leaves": False,
            "confine": self.name is TierName.LANDLOCK,
            "limits": inner_limits(replace(limits, seconds=MAX_SECONDS)),
            "folder": str(plan.project),
            "parent": os.getpid(),
            "environment": environment,
            "read": _readable_paths(),
            "write": [str(path) for path in written if path],
            "own": [str(path) for path in kept],
            "hidden": [str(path) for path in plan.hidden],
            "shown": [str(path) for path in _shown_folders(plan)],
            "covered": [str(path) for path in (*plan.toolchains.covered, *plan.hidden)],
        }


def _home_in(scratch: Path, *, is_apart: bool) -> Path:
    """Return an empty home for one run: *scratch* itself, or apart from what we put there."""
    if not is_apart:
        return scratch
    home = scratch / "home"
    home.mkdir()
    return home


def _git_variables(plan: MountPlan, scratch: Path) -> dict[str, str]:
    """Return what leads git to the settings in *plan*, in the place of the system's."""
    if not plan.git_settings:  # git gives up where the system's are there and may not be read
        return {"GIT_CONFIG_NOSYSTEM": "1"}
    file = scratch / "system.gitconfig"
    rules = {key: scratch / f"system.{key}" for key, _ in plan.git_rules}
    for key, content in plan.git_rules:
        rules[key].write_bytes(content)
    settings = "\n".join([plan.git_settings, *settings_that_name(rules)])
    file.write_text(settings, "utf-8", "surrogateescape")
    return {"GIT_CONFIG_SYSTEM": str(file)}


def _launcher_command(settings: Mapping[str, Any], descriptors: Descriptors) -> list[str]:
    told = {
        **settings,
        "status": descriptors.status,
        "gate": descriptors.block,
        "filter": descriptors.seccomp,
    }
    return [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(told)]


def outside_spec(
    project: Path,
    program: Program,
    environment: Mapping[str, str],
    interpreter: Interpreter | None,
    *,
    leaves: bool = False,
) -> LaunchSpec:
    """Return how to launch *program* outside of every sandbox, as the person would themselves.

    Only time and output are limited. It gets *environment*, which no list of processes shows. What
    it *leaves* running goes on when it has ended by itself.
    """

    def launcher(descriptors: Descriptors) -> list[str]:
        settings = {
            "outside": True,
            "leaves": leaves,
            "confine": False,
            "folder": str(project),
            "terminal": program.has_terminal,
        }
        return _launcher_command(settings, descriptors)

    return LaunchSpec(
        wrapper=launcher,
        command=lambda code_fd, _: _command_with(program, interpreter, code_fd),
        code=program.code,
        seccomp=b"",
        folders=(project,),
        end_signal=signal.SIGTERM,
        environment={**environment, **(terminal_variables() if program.has_terminal else {})},
        has_limits=False,
        reads_input=program.reads_input,
        has_terminal=program.has_terminal,
        separate_errors=program.separate_errors,
    )


def command_for(
    program: Program, plan: MountPlan, home: Path, code_fd: int, control_fd: int | None = None
) -> Sequence[str]:
    """Return the command that runs *program*, whose code is read from the descriptor *code_fd*.

    With a *control_fd* it is Python that waits there, and whose home is *home* from then on (see
    `python_runner`).
    """
    interpreter = plan.interpreter
    if control_fd is None or interpreter is None:
        return _command_with(program, interpreter, code_fd)
    command = (
        [str(interpreter.python.resolve()), "-S"]
        if interpreter.environment
        else [str(interpreter.python)]
    )
    return [*command, "-c", runner(code_fd, control_fd, interpreter, home)]


def _command_with(program: Program, interpreter: Interpreter | None, code_fd: int) -> Sequence[str]:
    if program.language == "bash":
        is_job = program.reads_input or program.has_terminal
        input_file, at_end = ("", _WAIT) if is_job else (" </dev/null", "")
        return ["/bin/bash", "-c", f"{_BASH.format(code_fd, input_file)}{at_end}", "bash"]
    if interpreter is None:
        raise UserError(phrase("There is no Python 3 on this machine that programs may use."))
    return [str(interpreter.python), "-c", runner(code_fd)]


def _relay_command(plan: MountPlan) -> list[str]:
    """Return the relay to put before a command that shall reach the network."""
    if not plan.network:
        return []
    if plan.interpreter is None:
        raise UserError(phrase("There is no Python 3 on this machine that programs may use."))
    python = str(plan.interpreter.python.resolve())
    return [python, "-I", "-S", "-c", _RELAY.read_text("utf-8"), SOCKET_IN_SANDBOX, str(PORT)]


def _readable_paths() -> list[str]:
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"]
    devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
    names = [
        *exposed_paths(Path("/etc")),
        *(Path("/etc", name) for name in ("passwd", "group", "hosts")),
    ]
    return [*system, *devices, *(os.path.realpath(path) for path in names)]


def _shown_folders(plan: MountPlan) -> list[Path]:
    """Return the person's folders that are shown read-only, but for what is covered in them.

    So is a repository outside of the project, and the command that leads to its stand-in.
    """
    others = [path for path in (plan.shown_prefix, plan.git_command) if path]
    project = plan.project
    outside = (
        path
        for path in plan.repository
        if project not in path.parents and path not in project.parents
    )
    return [*others, *outside, *plan.toolchains.folders]


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
