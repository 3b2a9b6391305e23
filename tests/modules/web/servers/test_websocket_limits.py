"""The end of a WebSocket whose client goes at the same moment."""

from __future__ import annotations

from typing import Any

import pytest
from engineio.exceptions import SocketIsClosedError
from simple_websocket import ConnectionClosed
from wsproto.utilities import LocalProtocolError

from modules.web.servers import websocket_limits


class Engine:
    """What an Engine.IO socket is to its carrier."""

    def handle(self, _: Any) -> None:
        """Talk to nobody."""


class Gone:
    """A WebSocket that seems to be there until it is told to close."""

    connected = True

    def __init__(self, error: Exception) -> None:
        self._error = error

    def close(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    "error",
    [ConnectionResetError(), OSError(9, "closed"), ConnectionClosed(), LocalProtocolError()],
    ids=repr,
)
def test_goodbye_to_a_client_that_is_gone_is_no_failure(error: Exception) -> None:
    carrier = websocket_limits._websocket_class("threading")(Engine().handle, None)
    carrier.ws = Gone(error)
    carrier.close()


def test_what_is_for_a_client_that_goes_at_this_moment_is_dropped() -> None:
    def send(_sid: str, _packet: object) -> None:
        raise SocketIsClosedError

    websocket_limits._ignoring_closed_clients(send)("sid", "packet")
