"""Launcher of a program without namespaces, which in the end kills all that it has started.

Run as a script (`python3 -I -S launcher.py SETTINGS COMMAND…`), it imports nothing of ours. It
is the reaper of everything below it. It kills it all when the program has ended, on SIGTERM, and
when the other end of the gate is closed, which means that whoever started it is gone.

With "confine" set, Landlock (Linux, include/uapi/linux/landlock.h) and the system call filter are
put on the program; without, only the limits are. With "outside" set not even these are, and it has
the environment of this process. With "leaves" set, what it started goes on when it has ended by
itself: the machine is the agent's own. Elsewhere than on Linux there is no reaper: a
process that has left its parents and their group is not found again.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_IS_LINUX = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 22, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 2, 4, 8
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CONTROL
_DEFAULTS = (
    *(signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE),
    signal.SIGXFSZ,
)
"""Signals that a program finds as usual: Python ignores the last two, and a shell the two before
them for what it begins in the background.
"""
_SCOPES = 3  # abstract sockets and signals stay inside


def landlock_version() -> int:
    """Return the version of Landlock's interface; 0 where there is none."""
    version: int = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return max(0, version)


def main() -> None:
    settings = json.loads(sys.argv[1])
    if _IS_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wakeup_read, wakeup_write = os.pipe()
    signal.set_wakeup_fd(_nonblocking(wakeup_write))
    for number in (signal.SIGTERM, signal.SIGCHLD):  # from now on `_wait` hears of them
        signal.signal(number, lambda *_: None)
    child = os.fork()
    if child == 0:
        _exec_program(settings, sys.argv[2:])
    _report(settings, {"child-pid": child})
    code = _wait(child, settings["gate"], wakeup_read)
    if code is None or not settings["leaves"]:
        _kill_descendants(child)
    if code is not None:
        _report(settings, {"exit-code": code})
    os._exit(code if code is not None else 1)


def _exec_program(settings: dict[str, Any], command: list[str]) -> None:
    """Turn this process into the program; never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in _DEFAULTS:
            signal.signal(number, signal.SIG_DFL)
        if _IS_LINUX:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _begin_session(has_terminal=settings["terminal"])
        if not os.read(settings["gate"], 1):
            os._exit(1)
        os.chdir(settings["folder"])
        if not settings["outside"]:
            _set_lasting_limits(settings["limits"])
        if settings["confine"]:
            _drop_capabilities()
            _restrict_by_landlock(settings)
        program = os.read(settings["filter"], 1 << 16)
        for name in ("gate", "status", "filter"):
            os.close(settings[name])
        if settings["confine"]:
            _install_filter(program)
        if settings["outside"]:
            os.execvp(command[0], command)  # noqa: S606 - meant so
        os.execvpe(command[0], command, settings["environment"])  # noqa: S606 - meant so
    except BaseException as error:  # noqa: BLE001 - nothing may go on from here
        os.write(2, f"launcher: {error}\n".encode())
    finally:
        os._exit(126)


def _begin_session(*, has_terminal: bool) -> None:
    """Begin a session of our own, if need be with the standard input as its terminal."""
    os.setsid()
    if has_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _wait(child: int, gate: int, signals: int) -> int | None:
    """Return the exit code of *child*, None if it is to be ended."""
    poll = select.poll()
    poll.register(gate, 0)  # only that the other end is closed
    poll.register(signals, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if gate in ready:
            return None
        numbers = os.read(signals, 4096)
        if signal.SIGTERM in numbers:
            return None
        for process, status in _reaped():
            if process == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code


def _reaped() -> Iterator[tuple[int, int]]:
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if process == 0:
            return
        yield process, status


def _set_lasting_limits(limits: dict[str, int]) -> None:
    """Let no program be more than its caller; elsewhere than on Linux, set the other limits too."""
    if _IS_LINUX:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        return
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limit, limit))


def _kill_descendants(child: int) -> None:
    """Kill everything below us until nothing is left; orphans come to us, wherever they hide.

    By groups, because a group is killed at once: single processes of a bomb fork faster.
    """
    own_group = os.getpgrp()
    while True:
        if not _IS_LINUX:
            with suppress(OSError):  # its orphans are not ours, but of its group
                os.killpg(child, signal.SIGKILL)
        for process in _descendants(os.getpid()):
            with suppress(OSError):
                group = os.getpgid(process)
                os.kill(process if group == own_group else -group, signal.SIGKILL)
        for _ in _reaped():
            pass
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        select.select([], [], [], 0.002)


def _descendants(process: int) -> Iterator[int]:
    if not _IS_LINUX:
        yield from _descendants_in(process, _children_by_ps())
        return
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (thread / "children").read_text(encoding="ascii").split()):
                yield child
                yield from _descendants(child)
    except OSError:
        return


def _children_by_ps() -> dict[int, list[int]]:
    import subprocess

    children: dict[int, list[int]] = {}
    table = subprocess.run(["/bin/ps", "-axo", "pid=,ppid="], capture_output=True, check=False)
    for line in table.stdout.splitlines():
        process, parent = map(int, line.split())
        children.setdefault(parent, []).append(process)
    return children


def _descendants_in(process: int, children: dict[int, list[int]]) -> Iterator[int]:
    for child in children.get(process, ()):
        yield child
        yield from _descendants_in(child, children)


def _drop_capabilities() -> None:
    """Be an ordinary process, and stay one across exec, root or not."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails beyond the last, and for users
    _check_syscall(_libc.capset(struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", *(0,) * 6)))


def _restrict_by_landlock(settings: dict[str, Any]) -> None:
    """Allow to read and to write only what *settings* say, "own" only to read, "hidden" neither.

    What is "shown" may be read, of that "covered" not.
    """
    version = landlock_version()
    files = (1 << 13) - 1
    files |= _REFER if version >= 2 else 0
    files |= _TRUNCATE if version >= 3 else 0
    files |= _DEVICE_CONTROL if version >= 5 else 0
    network = 3 if version >= 4 else 0
    attributes = struct.pack("=QQQ", files, network, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset_fd = _check_syscall(
        _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    )
    reading = _EXECUTE | _READ_FILE | _READ_FOLDER
    for path in settings["read"]:
        _allow(ruleset_fd, path, reading)
    covered = dict.fromkeys(settings["covered"], 0)
    for path in settings["shown"]:
        _allow_except(ruleset_fd, path, reading, covered)
    exceptions = dict.fromkeys(settings["own"], reading) | dict.fromkeys(settings["hidden"], 0)
    for path in settings["write"]:
        _allow_except(ruleset_fd, path, files, exceptions)
    _check_syscall(_libc.syscall(_RESTRICT_SELF, ruleset_fd, 0))
    os.close(ruleset_fd)


def _allow_except(ruleset_fd: int, path: str, access: int, exceptions: dict[str, int]) -> None:
    """Allow *access* at and below *path*, of what is *exceptions* only as much as that says.

    A rule holds for all that is below, and none takes anything away: so in a folder with something
    kept in it each other thing gets a rule of its own, and the folder itself only what all of the
    kept may have too.
    """
    access &= exceptions.get(path, access)
    kept = [right for kept, right in exceptions.items() if kept.startswith(f"{path}/")]
    if not kept:
        if access:
            _allow(ruleset_fd, path, access)
        return
    everywhere = access & (_READ_FOLDER | min(kept))
    if everywhere:
        _allow(ruleset_fd, path, everywhere)
    with suppress(OSError), os.scandir(path) as entries:  # closed to us, so to the program
        for entry in entries:
            if not entry.is_symlink():  # a rule would be for what it leads to
                _allow_except(ruleset_fd, entry.path, access, exceptions)


def _allow(ruleset_fd: int, path: str, access: int) -> None:
    if sys.platform != "linux":  # nowhere else is there a set of rules to add to
        return
    if not Path(path).is_dir():
        access &= _FILE_RIGHTS
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there needs no rule
        return
    rule = struct.pack("=Qi", access, descriptor)
    _check_syscall(_libc.syscall(_ADD_RULE, ruleset_fd, _PATH_BENEATH, rule, 0))
    os.close(descriptor)


def _install_filter(program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _prctl(_PR_SET_SECCOMP, 2, header)


def _prctl(option: int, *values: int | bytes) -> None:
    arguments = [ctypes.c_ulong(v) if isinstance(v, int) else v for v in (*values, 0, 0, 0)]
    _check_syscall(_libc.prctl(option, *arguments[:4]))


def _check_syscall(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _nonblocking(descriptor: int) -> int:
    os.set_blocking(descriptor, False)
    return descriptor


def _report(settings: dict[str, Any], message: dict[str, int]) -> None:
    os.write(settings["status"], (json.dumps(message) + "\n").encode())


if __name__ == "__main__":
    main()
