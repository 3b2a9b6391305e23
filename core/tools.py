"""Tools: how a method becomes something a model may call.

A feature is an ordinary class. A method marked with `tool` is offered to the model under its own
name: its docstring is the description, its signature the schema, its return value the answer.
What anybody else has to know of it stands in the mark (`ToolSpec`). Nothing about a tool is
written twice.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args, get_origin, get_type_hints

from core.cards import Card, Change, TextCard
from core.conversation.messages import ToolCall, Wire
from core.conversation.result_texts import FAILED_PREFIX
from core.tool_spec import ProgramArgument, Risk, ToolSpec, marked, spec_of, tool
from utils.i18n import Text, UserError, phrase
from utils.pictures import Picture
from utils.text.strict_json import read_json

__all__ = [
    "Outcome",
    "ProgramArgument",
    "Risk",
    "RunningTool",
    "Tool",
    "ToolError",
    "ToolSpec",
    "Toolbox",
    "failure_outcome",
    "run_to_end",
    "tool",
]


class ToolError(Exception):
    """A failure that the model should read, in one sentence it can act on.

    The model reads it in English; the person reads a phrase in their own language.
    """

    def __init__(self, message: Text) -> None:
        super().__init__(str(message))
        self.message = message


@dataclass(frozen=True, slots=True)
class Outcome:
    """*text* is for the model, *card* for people, *changes* for whoever follows the files.

    *pictures* go to the model with the text.
    """

    text: str
    card: Card
    ok: bool = True
    changes: tuple[Change, ...] = ()
    pictures: tuple[Picture, ...] = ()


RunningTool = Generator[str, None, Outcome]
"""A tool in progress: it yields output as it appears and returns its outcome."""


@dataclass(frozen=True)
class Tool:
    """One tool on offer. *schema* is the JSON schema of its arguments, an object."""

    name: str
    description: str
    spec: ToolSpec
    schema: dict[str, Any]
    function: Callable[..., Outcome | RunningTool] = field(compare=False)

    @classmethod
    def of(cls, method: Callable[..., Any]) -> Tool:
        spec = spec_of(method)
        if spec is None:
            raise TypeError(f"{method!r} is no tool")
        description = " ".join((method.__doc__ or "").split())
        return cls(method.__name__, description, spec, _schema(method), method)

    @property
    def risk(self) -> Risk:
        return self.spec.risk

    @property
    def summary(self) -> Text:
        """The effect of the tool, in the words of the person, or else of the model."""
        return self.spec.summary or self.description

    def to_wire(self) -> Wire:
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.schema,
        }
        return {"type": "function", "function": function}

    def arguments(self, call: ToolCall) -> dict[str, Any]:
        """Return the checked arguments of *call*. Raises `ToolError` that says what to mend."""
        if call.broken:
            raise ToolError(_malformed_message(call, self.spec.when_cut))
        return self.validate(json.loads(call.arguments or "{}"))

    def validate(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return *raw* as the schema wants it, in the schema's order.

        Raises `ToolError` that says what to mend.
        """
        properties: dict[str, Any] = self.schema["properties"]
        if extra := [name for name in raw if name not in properties]:
            raise ToolError(
                f"{self.name} has no parameter {', '.join(map(repr, extra))}; "
                f"it takes {', '.join(properties) or 'none'}. Nothing was done."
            )
        missing = [name for name in self.schema["required"] if raw.get(name) is None]
        if missing:
            raise ToolError(
                f"{self.name} needs {', '.join(map(repr, missing))}, missing here. "
                "Nothing was done."
            )
        return {
            name: _coerce(f"{self.name}.{name}", properties[name], value)
            for name in properties
            if (value := raw.get(name)) is not None
        }


class Toolbox:
    """The tools on offer, by name, in the order they were given.

    *absent* declares those that are not, by name: an earlier session may have used them.
    """

    def __init__(self, tools: Iterable[Tool], absent: Mapping[str, ToolSpec] | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._absent = absent or {}

    @classmethod
    def of(cls, features: Iterable[object]) -> Toolbox:
        """Collect every method marked with `tool` from *features*, and what they stand in for."""
        features = tuple(features)
        absent = (kind for feature in features for kind in getattr(feature, "stands_in_for", ()))
        return cls(
            (
                Tool.of(getattr(feature, name))
                for feature in features
                for name in marked(type(feature))
            ),
            {name: spec for kind in absent for name, spec in marked(kind).items()},
        )

    @property
    def specs(self) -> Mapping[str, ToolSpec]:
        """The declaration of each tool by name, also of those that are not on offer."""
        return {**self._absent, **{tool.name: tool.spec for tool in self}}

    def __iter__(self) -> typing.Iterator[Tool]:
        return iter(self._tools.values())

    @cached_property
    def wire(self) -> list[Wire]:
        """The tool list as it goes over the wire: the same object, byte for byte, every time."""
        return [tool.to_wire() for tool in self._tools.values()]

    def find(self, name: str) -> Tool:
        """Return the tool *name*. Raises `ToolError` that names those there are."""
        if name in self._tools:
            return self._tools[name]
        raise ToolError(f"There is no tool {name!r}. There are: {', '.join(self._tools)}.")

    def run(self, tool: Tool, arguments: Mapping[str, Any]) -> RunningTool:
        """Run *tool*; a `ToolError` or `UserError` becomes an outcome that the model can read."""
        try:
            result = tool.function(**arguments)
            return (yield from result) if isinstance(result, Generator) else result
        except (ToolError, UserError) as error:
            return failure_outcome(error.message)


def run_to_end(running: RunningTool) -> Outcome:
    """Run a tool to its end; what it put out on the way is dropped."""
    while True:
        try:
            next(running)
        except StopIteration as finished:
            outcome: Outcome = finished.value
            return outcome


def failure_outcome(text: Text) -> Outcome:
    return Outcome(f"{FAILED_PREFIX} {text}", TextCard(phrase("Failed"), text), ok=False)


_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(method: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of *method*'s parameters, without a word too many."""
    hints = get_type_hints(method, include_extras=True)
    parameters = inspect.signature(method).parameters
    return {
        "type": "object",
        "properties": {name: _property(hints[name], p.default) for name, p in parameters.items()},
        "required": [name for name, p in parameters.items() if p.default is p.empty],
    }


def _property(hint: Any, default: Any) -> dict[str, Any]:
    """Return the schema of one parameter; `X | None` is an optional X, its default unsaid."""
    description_entry: dict[str, Any] = {}
    if get_origin(hint) is typing.Annotated:
        hint, description = get_args(hint)
        description_entry = {"description": description}
    if get_origin(hint) in (types.UnionType, typing.Union):
        (hint,) = [kind for kind in get_args(hint) if kind is not types.NoneType]
    if default not in (inspect.Parameter.empty, None, ""):
        description_entry["default"] = default
    return {**_type_schema(hint), **description_entry}


def _type_schema(hint: Any) -> dict[str, Any]:
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type_schema(get_args(hint)[0])}
    if typing.is_typeddict(hint):
        fields = {name: _type_schema(kind) for name, kind in get_type_hints(hint).items()}
        return {"type": "object", "properties": fields, "required": list(fields)}
    raise TypeError(f"no JSON schema for {hint!r}")


def _coerce(path: str, schema: Mapping[str, Any], value: Any) -> Any:
    """Return *value* as *schema* wants it; numbers and booleans in quotes are understood."""
    kind = schema["type"]
    if isinstance(value, str) and kind != "string":
        try:
            value = read_json(value)
        except ValueError:
            raise ToolError(f"{path} must be of type {kind}, not {value!r}.") from None
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not _has_type(kind, value):
        raise ToolError(f"{path} must be of type {kind}, not {value!r}.")
    if "enum" in schema and value not in schema["enum"]:
        raise ToolError(f"{path} must be one of {', '.join(schema['enum'])}, not {value!r}.")
    if kind == "array":
        return [_coerce(f"{path}[{i}]", schema["items"], item) for i, item in enumerate(value)]
    if kind == "object":
        if missing := [name for name in schema["required"] if name not in value]:
            raise ToolError(f"{path} needs {', '.join(missing)}.")
        return {n: _coerce(f"{path}.{n}", s, value[n]) for n, s in schema["properties"].items()}
    # A lone surrogate, which JSON can spell, is in no file and no database: it becomes U+FFFD.
    return value.encode("utf-8", "replace").decode() if kind == "string" else value


def _has_type(kind: str, value: Any) -> bool:
    match kind:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return isinstance(value, str)


def _malformed_message(call: ToolCall, when_cut: str) -> str:
    quoted = call.broken if len(call.broken) <= 300 else f"{call.broken[:300]}…"
    parts = f" ({when_cut})" if when_cut else ""
    return (
        f"The arguments of this {call.name} call were not a whole JSON object, so nothing was "
        f"done. They were: {quoted}\nSend the call again with valid JSON; if the content was too "
        f"long to fit, write it in parts{parts}."
    )
