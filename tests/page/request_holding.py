"""Holding of requests and messages between page and server, until a test releases them."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import APIResponse, Page, Route, WebSocketRoute, expect

from tests.page.served_page import TIMEOUT_SECONDS

PATIENT = """{
    const { setTimeout: soon } = window;
    window.setTimeout = (work, time, ...more) => soon(work, time >= 5000 ? 1e9 : time, ...more);
}"""
"""With it a page takes nothing for lost that is only slow, and says nothing a second time."""


def wait_until(page: Page, is_so: Callable[[], object]) -> None:
    """Wait for *is_so*, or until the time of the test is up."""
    while not is_so():
        page.wait_for_timeout(20)


def wait_until_drawn(page: Page) -> None:
    """Wait until what has come to the page is drawn."""
    page.evaluate("() => new Promise((over) => requestAnimationFrame(() => setTimeout(over, 50)))")


def intercept(
    page: Page, address: str, handle: Callable[[Route], object], *, times: int | None = None
) -> None:
    """Have *handle* take the requests to *address* from here on, *times* of them at most.

    `Page.route` alone may miss what a key pressed right after it asks for: the browser passes the
    new way for requests on to the page, and the key overtakes it.
    """
    page.route(address, handle, times=times)
    page.evaluate("0")  # which does not overtake it


def go_offline(page: Page) -> None:
    """Take *page* and its service worker off the network; the worker hears of it a while later."""
    page.context.set_offline(True)
    is_offline = "fetch('/').then(() => false, () => true)"
    wait_until(page, lambda: all(one.evaluate(is_offline) for one in page.context.service_workers))


class HeldRequests:
    """The requests to *address* of *page*, and their answers as they were at that time."""

    def __init__(self, page: Page, address: str, *, method: str = "GET", times: int = 1) -> None:
        self._page = page
        self._method = method
        self._remaining = times
        self._routes: list[Route] = []
        self._answers: list[APIResponse] = []
        intercept(page, address, self._hold_route)

    def _hold_route(self, route: Route) -> None:
        if route.request.method != self._method or not self._remaining:
            route.fallback()
            return
        self._remaining -= 1
        answer = route.fetch(timeout=TIMEOUT_SECONDS * 1000)
        self._answers.append(answer)
        self._routes.append(route)

    @property
    def count(self) -> int:
        """How many have been held, those that were released included."""
        return len(self._routes)

    def wait(self, count: int = 1) -> None:
        """Wait until *count* requests are held in all."""
        wait_until(self._page, lambda: self.count >= count)

    def release(self, place: int = 0, *, is_lost: bool = False) -> None:
        """Answer the request at *place*; one *is_lost* gets no answer."""
        if is_lost:
            self._routes[place].abort()
        else:
            self._routes[place].fulfill(response=self._answers[place])


class HeldSocket:
    """The WebSocket of *page* from its next loading on: what is said is noted, and may be held."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._hold_pattern: re.Pattern[str] | None = None
        self._held: list[tuple[WebSocketRoute, str | bytes]] = []
        self._sockets: list[WebSocketRoute] = []
        self.sent_messages: list[str] = []
        """Messages that were sent to the server."""
        page.add_init_script(PATIENT)
        page.route_web_socket(re.compile("socket.io"), self._open)
        page.reload()
        expect(page.locator(".dot")).to_have_attribute("data-link", "live")

    def _open(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        self._sockets.append(socket)
        socket.on_message(lambda message: self._forward(server, message))

    def _forward(self, server: WebSocketRoute, message: str | bytes) -> None:
        if self._hold_pattern and self._hold_pattern.search(str(message)):
            self._hold_pattern = None
            self._held.append((server, message))
        else:
            self.sent_messages.append(str(message))
            server.send(message)

    def hold(self, pattern: str) -> None:
        """Hold the next message in which *pattern* is found."""
        self._hold_pattern = re.compile(pattern)

    def wait(self) -> None:
        """Wait until it is held."""
        wait_until(self._page, lambda: self._held)

    def release(self) -> None:
        for server, message in self._held:
            self.sent_messages.append(str(message))
            server.send(message)
        self._held.clear()

    def disconnect(self) -> None:
        """Lose the line, and let none of the browser come about until `reconnect`."""
        self._page.context.set_offline(True)
        for socket in self._sockets:
            socket.close()
        self._sockets.clear()
        expect(self._page.locator(".dot")).to_have_attribute("data-link", "lost")

    def reconnect(self) -> None:
        self._page.context.set_offline(False)
        expect(self._page.locator(".dot")).to_have_attribute("data-link", "live")
