"""Receipts: what was run, and whether the files are still as they were then."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.cards import Change, RunCard
from core.conversation.messages import Record, ShellResult, ToolResult
from core.conversation.proof import Proof, Receipt
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.files.ignore import GENERATED_FOLDERS
from utils.i18n import UserError

MAX_FILES = 5
"""Files that a grey receipt names."""
MAX_RECEIPTS = 20
"""Receipts of one task, the last ones."""
_MAX_COMMAND = 1_000  # characters
_BY_PROGRAMS = (".pyc", ".coverage", "coverage.xml", ".DS_Store", ".tsbuildinfo")
Tree = tuple[int, str]
"""A state of the folder: the number of its snapshot, and a digest of what is in that."""
NO_TREE: Tree = (0, "")


class ListedFiles(Protocol):
    """The project, as far as it says which files count."""

    def files(self, path: str = "") -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a task that is over; *is_check* where the system made it."""

    call_id: str
    command: str
    exit_code: int | None
    is_check: bool
    output: str = ""


def runs_in(records: Iterable[Record]) -> Iterator[Run]:
    """Yield the runs of the model's and the system's in *records*: no person's."""
    for record in records:
        match record:
            case ToolResult(call_id=call_id, card=RunCard() as card):
                is_check = False
            case ShellResult(call_id=call_id, card=RunCard() as card, check=check) if check:
                is_check = True
            case _:
                continue
        if not card.job:
            yield Run(call_id, _command_of(card), card.exit_code, is_check, card.output)


def _command_of(card: RunCard) -> str:
    """Return the command of *card*; what is cut off could have been `|| true`, so "…" shows it."""
    code = card.code if len(card.code) <= _MAX_COMMAND else f"{card.code[:_MAX_COMMAND]}…"
    return code if card.language == "bash" else f"python3 -c {shlex.quote(code)}"


class TreeStates:
    """Says which files of the project differ between the states of its folder.

    What programs make for themselves, what git ignores, and the *trace* that Onefold writes there,
    counts as no file.
    """

    def __init__(self, project: ListedFiles, checkpoints: LateCheckpoints, trace: str = "") -> None:
        self._project = project
        self._checkpoints = checkpoints
        self._trace = trace

    def files(self) -> list[str]:
        """Return the files of the project as they are."""
        return self._project.files()

    def now(self) -> Tree:
        """Look at the folder; return its state. Raises `UserError`."""
        checkpoints = self._checkpoints.get()
        return checkpoints.take().id, checkpoints.content_digest()

    def now_or_last(self) -> Tree:
        """Return the state of the folder; while a call works in it, what it was before that.

        Raises `UserError`.
        """
        checkpoints = self._checkpoints.get()
        if checkpoints.project_lock.is_held:
            return checkpoints.last_snapshot().id, checkpoints.content_digest()
        return self.now()

    def changes(self, before: Tree, after: Tree) -> list[Change] | None:
        """Return how files differ; None where nobody can tell any more."""
        if before[1] and before[1] == after[1]:
            return []
        checkpoints = self._checkpoints.get()
        try:
            if before == NO_TREE or checkpoints.digest_at(before[0]) != before[1]:
                return None
            changes = checkpoints.diff(before[0], after[0])
        except UserError:  # it is not kept any more
            return None
        changes = [change for change in changes if not _is_generated(change.path)]
        if not changes:
            return []
        listed = {*self._project.files()} - {self._trace}
        return [c for c in changes if c.kind == "deleted" or (c.new_path or c.path) in listed]

    def receipts_of(self, proof: Proof, now: Tree) -> list[Receipt]:
        """Return the receipts of *proof* as they are in the state *now*."""
        pairs = zip(proof.receipts, proof.trees, strict=True)
        return [self._in_state(receipt, tree, now) for receipt, tree in pairs]

    def _in_state(self, receipt: Receipt, tree: Tree, now: Tree) -> Receipt:
        if receipt.state == "grey":
            return receipt
        changes = self.changes((tree[0], tree[1]), now)
        if changes == []:
            return receipt
        names = tuple(change.path for change in changes or ())[:MAX_FILES]
        return replace(receipt, state="grey", files=names)


def _is_generated(path: str) -> bool:
    parts = path.split("/")
    is_in_folder = not (GENERATED_FOLDERS | {".git", "htmlcov"}).isdisjoint(parts)
    return is_in_folder or path.endswith(_BY_PROGRAMS) or ".egg-info" in path


def changed_by_itself(changes: Sequence[Change] | None) -> tuple[str, ...]:
    """Return the files that a run has changed, of those that were there before it."""
    return tuple(change.path for change in changes or () if change.kind != "created")
