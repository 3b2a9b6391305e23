"""What was said and done earlier in this session, readable by the model like a file."""

from __future__ import annotations

from core.conversation.compaction import in_full
from core.conversation.messages import User
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession
from core.tools import ToolError
from utils.i18n import phrase
from utils.text.lines import read_number

ADDRESS = "@history"


class HistoryTool(Feature, BindsToSession):
    """The turns of the talk at `@history/N`, and their list at `@history`."""

    def __init__(self) -> None:
        self._talk: SessionHandle | None = None

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk

    def read(self, address: str) -> str:
        """Return the text at *address*. Raises `ToolError` where there is none."""
        if self._talk is None:
            raise ToolError(phrase("There is no history here."))
        records = self._talk.history.records
        if address == ADDRESS:
            said = [(turn, record.text) for turn, record in records if isinstance(record, User)]
            return "".join(f"{ADDRESS}/{turn}: {_line(text)}\n" for turn, text in said)
        number = read_number(address.removeprefix(f"{ADDRESS}/"))
        if number not in self._talk.history.turns:
            raise ToolError(phrase("{address!r} is no turn; @history lists them.", address=address))
        return in_full([one for one in records if one[0] == number])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
