"""Routes about the pictures of a session."""

from __future__ import annotations

from typing import Annotated, Any

from modules.pictures.feature import Pictures
from modules.pictures.formats import MAX_PICTURE_FILE_BYTES
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.routes import BinaryResponse, route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import SessionRunner
from utils.i18n import phrase
from utils.pictures import Picture, PictureGone
from utils.text.codec import to_plain

_DIGEST = Annotated[str, "SHA-256 of the picture."]
_CSP = "default-src 'none'; sandbox; frame-ancestors 'none'"


class PicturesApi:
    """Keeps the pictures that are to go with a message, and shows those that went."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    @route(
        "POST",
        "/api/sessions/{id}/pictures",
        "Give a session a picture (PNG, JPEG, WebP, GIF), to be sent with a message.",
        status=201,
        limit=MAX_PICTURE_FILE_BYTES,
        answer={
            "digest": "What a message names it by.",
            "name": "As it was called.",
            "format": "PNG, JPEG, WebP or GIF.",
            "width": "Pixels.",
            "height": "Pixels.",
            "size": "Bytes of the file.",
            "media_type": "Of what is kept.",
        },
    )
    def keep(self, id: ID, data: bytes, name: str) -> dict[str, Any]:  # noqa: A002
        runner = self._registry.open(id)
        if runner.terminal.locked_by:
            raise ApiError("held", runner.terminal.locked_by)
        with as_api_errors():
            picture: dict[str, Any] = to_plain(pictures_of(runner).add(data, name))
        return picture

    @route("GET", "/api/sessions/{id}/pictures/{digest}", "Show a picture of a session.")
    def show(self, id: ID, digest: _DIGEST) -> BinaryResponse:  # noqa: A002
        pictures = pictures_of(self._registry.open(id))
        try:
            media_type, data = pictures.find(digest).media_type, pictures.read(digest)
        except PictureGone:
            raise picture_not_found() from None
        return BinaryResponse(
            data,
            {
                "Content-Type": media_type
                if media_type in ("image/png", "image/jpeg")
                else "image/png",
                "Content-Disposition": "inline",
                "Content-Security-Policy": _CSP,
                "Cache-Control": "private, max-age=31536000, immutable",
            },
        )


def picture_not_found() -> ApiError:
    return ApiError("not_found", phrase("This session does not have that picture."))


def pictures_of(runner: SessionRunner) -> Pictures:
    if (pictures := runner.terminal.features.find(Pictures)) is None:
        raise picture_not_found()
    return pictures


def find_pictures(runner: SessionRunner, digests: list[str]) -> tuple[Picture, ...]:
    """Return the pictures of *digests*. Raises `ApiError` when one is not kept."""
    try:
        return tuple(pictures_of(runner).find(digest) for digest in digests)
    except PictureGone:
        raise picture_not_found() from None
