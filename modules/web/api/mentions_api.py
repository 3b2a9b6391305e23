"""Routes about what a message names with an `@`."""

from __future__ import annotations

from typing import Annotated, Any

from modules.mentions.feature import Mentions
from modules.web.http.routes import route
from utils.text.codec import to_plain


class MentionsApi:
    """Tells of *mentions* before they are sent."""

    def __init__(self, mentions: Mentions) -> None:
        self._mentions = mentions

    @route(
        "GET",
        "/api/mentions",
        "Say what a message adds by its @ names.",
        answer={"cost": "What they add and about what that costs, empty for nothing."},
    )
    def cost(self, text: Annotated[str, "The message as far as it is typed."]) -> dict[str, Any]:
        return {"cost": to_plain(self._mentions.cost(text))}
