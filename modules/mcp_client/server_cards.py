"""Cards of `/mcp`: the servers, and one of them with its tools."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from core.cards import Card, TableCard
from modules.mcp_client.answers import card_text
from modules.mcp_client.config import ServerConfig
from modules.mcp_client.server_tools import ServerTool
from modules.mcp_client.tool_search import ToolSearch
from modules.tool_switches import RISK_LABELS
from utils.i18n import Text, UserError, phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.mcp_client.servers import Servers


class ServerCards:
    """The *servers* as people see them, with their *tools*: those *listed* the model has by name.

    With *allows_all* a server that nobody was asked about yet counts as allowed.
    """

    def __init__(
        self,
        servers: Servers,
        tools: Collection[ServerTool],
        listed: Collection[str],
        *,
        allows_all: bool,
    ) -> None:
        self._servers = servers
        self._tools = tools
        self._listed = listed
        self._allows_all = allows_all

    def table(self) -> Card:
        rows = [self._row(config) for config in self._servers.configs]
        rows += [(problem, "", "", "") for problem in self._servers.problems]
        columns = (phrase("server"), phrase("state"), phrase("tools"), phrase("tokens"))
        return TableCard(phrase("MCP servers"), tuple(rows), columns)

    def _row(self, config: ServerConfig) -> tuple[Text, ...]:
        tools = [tool for tool in self._tools if tool.source == config.name]
        count = str(len(tools)) if self._servers.listing(config) else "?"
        tokens = f"{sum(tool.tokens for tool in tools):,}" if tools else ""
        return visible(config.name), self.state(config), count, tokens

    def state(self, config: ServerConfig) -> Text:
        if (why := self._servers.reason_against(config)) and not (
            self._allows_all and self._servers.is_unanswered(config)
        ):
            return phrase("not used: {why}", why=why)
        connection = self._servers.connection_of(config.name)
        if connection is None:
            return phrase("starts when needed")
        if connection.failure:
            return phrase("failed: {why}", why=connection.failure)
        if not connection.is_alive:
            return phrase("stopped; restarts when needed")
        if connection.state == "starting":
            return phrase("starting")
        return phrase("running, MCP {version}", version=connection.protocol)

    def details(self, name: str) -> Card:
        config = self._servers.find(name)
        if config is None:
            raise UserError(phrase("There is no MCP server {name}; /mcp shows them.", name=name))
        whose = phrase("yours") if config.is_own else phrase("the project's")
        whose = phrase("your editor") if config.is_given else whose
        rows: list[tuple[Text, ...]] = [
            (phrase("state"), self.state(config), ""),
            (phrase("source"), whose, config.place),
        ]
        finder = ToolSearch.find_tools.__name__
        for tool in self._tools:
            if tool.source == config.name:
                in_list = (
                    "" if tool.name in self._listed else phrase("found by {tool}", tool=finder)
                )
                rows.append((tool.name, RISK_LABELS[tool.risk], in_list))
        connection = self._servers.connection_of(name)
        if connection and (said := connection.error_text):
            rows.append((phrase("output"), card_text(said), ""))
        return TableCard(phrase("MCP server {name}", name=visible(name)), tuple(rows))
