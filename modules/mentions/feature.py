"""The mentions of a message as calls, which are run before the model is asked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from core.conversation.messages import ToolCall
from core.feature import CallsOfMessage, Feature, SessionHandle
from core.hooks import BindsToSession, CallsForMessages
from core.tools import ToolError
from modules.file_manager import FileManager
from modules.files.project import Project
from modules.mentions.cost import cost_text, mention_costs
from modules.mentions.names import (
    MAX_MENTIONS,
    NamedPath,
    address_in,
    named_path,
    names_in,
    symbol_in,
)
from modules.search_engine import WebSearch
from utils.i18n import Phrase, Text, phrase
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.mentions.symbols import Definition, Definitions

    _Mention = str | NamedPath | tuple[Definition, ...]

_READ, _LIST = FileManager.read_file.__name__, FileManager.list_files.__name__
_READ_PAGE = WebSearch.read_page.__name__


class Mentions(Feature, BindsToSession, CallsForMessages):
    """Has what a message names with an `@` read by the tools that the model would read it with.

    So it is asked about, bounded, hidden and shown as theirs is. What is nothing stays text.
    """

    _session: SessionHandle

    def __init__(self, project: Project, stop: Stop) -> None:
        self._project = project
        self._stop = stop
        self._definitions: Definitions | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    def calls_for(self, text: str, given: Collection[str]) -> CallsOfMessage:
        mentions = self._mentions_in(text)
        calls: list[ToolCall] = []
        problems: list[Phrase] = []
        for mention in mentions[:MAX_MENTIONS]:
            if isinstance(mention, str) and not self._reads_pages():
                problems.append(_unread_page(mention))
                continue
            for tool, arguments in _reads(mention, given):
                call_id = f"mention-{len(calls) + 1}"
                calls.append(ToolCall(call_id, tool, json.dumps(arguments, ensure_ascii=False)))
        if len(mentions) > MAX_MENTIONS:
            problems.append(phrase("Only the first {n} @ names were read.", n=MAX_MENTIONS))
        return CallsOfMessage(calls, problems)

    def cost(self, text: str) -> Text:
        """Return what the mentions of *text* add and about what that costs, "" for nothing.

        It looks at the sizes of files alone: quick enough for each key.
        """
        return cost_text(mention_costs(self._project, text)) if "@" in text else ""

    def _mentions_in(self, text: str) -> list[_Mention]:
        """Return the names of *text* that are something: an address, a path, or definitions."""
        names: dict[str, _Mention] = {}
        for name in names_in(text):
            names[name] = address_in(name) or named_path(self._project, name) or ()
        symbols = {name: symbol_in(name) for name, mention in names.items() if not mention}
        found = self._find({symbol for symbol in symbols.values() if symbol})
        for name, symbol in symbols.items():
            names[name] = found.get(symbol, ())
        return list(dict.fromkeys(mention for mention in names.values() if mention))

    def _find(self, symbols: Collection[str]) -> Mapping[str, tuple[Definition, ...]]:
        if not symbols:
            return {}
        if self._definitions is None:
            from modules.mentions.symbols import Definitions  # for such a name only

            self._definitions = Definitions(self._project, self._stop)
        return {name: tuple(found) for name, found in self._definitions.find(symbols).items()}

    def _reads_pages(self) -> bool:
        try:
            self._session.tools.find(_READ_PAGE)
        except ToolError:
            return False
        return True


def _reads(mention: _Mention, given: Collection[str]) -> Iterator[tuple[str, dict[str, str | int]]]:
    """Yield the tools that read *mention*, with their arguments; nothing of what is *given*."""
    match mention:
        case str(address):
            yield _READ_PAGE, {"url": address}
        case NamedPath(path, kind):
            if path not in given:
                yield (_LIST if kind == "folder" else _READ), _arguments(mention)
        case _:
            for path, first, last in mention:
                yield _READ, {"path": path, "start_line": first, "end_line": last}


def _arguments(named: NamedPath) -> dict[str, str | int]:
    if named.last is None:
        return {"path": named.path}
    return {"path": named.path, "start_line": named.first, "end_line": named.last}


def _unread_page(address: str) -> Phrase:
    return phrase(
        "{address} was not read. Reading web pages needs TAVILY_API_KEY and a real model.",
        address=address,
    )
