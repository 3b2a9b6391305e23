"""Calls with values of their declared types, as blocks of VCP and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.llm.calls.text_call_values import TextCall
from utils.llm.calls.vcp_block import Block, is_key, write_block
from utils.llm.protocols.declarations import Schema, read_value, write_value

_ARGUMENTS_KEY = "arguments"
"""Holds all arguments as one JSON object where the name of one cannot stand in a block."""
_SIGNATURE_KEY = "maid"
"""Who calls, as the models of VCP's own programs sign."""


def render_call(name: str, arguments: Mapping[str, Any], schemas: Mapping[str, Schema]) -> str:
    """Return the block of a call of a tool whose parameters have *schemas*."""
    given = {key: value for key, value in arguments.items() if value is not None}
    if not all(map(is_key, given)) or _reads_otherwise(given, schemas):
        return write_block(name, [(_ARGUMENTS_KEY, write_value({}, given))])
    return write_block(
        name, [(key, write_value(schemas.get(key), value)) for key, value in given.items()]
    )


def _reads_otherwise(given: Mapping[str, Any], schemas: Mapping[str, Schema]) -> bool:
    """Return whether a value would not come back: it is none that its parameter takes."""
    return any(
        read_value(schemas.get(key), write_value(schemas.get(key), value)) != value
        for key, value in given.items()
    )


def call_of(block: Block, schemas: Mapping[str, Schema] | None) -> TextCall:
    """Return the call that *block* means; of a tool that is not known all values are texts."""
    known = schemas or {}
    texts = block.arguments
    if texts.keys() == {_ARGUMENTS_KEY} and _ARGUMENTS_KEY not in known:
        value = read_value({}, texts[_ARGUMENTS_KEY])
        if isinstance(value, dict):
            return TextCall(block.name, value)
    arguments = {
        key: read_value(known.get(key), text)
        for key, text in texts.items()
        if key in known or key != _SIGNATURE_KEY
    }
    return TextCall(block.name, arguments)
