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
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, get_args, get_origin, get_type_hints

from core.cards import Card, Change, TextCard
from core.conversation.messages import ToolCall, Wire
from core.conversation.result_texts import FAILED_PREFIX
from core.events import ApprovalAsked, HelperEvent, PersonQuestion, Reply
from core.tool_spec import ProgramArgument, Risk, ToolSpec, marked, spec_of, tool
from core.tool_switches import ToolSwitches
from utils.error_codes import ErrorCode
from utils.frozen import frozen
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
    "ToolSource",
    "ToolSpec",
    "Toolbox",
    "failure_outcome",
    "run_to_end",
    "tool",
]


class ToolError(Exception):
    """A failure that the model should read, in one sentence it can act on.

    The model reads it in English; the person reads a phrase in their own language, a program the
    code.
    """

    code: ErrorCode = "bad_arguments"

    def __init__(self, message: Text, code: ErrorCode | None = None) -> None:
        super().__init__(str(message))
        self.message = message
        if code:
            self.code = code


@frozen
class Outcome:
    """*text* is for the model, *card* for people, *changes* for whoever follows the files.

    *pictures* go to the model with the text. *error_code* tells programs why it is not *ok*.
    """

    text: str
    card: Card
    ok: bool = True
    changes: tuple[Change, ...] = ()
    pictures: tuple[Picture, ...] = ()
    error_code: ErrorCode | None = None


CALL_ID = "call_id"
"""The parameter of a tool that runs a turn which is given the id of the call."""
OWN_SOURCE = "Onefold"
"""The `Tool.source` of our own tools."""

RunningTool = Generator[str | PersonQuestion | HelperEvent | ApprovalAsked, Reply | None, Outcome]
"""A tool in progress: it yields output as it appears and returns its outcome.

A question that it yields is sent the person's reply, or None when nobody is there. Events are those
of a turn that it runs (`ToolSpec.runs_turn`).
"""


@dataclass(frozen=True)
class Tool:
    """One tool. *schema* is the JSON schema of its arguments, an object; *source* who brings it."""

    name: str
    description: str
    spec: ToolSpec
    schema: dict[str, Any]
    function: Callable[..., Outcome | RunningTool] = field(compare=False)
    source: str = OWN_SOURCE

    @classmethod
    def of(cls, method: Callable[..., Any]) -> Tool:
        spec = spec_of(method)
        if spec is None:
            raise TypeError(f"{method!r} is no tool")
        description = " ".join((method.__doc__ or "").split())
        said_by_us = (CALL_ID,) if spec.runs_turn else ()
        schema = _schema(method, said_by_us)
        return cls(method.__name__, description, spec, schema, method)

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


class _Offer:
    """The tools that the model is offered: a list that never changes, once it is made."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    @cached_property
    def wire(self) -> list[Wire]:
        return [tool.to_wire() for tool in self.tools.values()]


class ToolSource(Protocol):
    """Where tools come from that are known only while a session runs; see `OffersTools`."""

    def listed_tools(self) -> tuple[Tool, ...]: ...
    def find_tool(self, name: str) -> Tool | None: ...


class Toolbox:
    """The tools on offer, by name, in the order they were given, then those of *sources*.

    *absent* declares those that are not, by name: an earlier session may have used them. So may it
    have used those that are switched off, which are not on offer either. Those that are not listed
    (`ToolSpec.is_listed`) are on offer once they are switched on or wanted, and run before.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        absent: Mapping[str, ToolSpec] | None = None,
        sources: Sequence[ToolSource] = (),
        methods: Mapping[Callable[..., Any], ToolSpec] | None = None,
    ) -> None:
        """*methods* are tools as well, whose schemas are made when one is first wanted."""
        self._given = tuple(tools)
        self._methods = methods or {}
        self._absent = absent or {}
        self._sources = sources
        self._switches = ToolSwitches()
        self._wanted: Collection[str] = ()
        self._offer: _Offer | None = None
        self._listed: list[tuple[Tool, ...]] = []  # what of *sources* is in it

    @classmethod
    def of(cls, features: Iterable[object], sources: Sequence[ToolSource] = ()) -> Toolbox:
        """Collect every method marked with `tool` from *features*, and what they stand in for."""
        features = tuple(features)
        absent = (kind for feature in features for kind in getattr(feature, "stands_in_for", ()))
        return cls(
            absent={name: spec for kind in absent for name, spec in marked(kind).items()},
            sources=sources,
            methods={
                getattr(feature, name): spec
                for feature in features
                for name, spec in marked(type(feature)).items()
            },
        )

    @cached_property
    def _own(self) -> Mapping[str, Tool]:
        return {tool.name: tool for tool in (*self._given, *map(Tool.of, self._methods))}

    def _listed_tools(self) -> Iterator[Tool]:
        return (tool for source in self._sources for tool in source.listed_tools())

    @property
    def specs(self) -> Mapping[str, ToolSpec]:
        """The declaration of each tool by name, also of those that are not on offer."""
        return {**self._absent, **self._own_specs()}

    def _own_specs(self) -> Mapping[str, ToolSpec]:
        others = {tool.name: tool.spec for tool in (*self._listed_tools(), *self._given)}
        return others | {method.__name__: spec for method, spec in self._methods.items()}

    @property
    def installed(self) -> Iterable[Tool]:
        """Every tool, also one that is switched off."""
        others = (tool for tool in self._listed_tools() if tool.name not in self._own)
        return (*self._own.values(), *others)

    @property
    def switches(self) -> ToolSwitches:
        return self._switches

    def switch(self, switches: ToolSwitches) -> bool:
        """Offer what *switches* allow from the next request on; return whether that is another
        list than before."""
        before = self._listed_names()
        self._switches = switches
        return self._renew_offer(before)

    def want(self, names: Collection[str]) -> bool:
        """List the tools *names* too, of those that are not listed and not switched off, in place
        of those wanted before; return whether that is another list."""
        before = self._listed_names()
        self._wanted = names
        return self._renew_offer(before)

    def _renew_offer(self, before: Sequence[str]) -> bool:
        if self._listed_names() == before:
            return False
        self._offer = None
        return True

    def _listed_names(self) -> Sequence[str]:
        specs = self._own_specs() if self._switches.is_on else {}
        return [name for name, spec in specs.items() if self.is_set(name, spec)]

    def is_set(self, name: str, spec: ToolSpec) -> bool:
        """Return whether the model is told of the tool *name*, unless all tools are off."""
        return self._switches.is_set(name, by_default=spec.is_listed or name in self._wanted)

    def _on_offer(self) -> _Offer:
        # What a source lists is the same object as long as it is the same: that compares at once.
        listed = [source.listed_tools() for source in self._sources]
        if self._offer is None or listed != self._listed:
            self._listed = listed
            tools = self.installed if self._switches.is_on else ()
            self._offer = _Offer(tool for tool in tools if self.is_set(tool.name, tool.spec))
        return self._offer

    def __iter__(self) -> typing.Iterator[Tool]:
        return iter(self._on_offer().tools.values())

    @property
    def wire(self) -> list[Wire]:
        """The tool list as it goes over the wire: the same object, byte for byte, every time.

        Another one only after `switch`, and once *sources* have theirs.
        """
        return self._on_offer().wire

    def find(self, name: str) -> Tool:
        """Return the tool *name* on offer. Raises `ToolError` that says what there is instead."""
        if name in (offered := self._on_offer().tools):
            return offered[name]
        known = ", ".join(offered) or "none"
        found = self._find_installed(name)
        if found is None:
            raise ToolError(f"There is no tool {name!r}. There are: {known}.", "not_found")
        if self._switches.allows(name):  # not listed, or a source's that did not fit into the list
            return found
        raise ToolError(
            f"The tool {name!r} is switched off in this project, so nothing was done. Do "
            f"without it. There are: {known}.",
            "not_found",
        )

    def find_installed(self, name: str) -> Tool:
        """Return the tool *name*, also where it is switched off. Raises `ToolError`."""
        return self._find_installed(name) or self.find(name)

    def _find_installed(self, name: str) -> Tool | None:
        found = (source.find_tool(name) for source in self._sources)
        return self._own.get(name) or next(filter(None, found), None)

    def run(self, tool: Tool, arguments: Mapping[str, Any], call_id: str = "") -> RunningTool:
        """Run *tool*; a `ToolError` or `UserError` becomes an outcome that the model can read."""
        own = {CALL_ID: call_id} if tool.spec.runs_turn else {}
        try:
            result = tool.function(**arguments, **own)
            return (yield from result) if isinstance(result, Generator) else result
        except (ToolError, UserError) as error:
            return failure_outcome(error)


def run_to_end(running: RunningTool) -> Outcome:
    """Run a tool to its end; what it put out on the way is dropped."""
    while True:
        try:
            next(running)
        except StopIteration as finished:
            outcome: Outcome = finished.value
            return outcome


def failure_outcome(error: ToolError | UserError) -> Outcome:
    """Return the outcome of a call that failed by *error*."""
    card = TextCard(phrase("Failed"), error.message)
    return Outcome(f"{FAILED_PREFIX} {error.message}", card, ok=False, error_code=error.code)


_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(method: Callable[..., Any], unsaid: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of *method*'s parameters but the *unsaid*, without a word too many."""
    hints = get_type_hints(method, include_extras=True)
    signature = inspect.signature(method).parameters
    parameters = {name: one for name, one in signature.items() if name not in unsaid}
    return {
        "type": "object",
        "properties": {name: _property(hints[name], p.default) for name, p in parameters.items()},
        "required": [name for name, p in parameters.items() if p.default is p.empty],
    }


def _property(hint: Any, default: Any) -> dict[str, Any]:
    """Return the schema of one parameter; `X | None` is an optional X, its default unsaid.

    So is that of a flag, which is off unless it is set.
    """
    description_entry: dict[str, Any] = {}
    if get_origin(hint) is typing.Annotated:
        hint, description = get_args(hint)
        description_entry = {"description": description}
    if get_origin(hint) in (types.UnionType, typing.Union):
        (hint,) = [kind for kind in get_args(hint) if kind is not types.NoneType]
    if default is not False and default not in (inspect.Parameter.empty, None, ""):
        description_entry["default"] = default
    return {**_type_schema(hint), **description_entry}


def _type_schema(hint: Any) -> dict[str, Any]:
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type_schema(get_args(hint)[0])}
    if get_origin(hint) is dict:
        return {"type": "object"}
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
    if kind == "object" and "properties" in schema:
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


_HEAD = 80
"""Characters in which a call that came as a text block says so."""


def _malformed_message(call: ToolCall, when_cut: str) -> str:
    quoted = call.broken if len(call.broken) <= 300 else f"{call.broken[:300]}…"
    parts = f" ({when_cut})" if when_cut else ""
    if "[TOOL_REQUEST]" in call.broken[:_HEAD]:
        return (
            f"This {call.name} call was cut off, so nothing was done. It was: {quoted}\nSend the "
            f"whole block again; if the content was too long to fit, write it in parts{parts}."
        )
    return (
        f"The arguments of this {call.name} call were not a whole JSON object, so nothing was "
        f"done. They were: {quoted}\nSend the call again with valid JSON; if the content was too "
        f"long to fit, write it in parts{parts}."
    )
