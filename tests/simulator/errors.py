"""Error messages of DeepSeek's API, word for word."""

from __future__ import annotations

import json

MODELS = ("deepseek-flash", "deepseek-v4-pro")
REASONING = "The `reasoning_content` in the thinking mode must be passed back to the API."
NO_KEY = "Authentication Fails (governor)"
NOT_JSON = "Failed to parse the request body as JSON: {detail}"
WRONG_SHAPE = "Failed to deserialize the JSON body into the target type: {detail}"
NOT_JSON_TYPE = "Expected request with `Content-Type: application/json`"
CONTEXT = (
    "This model's maximum context length is {limit} tokens. However, you requested {total} tokens "
    "({prompt} in the messages, {output} in the completion). "
    "Please reduce the length of the messages or completion."
)
_BUSY = (
    "Service is too busy. We advise users to temporarily switch to alternative LLM API service "
    "providers."
)
_CONCURRENCY = (
    "Too many requests. Your current concurrency is 26, which exceeds your concurrency limit of 25 "
    "based on your remaining balance. Please top up your balance to restore your concurrency."
)
_HTML = (
    "<html>\r\n<head><title>500 Internal Server Error</title></head>\r\n<body>\r\n"
    "<center><h1>500 Internal Server Error</h1></center>\r\n<hr><center>openresty</center>\r\n"
    "</body>\r\n</html>\r\n"
)


def unknown_model(name: str) -> str:
    return f"The supported API model names are {', '.join(MODELS)}, but you passed {name}."


def body(message: str, kind: str = "invalid_request_error", code: str = "") -> str:
    """Return an error object in the API's key order and spelling."""
    error = {
        "message": message,
        "type": kind,
        "param": None,
        "code": code or "invalid_request_error",
    }
    return json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":"))


def wrong_key(key: str) -> str:
    message = f"Authentication Fails, Your api key: ****{key[-4:]} is invalid"
    return body(message, "authentication_error")


def official(status: int, key: str) -> str:
    """Return the body that comes with *status*; '' where the API sends none."""
    match status:
        case 401:
            return wrong_key(key)
        case 402:
            return body("Insufficient Balance", "unknown_error")
        case 429:
            return body(_CONCURRENCY, "rate_limit_error")
        case 500:
            return _HTML
        case 503:
            kind = "service_unavailable_error"
            return body(_BUSY, kind, kind)
        case _:
            return ""
