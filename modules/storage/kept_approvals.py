"""Approvals that last: what the person allowed in a project until they take it back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from core.loop.approval import KeptApproval
from utils.i18n import UserError
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json


class KeptApprovals:
    """Approvals in the file *path*, which all Onefolds on the project share."""

    def __init__(self, path: Path) -> None:
        self._file = SharedFile(path)

    def all(self) -> Sequence[KeptApproval]:
        """Return them, oldest first; what cannot be read allows nothing."""
        try:
            return _parse(self._file.read())
        except UserError:
            return ()

    def add(self, approval: KeptApproval) -> None:
        """Keep *approval*, once. Raises `UserError` when it cannot be kept."""
        self._change(lambda known: known if approval in known else [*known, approval])

    def remove(self, approval: KeptApproval) -> None:
        """Keep *approval* no longer. Raises `UserError` when that cannot be kept."""
        self._change(lambda known: [one for one in known if one != approval])

    def _change(self, change: Callable[[Sequence[KeptApproval]], Sequence[KeptApproval]]) -> None:
        def edit(before: bytes) -> bytes:
            rows = [
                {"tool": one.tool, "pattern": one.pattern, "why": one.why}
                for one in change(_parse(before))
            ]
            return json.dumps(rows, indent=1, ensure_ascii=False).encode("utf-8", "replace")

        self._file.change(edit)


def _parse(text: bytes) -> Sequence[KeptApproval]:
    """Return what the file says; what is no approval in it allows nothing."""
    try:
        rows = read_json(text)
    except ValueError:
        return ()
    names = ("tool", "pattern", "why")
    return tuple(
        KeptApproval(row["tool"], row["pattern"], row["why"])
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and all(isinstance(row.get(name), str) for name in names)
    )
