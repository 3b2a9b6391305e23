"""Tools of the model, looked at and switched on and off: `/tools`. A project keeps the switches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from core.cards import Card, TableCard, TextCard
from core.feature import Feature, SessionHandle, command
from core.hooks import (
    BindsToSession,
    PreparesContext,
    ProvidesNews,
    ProvidesStatus,
    ProvidesWarnings,
)
from core.tool_switches import ToolSwitches
from core.tool_texts import NATIVE, definition_tokens, definitions_text, protocol_names
from core.tools import Risk, Tool, Toolbox
from modules.storage.kept_switches import KeptSwitches
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.nearest import with_suggestion

RISK_LABELS = {
    Risk.READ: phrase("reads"),
    Risk.WRITE: phrase("writes"),
    Risk.RUN: phrase("runs programs"),
    Risk.NETWORK: phrase("uses the network"),
    Risk.DESTROY: phrase("deletes"),
}
_STATES = {"on": True, "off": False}
_NEW, _TEXT = "new", "text"
_ON, _OFF = phrase("on"), phrase("off")
_UNLISTED = phrase("not listed")
_USAGE = phrase("Usage: /tools NAME on or /tools NAME off; without a name, all tools.")


class Switches(
    Feature, BindsToSession, PreparesContext, ProvidesNews, ProvidesStatus, ProvidesWarnings
):
    """Offers the model what the switches of the project allow before each request."""

    def __init__(self, kept: KeptSwitches) -> None:
        self._kept = kept
        self._stamp = kept.stamp
        self._handle: SessionHandle | None = None
        self._news: list[Phrase] = []
        self._problem: Phrase | None = None
        self._unsaid_problem: Phrase | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._handle = session_handle
        if self._stamp is not None:
            self._apply()

    def before_request(self) -> None:
        """Take up what was switched elsewhere; say so where that ends the provider's cache."""
        if self._kept.stamp == self._stamp:
            return
        has_begun = bool(self._handle and self._handle.history.records)
        if self._apply() and has_begun:
            self._news.append(
                phrase("Tools changed on another screen: {what}", what=self._consequence())
            )

    def news(self) -> Sequence[Phrase]:
        news, self._news = self._news, []
        return news

    def warnings(self) -> Sequence[Phrase]:
        problem, self._unsaid_problem = self._unsaid_problem, None
        return [problem] if problem else []

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        offered = len(list(self._tools))
        usual = sum(tool.spec.is_listed for tool in self._tools.installed)
        if offered < usual:
            yield phrase("Tools on"), phrase("{n:,} of {all:,}", n=offered, all=usual)

    @command(
        "/tools [NAME|new|text] [on|off]",
        "List the model's tools, show one, or turn one, new ones or all on or off.",
        is_concurrent=True,
        button="tools",
        completes="next_words",
    )
    def tools(self, argument: str) -> Card:
        words = argument.split()
        if not words:
            return self._list_card()
        if words[0] == _TEXT and len(words) <= 2:
            return self._text_card(*words[1:])
        if len(words) == 1 and words[0] not in (*_STATES, _NEW):
            return self._tool_card(self._tool(words[0]))
        return self._switch(words)

    def next_words(self, words: Sequence[str]) -> Sequence[str]:
        """Return what `/tools` may take behind *words*."""
        if not words:
            return [*_STATES, _NEW, _TEXT, *(tool.name for tool in self._tools.installed)]
        if len(words) > 1 or words[0] in _STATES:
            return []
        return protocol_names() if words[0] == _TEXT else list(_STATES)

    # --- switching -------------------------------------------------------------------------------

    def _switch(self, words: Sequence[str]) -> Card:
        """Switch what *words* say; return the card that says what follows from that."""
        *names, state = words
        if state not in _STATES or len(names) > 1:
            raise UserError(_USAGE)
        is_on, label = _STATES[state], _ON if _STATES[state] else _OFF
        if not names:
            title = phrase("All tools: {state}.", state=label)
            return self._switched(title, lambda now: replace(now, is_on=is_on), is_master=True)
        if names[0] == _NEW:
            known = [name for name, spec in self._tools.specs.items() if spec.is_listed]
            title = phrase("New tools: {state}.", state=label)
            return self._switched(title, lambda now: now.with_new(is_on, known))
        name = self._tool(names[0]).name
        title = phrase("{tool}: {state}.", tool=name, state=label)
        return self._switched(title, lambda now: now.with_tool(name, is_on))

    def _switched(self, title: Phrase, change: Any, *, is_master: bool = False) -> Card:
        if self._problem and is_master:
            self._kept.reset(change(ToolSwitches()))
        else:
            self._kept.change(change)
        if self._apply():
            return TextCard(title, self._consequence())
        switches = self._tools.switches
        is_hidden = not switches.is_on and not is_master
        unchanged = phrase("The list of tools is unchanged.")
        return TextCard(
            title,
            phrase("All tools are off. Turn them on with /tools on.") if is_hidden else unchanged,
        )

    def _apply(self) -> bool:
        """Offer what the file allows now; return whether that is another list than before."""
        self._stamp = self._kept.stamp
        try:
            switches, self._problem = self._kept.read(), None
        except UserError as error:
            switches = ToolSwitches(is_on=False)
            self._problem = self._unsaid_problem = error.message
        return self._tools.switch(switches)

    def _consequence(self) -> Phrase:
        return phrase(
            "{n:,} of {all:,} are on with the next request, which is not cached.",
            n=len(list(self._tools)),
            all=len(list(self._tools.installed)),
        )

    # --- showing ---------------------------------------------------------------------------------

    @property
    def _tools(self) -> Toolbox:
        if self._handle is None:
            raise RuntimeError("no session was bound")
        return self._handle.tools

    def _tool(self, name: str) -> Tool:
        """Return the tool *name*. Raises `UserError` that names the nearest."""
        names = [tool.name for tool in self._tools.installed]
        if name not in names:
            problem = phrase("Unknown tool {name}. /tools lists all tools.", name=name)
            raise UserError(with_suggestion(problem, name, names))
        return self._tools.find_installed(name)

    def _list_card(self) -> Card:
        installed = list(self._tools.installed)
        offered = list(self._tools)
        sources = {tool.source for tool in installed}
        rows = tuple(self._list_row(tool, has_source=len(sources) > 1) for tool in installed)
        source_column = (phrase("source"),) if len(sources) > 1 else ()
        columns = (
            *(phrase("tool"), phrase("switch"), phrase("tokens"), phrase("risk")),
            *(*source_column, phrase("what it does")),
        )
        title = phrase(
            "Tools on: {n:,} of {all:,}, about {tokens:,} tokens per request",
            n=len(offered),
            all=len(installed),
            tokens=sum(map(definition_tokens, offered)),
        )
        return TableCard(self._problem or title, rows, columns)

    def _list_row(self, tool: Tool, *, has_source: bool) -> tuple[Text, ...]:
        return (
            *(tool.name, self._state(tool), str(definition_tokens(tool)), RISK_LABELS[tool.risk]),
            *((tool.source,) if has_source else ()),
            tool.summary,
        )

    def _state(self, tool: Tool) -> Phrase:
        if not self._tools.switches.allows(tool.name):
            return _OFF
        return _ON if self._tools.is_set(tool.name, tool.spec) else _UNLISTED

    def _tool_card(self, tool: Tool) -> Card:
        required = tool.schema.get("required", ())
        rows: list[tuple[Text, ...]] = [
            (phrase("switch"), self._state(tool)),
            (phrase("risk"), RISK_LABELS[tool.risk]),
            (phrase("source"), tool.source),
            (phrase("tokens"), str(definition_tokens(tool))),
            (phrase("what it does"), tool.summary),
            (phrase("what the model reads"), tool.description),
        ]
        for name, schema in tool.schema.get("properties", {}).items():
            rows.append((f"  {name}", _parameter_text(schema, is_required=name in required)))
        rows.append((phrase("exact text"), definitions_text([tool])))
        return TableCard(tool.name, tuple(rows))

    def _text_card(self, protocol: str = NATIVE) -> Card:
        """Return the exact text of all that the model is offered."""
        text = definitions_text(self._tools, protocol)
        title = phrase("Tool descriptions sent to the model, protocol {name}", name=protocol)
        return TextCard(title, text or phrase("None: all tools are off."))


def _parameter_text(schema: dict[str, Any], *, is_required: bool) -> Text:
    """Return what a parameter takes, in the words of its schema."""
    what = str(schema.get("type", ""))
    if "enum" in schema:
        what = " | ".join(map(str, schema["enum"]))
    if "default" in schema:
        what += f" = {schema['default']}"
    if "description" in schema:
        what += f"; {schema['description']}"
    return phrase("{what}; required", what=what) if is_required else what
