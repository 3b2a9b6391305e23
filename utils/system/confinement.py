"""Confinement of a process that takes a hostile file apart: the file may at most end it.

Limits of memory, time and files everywhere; on Linux also a filter that allows nothing but memory
and the open pipes (struct seccomp_data, include/uapi/linux/seccomp.h): no file can be opened, no
socket made, no program run. Everything must have been imported before. Imports only the standard
library.
"""

from __future__ import annotations

import ctypes
import platform
import resource
import struct
import sys

MAX_ADDRESS_SPACE = 1 << 30
"""Bytes of address space: what the largest picture takes, decoded and converted."""
MAX_CPU_SECONDS = 20
"""Of processor time."""

_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # deny: EPERM
_NUMBER, _ARCHITECTURE = 0, 4

# name: its numbers on x86_64 and aarch64 (arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h). Threads are for the WebP decoder.
_ALLOWED: dict[str, tuple[int, int]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "getpid": (39, 172),
    "clone": (56, 220),
    "exit": (60, 93),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "clock_gettime": (228, 113),
    "exit_group": (231, 94),
    "tgkill": (234, 131),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "rseq": (334, 293),
    "clone3": (435, 435),
}
_AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def confine(*, max_cpu_seconds: int = MAX_CPU_SECONDS) -> None:
    """Drop all rights that decoding does not need. Raises `OSError` where a limit cannot be set."""
    for kind, maximum in (
        (resource.RLIMIT_AS, MAX_ADDRESS_SPACE),
        (resource.RLIMIT_CPU, max_cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        limit = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(kind, (limit, limit))
    machine = platform.machine()
    if sys.platform == "linux" and machine in _AUDIT_ARCHITECTURES:
        _install_filter(machine)


def _install_filter(machine: str) -> None:
    program = _filter_program(machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for step in ((_SET_NO_NEW_PRIVILEGES, 1, 0), (_SET_SECCOMP, _FILTER, header)):
        if libc.prctl(*step, 0, 0):
            raise OSError(ctypes.get_errno(), "the filter of system calls cannot be set")


def _filter_program(machine: str) -> bytes:
    """Return the filter for *machine* as an array of `struct sock_filter`."""
    column = list(_AUDIT_ARCHITECTURES).index(machine)
    instructions = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT_ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for numbers in _ALLOWED.values():
        instructions += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _ALLOW)]
    instructions.append((_RETURN, 0, 0, _DENY))
    return b"".join(struct.pack("=HBBI", *part) for part in instructions)
