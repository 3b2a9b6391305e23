"""What can be asked about the pictures of a session over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from modules.pictures.feature import Pictures
from modules.pictures.formats import LARGEST
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, explained
from modules.web.http.routes import Sent, route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import SessionRunner
from utils.i18n import phrase
from utils.pictures import Picture, PictureGone
from utils.text.codec import to_plain

_DIGEST = Annotated[str, "SHA-256 of the picture."]
_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"


class PicturesApi:
    """Keeps the pictures that are to go with a message, and shows those that went."""

    def __init__(self, workspace: SessionRegistry) -> None:
        self._workspace = workspace

    @route(
        "POST",
        "/api/sessions/{id}/pictures",
        "Give a session a picture (PNG, JPEG, WebP, GIF), to be sent with a message.",
        status=201,
        limit=LARGEST,
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
        seat = self._workspace.open(id)
        if seat.terminal.held:
            raise ApiError("held", seat.terminal.held)
        with explained():
            plain: dict[str, Any] = to_plain(pictures_of(seat).keep(data, name))
        return plain

    @route("GET", "/api/sessions/{id}/pictures/{digest}", "Show a picture of a session.")
    def show(self, id: ID, digest: _DIGEST) -> Sent:  # noqa: A002
        pictures = pictures_of(self._workspace.open(id))
        try:
            kind, data = pictures.find(digest).media_type, pictures.read(digest)
        except PictureGone:
            raise gone() from None
        return Sent(
            data,
            {
                "Content-Type": kind if kind in ("image/png", "image/jpeg") else "image/png",
                "Content-Disposition": "inline",
                "Content-Security-Policy": _POLICY,
                "Cache-Control": "private, max-age=31536000, immutable",
            },
        )


def gone() -> ApiError:
    return ApiError("not_found", phrase("That picture is not kept with this session."))


def pictures_of(seat: SessionRunner) -> Pictures:
    for family in seat.terminal.families:
        if isinstance(family, Pictures):
            return family
    raise gone()


def found(seat: SessionRunner, digests: list[str]) -> tuple[Picture, ...]:
    """Return the pictures of *digests*. Raises `ApiError` when one is not kept."""
    try:
        return tuple(pictures_of(seat).find(digest) for digest in digests)
    except PictureGone:
        raise gone() from None
