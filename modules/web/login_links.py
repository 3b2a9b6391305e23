"""Login links of a server, printed in its terminal: at its start, and whenever Enter is pressed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from modules.web.http.auth import LINK_SECONDS, PAIRING_SECONDS, Authenticator
from utils.i18n import Text, phrase

if TYPE_CHECKING:
    from modules.web.remote_access import RemoteAccess


class LoginLinks:
    """Links to *url*, and codes for the devices of *remote* if there is one, told by *echo*."""

    def __init__(
        self,
        url: str,
        authenticator: Authenticator,
        remote: RemoteAccess | None,
        echo: Callable[[Text], None],
    ) -> None:
        self._url = url
        self._authenticator = authenticator
        self._remote = remote
        self._echo = echo

    def show(self, seconds: float) -> None:
        """Tell a new link for this computer, good for *seconds*, and a code for another device."""
        if self._remote:
            self._echo(phrase("On this computer, open this link; it works once:"))
        else:
            self._echo(phrase("Open this link; it works once:"))
        self._echo(f"  {self._url}{self._authenticator.new_link(seconds)}")
        if self._remote:
            self._show_code(self._remote)

    def _show_code(self, remote: RemoteAccess) -> None:
        url = remote.pairing_url(self._authenticator.new_ticket())
        self._echo(
            phrase(
                "On a phone or another computer, scan this code or open the link. It works once, "
                "within {minutes} minutes:",
                minutes=int(PAIRING_SECONDS // 60),
            )
        )
        if sys.stdout.isatty():
            from modules.web.pairing.qr_code import terminal_text

            self._echo(terminal_text(url).rstrip("\n"))
        self._echo(f"  {url}")
        self._echo(
            phrase(
                "Its browser will warn you, because this computer made the certificate itself. "
                "Only continue if the certificate has this SHA-256 fingerprint:"
            )
        )
        middle = len(remote.certificate.fingerprint) // 2 + 1
        for half in (
            remote.certificate.fingerprint[:middle],
            remote.certificate.fingerprint[middle:],
        ):
            self._echo(f"  {half}")

    def offer(self) -> None:
        """Tell fresh ones whenever the person presses Enter, if there is somebody who can."""
        if not (sys.stdin and sys.stdin.isatty()):
            return
        self._echo(phrase("Press Enter for a new link, Ctrl-C to stop."))
        keyboard = sys.stdin.fileno()

        def listen() -> None:
            while os.read(keyboard, 1_000):
                self.show(LINK_SECONDS)

        threading.Thread(target=listen, name="keyboard", daemon=True).start()
