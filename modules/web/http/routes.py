"""The table of what can be asked over HTTP: one entry makes the route and its documentation."""

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
class Sent:
    """An answer that is no JSON."""

    data: bytes
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Events:
    """An answer that comes bit by bit: (name, number or None, packet), None to keep it alive.

    Iterated where sockets live, so it may wait for a `Listener` but for nothing else.
    """

    items: Iterator[tuple[str, int | None, dict[str, Any]] | None]


@dataclass(frozen=True)
class Route:
    """One thing that can be asked: *run* takes the parameters by name and may block.

    *answer* tells what stands in the object that is answered, by its name; one that ends with "?"
    may be missing.
    """

    method: Method
    path: str
    summary: str
    run: Callable[..., Any]
    status: int = 200
    limit: int = JSON_LIMIT
    answer: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", parameters(self.run))

    @property
    def in_path(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def takes_bytes(self) -> bool:
        """Whether the body is the bytes of a file; then all else stands in the query."""
        return any(parameter.kind is bytes for parameter in self.parameters)

    @property
    def in_query(self) -> tuple[Parameter, ...]:
        if self.method != "GET" and not self.takes_bytes:
            return ()
        return tuple(
            p
            for p in self.parameters
            if p.name not in self.in_path and p.kind is not bytes and not p.header
        )

    @property
    def in_headers(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.header)

    @property
    def in_body(self) -> tuple[Parameter, ...]:
        if self.method == "GET" or self.takes_bytes:
            return ()
        return tuple(p for p in self.parameters if p.name not in self.in_path)


def route(method: Method, path: str, summary: str, **more: Any) -> Callable[[Function], Function]:
    """Mark a method as what answers *method* *path*; its annotated parameters are the request's."""

    def mark(function: Function) -> Function:
        function.__route__ = (method, path, summary, more)  # type: ignore[attr-defined]
        return function

    return mark


def routes_of(*desks: object) -> list[Route]:
    """Return the routes of *desks* in the order they are written."""
    return [found for desk in desks for found in _routes(desk)]


def _routes(desk: object) -> Iterable[Route]:
    for name, value in vars(type(desk)).items():
        if marked := getattr(value, "__route__", None):
            method, path, summary, more = marked
            yield Route(method, path, summary, getattr(desk, name), **more)
