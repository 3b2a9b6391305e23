from __future__ import annotations

import errno
import struct

import pytest

from modules.sandbox.backends.seccomp import NoFilter, filter_program

X86, ARM = 0xC000003E, 0xC00000B7
ALLOW, KILL = "allow", "kill"


def verdict(program: bytes, number: int, *arguments: int, architecture: int = X86) -> str:
    """Run the filter as the kernel would; return "allow", "kill" or the name of the error."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=iIQ6Q", number, architecture, 0, *padded)
    parts = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        code, if_true, if_false, constant = parts[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, constant)
            case 0x54:
                value &= constant
            case 0x06:
                known = {0x7FFF0000: ALLOW, 0x80000000: KILL}
                return known.get(constant) or errno.errorcode[constant & 0xFFFF]
            case 0x15:
                at += if_true if value == constant else if_false
            case 0x35:
                at += if_true if value >= constant else if_false
            case 0x45:
                at += if_true if value & constant else if_false


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ((0,), ALLOW),  # read
        ((101,), "EPERM"),  # ptrace
        ((425,), "EPERM"),  # io_uring_setup
        ((435,), "ENOSYS"),  # clone3
        ((319,), "ENOSYS"),  # memfd_create
        ((0x40000000 | 39,), "ENOSYS"),  # an x32 call
        ((56, 0x01200011), ALLOW),  # clone, as fork does it
        ((56, 0x10000011), "EPERM"),  # clone into a new user namespace
        ((16, 0, 0x5401), ALLOW),  # ioctl TCGETS
        ((16, 0, 0x5412), "EPERM"),  # TIOCSTI
        ((16, 0, 0x5412 | 1 << 32), "EPERM"),
        ((41, 1, 1), ALLOW),  # a local socket
        ((41, 2, 2 | 0o2000000), ALLOW),  # a datagram socket, closed on exec
        ((41, 2, 3), "EAFNOSUPPORT"),  # a raw one
        ((41, 16, 3), "EAFNOSUPPORT"),  # netlink
        ((41, 40, 1), "EAFNOSUPPORT"),  # vsock
        ((53, 1, 1), ALLOW),  # a pair
        ((90, 0, 0o755), ALLOW),  # chmod
        ((90, 0, 0o4755), "EPERM"),
        ((268, 0, 0, 0o2755), "EPERM"),  # fchmodat
        ((2, 0, 0, 0o4755), ALLOW),  # open: a mode without O_CREAT means nothing
        ((2, 0, 0o101, 0o644), ALLOW),
        ((2, 0, 0o101, 0o4755), "EPERM"),
        ((257, 0, 0, 0o20000000, 0o4755), "EPERM"),  # openat with O_TMPFILE
        ((302, 4711), ALLOW),  # prlimit64: the others are all ours
    ],
)
def test_calls_are_judged(call: tuple[int, ...], expected: str) -> None:
    assert verdict(filter_program("namespaces", "x86_64"), *call) == expected


def test_without_namespaces_there_are_no_sockets_and_no_others() -> None:
    program = filter_program("none", "x86_64")
    assert verdict(program, 41, 1, 1) == "EAFNOSUPPORT"
    assert verdict(program, 53, 1, 1) == ALLOW
    assert verdict(program, 302, 0) == ALLOW
    assert verdict(program, 302, 4711) == "EPERM"
    assert verdict(program, 141, 0, 0) == ALLOW  # setpriority of itself
    assert verdict(program, 141, 2, 0) == "EPERM"  # of all that the user runs
    assert verdict(program, 251, 3, 0) == "EPERM"  # ioprio_set of the same


def test_another_architecture_is_killed() -> None:
    assert verdict(filter_program("none", "x86_64"), 20, architecture=0x40000003) == KILL
    assert verdict(filter_program("none", "aarch64"), 20, architecture=X86) == KILL


def test_arm_has_its_own_numbers() -> None:
    program = filter_program("namespaces", "aarch64")
    assert verdict(program, 117, architecture=ARM) == "EPERM"  # ptrace
    assert verdict(program, 101, architecture=ARM) == ALLOW  # nanosleep
    assert verdict(program, 53, 0, 0, 0o4755, architecture=ARM) == "EPERM"  # fchmodat


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(NoFilter):
        filter_program("none", "vax")
