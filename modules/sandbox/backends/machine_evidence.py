"""Evidence that this machine is a container or a virtual one, which may be the agent's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CONTAINER_FILES = (".dockerenv", "run/.containerenv", "run/systemd/container")
_PERSONAL_FILES = (
    *("run/.toolboxenv", "run/host/etc", ".flatpak-info"),
    *("run/WSL", "usr/lib/wsl", "proc/sys/fs/binfmt_misc/WSLInterop"),
)
"""Files of containers (toolbox, distrobox, Flatpak) that show the person's own home or system, and
of the Linux in Windows, whose kernel may be one with another name.
"""
_CONTAINER_MANAGER = "run/host/container-manager"
_APART = "systemd-nspawn"
"""The one of those that write that file whose containers have a system of their own."""
_FIRST_PROCESSES = "pid:[4026531836]"
"""The first namespace of processes (Linux, `PROC_PID_INIT_INO`), in which no container is. A file
that speaks of one there came with an image that somebody has unpacked, to change root into it.
"""
_CONTAINER_GROUP = re.compile(
    r"/(docker|kubepods|containerd|lxc|libpod|crio|podman|buildkit)\b(?!\.(service|socket)\b)"
)
_VIRTUAL_MACHINE = re.compile(
    r"\b(QEMU|KVM\b|VMware|VirtualBox|innotek|Xen\b|Bochs|Parallels|Bhyve|Amazon EC2|Firecracker"
    r"|Google Compute Engine|OpenStack|Virtual Machine)",
    re.IGNORECASE,
)
_MAX_BYTES = 1 << 20


def machine_evidence(root: Path = Path("/")) -> str:
    """Return the file that shows it, "" where there is no evidence.

    *root* is the root of the file system. A container that shows the person's home, the Linux
    in Windows (WSL) and the system that runs the others of Xen are the person's machine all the
    same.
    """
    if any((root / name).exists() for name in _PERSONAL_FILES):
        return ""
    if _text(root / _CONTAINER_MANAGER).strip() not in ("", _APART):
        return ""
    if "microsoft" in _text(root / "proc/sys/kernel/osrelease").lower():
        return ""
    if "control_d" in _text(root / "proc/xen/capabilities"):
        return ""
    return next((f"/{path.relative_to(root)}" for path in _evidence(root)), "")


def _evidence(root: Path) -> Iterator[Path]:
    if not _is_among_the_first_processes(root):
        yield from (root / name for name in _CONTAINER_FILES if (root / name).exists())
    for name in ("proc/1/cgroup", "proc/self/cgroup"):
        if _CONTAINER_GROUP.search(_text(root / name)):
            yield root / name
    for name in ("product_name", "sys_vendor", "board_vendor"):
        if _VIRTUAL_MACHINE.search(_text(root / "sys/class/dmi/id" / name)):
            yield root / "sys/class/dmi/id" / name
    if re.search(r"^flags\b.*\bhypervisor\b", _text(root / "proc/cpuinfo"), re.MULTILINE):
        yield root / "proc/cpuinfo"


def _is_among_the_first_processes(root: Path) -> bool:
    with suppress(OSError):
        return str((root / "proc/self/ns/pid").readlink()) == _FIRST_PROCESSES
    return False


def _text(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_MAX_BYTES).decode("utf-8", "replace")
    return ""
