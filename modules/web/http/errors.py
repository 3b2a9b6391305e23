"""What a request is told when it cannot be done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from core.tools import ToolError
from modules.files.project import Missing
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
    "binary": 415,
    "too_large": 413,
    "unsupported": 415,
    "failed": 422,
}


class ApiError(Exception):
    """The request is not done; *what* says why, *more* is what a program may want to know."""

    def __init__(self, code: Code, what: Text, **more: Any) -> None:
        super().__init__(str(what))
        self.code = code
        self.what = what
        self.more = more

    def to_json(self) -> dict[str, Any]:
        told = {"code": self.code, "error": str(self.what), **self.more}
        return {**told, "phrase": to_plain(self.what)} if isinstance(self.what, Phrase) else told


def bad(why: str) -> ApiError:
    """Return the refusal of a request that no page of ours sends."""
    return ApiError("bad_request", phrase("This request is not right: {why}.", why=why))


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the house says of a person's mistake into a refusal."""
    try:
        yield
    except Missing as error:
        raise ApiError("not_found", error.what) from None
    except (ToolError, UserError) as error:
        raise ApiError("failed", error.what) from None
