"""What a run that failed seems to have lacked: the network, the system, a login, room."""

from __future__ import annotations

import re

from modules.sandbox.types import Limits, Program, Report, Result, TierName
from utils.i18n import Phrase, phrase

_SYSTEM_HINT = (
    "It installs into the system, which is read-only in the sandbox: call again with "
    'where="outside" to ask the person, or install into the project.'
)
_GIT_WITH_REMOTE = re.compile(r"\bgit\b[^|;&\n]*\b(push|fetch|pull|clone|ls-remote)\b")
_GIT_FAILED_REMOTE = re.compile(
    r"^fatal: (unable to access|could not read|unable to look up|unable to connect|unable to fork"
    r"|unable to find remote helper|Could not read from remote repository|cannot run ssh)"
    r"|^(error|ssh): .*(ssh|Could not resolve|Permission denied)",
    re.MULTILINE,
)
_HIDDEN_END = re.compile(
    r"(?<![\w./-])(?:pip3?|uvx?|npm|npx|pnpm|yarn|cargo|go|mvnw?|gradlew?|gem|bundle|composer|conda"
    r"|mamba|poetry|pipx|apt|apt-get|git|curl|wget)\s(?:[^\n;&|]|>&|&>)*(?:\||;|\n)\s*\S"
)
"""Commands that reach out, whose own exit code what comes after them hides (`| tail -3`)."""


_NO_MEMORY = re.compile(
    r"^MemoryError\b|Cannot allocate memory|std::bad_alloc|java\.lang\.OutOfMemoryError"
    r"|^memory allocation of \d+ bytes failed|heap out of memory|numpy\S*MemoryError",
    re.MULTILINE,
)
_FILE_TOO_LARGE = re.compile(r"\bFile too large\b|\bFile size limit exceeded|\bEFBIG\b")
_WITH_TMP_OF_THEIR_OWN = (TierName.BUBBLEWRAP, TierName.BUBBLEWRAP_WITHOUT_PROC)
_NO_SPACE = re.compile(r"\bNo space left on device\b|\bENOSPC\b")


def failure_hints(
    program: Program,
    result: Result,
    report: Report,
    limits: Limits,
    *,
    with_network: bool,
    remote_tool: str,
) -> tuple[list[str], Phrase | None]:
    """Return what the model is told that *program* lacked in the sandbox of *report*.

    Also how it ended for people, None where that is said already. *remote_tool* talks to remotes.
    """
    if not _may_have_failed(program, result):
        return [], None
    hints = [_SYSTEM_HINT] if _is_for_system(result, report) else []
    hints += _limit_hints(result, report, limits)
    ended_well = result.exit_code == 0
    if remote_tool and _is_for_remote(program, result):
        hints.append(f"{remote_tool} talks to remotes: it asks the person, and has their logins.")
        why = phrase("failed: {tool} talks to remotes", tool=remote_tool)
        return hints, None if ended_well else why
    if not with_network and _is_for_network(result, report):
        return [*hints, _network_hint(report)], None if ended_well else _failed_for_network(report)
    return hints, None


def _may_have_failed(program: Program, result: Result) -> bool:
    """Return whether a run failed, or may have in a command whose exit code is not that of all."""
    if result.exit_reason == "timed out" or result.exit_code:
        return True
    is_command = program.language == "bash" and result.exit_code == 0
    return is_command and _HIDDEN_END.search(program.code) is not None


def _limit_hints(result: Result, report: Report, limits: Limits) -> list[str]:
    """Return what a program may take of that of which it seems to have had too little.

    It says so itself in the words of the system, which tell nothing of a limit of ours.
    """
    said = result.head + result.tail
    hints = []
    if _NO_MEMORY.search(said):
        hints.append(f"A run has {limits.memory >> 20:,} MiB of memory (memory_mb, the person's).")
    if _FILE_TOO_LARGE.search(said):
        size = limits.file_size >> 20
        hints.append(f"A file may have {size:,} MiB (half of disk_mb, the person's).")
    if _NO_SPACE.search(said) and report.tier in _WITH_TMP_OF_THEIR_OWN:
        room = f"{limits.tmp_size >> 20:,} MiB and {limits.temporary_files:,} files"
        hints.append(f"In here /tmp holds {room} (tmp_mb, the person's); the project is not in it.")
    return hints


def _is_for_network(result: Result, report: Report) -> bool:
    """Return whether a run without the network looks as if it failed for want of that."""
    from modules.sandbox.network.offline import lacks_network  # its patterns: for failures only

    is_cut_off = report.tier is not TierName.LIMITS_ONLY
    return is_cut_off and lacks_network(result.head + result.tail)


def _is_for_system(result: Result, report: Report) -> bool:
    """Return whether a run failed because it would have installed something in the system."""
    from modules.sandbox.network.offline import installs_in_system  # its patterns: for failures

    is_confined = report.tier is not TierName.LIMITS_ONLY and result.exit_reason != "timed out"
    return is_confined and installs_in_system(result.head + result.tail)


def _is_for_remote(program: Program, result: Result) -> bool:
    """Return whether a run looks as if git failed in it to talk to a remote."""
    said = result.head + result.tail
    has_ended = result.exit_code is not None and _GIT_FAILED_REMOTE.search(said) is not None
    return has_ended and _GIT_WITH_REMOTE.search(program.code) is not None


def _network_hint(report: Report) -> str:
    if report.tier in (TierName.LANDLOCK, TierName.SEATBELT):
        return "It looks like want of network, to which there is no way in this sandbox."
    return "It looks like want of network: call again with network=true to ask the person for it."


def _failed_for_network(report: Report) -> Phrase:
    if report.tier in (TierName.LANDLOCK, TierName.SEATBELT):
        return phrase("failed: in this sandbox there is no way to the network")
    return phrase("failed: it had no network (network=true asks for it)")
