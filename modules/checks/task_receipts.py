"""Receipts of the task that goes on: what each call began from and left, and what was changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.cards import Change
from core.conversation.proof import Receipt, ReceiptState
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checks.commands import normalized
from modules.checks.exit_codes import grey_reason
from modules.checks.finding import is_part_of_checks, is_test
from modules.checks.receipts import MAX_FILES, NO_TREE, Run, Tree, TreeStates, changed_by_itself
from modules.checks.run_scopes import ChangedParts


@dataclass
class TaskReceipts:
    """What a task did to the files of the project, by the snapshots around its calls."""

    trees: TreeStates
    checkpoints: LateCheckpoints
    unchecked_since: int = 0
    """The snapshot before what earlier turns did that it goes on from, 0 for none."""
    changed: list[str] = field(default_factory=list)
    """The files that are other than at its beginning, and still there."""
    changed_checks: tuple[str, ...] = ()
    """Those of all that it changed which checks are made of."""
    _snapshots: dict[str, tuple[int, int]] = field(default_factory=dict)
    _checked: Tree = NO_TREE

    def begin_call(self, call_id: str) -> None:
        """Take note of the state from which the call begins."""
        self._snapshots[call_id] = self.checkpoints.get().last_snapshot().id, 0

    def end_call(self, call_id: str) -> None:
        """Take note of the state that the call left."""
        before, _ = self._snapshots.get(call_id, (0, 0))
        self._snapshots[call_id] = before, self.checkpoints.get().last_snapshot().id

    def look(self) -> Tree | None:
        """Look at what the task changed since it was last looked at; None where that is nothing.

        Raises `UserError`.
        """
        first = self.unchecked_since or next((one for one, _ in self._snapshots.values()), 0)
        if not first:
            return None
        now = self.trees.now()
        if self._checked != NO_TREE and self.trees.changes(self._checked, now) == []:
            return None
        changes = self.trees.changes(self._tree(first), now) or []
        self._checked = now
        self.changed = [c.new_path or c.path for c in changes if c.kind != "deleted"]
        self.changed_checks = self._parts_of_checks(changes)
        return now if changes else None

    def _parts_of_checks(self, changes: Sequence[Change]) -> tuple[str, ...]:
        """Return those of *changes* that checks are made of: new tests where there were none."""
        created = {change.path for change in changes if change.kind == "created"}
        had_tests = any(is_test(path) and path not in created for path in self.trees.files())
        return tuple(
            change.path
            for change in changes
            if is_part_of_checks(change.path, is_new=change.path in created and had_tests)
        )

    def changed_parts(self) -> ChangedParts:
        """Return what the task changed as it was last looked at, among all files."""
        return ChangedParts(self.changed, self.trees.files() if self.changed else ())

    def receipt(self, run: Run, now: Tree, checks: Sequence[str]) -> Receipt:
        """Return the receipt of *run* as it is *now*; *checks* are those of the project."""
        before, after = (self._tree(number) for number in self._snapshots.get(run.call_id, (0, 0)))
        changed = () if run.is_check else changed_by_itself(self.trees.changes(before, after))
        since = self.trees.changes(after, now)
        files = changed or tuple(change.path for change in since or ())
        is_check = run.is_check or normalized(run.command) in map(normalized, checks)
        reason = grey_reason(run.command, run.exit_code, run.output)
        state: ReceiptState = "green" if run.exit_code == 0 else "red"
        if reason or since is None or files:
            state = "grey"
        return Receipt(
            *(run.command, run.exit_code, state, files[:MAX_FILES]),
            changed_checks=self.changed_checks[:MAX_FILES] if is_check else (),
            is_check=is_check,
            reason=reason or ("own changes" if changed else ""),
        )

    def tree_after(self, run: Run) -> Tree:
        """Return the state that *run* left."""
        return self._tree(self._snapshots.get(run.call_id, (0, 0))[1])

    def _tree(self, snapshot: int) -> Tree:
        return (snapshot, self.checkpoints.get().digest_at(snapshot)) if snapshot else NO_TREE
