"""HTTP: the routes and their arguments, who may come in, and errors.

- app            The Flask application: the API's routes, the page, the login.
- auth           Authentication: a link that works once, a cookie and a key of this run, a token for
                 programs.
- errors         Errors of the API: codes, HTTP statuses and how they are answered.
- idempotency    Idempotency of commands with ids: each is done once and answered the same every
                 time.
- openapi        OpenAPI description of the API, made from the table of routes itself.
- params         Arguments of a request, parsed by the signature of the method that answers it.
- routes         The table of HTTP routes: one entry makes the route and its documentation.
- script_bundle  Scripts in one: the modules that a page needs, joined.
- security       Security middleware: every request, sockets and static files too, passes here
                 first.
- static_files   Static files of the page, under an address that changes whenever one of them does.
- stylesheets    Stylesheets with what they import inside: one to fetch, where the checkout has one
                 an area.
"""

EXPORTS = {
    "app": ["make_app", "replay_page"],
    "auth": [
        "Authenticator",
        "LINK_SECONDS",
        "PAIRING_SECONDS",
        "published_server_file",
        "server_file",
    ],
    "errors": ["ApiError", "as_api_errors", "bad_request"],
    "idempotency": ["CommandId", "IdempotencyCache"],
    "params": ["Bounds", "Header", "Verbatim", "arguments"],
    "routes": ["BinaryResponse", "EventStream", "Route", "route", "routes_of"],
    "security": [
        "AllowedHosts",
        "Application",
        "CUT",
        "Environ",
        "HANG_UP",
        "ON_AUTHENTICATED",
        "SECURITY_HEADERS",
        "SecurityMiddleware",
        "StartResponse",
    ],
}
