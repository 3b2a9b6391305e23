"""Declarations of tools as a text protocol needs them: types, examples, values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.completion import Wire
from utils.text.strict_json import read_json

Schema = Mapping[str, Any]


def parameters_of(tools: Sequence[Wire]) -> dict[str, Mapping[str, Schema]]:
    """Return the schemas of the parameters of *tools*, by the names of both."""
    return {tool["function"]["name"]: _properties(_parameters(tool)) for tool in tools}


def required_of(tool: Wire) -> Sequence[str]:
    """Return the names of the parameters that *tool* cannot do without."""
    return [name for name in _list(_parameters(tool).get("required")) if isinstance(name, str)]


def _parameters(tool: Wire) -> Schema:
    schema = tool["function"].get("parameters")
    return schema if isinstance(schema, dict) else {}


def _properties(schema: Schema) -> Mapping[str, Schema]:
    """Return the schemas of the fields of an object; one that says nothing stands for no schema."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: one if isinstance(one, dict) else {} for name, one in properties.items()}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_text(schema: Schema) -> bool:
    """Return whether a value of *schema* can only be a text."""
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return [one for one in kinds if one != "null"] == ["string"]


def read_value(schema: Schema | None, text: str) -> Any:
    """Return the value of *schema* that *text* spells; None is that of an unknown parameter.

    What is no such value stays the text: whoever checks the call says what is wrong with it.
    """
    if schema is None:
        return text
    if is_text(schema):
        return text.strip() if "enum" in schema else text
    try:
        return read_json(text.strip(), strict=False)
    except ValueError:
        word = text.strip().lower()
        return {"true": True, "yes": True, "false": False, "no": False}.get(word, text)


def write_value(schema: Schema | None, value: Any) -> str:
    """Return the text that `read_value` takes for *value*."""
    if isinstance(value, str) and (schema is None or is_text(schema)):
        return value
    return json.dumps(value, ensure_ascii=False)


def type_text(schema: Schema) -> str:
    """Return the type of *schema* in a few words; of what is nested, as JSON."""
    if choices := _list(schema.get("enum")):
        return "one of " + ", ".join(map(str, choices))
    kind = schema.get("type")
    if kind in ("array", "object"):
        shape = {
            name: schema[name] for name in ("items", "properties", "required") if name in schema
        }
        return f"JSON {kind} {json.dumps(shape, ensure_ascii=False)}" if shape else f"JSON {kind}"
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    return str(kind) if kind else "any JSON"


_EXAMPLES: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": True, "null": None}
_DEEPEST = 8
"""Levels of objects and lists in an example; a declaration may hold itself."""


def example_value(name: str, schema: Schema, depth: int = 0) -> Any:
    """Return a value that *schema* allows; a text is only where one goes: `<name>`."""
    if choices := _list(schema.get("enum")):
        return choices[0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        item = schema.get("items")
        if not isinstance(item, dict) or depth == _DEEPEST:
            return []
        return [example_value(name, item, depth + 1)]
    if kind == "object":
        fields = _properties(schema) if depth < _DEEPEST else {}
        return {key: example_value(key, one, depth + 1) for key, one in fields.items()}
    return _EXAMPLES.get(str(kind), placeholder(name))


def placeholder(name: str) -> str:
    """Return what stands for a text in an example: no call with it is meant."""
    return f"<{name}>"
