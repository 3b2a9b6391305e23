"""Receipts in words, the same on every screen."""

from __future__ import annotations

from collections.abc import Sequence

from core.cards import Card, TableCard, TextCard
from core.conversation.proof import NOT_THERE, Receipt
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible

_MAX_SHOWN = 50
_MAX_COMMAND = 200


def receipts_card(receipts: Sequence[tuple[int, Receipt]]) -> Card:
    """Return the card of *receipts*, each with its turn, the newest last."""
    if not receipts:
        return TextCard(phrase("Receipts"), phrase("Nothing has been run in this session yet."))
    shown = receipts[-_MAX_SHOWN:]
    rows = tuple(
        (
            str(turn),
            visible(" ".join(one.command.split()))[:_MAX_COMMAND],
            _exit(one),
            state_text(one),
        )
        for turn, one in shown
    )
    columns = (phrase("Turn"), phrase("Command"), phrase("Exit code"), phrase("State"))
    alarms = tuple(n for n, (_, one) in enumerate(shown) if one.state == "red")
    return TableCard(phrase("Receipts"), rows, columns, alarms)


def _exit(receipt: Receipt) -> Text:
    return "—" if receipt.exit_code is None else str(receipt.exit_code)


def state_text(receipt: Receipt) -> Phrase:
    """Return what *receipt* still stands for."""
    files = ", ".join(map(visible, receipt.files))
    changed = ", ".join(map(visible, receipt.changed_checks))
    match receipt.state:
        case "green" if changed:
            return phrase(
                "passed, but the task changed the checks themselves: {files}", files=changed
            )
        case "green":
            return phrase("passed")
        case "red":
            return phrase("failed")
        case "grey" if files and receipt.reason == "own changes":
            return phrase("changed {files} itself", files=files)
        case "grey" if files:
            return phrase("outdated: {files} changed", files=files)
        case "grey" if receipt.exit_code in NOT_THERE or receipt.reason == "not there":
            return phrase("could not be run")
        case "grey" if receipt.reason == "no tests":
            return phrase("found no tests")
        case "grey" if receipt.reason == "unfinished":
            return phrase("did not finish")
        case "grey":
            return phrase("does not apply to the current files")


def outdated_text(receipt: Receipt) -> Phrase:
    """Return that the check of *receipt* passed and stands no more."""
    return phrase(
        "Check {name} passed, but {files} changed since.",
        name=visible(receipt.command),
        files=", ".join(map(visible, receipt.files)) or "…",
    )
