"""Evidence that this machine is a container or a virtual one, which may be the agent's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CONTAINER_FILES = (".dockerenv", "run/.containerenv", "run/systemd/container")
_PERSONAL_FILES = ("run/.toolboxenv", "run/host/container-manager")
"""Files of containers (toolbox, distrobox, Flatpak) that show the person's own home."""
_CONTAINER_GROUP = re.compile(r"/(docker|kubepods|containerd|lxc|libpod|crio|podman|buildkit)\b")
_VIRTUAL_MACHINE = re.compile(
    r"QEMU|KVM|VMware|VirtualBox|innotek|Xen|Bochs|Parallels|Bhyve|Amazon EC2|Firecracker"
    r"|Google Compute Engine|OpenStack|Virtual Machine",
    re.IGNORECASE,
)
_MAX_BYTES = 1 << 20


def machine_evidence(root: Path = Path("/")) -> str:
    """Return the file that shows it, "" where there is no evidence.

    *root* is the root of the file system. A container that shows the person's home, and the Linux
    in Windows (WSL), are the person's machine all the same.
    """
    is_personal = any((root / name).exists() for name in _PERSONAL_FILES)
    if is_personal or "microsoft" in _text(root / "proc/sys/kernel/osrelease").lower():
        return ""
    return next((f"/{path.relative_to(root)}" for path in _evidence(root)), "")


def _evidence(root: Path) -> Iterator[Path]:
    yield from (root / name for name in _CONTAINER_FILES if (root / name).exists())
    for name in ("proc/1/cgroup", "proc/self/cgroup"):
        if _CONTAINER_GROUP.search(_text(root / name)):
            yield root / name
    for name in ("product_name", "sys_vendor", "board_vendor"):
        if _VIRTUAL_MACHINE.search(_text(root / "sys/class/dmi/id" / name)):
            yield root / "sys/class/dmi/id" / name
    if re.search(r"^flags\b.*\bhypervisor\b", _text(root / "proc/cpuinfo"), re.MULTILINE):
        yield root / "proc/cpuinfo"


def _text(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_MAX_BYTES).decode("utf-8", "replace")
    return ""
