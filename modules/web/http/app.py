"""The Flask application: the table of routes answered, the page, the login."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from flask import Flask, Response, redirect, render_template, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from core.tool_spec import ToolSpec
from modules.web.embedding import embedded, given
from modules.web.files.content import FileContents
from modules.web.http.auth import Authenticator
from modules.web.http.errors import STATUS, ApiError, bad
from modules.web.http.openapi import describe
from modules.web.http.params import arguments
from modules.web.http.routes import Events, Route, Sent
from modules.web.http.script_bundle import bundled
from modules.web.http.security import is_for_eyes, is_for_programs, page_saying
from modules.web.http.static_files import Statics
from modules.web.http.stylesheets import stylesheet
from modules.web.servers.event_loop import EventLoop
from modules.web.sessions.notifier import Failed
from utils.i18n import phrase
from utils.pictures import ReadPicture
from utils.text.codec import to_plain

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "static"
EXPORTED_LIBRARIES = ("diff", "dompurify", "highlight.js", "marked")
"""What of `static/vendor` the page of an exported session holds."""
_JSON = "application/json"
PictureOf = Callable[[str], Mapping[str, Any] | None]
"""Returns what leads to the picture of a session, as `attach` does; None if it is not open."""


def make_app(
    routes: Sequence[Route],
    hub: EventLoop,
    access: Authenticator,
    failed: Failed,
    picture_of: PictureOf,
    tools: Mapping[str, ToolSpec],
    commands: Mapping[str, str],
    *,
    version: str,
    language: str,
    start: str = "",
) -> Flask:
    """Return the application; *failed* logs a failure of ours, *tools* are the model's.

    *commands* are those that have buttons, by what these call them by.

    A login leads to the session *start*, or where the page was last.
    """
    app = Flask("onefold", static_folder=None, template_folder=str(ROOT / "templates"))
    app.config["MAX_FORM_MEMORY_SIZE"] = 0
    for route in routes:
        _add(app, route, hub, failed)
    statics = Statics(STATIC)
    statics.add_to(app)
    _add_page(
        app,
        hub,
        picture_of,
        {"tools": tools, "commands": commands},
        statics,
        version=version,
        language=language,
    )
    _add_login(app, access, f"/s/{start}" if start else "/")
    _add_description(app, describe(routes, version=version))
    app.register_error_handler(HTTPException, _no_answer)
    app.register_error_handler(Exception, lambda error: _plain(str(failed(error)), 500))
    return app


# --- the table -----------------------------------------------------------------------------------


def _add(app: Flask, route: Route, hub: EventLoop, failed: Failed) -> None:
    def respond(**in_path: str) -> Response:
        try:
            given = _given(route, in_path)
            return _response(route, hub.offload(route.run, **given))
        except ApiError as refused:
            answer = _json(refused.to_json(), STATUS[refused.code])
            if refused.code == "too_large":
                answer.headers["Connection"] = "close"  # the rest of the body stays unread
            return answer
        except HTTPException as error:  # a body that is too large, or broke off
            told = {"code": "bad_request", "error": str(error.description)}
            return _json(told, error.code or 400)
        except Exception as error:  # noqa: BLE001 - the one place where our failures in a request end
            return _json({"code": "failed", "error": str(failed(error))}, 500)

    rule = route.path.replace("{", "<").replace("}", ">")
    app.add_url_rule(rule, f"{route.method} {rule}", respond, methods=[route.method])


def _no_answer(error: HTTPException) -> Response | HTTPException:
    """Answer what no route does, or not by that method."""
    if is_for_eyes(request.environ) or not is_for_programs(request.environ):
        return error
    code = "not_found" if error.code == 404 else "bad_request"
    answer = _json({"code": code, "error": str(error.description)}, error.code or 400)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        answer.headers["Allow"] = ", ".join(error.valid_methods)
    return answer


def _given(route: Route, in_path: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of the request for *route*."""
    if (request.content_length or 0) > route.limit:
        limit = f"{route.limit // 1_000_000} MB"
        raise ApiError("too_large", phrase("At most {limit} can be sent at once.", limit=limit))
    query = {
        p.name: p.read_text(request.args[p.name]) for p in route.in_query if p.name in request.args
    }
    headers = {
        p.name: p.read_text(request.headers[p.header])
        for p in route.in_headers
        if p.header in request.headers
    }
    given = {**query, **headers, **in_path}
    if route.takes_bytes:
        name = next(p.name for p in route.parameters if p.kind is bytes)
        given[name] = _body()
    elif route.method != "GET":
        given = {**_json_body(), **given}
    return arguments(route.run, given)


def _body() -> bytes:
    if request.content_length is None:
        raise bad("Content-Length is missing")
    return request.get_data(cache=False)


def _json_body() -> dict[str, Any]:
    if not request.content_length:
        return {}
    if request.mimetype != _JSON:
        raise bad(f"the body must be {_JSON}")
    try:
        body = json.loads(_body())
    except (ValueError, RecursionError):
        raise bad("the body is no JSON") from None
    if not isinstance(body, dict):
        raise bad("the body must be an object")
    return body


def _response(route: Route, result: Any) -> Response:
    match result:
        case None:
            return Response(status=route.status)
        case Sent(data, headers):
            return Response(data, headers=headers)
        case Events(items):
            headers = {"X-Accel-Buffering": "no"}
            return Response(_sse(items), mimetype="text/event-stream", headers=headers)
        case _:
            return _json(result, route.status)


def _json(value: Any, status: int) -> Response:
    return Response(json.dumps(value), status, mimetype=_JSON)


def _sse(items: Iterable[tuple[str, int | None, dict[str, Any]] | None]) -> Iterator[str]:
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
    hub: EventLoop,
    picture_of: PictureOf,
    declared: Mapping[str, Mapping[str, Any]],
    statics: Statics,
    *,
    version: str,
    language: str,
) -> None:
    """Answer with the page, which bears what it needs at once and so need not ask for it.

    That is what is *declared*, and the picture of a session that is open.
    """
    brought = {name: _inside_script(to_plain(what)) for name, what in declared.items()}

    def page(session: str = "") -> str:
        lang = request.args.get("lang", language)
        lang = lang if lang in ("en", "zh") else language
        picture = hub.offload(picture_of, session) if session else None
        return render_template(
            "index.html",
            lang=lang,
            version=version,
            static=statics.address(),
            picture=_inside_script(picture) if picture else "",
            **brought,
        )

    app.add_url_rule("/", "page", page)
    app.add_url_rule("/s/<session>", "session page", page)
    app.add_url_rule("/favicon.ico", "icon", lambda: redirect("/static/favicon.svg"))


def _inside_script(value: Any) -> str:
    """Return *value* as JSON that cannot end the script element that holds it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _add_login(app: Flask, access: Authenticator, leads_to: str) -> None:
    def login() -> Response:
        if request.method == "HEAD":  # who looks ahead at a link must not use it up
            return _plain("", 200)
        cookie = access.log_in(request.args.get("token", ""))
        if cookie is None and not access.may_try():
            return _plain("Too many tries; wait a minute.", 429)
        if cookie is None:
            return _plain("This link was used already or is not of this run.", 401)
        # Only a browser keeps what stands behind "#" to itself; others would ask for it.
        key = f"#key={access.key}" if is_for_eyes(request.environ) else ""
        response = Response(status=303, headers={"Location": f"{leads_to}{key}"})
        response.set_cookie(access.cookie, cookie, httponly=True, samesite="Strict", path="/")
        return response

    app.add_url_rule("/login", "login", login)


def _plain(text: str, status: int) -> Response:
    if is_for_eyes(request.environ):
        return Response(page_saying(text), status, mimetype="text/html")
    return Response(f"{text}\n", status, mimetype="text/plain")


def _add_description(app: Flask, description: Mapping[str, Any]) -> None:
    def docs() -> str:
        return render_template(
            "api.html", api=description, body=_properties, required=_required, answer=_answered
        )

    app.add_url_rule("/api/openapi.json", "openapi", lambda: _json(description, 200))
    app.add_url_rule("/api/docs", "docs", docs)


def _properties(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of the JSON body of *operation*, none if it takes no such body."""
    properties: Mapping[str, Any] = _schema(operation).get("properties", {})
    return properties


def _answered(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of the object that *operation* answers, none if it answers no such."""
    done = next(iter(operation["responses"].values()))
    schema: Mapping[str, Any] = done.get("content", {}).get(_JSON, {}).get("schema", {})
    properties: Mapping[str, Any] = schema.get("properties", {})
    return properties


def _required(operation: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of those properties that must be there."""
    names: Sequence[str] = _schema(operation).get("required", ())
    return names


def _schema(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] = content.get(_JSON, {}).get("schema", {})
    return schema


def replay_page(
    app: Flask, files: FileContents, tools: Mapping[str, ToolSpec]
) -> Callable[[str, list[dict[str, Any]], ReadPicture], str]:
    """Return what makes a self-contained page that shows a session, and pictures of *files*.

    Its styles and scripts are those of the page as they are; the policy in it lets no other run.
    *tools* are those that its calls may be of.
    """
    declared = _inside_script(to_plain(tools))

    def render(title: str, events: list[dict[str, Any]], read_picture: ReadPicture) -> str:
        pictures = _inside_script(embedded(events, files) | given(events, read_picture))
        style = stylesheet(STATIC / "css" / "export.css")
        script = bundled(STATIC, "js/export/replay.js", EXPORTED_LIBRARIES)
        with app.app_context():
            return render_template(
                "replay.html",
                title=title,
                events=_inside_script(events),
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
