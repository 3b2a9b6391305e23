"""Onefold as it would find itself on Windows: `python -m tests.as_windows OPTION…` starts it.

The modules and names that Python lacks there are taken away. A simulation: paths and programs stay
those of this system.
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")
NAMES = (
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "fork", "getuid"),
    *("geteuid", "getegid", "getgid", "killpg", "mkfifo", "openpty", "set_blocking", "fchmod"),
    *("setsid", "statvfs", "sysconf", "uname", "pread", "pwrite", "chown", "getpgid", "getsid"),
)
SIGNALS = ("SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGTSTP", "SIGXFSZ")


def become_windows() -> None:
    """Make this process one on Windows, as far as the names above go."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment] # so an import of it fails
    for name in NAMES:
        vars(os).pop(name, None)
    for name in SIGNALS:
        vars(signal).pop(name, None)
    vars(pathlib)["WindowsPath"] = pathlib.PosixPath  # the files are here
    sys.modules["nt"] = sys.modules["posix"]
    vars(os)["name"], vars(sys)["platform"] = "nt", "win32"


if __name__ == "__main__":
    become_windows()
    import main

    sys.exit(main.main())
