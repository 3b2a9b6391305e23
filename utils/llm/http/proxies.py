"""The proxy that the environment names for an address, and what it wants to be told."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def proxy_for(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for *url*, if any."""
    host = url.hostname or ""
    if host in _LOOPBACK or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}") if proxy else None


def proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"}
