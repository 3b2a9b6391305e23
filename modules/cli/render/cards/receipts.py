"""Receipts below an answer: what was run, what that stands for, and claims without any."""

from __future__ import annotations

from collections.abc import Iterator

from core.conversation.proof import NOT_THERE, Claim, Receipt
from core.events import TurnFinished
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

_MAX_COMMAND = 100
_MAX_OTHERS = 5  # receipts of runs that are no checks
MARKS = {"green": ("✓", "green"), "red": ("✗", "red"), "grey": ("○", "dim")}
"""The mark of a receipt and its style, by its state."""


def receipt_lines(event: TurnFinished) -> Iterator[tuple[str, str, Phrase]]:
    """Yield mark, style and words of each line below the answer that *event* ends.

    A run that is no check is told where the answer claims something.
    """
    others = [one for one in event.receipts if not one.is_check] if event.claims else []
    last = {one.command: one for one in event.receipts if one.is_check}
    for receipt in [*others[-_MAX_OTHERS:], *last.values()]:
        mark, style = MARKS[receipt.state]
        if receipt.state == "green" and receipt.changed_checks:
            style = "yellow"
        yield mark, style, receipt_line(receipt)
    for claim in event.claims:
        if not claim.supported:
            yield "⚠", "yellow", claim_line(claim)


def receipt_line(receipt: Receipt) -> Phrase:
    """Return what *receipt* says, in a line."""
    name = visible(" ".join(receipt.command.split()))[:_MAX_COMMAND]
    code = "—" if receipt.exit_code is None else receipt.exit_code
    files = ", ".join(map(visible, receipt.files))
    changed = ", ".join(map(visible, receipt.changed_checks))
    match receipt.state:
        case "green" if changed:
            return phrase(
                "{name} passed, but the task changed the checks themselves: {files}",
                name=name,
                files=changed,
            )
        case "green":
            return phrase("{name} passed (exit code {code})", name=name, code=code)
        case "red":
            return phrase("{name} failed (exit code {code})", name=name, code=code)
        case "grey" if files and receipt.reason == "own changes":
            return phrase("{name} changed {files} itself", name=name, files=files)
        case "grey" if files:
            return phrase("{name} is outdated: {files} changed", name=name, files=files)
        case "grey" if receipt.exit_code in NOT_THERE or receipt.reason == "not there":
            return phrase("{name} could not be run (exit code {code})", name=name, code=code)
        case "grey" if receipt.reason == "no tests":
            return phrase("{name} found no tests (exit code {code})", name=name, code=code)
        case "grey" if receipt.reason == "unfinished":
            return phrase("{name} did not finish", name=name)
        case "grey":
            return phrase("{name} does not apply to the current files", name=name)


def claim_line(claim: Claim) -> Phrase:
    """Return what is to be said of a claim that no receipt supports."""
    text = visible(claim.text)
    if claim.rests_on == "reading":
        return phrase("Not verified by a run, only by reading: {text}", text=text)
    return phrase("Not verified by a run: {text}", text=text)
