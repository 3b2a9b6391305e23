"""What can be asked about the pictures of a session over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from modules.pictures.feature import Pictures
from modules.pictures.formats import LARGEST
from modules.web.refusal import Refused, explained
from modules.web.routes import Sent, route
from modules.web.seat import Seat
from modules.web.sessions_desk import ID
from modules.web.workspace import Workspace
from utils.codec import to_plain
from utils.phrases import phrase
from utils.pictures import Picture, PictureGone

_DIGEST = Annotated[str, "SHA-256 of the picture."]
_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"


class PicturesDesk:
    """Keeps the pictures that are to go with a message, and shows those that went."""

    def __init__(self, workspace: Workspace) -> None:
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
            raise Refused("held", seat.terminal.held)
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


def gone() -> Refused:
    return Refused("not_found", phrase("That picture is not kept with this session."))


def pictures_of(seat: Seat) -> Pictures:
    for family in seat.terminal.families:
        if isinstance(family, Pictures):
            return family
    raise gone()


def found(seat: Seat, digests: list[str]) -> tuple[Picture, ...]:
    """Return the pictures of *digests*. Raises `Refused` when one is not kept."""
    try:
        return tuple(pictures_of(seat).find(digest) for digest in digests)
    except PictureGone:
        raise gone() from None
