"""Holding claims against receipts: what each rests on, by rule and never by the model's word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.conversation.messages import Record, ShellResult, ToolCall, ToolResult
from core.conversation.proof import ChecksResult, Claim, Ground, Receipt
from core.tools import Risk, Toolbox, ToolError
from modules.checks.claims import FoundClaim
from modules.checks.commands import does_anything, normalized, proves, runs_tests
from modules.checks.run_scopes import ChangedParts

_NO_PARTS = ChangedParts()
_WHOLE = r"(?<![a-z0-9_./]){}(?![a-z0-9_]|\.[a-z0-9])"
"""A name that stands by itself; Chinese letters may be next to it."""


def checks_result(receipts: Sequence[Receipt], checks: Sequence[str]) -> ChecksResult:
    """Return how *checks* stand by *receipts*, the last of each command counting.

    They are green where each of them is, and red where one is, or a look at the syntax.
    """
    last = {normalized(one.command): one for one in receipts if one.is_check}
    states = {command: receipt.state for command, receipt in last.items()}
    commands = tuple(receipt.command for receipt in last.values())
    if "red" in states.values():
        return ChecksResult("red", commands)
    wanted = [normalized(one) for one in checks]
    if wanted and all(states.get(one) == "green" for one in wanted):
        return ChecksResult("green", commands)
    return ChecksResult("none", commands)


def still_red(receipts: Sequence[Receipt], checks: Sequence[str]) -> ChecksResult:
    """Return that *checks*, or a look at the syntax, failed on the files as they are, by *receipts*
    of the whole session; "none" where they did not."""
    wanted = {normalized(one) for one in checks}
    meant = [one for one in receipts if one.is_look or normalized(one.command) in wanted]
    result = checks_result(meant, checks)
    return result if result.state == "red" else ChecksResult()


def held_against(
    found: FoundClaim,
    receipts: Sequence[Receipt],
    earlier: Sequence[Receipt],
    checks: ChecksResult,
    *,
    ran: Sequence[str],
    has_read: bool,
    parts: ChangedParts = _NO_PARTS,
) -> Claim:
    """Return what *found* rests on: *receipts* of the task, those of *earlier* ones, or less.

    *ran* are the commands that the model has run itself. Tests of other folders than of the
    *parts* that the task changed are not those that it speaks of, unless it names them.
    """

    def is_meant(command: str) -> bool:
        return _is_meant(command, found, checks, parts)

    ran = list(filter(is_meant, ran))
    receipts = [one for one in receipts if is_meant(one.command)]
    earlier = [one for one in earlier if is_meant(one.command)]
    match found.kind:
        case "ran":
            is_supported = _was_run(found, _that_count(ran, receipts, checks))
        case "passes":
            is_supported = checks.state != "red" and _has_passed([*earlier, *receipts], checks)
        case "verified":
            is_supported = checks.state == "green" or (
                checks.state != "red"
                and any(one.state == "green" and does_anything(one.command) for one in receipts)
            )
    ground: Ground = "receipt" if is_supported else "reading" if has_read else "nothing"
    return Claim(found.text, is_supported, ground)


def _is_meant(command: str, found: FoundClaim, checks: ChecksResult, parts: ChangedParts) -> bool:
    """Return whether *command* is no run of tests, or one of those that *found* speaks of."""
    if not runs_tests(command) or normalized(command) in map(normalized, checks.commands):
        return True
    folders = parts.other_folders(command)
    names = {name.casefold() for folder in folders for name in (folder, folder.split("/")[-1])}
    text = found.text.casefold()
    return not folders or any(re.search(_WHOLE.format(re.escape(name)), text) for name in names)


def has_read(records: Sequence[Record], tools: Toolbox) -> bool:
    """Return whether *records* tell of a call of *tools* that read anything of the project."""
    for name in _names_of_done(records):
        try:
            if tools.find(name).risk is Risk.READ:
                return True
        except ToolError:  # it is not offered any more
            continue
    return False


def _names_of_done(records: Iterable[Record]) -> Iterator[str]:
    """Yield the tools of the calls that were done, those for a message's mentions included."""
    for record in records:
        match record:
            case ToolResult(name=name, state="done"):
                yield name
            case ShellResult(read=ToolCall(name=name), state="done"):
                yield name


def by_sentence(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return one claim for each sentence of *claims*: supported where all that it says is."""
    merged: dict[str, Claim] = {}
    for claim in claims:
        before = merged.get(claim.text)
        merged[claim.text] = before if before and not before.supported else claim
    return tuple(merged.values())


def _that_count(ran: Sequence[str], receipts: Sequence[Receipt], checks: ChecksResult) -> list[str]:
    """Return those of *ran* that a claim can rest on: no tests of files that are others now."""
    if checks.state == "green":
        return list(ran)
    standing = {one.command for one in receipts if one.state != "grey"}
    return [run for run in ran if run in standing or not proves(run, checks.commands)]


def _was_run(found: FoundClaim, runs: Sequence[str]) -> bool:
    """Return whether what *found* names is among *runs*, whatever came of it."""
    is_of_tests = bool(re.search("test|测试", re.sub("`[^`]*`", "", found.text), re.IGNORECASE))
    if found.commands:
        runs = [run for run in runs if not (is_of_tests and _only_talks(run))]
        return all(any(_names(name, run) for run in runs) for name in found.commands)
    if is_of_tests:
        return any(proves(run) for run in runs)
    return any(does_anything(run) for run in runs)


def _names(name: str, run: str) -> bool:
    """Return whether *name*, which stands as code in an answer, is what *run* is of."""
    return name == run or (name.rstrip("/") in run and not _only_talks(name))


def _only_talks(command: str) -> bool:
    return normalized(command.split(maxsplit=1)[0]) in ("echo", "printf")


def _has_passed(receipts: Sequence[Receipt], checks: ChecksResult) -> bool:
    """Return whether the newest run of each test command passed, and still stands."""
    last = {one.command: one for one in receipts if proves(one.command, checks.commands)}
    standing = [one.state for one in last.values() if one.state != "grey"]
    return bool(standing) and "red" not in standing
