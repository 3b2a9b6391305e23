"""The description of the API, made from the table of routes itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from modules.web.http.errors import STATUS
from modules.web.http.params import Parameter
from modules.web.http.routes import Events, Route, Sent

_JSON = "application/json"
_ERROR = {
    "type": "object",
    "required": ["error", "code"],
    "properties": {
        "error": {"type": "string", "description": "One English sentence."},
        "code": {"type": "string", "enum": sorted(STATUS)},
        "phrase": {"type": "object", "description": "The sentence to be translated."},
    },
}


def describe(routes: Iterable[Route], *, version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of *routes*."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Onefold", "version": version, "description": _ABOUT},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
    }


_ABOUT = (
    "The token stands in server-<port>.json in Onefold's data folder. What the answers and events "
    "hold is told in docs/protocol.md."
)


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{route.method.lower()}{route.path}").strip("_"),
        "summary": route.summary,
        "responses": {str(route.status): _answer(route), "default": _failure()},
    }
    given = [_placed(p, "path") for p in route.parameters if p.name in route.in_path]
    given += [_placed(p, "query") for p in route.in_query]
    if given := [*given, *(_placed(p, "header") for p in route.in_headers)]:
        operation["parameters"] = given
    if body := _body(route):
        operation["requestBody"] = body
    return operation


def _placed(parameter: Parameter, place: str) -> dict[str, Any]:
    required = place == "path" or parameter.default is ...
    name = parameter.header or parameter.name
    placed = {"name": name, "in": place, "required": required, "schema": parameter.schema}
    return {**placed, "description": parameter.help} if parameter.help else placed


def _body(route: Route) -> dict[str, Any]:
    if route.takes_bytes:
        content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        return {"required": True, "content": content}
    if not route.in_body:
        return {}
    properties = {
        p.name: {**p.schema, "description": p.help} if p.help else p.schema for p in route.in_body
    }
    required = [p.name for p in route.in_body if p.default is ...]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {"required": bool(required), "content": {_JSON: {"schema": schema}}}


def _answer(route: Route) -> dict[str, Any]:
    if route.status == 204:
        return {"description": "Done."}
    returned = get_type_hints(route.run)["return"]
    returned = get_args(returned) if get_origin(returned) is UnionType else (returned,)
    plain = _JSON, {"schema": _object(route.answer)}
    return {"description": "Done.", "content": dict(_ANSWERS.get(one, plain) for one in returned)}


def _object(told: Mapping[str, str]) -> dict[str, Any]:
    properties = {name.rstrip("?"): {"description": meaning} for name, meaning in told.items()}
    required = [name for name in told if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required}


_ANSWERS: dict[type, tuple[str, dict[str, Any]]] = {
    Events: ("text/event-stream", {}),
    Sent: ("*/*", {}),
}
"""What stands in the body of an answer, by what makes it."""


def _failure() -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    unread = {"schema": {"type": "string", "description": "Why it was not even read."}}
    content = {_JSON: {"schema": schema}, "text/plain": unread}
    return {"description": "Not done.", "content": content}
