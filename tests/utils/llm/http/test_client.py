"""What a request to the model's server bears beside its body."""

from __future__ import annotations

from tests.simulator import Say, Simulator
from tests.utils.client_helpers import client_of, stream_once


def test_a_request_bears_only_the_headers_that_it_needs() -> None:
    with Simulator([Say("Hi.")]) as server, client_of(server) as client:
        stream_once(client)
    (request,) = server.requests
    assert set(request.headers) == {
        *("host", "accept-encoding", "content-length"),  # of HTTP itself
        *("accept", "content-type", "user-agent", "authorization"),
    }
