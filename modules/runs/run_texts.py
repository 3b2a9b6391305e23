"""How a run ended and what it did to the files, for the model and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from core.cards import Change
from modules.sandbox.types import Limits, Result
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.sandbox.run.file_changes import FileChanges

NO_OUTPUT = "(no output)"
SUCCESS_PREFIX = "exit code 0 "
STOPPED_RUN_PREFIX = "Stopped by the person"
FILES_PREFIXES: Mapping[Literal["created", "modified", "deleted", "renamed"], str] = {
    "created": "Files created: ",
    "modified": "Files modified: ",
    "deleted": "Files deleted: ",
    "renamed": "Files renamed: ",
}
RUN_LATER_PREFIX = "Of these, other programs may run or obey later: "
CHANGES_UNKNOWN = "(the folder is too large to tell which files the run changed)"
"""Words of the answer, by which the practice model knows its parts."""

MAX_NAMED = 30
"""Paths in one list."""
_MAX_NAME = 300  # characters of each
_SIGXFSZ_EXIT_CODE = 128 + 25  # the exit code of a program ended by SIGXFSZ


def ending_for_model(result: Result, limits: Limits, largest: int) -> str:
    """Say for the model how the run ended; no call may take more than *largest* seconds."""
    seconds = f"{result.seconds:.1f} s"
    match result.exit_reason:
        case "exited":
            is_too_large = result.exit_code == _SIGXFSZ_EXIT_CODE
            note = f": a file grew beyond {limits.file_size >> 20:,} MiB" if is_too_large else ""
            return f"exit code {result.exit_code} ({seconds}){note}"
        case "timed out":
            is_longest = limits.seconds >= largest
            allowance = "is not allowed" if is_longest else f"(up to {largest}) can be asked for"
            return f"Killed after {limits.seconds:g} s, the timeout; a longer one {allowance}."
        case "stopped":
            return f"{STOPPED_RUN_PREFIX} after {seconds}."
        case "memory":
            return f"Killed: it used more than {limits.memory >> 20:,} MiB of memory ({seconds})."
        case "processes":
            return f"Killed: it had more than {limits.processes} processes ({seconds})."
        case "output":
            return f"Killed: it wrote over {limits.total_output:,} bytes of output ({seconds})."
        case "disk":
            return f"Killed: it wrote over {limits.disk_growth >> 20:,} MiB to disk ({seconds})."
        case "files":
            return f"Killed: it made too many files ({seconds})."
        case "killed":
            return f"Killed by the system, maybe for lack of memory ({seconds})."


def ending_for_person(result: Result) -> Phrase:
    """Say for people how the run ended."""
    match result.exit_reason:
        case "exited":
            return phrase("done") if result.exit_code == 0 else phrase("failed")
        case "timed out":
            return phrase("timed out")
        case "stopped":
            return phrase("interrupted")
        case "memory":
            return phrase("it used too much memory")
        case "processes":
            return phrase("it had too many processes")
        case "output":
            return phrase("too much output")
        case "disk":
            return phrase("too much written to disk")
        case "files":
            return phrase("too many files created")
        case "killed":
            return phrase("the system killed it")


def describe_changes(file_changes: FileChanges) -> list[str]:
    """Say for the model what the run did to the files."""
    if not file_changes.are_known:
        return [CHANGES_UNKNOWN]
    lines = []
    for kind, prefix in FILES_PREFIXES.items():
        if names := [
            _describe_change(change) for change in file_changes.changes if change.kind == kind
        ]:
            lines.append(f"{prefix}{join_names(names)}")
    if file_changes.run_later:
        names = [_shown_path(path) for path in file_changes.run_later]
        lines.append(f"{RUN_LATER_PREFIX}{join_names(names)}")
    return lines


def _describe_change(change: Change) -> str:
    old, new = _shown_path(change.path), _shown_path(change.new_path)
    return f"{old} -> {new}" if change.kind == "renamed" else old


def _shown_path(path: str) -> str:
    """Return *path* as it is told; of one without end, both ends."""
    text = visible(path)
    half = _MAX_NAME // 2
    return text if len(text) <= _MAX_NAME else f"{text[:half]}…{text[-half:]}"


def join_names(names: Sequence[str]) -> str:
    """Return *names* as one text; of too many, how many more there are."""
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")
