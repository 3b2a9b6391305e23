"""Routes about the devices that others on the network use this server with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from modules.web.http.auth import PAIRING_SECONDS, Authenticator
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.params import Header
from modules.web.http.routes import BinaryResponse, route
from modules.web.pairing.qr_code import qr_lines
from modules.web.remote_access import RemoteAccess
from utils.i18n import phrase

This = Annotated[str, Header("X-Onefold-Device")]
"""The id of the paired device that asks, "" for this computer; the server itself says it."""


class DevicesApi:
    """Answers about the devices of *remote*; *on_removed* is told which one lost its place."""

    def __init__(
        self,
        remote: RemoteAccess,
        authenticator: Authenticator,
        on_removed: Callable[[str], object],
    ) -> None:
        self._remote = remote
        self._authenticator = authenticator
        self._on_removed = on_removed

    @route(
        "GET",
        "/api/devices",
        "The devices that are paired.",
        answer={
            "devices": "Each with id, name, when it was paired, and whether it is this one.",
            "fingerprint": "SHA-256 of the server's certificate.",
            "pairs": "Whether who asks may pair and remove devices; a paired device may not.",
        },
    )
    def devices(self, this: This = "") -> dict[str, Any]:
        with as_api_errors():
            known = self._remote.devices.all()
        return {
            "devices": [
                {"id": one.id, "name": one.name, "paired": one.paired, "this": one.id == this}
                for one in known
            ],
            "fingerprint": self._remote.certificate.fingerprint,
            "pairs": not this,
        }

    @route(
        "POST",
        "/api/devices",
        "A ticket that pairs one device.",
        status=201,
        answer={
            "url": "To be opened on the device, once.",
            "seconds": "For how long it is good.",
            "code": "It as a QR code: lines of 1 for dark and 0 for light.",
        },
    )
    def pair(self) -> dict[str, Any]:
        url = self._remote.pairing_url(self._authenticator.new_ticket())
        return {"url": url, "seconds": PAIRING_SECONDS, "code": qr_lines(url)}

    @route("DELETE", "/api/devices/{device}", "Take a device back; it is out at once.", status=204)
    def remove(self, device: str) -> None:
        with as_api_errors():
            was_there = self._remote.devices.remove(device)
        if not was_there:
            raise ApiError("not_found", phrase("There is no such device."))
        self._remote.cut_removed()
        self._on_removed(device)

    @route("GET", "/api/certificate", "The root that signed the certificate, for devices to trust.")
    def certificate(self) -> BinaryResponse:
        return BinaryResponse(
            self._remote.certificate.root,
            {
                "Content-Type": "application/x-x509-ca-cert",
                "Content-Disposition": 'attachment; filename="onefold.crt"',
            },
        )
