"""`/phone`: the page on a phone. The page shows a code for it; elsewhere it says how."""

from __future__ import annotations

from core.cards import TextCard
from core.events import CommandAnswered
from core.feature import Feature, command
from utils.i18n import phrase


class Phone(Feature):
    @command("/phone", "Use the page on a phone.", is_concurrent=True)
    def phone(self, _: str) -> CommandAnswered:
        told = TextCard(
            phrase(
                "Start “onefold web --allow-remote” and scan the code that its terminal shows; "
                "Enter there shows a new one. On the page, /phone shows the code."
            )
        )
        return CommandAnswered("/phone", told, effect="phone")
