"""Confinement by bubblewrap: the arguments, in an order that matters (later mounts cover earlier).

The reasons for what looks odd:
- bubblewrap's own environment can be read in the sandbox, so it is started with a clean one too;
- as root, /proc/sys stays writable unless all of /proc is read-only, capabilities or not;
- the first process inside is bubblewrap itself: its /proc/1/exe is the machine's own file, past all
  mounts, and whoever owns it could change its permissions;
- all of `.git` is a mount, read-only or a stand-in: of single files in it, the folder around could
  be renamed;
- every tmpfs has a size, and those that cannot have one are made read-only: they are memory;
- a user namespace inside is refused, by a limit where the system lets us set it, and by the filter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.repository import config_environment
from modules.sandbox.filesystem.etc import mounted_folders, user_name
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.git.git_command import programs_of
from modules.sandbox.git.stand_in import LFS_IN_SANDBOX, MODULES_IN_SANDBOX, OBJECTS_IN_SANDBOX
from modules.sandbox.home.home_variables import HOME_IN_SANDBOX, home_variables, own_programs
from modules.sandbox.network.proxy import SOCKET_IN_SANDBOX
from modules.sandbox.network.variables import OFFLINE_VARIABLES
from modules.sandbox.types import MEBIBYTE, PORT, Limits

CLEAN_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

_MERGED_USR = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")
_SENSITIVE_PROC_FILES = (
    "kcore",
    "keys",
    "timer_list",
    "kallsyms",
    "kmsg",
    "sched_debug",
    "latency_stats",
)


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Open descriptors that bubblewrap reads from or writes to."""

    seccomp: int
    status: int
    block: int
    sync: int | None = None

    def all(self) -> tuple[int, ...]:
        descriptors = (self.seccomp, self.status, self.block)
        return descriptors if self.sync is None else (*descriptors, self.sync)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Variant of calling bubblewrap that works on this machine."""

    program: Path
    has_proc: bool = True
    disables_userns: bool = True

    def arguments(
        self,
        plan: MountPlan,
        limits: Limits,
        environment: Mapping[str, str],
        descriptors: Descriptors,
        *,
        keeps_network: bool = False,
    ) -> list[str]:
        """Return the arguments up to the program to run.

        If it *keeps_network*, that is the one in which bubblewrap itself is started.
        """
        return [
            str(self.program),
            *self._namespaces(keeps_network=keeps_network),
            *_environment_options(environment),
            *_system_mounts(plan),
            *self._dev_and_proc(plan),
            *_temporary_mounts(plan, limits),
            *_exposed(plan),
            *_toolchains(plan),
            *_project_mounts(plan),
            *("--seccomp", str(descriptors.seccomp)),
            *("--json-status-fd", str(descriptors.status)),
            *("--block-fd", str(descriptors.block)),
            *(() if descriptors.sync is None else ("--sync-fd", str(descriptors.sync))),
            *("--chdir", str(plan.project), "--"),
        ]

    def _namespaces(self, *, keeps_network: bool) -> Iterator[str]:
        yield from ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts")
        yield "--unshare-cgroup-try"
        if not keeps_network:
            yield "--unshare-net"
        if self.disables_userns:
            yield "--disable-userns"
        yield from ("--die-with-parent", "--new-session", "--hostname", "sandbox")
        yield from ("--cap-drop", "ALL")

    def _dev_and_proc(self, plan: MountPlan) -> Iterator[str]:
        yield from ("--dev", "/dev")
        if self.has_proc:
            yield from ("--proc", "/proc")
            yield from _hide_proc_files()
            yield from _hide(Path("/proc/1"))
            yield from ("--remount-ro", "/proc")
        for node in plan.devices:
            yield from ("--dev-bind", str(node), f"/dev/{node.name}")
        yield from _tmpfs("/dev/shm", 64 * MEBIBYTE, "1777")  # noqa: S108
        yield from ("--remount-ro", "/dev")


def environment_of(plan: MountPlan, home: Path, *, is_cut_off: bool = True) -> dict[str, str]:
    """Return all that a program whose home is *home* finds in its environment.

    *is_cut_off* says whether nothing but the plan leads to the network.
    """
    interpreter, toolchains = plan.interpreter, plan.toolchains
    first = [str(programs_of(plan.git_command))] if plan.git_command else []
    last = list[str]()
    if interpreter and interpreter.environment:
        first.append(str(interpreter.environment / "bin"))
    elif interpreter and interpreter.prefix:
        last.append(str(interpreter.prefix / "bin"))
    path = toolchains.program_folders(first=first, last=[*last, *own_programs(home)])
    variables = {
        **home_variables(home),
        **{"USER": user_name(), "LOGNAME": user_name()},
        **{"SHELL": "/bin/bash", "PATH": path, "TMPDIR": "/tmp"},  # noqa: S108
        **{"LANG": "C.UTF-8", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"},
        "EDITOR": "true",  # what git would have edited stays as it proposes it
        **{"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
        **{"PIP_DISABLE_PIP_VERSION_CHECK": "1", "GIT_TERMINAL_PROMPT": "0"},
        # Files of other owners are nothing to fear in here, where git can reach nothing else.
        **config_environment({"safe.directory": "*", "core.quotePath": "false"}),
        **dict(toolchains.variables),
    }
    if interpreter and interpreter.environment:
        variables["VIRTUAL_ENV"] = str(interpreter.environment)
    if plan.network:
        proxy = f"http://127.0.0.1:{PORT}"
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        variables |= dict.fromkeys(names, proxy)
        variables |= dict.fromkeys(("YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"), proxy)  # yarn 4's own
        variables |= {"no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}
    elif is_cut_off:
        variables |= OFFLINE_VARIABLES
    return variables | dict(plan.variables)


def terminal_variables() -> dict[str, str]:
    """Return what a program with a terminal finds otherwise: its kind, and a real editor.

    It is the plainest kind that has keys and colours, so what is drawn needs the least of ours.
    """
    editors = (f"/usr/bin/{name}" for name in ("vi", "nano"))
    editor = next((path for path in editors if os.access(path, os.X_OK)), None)
    return {"TERM": "linux", **({"EDITOR": editor} if editor else {})}


def _environment_options(environment: Mapping[str, str]) -> Iterator[str]:
    yield "--clearenv"
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _system_mounts(plan: MountPlan) -> Iterator[str]:
    yield from system_folders()
    yield from ("--ro-bind", str(plan.etc), "/etc")
    for folder in mounted_folders(plan.etc):
        yield from ("--ro-bind", str(folder), str(folder))


def system_folders() -> Iterator[str]:
    """Yield the arguments that show the folders of the system's programs."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _MERGED_USR:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.fspath(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _hide_proc_files() -> Iterator[str]:
    """Hide the files of /proc that tell too much, as far as this user could read them at all."""
    for name in _SENSITIVE_PROC_FILES:
        if os.access(f"/proc/{name}", os.R_OK):
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")


def _temporary_mounts(plan: MountPlan, limits: Limits) -> Iterator[str]:
    yield from _tmpfs("/tmp", limits.tmp_size, "1777")  # noqa: S108
    yield from ("--dir", "/var", "--symlink", "../tmp", "/var/tmp", "--dir", "/run")  # noqa: S108
    if plan.network:
        yield from ("--ro-bind", str(plan.network), SOCKET_IN_SANDBOX)
    if plan.home:
        yield from ("--bind", str(plan.home), str(HOME_IN_SANDBOX))
    else:
        yield from _tmpfs(str(HOME_IN_SANDBOX), 128 * MEBIBYTE, "0700")


def _exposed(plan: MountPlan) -> Iterator[str]:
    for path, target in plan.exposed:
        yield from ("--ro-bind", str(path), str(target))


def _toolchains(plan: MountPlan) -> Iterator[str]:
    """Show the interpreter and the toolchains, those above first; covers are closed last, for
    what is shown in a covered folder needs a place there.
    """
    interpreter, prefix = plan.interpreter, plan.shown_prefix
    prefixes = (prefix,) if prefix else ()
    covered_folders = [path for path in plan.toolchains.covered if path.is_dir()]
    for path in sorted((*plan.toolchains.folders, *plan.toolchains.covered, *prefixes)):
        if path in covered_folders:
            yield from ("--perms", "0555", "--size", "4096", "--tmpfs", str(path))
        else:
            is_covered = path in plan.toolchains.covered
            yield from ("--ro-bind", str(plan.cover if is_covered else path), str(path))
    if interpreter and prefix:
        for alias in interpreter.aliases:
            if not plan.toolchains.holds(alias):
                yield from ("--symlink", prefix.name, str(alias))
    for path in covered_folders:
        yield from ("--remount-ro", str(path))
    for path, target in plan.toolchains.links:
        yield from ("--symlink", target, str(path))


def _project_mounts(plan: MountPlan) -> Iterator[str]:
    # What is mounted cannot be moved away.
    parents = plan.leading_to(
        (*plan.hidden, *plan.repository, *plan.own_code, *plan.protected_links)
    )
    for path in sorted({plan.project, *parents, *plan.siblings}):
        option = "--ro-bind" if path in plan.read_only_folders else "--bind"
        yield from (f"{option}-try" if path in plan.siblings else option, str(path), str(path))
    for path in (*plan.own_code, *plan.repository):
        if plan.git_stand_in and path == plan.git_place:
            yield from _git_mounts(path, plan.git_stand_in, plan)
        else:
            yield from ("--ro-bind", str(path), str(path))
    for path, source in plan.replaced:
        yield from ("--ro-bind", str(source), str(path))
    for path in plan.hidden:
        if plan.git_stand_in and path == plan.git_place:
            yield from ("--bind", str(plan.git_stand_in), str(path))
        else:
            yield from _hide(path)
    yield from ("--remount-ro", "/")


def _git_mounts(git: Path, stand_in: Path, plan: MountPlan) -> Iterator[str]:
    """Show *stand_in* at *git*, and the objects and hooks of that read-only, also of submodules.

    So are all of the submodules of which it has none.
    """
    yield from ("--ro-bind", str(git / "objects"), OBJECTS_IN_SANDBOX)
    if plan.git_lfs:
        yield from ("--ro-bind", str(plan.git_lfs), LFS_IN_SANDBOX)
    for name in plan.git_modules:
        yield from ("--ro-bind", str(git / name), f"{MODULES_IN_SANDBOX}/{name}")
    for source, place in plan.git_covered:
        yield from ("--ro-bind", str(source), place)
    yield from ("--bind", str(stand_in), str(git))
    for path in plan.git_read_only:
        yield from ("--ro-bind", str(path), str(path))
    if plan.git_hooks:
        yield from ("--ro-bind", str(plan.git_hooks), str(git / "hooks"))


def _hide(path: Path) -> Iterator[str]:
    """Hide *path* behind an empty folder that nobody can write to."""
    yield from ("--perms", "0555", "--size", "4096", "--tmpfs", str(path))
    yield from ("--remount-ro", str(path))


def _tmpfs(path: str, size: int, mode: str) -> Iterator[str]:
    yield from ("--perms", mode, "--size", str(size), "--tmpfs", path)
