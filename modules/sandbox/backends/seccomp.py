"""Seccomp filter: system calls that no confined program has any business with.

A classic BPF program over `struct seccomp_data` (Linux, include/uapi/linux/seccomp.h), assembled
here, so that nothing has to be installed for it.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass
from typing import Literal

from modules.sandbox.backends.system_calls import (
    BY_ARGUMENT,
    DENIED,
    FLAGS_AND_MODE_ARGUMENTS,
    MODE_ARGUMENT,
    NOT_IMPLEMENTED,
    PROCESS_ARGUMENT,
    USER_WIDE_IPC,
    WHOLE_USER_VALUE,
    Numbers,
)

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_X32_BIT = 0x40000000  # the bit that marks the x32 calls, another door to the same kernel
_CLONE_NEW_FLAGS = 0x7E020000
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _DATAGRAM = 1, 2
_CREATE_FLAGS = 0o100 | 0o20000000  # O_CREAT, O_TMPFILE
_SETID_BITS = 0o6000

Isolation = Literal["namespaces", "none"]


class NoFilter(Exception):
    """There is no filter for this processor."""


@dataclass(frozen=True)
class _Architecture:
    audit: int
    column: int
    has_x32: bool


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 0, True),
    "aarch64": _Architecture(0xC00000B7, 1, False),
}


def filter_program(isolation: Isolation = "namespaces", machine: str | None = None) -> bytes:
    """Return the filter as an array of `struct sock_filter`.

    With "namespaces", ordinary sockets may be made and the program's processes are among
    themselves; with "none", no socket can be made, and a process can neither change how another
    one is scheduled or limited nor reach what it shares by number. Raises `NoFilter` for an
    unknown *machine*.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise NoFilter(machine)
    architecture = _ARCHITECTURES[machine]
    parts: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture.has_x32:
        parts += [(_AT_LEAST, 0, 1, _X32_BIT), _return_error(errno.ENOSYS)]
    denied = DENIED if isolation == "namespaces" else DENIED | USER_WIDE_IPC
    for calls, error in ((denied, errno.EPERM), (NOT_IMPLEMENTED, errno.ENOSYS)):
        for number in _call_numbers(calls, architecture):
            parts += [(_EQUAL, 0, 1, number), _return_error(error)]
    parts += _argument_rules(architecture, isolation)
    parts.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *part) for part in parts)


def _call_numbers(calls: dict[str, Numbers], architecture: _Architecture) -> list[int]:
    columns = (numbers[architecture.column] for numbers in calls.values())
    return [number for number in columns if number is not None]


def _argument_rules(architecture: _Architecture, isolation: Isolation) -> list[Instruction]:
    rules = _for_call(
        "clone", [*_if_any_bit(0, _CLONE_NEW_FLAGS), _return_error(errno.EPERM)], architecture
    )
    # Only the low half of the command counts for the kernel; comparing all of it is a known hole.
    rules += _for_call("ioctl", _refuse_values(1, _TIOCSTI, _TIOCLINUX, _TIOCSETD), architecture)
    rules += _socket_rules(architecture, isolation)
    for name, process in PROCESS_ARGUMENT.items() if isolation == "none" else ():
        body = [(_LOAD, 0, 0, _argument(process)), (_EQUAL, 1, 0, 0), _return_error(errno.EPERM)]
        rules += _for_call(name, body, architecture)
    for name, user in WHOLE_USER_VALUE.items() if isolation == "none" else ():
        rules += _for_call(name, _refuse_values(0, user), architecture)
    for name, mode in MODE_ARGUMENT.items():
        rules += _for_call(
            name, [*_if_any_bit(mode, _SETID_BITS), _return_error(errno.EPERM)], architecture
        )
    for name, (flags, mode) in FLAGS_AND_MODE_ARGUMENTS.items():
        body = [*_if_any_bit(mode, _SETID_BITS), _return_error(errno.EPERM)]
        body = [(_LOAD, 0, 0, _argument(flags)), (_ANY_BIT, 0, len(body), _CREATE_FLAGS), *body]
        rules += _for_call(name, body, architecture)
    return rules


def _socket_rules(architecture: _Architecture, isolation: Isolation) -> list[Instruction]:
    refuse = _return_error(errno.EAFNOSUPPORT)
    pair = [(_LOAD, 0, 0, _argument(0)), (_EQUAL, 1, 0, _UNIX), refuse]
    if isolation == "none":
        return [
            *_for_call("socket", [refuse], architecture),
            *_for_call("socketpair", pair, architecture),
        ]
    made = [
        (_LOAD, 0, 0, _argument(0)),
        (_EQUAL, 3, 0, _UNIX),
        (_EQUAL, 2, 0, _INET),
        (_EQUAL, 1, 0, _INET6),
        refuse,
        (_LOAD, 0, 0, _argument(1)),
        (_AND, 0, 0, 0xF),  # beside the type there are flags
        (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _DATAGRAM),
        refuse,
    ]
    return [*_for_call("socket", made, architecture), *_for_call("socketpair", pair, architecture)]


def _for_call(name: str, body: list[Instruction], architecture: _Architecture) -> list[Instruction]:
    """Return *body*, to be run for the call *name* only."""
    number = BY_ARGUMENT[name][architecture.column]
    if number is None:
        return []
    return [(_LOAD, 0, 0, _NUMBER), (_EQUAL, 0, len(body), number), *body]


def _if_any_bit(argument: int, bits: int) -> list[Instruction]:
    """Run the next instruction only if *argument* has one of *bits*."""
    return [(_LOAD, 0, 0, _argument(argument)), (_ANY_BIT, 0, 1, bits)]


def _refuse_values(argument: int, *values: int) -> list[Instruction]:
    compared = [(_EQUAL, 0, 1, value) for value in values]
    pairs = [part for one in compared for part in (one, _return_error(errno.EPERM))]
    return [(_LOAD, 0, 0, _argument(argument)), *pairs]


def _argument(index: int) -> int:
    """Return the offset of the low half of an argument (both processors are little-endian)."""
    return _ARGUMENTS + 8 * index


def _return_error(error: int) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | error)
