"""Types of requests to a sandbox, and of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from utils.error_codes import ErrorCode
from utils.frozen import frozen
from utils.i18n import Phrase

MEBIBYTE = 1 << 20
MAX_SECONDS = 43_200
"""Seconds that a call may ever take, whatever the settings say."""
NO_TIME_LIMIT = 1e9
"""Seconds that are without end for a program that runs on in the background."""
TERMINAL_LINES, TERMINAL_COLUMNS = 30, 100
"""Size of the terminal of a program that has one."""
PORT = 3128
"""Port on the loopback of a sandbox behind which the proxy is."""
CERTIFICATES_PATH = Path("/run/certificates.pem")
"""Where a program finds the certificates that the person's own tools believe."""
JAVA_CERTIFICATES_PATH = Path("/run/certificates.jks")
"""Where Java finds the same."""

LockProject = Callable[[], AbstractContextManager[None]]
"""Locks everybody else out from scanning the project, and from undoing anything in it."""


class TierName(StrEnum):
    """A way to confine programs, from the strongest to none; people see the letter."""

    BUBBLEWRAP = "A"
    BUBBLEWRAP_WITHOUT_PROC = "B"
    LANDLOCK = "C"
    SEATBELT = "M"
    LIMITS_ONLY = "D"


LauncherTierName = Literal[TierName.LANDLOCK, TierName.SEATBELT, TierName.LIMITS_ONLY]
"""Those that bubblewrap has no part in."""

ExitReason = Literal[
    "exited", "stopped", "timed out", "memory", "processes", "output", "disk", "files", "killed"
]
"""Reason of the end of a call. "exited" is its own, "killed" the system's; the rest is ours."""


@frozen
class Program:
    """Program to run; *code* is Python source, or what `bash -c` takes.

    One in bash that *reads_input* can be typed to: see `Execution.write_input`. One that
    *has_terminal* reads and writes there, a terminal of its own. With *separate_errors* what it
    writes to standard error is no part of its output: see `Background.errors`.
    """

    language: Literal["python", "bash"]
    code: str
    reads_input: bool = False
    has_terminal: bool = False
    separate_errors: bool = False


@frozen
class Limits:
    """Limits of one call. *seconds* of wall time; sizes in bytes."""

    seconds: float = 60
    memory: int = 2048 * MEBIBYTE
    processes: int = 256  # threads count; a browser has some 150
    file_size: int = 512 * MEBIBYTE
    disk_growth: int = 1024 * MEBIBYTE
    tmp_size: int = 256 * MEBIBYTE
    temporary_files: int = 50_000
    output: int = 200_000
    total_output: int = 20_000_000

    @classmethod
    def of(
        cls, *, memory_mb: int, processes: int, disk_mb: int, tmp_mb: int, output_mb: int
    ) -> Limits:
        """Return the limits that the settings ask for. A file may be half of all that is written.

        The names of files in `/tmp` are memory too: their number grows with its size.
        """
        return cls(
            memory=memory_mb * MEBIBYTE,
            processes=processes,
            file_size=disk_mb * MEBIBYTE // 2,
            disk_growth=disk_mb * MEBIBYTE,
            tmp_size=tmp_mb * MEBIBYTE,
            temporary_files=50_000 * max(256, tmp_mb) // 256,
            total_output=output_mb * 1_000_000,
        )


@frozen
class Origin:
    """A server that the person's own tools are configured with, reached exactly as they reach it.

    One that *is_fetched* is asked by us: a program finds it at http://*alias*. One that
    *is_intercepted* is asked by us as well, where it is: the program's https ends with us, and
    nothing is ever sent. *authorization* is the header that lets us in, sent only for what is in
    the folder *path*; *certificates* the file of those to believe, "" for the system's.
    """

    scheme: Literal["http", "https"]
    host: str
    port: int = 443
    alias: str = ""
    path: str = ""
    authorization: str = field(default="", repr=False)
    certificates: str = ""
    is_intercepted: bool = False

    @property
    def is_fetched(self) -> bool:
        return bool(self.alias)


@frozen
class Network:
    """Hosts that a program may reach by https, and the variables that tell its tools how.

    *origins* may lie anywhere; *indexes* are more hosts, for reading alone. *folders* outside the
    project are shown read-only, the file *certificates* at `CERTIFICATES_PATH`, and *files*, texts
    of settings by their names in the person's home, where package managers find them. *notes* say
    what of the person's configuration is not taken over.
    """

    hosts: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    origins: tuple[Origin, ...] = ()
    folders: tuple[Path, ...] = ()
    certificates: Path | None = None
    indexes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Phrase, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return all that may be reached beside *indexes*, for people."""
        exact = (f"{one.host}:{one.port}" if one.port != 443 else one.host for one in self.origins)
        return tuple(dict.fromkeys((*self.hosts, *exact)))


@frozen
class Report:
    """How programs are confined on this machine, honestly.

    *advice* says what to install or switch for a better tier; None when there is none to have.
    *is_allowed* is False where nothing may run until the person says so.
    """

    tier: TierName
    name: Phrase
    does_not_protect: tuple[Phrase, ...]
    advice: Phrase | None = None
    is_allowed: bool = True


@frozen
class Result:
    """Result of a call. Nothing of it is alive any more.

    *exit_code* is None unless *exit_reason* is "exited". *head* and *tail* are the ends of the
    output; *middle* is what is between them, *left_out* its length in characters.
    """

    exit_code: int | None
    exit_reason: ExitReason
    head: str
    tail: str
    left_out: int
    seconds: float
    notes: tuple[Phrase, ...] = ()
    middle: str = field(default="", repr=False)

    @property
    def error_code(self) -> ErrorCode | None:
        """Why programs are told that it did not end well; None where it did."""
        match self.exit_reason:
            case "exited" if self.exit_code == 0:
                return None
            case "exited" | "killed" | "stopped":
                return "command"
            case "timed out":
                return "timeout"
            case _:
                return "limit"

    @property
    def whole(self) -> str:
        """All of the output, some megabytes at most."""
        return self.head + self.middle + self.tail

    @property
    def output(self) -> str:
        """The output as one text for a screen, with a word where some is missing."""
        if not self.left_out:
            return self.head + self.tail
        return f"{self.head}\n[… {self.left_out:,} characters left out …]\n{self.tail}"
