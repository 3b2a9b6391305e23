"""All protocols, by name; the one place that knows them."""

from __future__ import annotations

from collections.abc import Mapping

from utils.llm.protocols.call_protocol import CallProtocol
from utils.llm.protocols.native import Native
from utils.llm.protocols.vcp import Vcp

ALL: Mapping[str, CallProtocol] = {protocol.name: protocol for protocol in (Native(), Vcp())}
