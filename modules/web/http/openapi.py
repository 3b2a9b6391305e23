"""OpenAPI description of the API, made from the table of routes itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from modules.web.http.errors import STATUS
from modules.web.http.params import Parameter
from modules.web.http.routes import BinaryResponse, EventStream, Route

_JSON = "application/json"
_ERROR_SCHEMA = {
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
        "info": {"title": "Onefold", "version": version, "description": _DESCRIPTION},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR_SCHEMA},
        },
    }


_DESCRIPTION = (
    "The token stands in server-<port>.json in Onefold's data folder. What the answers and events "
    "hold is told in docs/protocol.md."
)


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{route.method.lower()}{route.path}").strip("_"),
        "summary": route.summary,
        "responses": {str(route.status): _success_response(route), "default": _error_response()},
    }
    parameters = [
        _parameter_object(p, "path") for p in route.parameters if p.name in route.path_names
    ]
    parameters += [_parameter_object(p, "query") for p in route.query_parameters]
    if parameters := [
        *parameters,
        *(_parameter_object(p, "header") for p in route.header_parameters),
    ]:
        operation["parameters"] = parameters
    if body := _request_body(route):
        operation["requestBody"] = body
    return operation


def _parameter_object(parameter: Parameter, location: str) -> dict[str, Any]:
    required = location == "path" or parameter.default is ...
    name = parameter.header or parameter.name
    parameter_object = {
        "name": name,
        "in": location,
        "required": required,
        "schema": parameter.schema,
    }
    return (
        {**parameter_object, "description": parameter.help} if parameter.help else parameter_object
    )


def _request_body(route: Route) -> dict[str, Any]:
    if route.takes_bytes:
        content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        return {"required": True, "content": content}
    if not route.body_parameters:
        return {}
    properties = {
        p.name: {**p.schema, "description": p.help} if p.help else p.schema
        for p in route.body_parameters
    }
    required = [p.name for p in route.body_parameters if p.default is ...]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {"required": bool(required), "content": {_JSON: {"schema": schema}}}


def _success_response(route: Route) -> dict[str, Any]:
    if route.status == 204:
        return {"description": "Done."}
    returned = get_type_hints(route.handler)["return"]
    returned = get_args(returned) if get_origin(returned) is UnionType else (returned,)
    json_content = _JSON, {"schema": _object_schema(route.answer)}
    return {
        "description": "Done.",
        "content": dict(_CONTENT_BY_TYPE.get(kind, json_content) for kind in returned),
    }


def _object_schema(fields: Mapping[str, str]) -> dict[str, Any]:
    properties = {name.rstrip("?"): {"description": meaning} for name, meaning in fields.items()}
    required = [name for name in fields if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required}


_CONTENT_BY_TYPE: dict[type, tuple[str, dict[str, Any]]] = {
    EventStream: ("text/event-stream", {}),
    BinaryResponse: ("*/*", {}),
}
"""Content of a response, by the type that a route returns."""


def _error_response() -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    plain_schema = {"schema": {"type": "string", "description": "Why it was not even read."}}
    content = {_JSON: {"schema": schema}, "text/plain": plain_schema}
    return {"description": "Not done.", "content": content}
