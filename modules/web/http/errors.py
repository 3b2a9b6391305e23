"""Errors of the API: codes, HTTP statuses and how they are answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from core.tools import ToolError
from modules.files.project import MissingPath
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.codec import to_plain

Code = Literal[
    "bad_request",
    "unauthorized",
    "no_key",
    "forbidden",
    "misdirected",
    "unknown_session",
    "held",
    "busy",
    "not_found",
    "exists",
    "changed",
    "secrets",
    "binary",
    "too_large",
    "unsupported",
    "failed",
]
STATUS: dict[Code, int] = {
    "bad_request": 400,
    "unauthorized": 401,
    "no_key": 401,
    "forbidden": 403,
    "misdirected": 421,
    "unknown_session": 404,
    "held": 409,
    "busy": 409,
    "not_found": 404,
    "exists": 409,
    "changed": 409,
    "secrets": 409,
    "binary": 415,
    "too_large": 413,
    "unsupported": 415,
    "failed": 422,
}


class ApiError(Exception):
    """A request that is not done; *message* says why, *details* are for programs."""

    def __init__(self, code: Code, message: Text, **details: Any) -> None:
        super().__init__(str(message))
        self.code = code
        self.message = message
        self.details = details

    def to_json(self) -> dict[str, Any]:
        json = {"code": self.code, "error": str(self.message), **self.details}
        return (
            {**json, "phrase": to_plain(self.message)} if isinstance(self.message, Phrase) else json
        )


def bad_request(reason: str) -> ApiError:
    """Return the error of a request that no page of ours sends."""
    return ApiError("bad_request", phrase("Invalid request: {why}.", why=reason))


@contextmanager
def as_api_errors() -> Iterator[None]:
    """Raise `UserError` and `ToolError` of the block as `ApiError`."""
    try:
        yield
    except MissingPath as error:
        raise ApiError("not_found", error.message) from None
    except (ToolError, UserError) as error:
        raise ApiError("failed", error.message) from None
