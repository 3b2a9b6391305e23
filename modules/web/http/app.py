"""The Flask application: the API's routes, the page, the login."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from flask import Flask, Response, redirect, render_template, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Rule

from core.tool_spec import ToolSpec
from modules.web.embedding import embed_message_pictures, embed_project_pictures
from modules.web.files.content import FileContents
from modules.web.http.auth import Authenticator
from modules.web.http.errors import STATUS, ApiError, bad_request
from modules.web.http.openapi import describe
from modules.web.http.params import arguments
from modules.web.http.routes import BinaryResponse, EventStream, Route
from modules.web.http.script_bundle import bundled
from modules.web.http.security import is_api_request, message_page, wants_html
from modules.web.http.static_files import StaticFiles
from modules.web.http.stylesheets import stylesheet
from modules.web.pairing.devices import Device
from modules.web.servers.event_loop import EventLoop
from modules.web.sessions.notifier import OnError
from utils.i18n import phrase
from utils.pictures import ReadPicture
from utils.shortcuts import keys_of_page
from utils.text.codec import to_plain

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "static"
EXPORTED_LIBRARIES = ("diff", "dompurify", "highlight.js", "marked")
"""What of `static/vendor` the page of an exported session holds."""
_JSON = "application/json"
SnapshotOf = Callable[[str], Mapping[str, Any] | None]
"""Returns the answer of `attach` for a session; None if it is not open."""


def make_app(
    routes: Sequence[Route],
    loop: EventLoop,
    authenticator: Authenticator,
    on_error: OnError,
    snapshot_of: SnapshotOf,
    tools: Mapping[str, ToolSpec],
    commands: Mapping[str, str],
    *,
    version: str,
    language: str,
    theme: Callable[[], str] = lambda: "auto",
    shortcuts: Callable[[], Mapping[str, str]] = dict,
    start: str = "",
    on_paired: Callable[[Device], object] = lambda _: None,
) -> Flask:
    """Return the application; *on_error* logs a failure of ours, *tools* are the model's.

    *commands* are those that have buttons, by what these call them by; *shortcuts* returns those
    that the settings change.

    A login leads to the session *start*, or where the page was last; *on_paired* is told of the
    device that it pairs.
    """
    app = Flask("onefold", static_folder=None, template_folder=str(ROOT / "templates"))
    app.url_rule_class = _RequestRule
    app.config["MAX_FORM_MEMORY_SIZE"] = 0
    for route in routes:
        _add_route(app, route, loop, on_error)
    static_files = StaticFiles(STATIC)
    static_files.add_to(app)
    _add_page(
        app,
        loop,
        snapshot_of,
        {"tools": tools, "commands": commands},
        static_files,
        version=version,
        language=language,
        theme=theme,
        shortcuts=shortcuts,
    )
    _add_login(app, loop, authenticator, f"/s/{start}" if start else "/", on_paired)
    _add_api_docs(app, cache(partial(describe, routes, version=version)))
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, lambda error: _text_response(str(on_error(error)), 500))
    return app


# --- the table -----------------------------------------------------------------------------------


class _RequestRule(Rule):
    """Rule that only takes requests: the code that would make addresses is most of its cost."""

    def _compile_builder(self, *_: object, **_options: object) -> Callable[..., tuple[str, str]]:
        def make_address(*_: object, **_values: object) -> tuple[str, str]:
            raise NotImplementedError(self.rule)

        return make_address


def _add_route(app: Flask, route: Route, loop: EventLoop, on_error: OnError) -> None:
    def respond(**in_path: str) -> Response:
        try:
            kwargs = _request_arguments(route, in_path)
            return _response(route, loop.offload(route.handler, **kwargs))
        except ApiError as api_error:
            response = _json_response(api_error.to_json(), STATUS[api_error.code])
            if api_error.code == "too_large":
                response.headers["Connection"] = "close"  # the rest of the body stays unread
            return response
        except HTTPException as error:  # a body that is too large, or broke off
            error_json = {"code": "bad_request", "error": str(error.description)}
            return _json_response(error_json, error.code or 400)
        except Exception as error:  # noqa: BLE001 - the one place where our failures in a request end
            return _json_response({"code": "failed", "error": str(on_error(error))}, 500)

    rule = route.path.replace("{", "<").replace("}", ">")
    app.add_url_rule(rule, f"{route.method} {rule}", respond, methods=[route.method])


def _http_error(error: HTTPException) -> Response | HTTPException:
    """Answer a request that no route takes, or not by that method."""
    if wants_html(request.environ) or not is_api_request(request.environ):
        return error
    code = "not_found" if error.code == 404 else "bad_request"
    response = _json_response({"code": code, "error": str(error.description)}, error.code or 400)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(error.valid_methods)
    return response


def _request_arguments(route: Route, path_params: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of the request for *route*."""
    if (request.content_length or 0) > route.limit:
        limit = f"{route.limit // 1_000_000} MB"
        raise ApiError("too_large", phrase("You can send at most {limit} at once.", limit=limit))
    query = {
        parameter.name: parameter.parse_text(request.args[parameter.name])
        for parameter in route.query_parameters
        if parameter.name in request.args
    }
    headers = {
        parameter.name: parameter.parse_text(request.headers[parameter.header])
        for parameter in route.header_parameters
        if parameter.header in request.headers
    }
    values = {**query, **headers, **path_params}
    if route.takes_bytes:
        name = next(parameter.name for parameter in route.parameters if parameter.kind is bytes)
        values[name] = _raw_body()
    elif route.method != "GET":
        values = {**_json_body(), **values}
    return arguments(route.handler, values)


def _raw_body() -> bytes:
    if request.content_length is None:
        raise bad_request("Content-Length is missing")
    return request.get_data(cache=False)


def _json_body() -> dict[str, Any]:
    if not request.content_length:
        return {}
    if request.mimetype != _JSON:
        raise bad_request(f"the body must be {_JSON}")
    try:
        body = json.loads(_raw_body())
    except (ValueError, RecursionError):
        raise bad_request("the body is no JSON") from None
    if not isinstance(body, dict):
        raise bad_request("the body must be an object")
    return body


def _response(route: Route, result: Any) -> Response:
    match result:
        case None:
            return Response(status=route.status)
        case BinaryResponse(data, headers):
            return _in_part(Response(data, headers=headers))
        case EventStream(items):
            headers = {"X-Accel-Buffering": "no"}
            return Response(_sse_lines(items), mimetype="text/event-stream", headers=headers)
        case _:
            return _json_response(result, route.status)


def _in_part(response: Response) -> Response:
    """Return *response*, or the range of it that is asked for, where it says that it has ranges."""
    if "Accept-Ranges" in response.headers:
        length = response.content_length
        response.make_conditional(request.environ, accept_ranges=True, complete_length=length)
    return response


def _json_response(value: Any, status: int) -> Response:
    return Response(json.dumps(value), status, mimetype=_JSON)


def _sse_lines(items: Iterable[tuple[str, int | None, dict[str, Any]] | None]) -> Iterator[str]:
    for item in items:
        if item is None:
            yield ": still here\n\n"
            continue
        name, number, packet = item
        head = f"event: {name}\n" + (f"id: {number}\n" if number is not None else "")
        yield f"{head}data: {json.dumps(packet)}\n\n"


# --- pages ---------------------------------------------------------------------------------------


def _add_page(
    app: Flask,
    loop: EventLoop,
    snapshot_of: SnapshotOf,
    declared: Mapping[str, Mapping[str, Any]],
    static_files: StaticFiles,
    *,
    version: str,
    language: str,
    theme: Callable[[], str],
    shortcuts: Callable[[], Mapping[str, str]],
) -> None:
    """Answer with the page, which bears what it needs at once and so need not ask for it.

    That is what is *declared*, and the picture of a session that is open.
    """
    brought = {name: _script_json(to_plain(what)) for name, what in declared.items()}

    def page(session: str = "") -> str:
        lang = request.args.get("lang", language)
        lang = lang if lang in ("en", "zh") else language
        snapshot = loop.offload(snapshot_of, session) if session else None
        return render_template(
            "index.html",
            lang=lang,
            theme=theme(),
            keys=keys_of_page(shortcuts()),
            version=version,
            static=static_files.base_url(),
            picture=_script_json(snapshot) if snapshot else "",
            **brought,
        )

    app.add_url_rule("/", "page", page)
    app.add_url_rule("/s/<session>", "session page", page)
    app.add_url_rule("/favicon.ico", "icon", lambda: redirect("/static/favicon.svg"))


def _script_json(value: Any) -> str:
    """Return *value* as JSON that cannot end the script element that holds it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _add_login(
    app: Flask,
    loop: EventLoop,
    authenticator: Authenticator,
    redirect_to: str,
    on_paired: Callable[[Device], object],
) -> None:
    def sign_in() -> Response:
        if request.method == "HEAD":  # who looks ahead at a link must not use it up
            return _text_response("", 200)
        agent = request.headers.get("User-Agent", "")
        token = request.args.get("token", "")
        login = loop.offload(authenticator.log_in, token, agent)  # it may keep a device
        if login is None and not authenticator.allow_attempt():
            return _text_response("Too many tries; wait a minute.", 429)
        if login is None:
            return _text_response("This link was used already or is not of this run.", 401)
        if login.device:
            on_paired(login.device)
        # Only a browser keeps what stands behind "#" to itself; others would ask for it.
        key = f"#key={login.key}" if wants_html(request.environ) else ""
        response = Response(status=303, headers={"Location": f"{redirect_to}{key}"})
        response.set_cookie(
            authenticator.cookie,
            login.cookie,
            max_age=login.seconds,
            secure=request.is_secure,
            httponly=True,
            samesite="Strict",
            path="/",
        )
        return response

    app.add_url_rule("/login", "login", sign_in)


def _text_response(text: str, status: int) -> Response:
    if wants_html(request.environ):
        return Response(message_page(text), status, mimetype="text/html")
    return Response(f"{text}\n", status, mimetype="text/plain")


def _add_api_docs(app: Flask, describe_api: Callable[[], Mapping[str, Any]]) -> None:
    def docs() -> str:
        return render_template(
            "api.html",
            api=describe_api(),
            body=_request_properties,
            required=_required_properties,
            answer=_response_properties,
        )

    app.add_url_rule("/api/openapi.json", "openapi", lambda: _json_response(describe_api(), 200))
    app.add_url_rule("/api/docs", "docs", docs)


def _request_properties(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of the JSON body of *operation*, none if it takes no such body."""
    properties: Mapping[str, Any] = _request_schema(operation).get("properties", {})
    return properties


def _response_properties(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of the object that *operation* answers, none if it answers no such."""
    response = next(iter(operation["responses"].values()))
    schema: Mapping[str, Any] = response.get("content", {}).get(_JSON, {}).get("schema", {})
    properties: Mapping[str, Any] = schema.get("properties", {})
    return properties


def _required_properties(operation: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of those properties that must be there."""
    names: Sequence[str] = _request_schema(operation).get("required", ())
    return names


def _request_schema(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] = content.get(_JSON, {}).get("schema", {})
    return schema


def replay_page(
    app: Flask, files: FileContents, tools: Mapping[str, ToolSpec]
) -> Callable[[str, list[dict[str, Any]], ReadPicture], str]:
    """Return a function that renders a session, with pictures of *files*, as one HTML page.

    Its styles and scripts are those of the page as they are; the policy in it lets no other run.
    *tools* are those that its calls may be of.
    """
    declared = _script_json(to_plain(tools))

    def render(title: str, events: list[dict[str, Any]], read_picture: ReadPicture) -> str:
        pictures = _script_json(
            embed_project_pictures(events, files) | embed_message_pictures(events, read_picture)
        )
        style = stylesheet(STATIC / "css" / "export.css")
        script = bundled(STATIC, "js/export/replay.js", EXPORTED_LIBRARIES)
        with app.app_context():
            return render_template(
                "replay.html",
                title=title,
                events=_script_json(events),
                pictures=pictures,
                libraries=", ".join(EXPORTED_LIBRARIES),
                style=style,
                style_hash=_policy_hash(style),
                script=script,
                script_hash=_policy_hash(script),
                tools=declared,
            )

    return render


def _policy_hash(text: str) -> str:
    """Return the source that allows an element with *text* in a content security policy."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
