"""Turns of earlier in this session, readable by the model like a file."""

from __future__ import annotations

from core.conversation.compaction import render_turn
from core.conversation.messages import User
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession
from core.tools import ToolError
from utils.i18n import phrase
from utils.text.lines import parse_number

ADDRESS = "@history"


class HistoryTool(Feature, BindsToSession):
    """The turns of the conversation at `@history/N`, and their list at `@history`."""

    def __init__(self) -> None:
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def read(self, address: str) -> str:
        """Return the text at *address*. Raises `ToolError` where there is none."""
        if self._session_handle is None:
            raise ToolError(phrase("There is no history here."))
        records = self._session_handle.history.records
        if address == ADDRESS:
            user_texts = [
                (turn, record.text)
                for turn, record in records
                if isinstance(record, User) and not record.is_private
            ]
            return "".join(f"{ADDRESS}/{turn}: {_first_words(text)}\n" for turn, text in user_texts)
        number = parse_number(address.removeprefix(f"{ADDRESS}/"))
        if number not in self._session_handle.history.turns:
            raise ToolError(phrase("{address!r} is no turn; @history lists them.", address=address))
        return render_turn([one for one in records if one[0] == number])


def _first_words(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
