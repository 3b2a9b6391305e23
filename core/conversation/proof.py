"""Proof of a task: what was run, which state of the files that stands for, and what is claimed.

It is the system's own word: nothing in it is taken from what the model says of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from core.conversation.messages import StateRecord
from utils.frozen import frozen
from utils.text.codec import from_plain, to_plain

PROOF = "proof"
"""The `StateRecord` that keeps the proof of a turn."""

NOT_THERE = (126, 127)
"""Exit codes of a shell for a program that it cannot run."""

ReceiptState = Literal["green", "red", "grey"]
GreyReason = Literal["", "no tests", "not there", "unfinished", "own changes"]
"""Why a run says nothing of the files: no tests, a program that it lacks, no end of its own, or
that it changed them itself."""
Ground = Literal["receipt", "reading", "nothing"]
"""What a claim rests on."""


@frozen
class Receipt:
    """A run that is over: *state* is grey where it no longer stands for the files.

    *files* are then the first of those that changed since, or that the run changed itself, or
    *reason* says why it never did.
    *changed_checks* are files that the check is made of and that the same task changed. One that
    *is_check* was run by the system.
    """

    command: str
    exit_code: int | None
    state: ReceiptState
    files: tuple[str, ...] = ()
    changed_checks: tuple[str, ...] = ()
    is_check: bool = False
    reason: GreyReason = ""

    @property
    def is_look(self) -> bool:
        """Whether it is of a look at the syntax, which a shell would take for a comment."""
        return self.is_check and self.command.startswith("# ")


@frozen
class ChecksResult:
    """How the project's checks stand at the end of a task; none were run where it is "none"."""

    state: Literal["green", "red", "none"] = "none"
    commands: tuple[str, ...] = ()


@frozen
class Claim:
    """A sentence of the answer that says that something was run or holds."""

    text: str
    supported: bool
    rests_on: Ground = "nothing"


@frozen
class Proof:
    """Everything that the end of a task says of itself; *trees* belong to *receipts*, in order.

    A tree is the number of a snapshot and a digest of what is in it, (0, "") where none is known.
    """

    receipts: tuple[Receipt, ...] = ()
    checks: ChecksResult = ChecksResult()
    claims: tuple[Claim, ...] = ()
    trees: tuple[tuple[int, str], ...] = ()

    def to_record(self, turn: int) -> StateRecord:
        """Return the record of this as the proof of *turn*."""
        return StateRecord(PROOF, {"turn": turn, "proof": to_plain(self)})


NO_PROOF = Proof()


def proof_in(value: Any) -> Proof:
    """Return what the value of such a record tells."""
    proof: Proof = from_plain(Proof, value["proof"])
    return proof


def proofs_in(records: Sequence[tuple[int, Any]]) -> list[tuple[int, Proof]]:
    """Return the proofs in *records* with their turns, oldest first."""
    return [
        (turn, proof_in(record.value))
        for turn, record in records
        if isinstance(record, StateRecord) and record.name == PROOF
    ]
