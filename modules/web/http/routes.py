"""The table of HTTP routes: one entry makes the route and its documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from modules.web.http.params import Parameter, parameters

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Function = TypeVar("Function", bound=Callable[..., Any])

JSON_LIMIT = 8_000_000
"""Bytes of a JSON body."""


@dataclass(frozen=True, slots=True)
class BinaryResponse:
    """An answer that is not JSON: bytes with headers of their own."""

    data: bytes
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class EventStream:
    """An answer in server-sent events: (name, id or None, packet), None to keep it alive.

    Iterated in the event loop, so it may wait for a `Subscriber` but for nothing else.
    """

    items: Iterator[tuple[str, int | None, dict[str, Any]] | None]


@dataclass(frozen=True)
class Route:
    """One route of the API: *handler* takes the parameters by name and may block.

    *answer* tells what stands in the object that is answered, by its name; one that ends with "?"
    may be missing.
    """

    method: Method
    path: str
    summary: str
    handler: Callable[..., Any]
    status: int = 200
    limit: int = JSON_LIMIT
    answer: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", parameters(self.handler))

    @property
    def path_names(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def takes_bytes(self) -> bool:
        """Whether the body is the bytes of a file; then all else stands in the query."""
        return any(parameter.kind is bytes for parameter in self.parameters)

    @property
    def query_parameters(self) -> tuple[Parameter, ...]:
        if self.method != "GET" and not self.takes_bytes:
            return ()
        return tuple(
            p
            for p in self.parameters
            if p.name not in self.path_names and p.kind is not bytes and not p.header
        )

    @property
    def header_parameters(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.header)

    @property
    def body_parameters(self) -> tuple[Parameter, ...]:
        if self.method == "GET" or self.takes_bytes:
            return ()
        return tuple(p for p in self.parameters if p.name not in self.path_names)


def route(
    method: Method, path: str, summary: str, **options: Any
) -> Callable[[Function], Function]:
    """Mark a method as the handler of *method* *path*; its annotations name the parameters."""

    def decorate(function: Function) -> Function:
        function.__route__ = (method, path, summary, options)  # type: ignore[attr-defined]
        return function

    return decorate


def routes_of(*apis: object) -> list[Route]:
    """Return the routes of *apis* in the order they are written."""
    return [each_route for api in apis for each_route in _routes(api)]


def _routes(api: object) -> Iterable[Route]:
    for name, value in vars(type(api)).items():
        if mark := getattr(value, "__route__", None):
            method, path, summary, options = mark
            yield Route(method, path, summary, getattr(api, name), **options)
