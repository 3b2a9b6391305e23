"""Leave for a helper's calls: what its session has, never more."""

from __future__ import annotations

from core.loop.approval import Approval, ApprovalMode, ApprovalReason, stricter


class HelperApproval(Approval):
    """The policy of a helper in *mode*, or as the *parent* has it where that is stricter now.

    What is allowed to one is allowed to the other; *only_tools* are those of its role.
    """

    def __init__(
        self,
        parent: Approval,
        mode: ApprovalMode,
        approval_reason: ApprovalReason,
        only_tools: frozenset[str] | None = None,
    ) -> None:
        self._parent = parent
        super().__init__(mode, approval_reason)
        self.patterns = parent.patterns
        self.kept = parent.kept
        self.outside = parent.outside
        sets = [one for one in (parent.only_tools, only_tools) if one is not None]
        self.only_tools = frozenset.intersection(*sets) if sets else None

    @property
    def mode(self) -> ApprovalMode:
        return stricter(self._mode, self._parent.mode)

    @mode.setter
    def mode(self, mode: ApprovalMode) -> None:
        self._mode = mode
