"""Confinement by macOS: a profile for sandbox-exec. Written from documentation, never run there.

Paths are never pasted into the profile: they are handed over as parameters, so that no character of
a name can become a rule. Later rules win, so what is denied inside the project comes last.
Facts: the profiles that other agents publish; `man sandbox-exec`; deny rules name real paths, for
/tmp, /var and /etc are links there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from modules.sandbox.filesystem.mounts import MountPlan

PROGRAM = Path("/usr/bin/sandbox-exec")
"""Never looked for by PATH, where a project may have put its own."""

_READABLE = (
    *("/System", "/usr", "/bin", "/sbin", "/Library", "/opt/homebrew", "/opt/local"),
    *("/private/etc", "/private/var/db", "/private/var/select"),
)
_DEVICES = ("null", "zero", "random", "urandom", "dtracehelper")
_BASE = """\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read-metadata)
(allow file-read-data (literal "/"))
"""


def arguments(view: MountPlan, scratch: Path) -> list[str]:
    """Return what goes before a command so that it may write only the project and *scratch*."""
    parameters: dict[str, str] = {}

    def named(kind: str, paths: Sequence[Path]) -> list[str]:
        names = [f"{kind}_{number}" for number in range(len(paths))]
        parameters.update(zip(names, map(os.path.realpath, paths), strict=True))
        return names

    prefix, toolchains = view.shown_prefix, view.toolchains
    read = named("READ", [*([prefix] if prefix else []), *toolchains.folders])
    write = named("WRITE", [view.project, scratch])
    keep = named("KEEP", [*(view.repository or [view.project / ".git"]), *view.own_code])
    hide = named("HIDE", [*view.hidden, *(path for path, _ in view.replaced), *toolchains.covered])
    profile = "".join(f"{line}\n" for line in _rules(read, write, keep, hide))
    given = [part for name, path in parameters.items() for part in ("-D", f"{name}={path}")]
    return [os.fspath(PROGRAM), "-p", _BASE + profile, *given]


def _rules(
    read: Sequence[str], write: Sequence[str], keep: Sequence[str], hide: Sequence[str]
) -> Iterator[str]:
    """Yield the rules about paths, of which the arguments are names of parameters."""
    for path in _READABLE:
        yield f'(allow file-read* (subpath "{path}"))'
    for device in _DEVICES:
        yield f'(allow file-read* file-write-data file-ioctl (literal "/dev/{device}"))'
    for name in read:
        yield f'(allow file-read* (subpath (param "{name}")))'
    for name in write:
        yield f'(allow file-read* file-write* (subpath (param "{name}")))'
    for name in keep:
        yield f'(deny file-write* (subpath (param "{name}")))'
    for name in hide:
        yield f'(deny file-read* file-write* (subpath (param "{name}")))'
