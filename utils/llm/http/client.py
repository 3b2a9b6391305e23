"""The HTTP client that a provider's package is given: it builds a request once and adds nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import httpx2

from utils.llm.http.transport import SENT_HEADERS, CancellableTransport

_parse_url = lru_cache(maxsize=16)(httpx2.URL)
"""A server has few addresses, and to take one apart costs some two hundred calls."""


class HttpClient(httpx2.Client):
    """Sends what a provider's package asks for over *transport*, and follows a redirect.

    It has no headers, cookies or address of its own: these would be merged into each request anew,
    and *transport* would send none of them.
    """

    def __init__(self, transport: CancellableTransport) -> None:
        super().__init__(transport=transport, timeout=None, follow_redirects=True)

    def build_request(
        self,
        method: str,
        url: httpx2.URL | str,
        *,
        headers: Any = None,
        timeout: Any = None,  # noqa: ARG002 - the transport has its own
        **parts: Any,
    ) -> httpx2.Request:
        """Return the request of these parts; *url* is a whole address."""
        return httpx2.Request(method, _parse_url(url), headers=_sent(headers), **parts)


def _sent(headers: httpx2.Headers | Iterable[tuple[str, str]] | None) -> list[tuple[str, str]]:
    """Return those of *headers* that are sent."""
    pairs = headers.multi_items() if isinstance(headers, httpx2.Headers) else headers or ()
    return [(name, value) for name, value in pairs if name.lower() in SENT_HEADERS]
