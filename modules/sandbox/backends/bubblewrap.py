"""Confinement by bubblewrap: the arguments, in an order that matters (later mounts cover earlier).

The reasons for what looks odd:
- bubblewrap's own environment can be read in the sandbox, so it is started with a clean one too;
- as root, /proc/sys stays writable unless all of /proc is read-only, capabilities or not;
- the first process inside is bubblewrap itself: its /proc/1/exe is the machine's own file, past all
  mounts, and whoever owns it could change its permissions;
- all of `.git` is a read-only mount: of single files in it, the folder around could be renamed;
- every tmpfs has a size, and those that cannot have one are made read-only: they are memory;
- a user namespace inside is refused, by a limit where the system lets us set it, and by the filter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.repository import as_environment
from modules.sandbox.filesystem.etc import user_name
from modules.sandbox.filesystem.mounts import MountPlan
from modules.sandbox.network.proxy import INSIDE, PORT
from modules.sandbox.types import MEBIBYTE

PLACES = (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap"), Path("/bin/bwrap"))
"""Where bubblewrap is looked for; never by PATH, where a project may have put its own."""
CLEAN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

_LINKS = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")
_TELLING = ("kcore", "keys", "timer_list", "kallsyms", "kmsg", "sched_debug", "latency_stats")


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Open descriptors that bubblewrap reads from or writes to."""

    filter: int
    status: int
    gate: int
    life: int | None = None

    def all(self) -> tuple[int, ...]:
        known = (self.filter, self.status, self.gate)
        return known if self.life is None else (*known, self.life)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """One way to call bubblewrap that works on this machine."""

    program: Path
    has_proc: bool = True
    locks_namespaces: bool = True

    def arguments(self, view: MountPlan, descriptors: Descriptors) -> list[str]:
        """Return the arguments up to the program to run."""
        return [
            str(self.program),
            *self._namespaces(),
            *_environment(view),
            *_system(view),
            *self._kernel(view),
            *_scratch(view),
            *_shown(view),
            *_project(view),
            *("--seccomp", str(descriptors.filter)),
            *("--json-status-fd", str(descriptors.status)),
            *("--block-fd", str(descriptors.gate)),
            *(() if descriptors.life is None else ("--sync-fd", str(descriptors.life))),
            *("--chdir", str(view.project), "--"),
        ]

    def _namespaces(self) -> Iterator[str]:
        yield from ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts")
        yield from ("--unshare-cgroup-try", "--unshare-net")
        if self.locks_namespaces:
            yield "--disable-userns"
        yield from ("--die-with-parent", "--new-session", "--hostname", "sandbox")
        yield from ("--cap-drop", "ALL")

    def _kernel(self, view: MountPlan) -> Iterator[str]:
        yield from ("--dev", "/dev")
        if self.has_proc:
            yield from ("--proc", "/proc")
            yield from _proc_covers()
            yield from _covered(Path("/proc/1"))
            yield from ("--remount-ro", "/proc")
        for node in view.nodes:
            yield from ("--dev-bind", str(node), f"/dev/{node.name}")
        yield from _tmpfs("/dev/shm", 64, "1777")  # noqa: S108
        yield from ("--remount-ro", "/dev")


def environment_of(view: MountPlan) -> dict[str, str]:
    """Return all that a program finds in its environment."""
    path = ["/usr/local/bin", "/usr/bin", "/bin"]
    found = view.interpreter
    if found and found.environment:
        path.insert(0, str(found.environment / "bin"))
    elif found and found.prefix:
        path.append(str(found.prefix / "bin"))
    variables = {
        **{"HOME": str(view.home), "USER": user_name(), "LOGNAME": user_name()},
        **{"SHELL": "/bin/bash", "PATH": ":".join(path), "TMPDIR": "/tmp"},  # noqa: S108
        **{"LANG": "C.UTF-8", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"},
        **{"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
        **{"PIP_DISABLE_PIP_VERSION_CHECK": "1", "GIT_TERMINAL_PROMPT": "0"},
        # Files of other owners are nothing to fear in here, where git can reach nothing else.
        **as_environment({"safe.directory": "*", "core.quotePath": "false"}),
    }
    if found and found.environment:
        variables["VIRTUAL_ENV"] = str(found.environment)
    if view.network:
        proxy = f"http://127.0.0.1:{PORT}"
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        variables |= dict.fromkeys(names, proxy)
        variables |= {"no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}
    return variables | dict(view.variables)


def _environment(view: MountPlan) -> Iterator[str]:
    yield "--clearenv"
    for name, value in environment_of(view).items():
        yield from ("--setenv", name, value)


def _system(view: MountPlan) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _LINKS:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.fspath(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--ro-bind", str(view.etc), "/etc")


def _proc_covers() -> Iterator[str]:
    """Cover what tells too much, as far as this user could reach it at all."""
    for name in _TELLING:
        if os.access(f"/proc/{name}", os.R_OK):
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")


def _scratch(view: MountPlan) -> Iterator[str]:
    yield from _tmpfs("/tmp", 256, "1777")  # noqa: S108
    yield from ("--dir", "/var", "--symlink", "../tmp", "/var/tmp", "--dir", "/run")  # noqa: S108
    if view.network:
        yield from ("--ro-bind", str(view.network), INSIDE)
    yield from _tmpfs(str(view.home), 128, "0700")
    found = view.interpreter
    if found and found.prefix:
        yield from ("--ro-bind", str(found.prefix), str(found.prefix))
        for alias in found.aliases:
            yield from ("--symlink", found.prefix.name, str(alias))


def _shown(view: MountPlan) -> Iterator[str]:
    for path, place in view.shown:
        yield from ("--ro-bind", str(path), str(place))


def _project(view: MountPlan) -> Iterator[str]:
    # What is mounted cannot be moved away.
    on_the_way = view.leading_to((*view.covered, *view.repository, *view.own, *view.names))
    for path in sorted({view.project, *on_the_way, *view.beside}):
        how = "--ro-bind" if path in view.fixed else "--bind"
        yield from (f"{how}-try" if path in view.beside else how, str(path), str(path))
    for path in (*view.own, *view.repository):
        yield from ("--ro-bind", str(path), str(path))
    for path, shown in view.masked:
        yield from ("--ro-bind", str(shown), str(path))
    for path in view.covered:
        yield from _covered(path)
    yield from ("--remount-ro", "/")


def _covered(path: Path) -> Iterator[str]:
    """Put an empty folder that nobody can write to over *path*."""
    yield from ("--perms", "0555", "--size", "4096", "--tmpfs", str(path))
    yield from ("--remount-ro", str(path))


def _tmpfs(path: str, mebibytes: int, mode: str) -> Iterator[str]:
    yield from ("--perms", mode, "--size", str(mebibytes * MEBIBYTE), "--tmpfs", path)
