"""The families of a session, asked as one about the calls of a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.cards import Card
from core.conversation.history import History
from core.feature import Feature, PostRunConfirmation
from core.loop.approval_flow import preview
from core.redaction import mapped
from core.tools import Outcome, Risk, Tool
from utils.i18n import Phrase

CHANGING = frozenset({Risk.WRITE, Risk.RUN, Risk.DESTROY})


class FeatureSet:
    """What a turn needs of the families (see `core.loop.turn_context.TurnContext`)."""

    families: Sequence[Feature]
    history: History

    def before(self, tool: Tool, call_id: str) -> None:
        if changes_files(tool):
            for family in self.families:
                family.before(call_id, self.history.turn)

    def settle(self, tool: Tool, call_id: str) -> None:
        if changes_files(tool):
            for family in self.families:
                family.after(call_id, self.history.turn)

    def doubt(self, tool: Tool, call_id: str) -> PostRunConfirmation | None:
        if tool.risk is not Risk.RUN:
            return None
        doubts = (family.doubt(call_id) for family in self.families)
        return next((doubt for doubt in doubts if doubt), None)

    def follow(self, outcome: Outcome) -> None:
        if outcome.changes:
            for family in self.families:
                family.follow(outcome.changes)

    def blind(self, text: str) -> str:
        """Return *text* without what a family wants nobody to see."""
        for family in self.families:
            text = family.blind(text)
        return text

    def unsure(self, text: str) -> int:
        return max((family.unsure(text) for family in self.families), default=0)

    def reveal(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return *arguments* with what was hidden from the model, where *tool* may have it."""
        for family in self.families:
            arguments = family.reveal(tool, arguments)
        return arguments

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card:
        """Return what a call would do, for the person: nothing in it that nobody may see."""
        given = self.reveal(tool, arguments)
        previews = (family.preview(tool, given) for family in self.families)
        card = next((card for card in previews if card), None)
        return mapped(card or preview(tool, arguments), self.blind)

    def standing(self) -> str:
        return "\n".join(filter(None, (family.standing() for family in self.families)))

    def still_open(self) -> Phrase | None:
        told = (family.still_open() for family in self.families)
        return next((what for what in told if what), None)

    def concern(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        concerns = (family.concern(tool, arguments) for family in self.families)
        return next((concern for concern in concerns if concern), None)


def changes_files(tool: Tool) -> bool:
    """Return whether a call of *tool* may change the project folder."""
    return tool.risk in CHANGING and not tool.spec.touches_nothing
