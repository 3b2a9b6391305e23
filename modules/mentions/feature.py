"""The mentions of a message as calls, which are run before the model is asked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from core.conversation.messages import ToolCall
from core.feature import CallsOfMessage, Feature, SessionHandle
from core.hooks import BindsToSession, CallsForMessages
from core.tools import ToolError
from modules.file_manager import FileManager
from modules.files.project import Project
from modules.mentions.cost import cost_text, mention_costs
from modules.mentions.names import MAX_MENTIONS, NamedPath, address_in, named_path, names_in
from modules.search_engine import WebSearch
from utils.i18n import Phrase, Text, phrase

_READ, _LIST = FileManager.read_file.__name__, FileManager.list_files.__name__
_READ_PAGE = WebSearch.read_page.__name__


class Mentions(Feature, BindsToSession, CallsForMessages):
    """Has what a message names with an `@` read by the tools that the model would read it with.

    So it is asked about, bounded, hidden and shown as theirs is. What is nothing stays text.
    """

    _session: SessionHandle

    def __init__(self, project: Project) -> None:
        self._project = project

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    def calls_for(self, text: str, given: Collection[str]) -> CallsOfMessage:
        names = names_in(text)
        calls: list[ToolCall] = []
        problems: list[Phrase] = []
        for name in names[:MAX_MENTIONS]:
            if (address := address_in(name)) and not self._reads_pages():
                problems.append(_unread_page(address))
                continue
            for tool, arguments in self._reads(name, given):
                call_id = f"mention-{len(calls) + 1}"
                calls.append(ToolCall(call_id, tool, json.dumps(arguments, ensure_ascii=False)))
        if len(names) > MAX_MENTIONS:
            problems.append(phrase("Only the first {n} @ names were read.", n=MAX_MENTIONS))
        return CallsOfMessage(calls, problems)

    def cost(self, text: str) -> Text:
        """Return what the mentions of *text* add and about what that costs, "" for nothing.

        It looks at the sizes of files alone: quick enough for each key.
        """
        return cost_text(mention_costs(self._project, text)) if "@" in text else ""

    def _reads(
        self, name: str, given: Collection[str]
    ) -> Iterator[tuple[str, dict[str, str | int]]]:
        """Yield the tools that read what is called *name*, with their arguments."""
        if address := address_in(name):
            yield _READ_PAGE, {"url": address}
        elif named := named_path(self._project, name):
            if named.path not in given:  # a picture that the message has already
                yield (_LIST if named.kind == "folder" else _READ), _arguments(named)
        else:
            yield from self._definitions(name)

    def _definitions(self, name: str) -> Iterator[tuple[str, dict[str, str | int]]]:
        from modules.mentions.symbols import find_definitions, is_symbol  # for such a name only

        symbol = name.rstrip(".,;:!?").removesuffix("()")
        if is_symbol(symbol):
            for path, first, last in find_definitions(self._project, symbol):
                yield _READ, {"path": path, "start_line": first, "end_line": last}

    def _reads_pages(self) -> bool:
        try:
            self._session.tools.find(_READ_PAGE)
        except ToolError:
            return False
        return True


def _arguments(named: NamedPath) -> dict[str, str | int]:
    if named.last is None:
        return {"path": named.path}
    return {"path": named.path, "start_line": named.first, "end_line": named.last}


def _unread_page(address: str) -> Phrase:
    return phrase(
        "{address} was not read. Reading web pages needs TAVILY_API_KEY and a real model.",
        address=address,
    )
