"""Texts of the tools: what a model is told of them, to the letter, in each protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.tools import Tool
from utils.i18n import UserError, phrase
from utils.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from utils.llm.protocols.call_protocol import CallProtocol

NATIVE = "native"
TOOLS_PLACE = "{{tools}}"
"""Placeholder in a prompt template that the definitions of the tools on offer take."""


def protocol_named(name: str) -> CallProtocol:
    """Return the protocol *name*. Raises `UserError` that names those there are."""
    from utils.llm.protocols.registry import ALL  # only for who looks

    if name not in ALL:
        names = ", ".join(ALL)
        raise UserError(
            phrase("Unknown protocol {name}. Available: {names}.", name=name, names=names)
        )
    return ALL[name]


def protocol_names() -> list[str]:
    from utils.llm.protocols.registry import ALL

    return list(ALL)


def definitions_text(tools: Iterable[Tool], protocol: str = NATIVE) -> str:
    """Return the text that tells the model of *tools*; "" for none. Raises `UserError`."""
    return protocol_named(protocol).definitions([tool.to_wire() for tool in tools])


def definition_tokens(tool: Tool) -> int:
    """Return an estimate of the tokens that *tool* takes in each request."""
    return estimate_tokens(str(tool.to_wire()))


def fill_template(template: str, tools: Iterable[Tool], protocol: str = NATIVE) -> str:
    """Return *template* with the definitions of *tools* in their place, if it has one."""
    if TOOLS_PLACE not in template:
        return template
    return template.replace(TOOLS_PLACE, definitions_text(tools, protocol))
