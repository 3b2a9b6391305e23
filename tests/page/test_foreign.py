"""Pages of other origins in the same browser, logged in or not: they can do nothing here."""

from __future__ import annotations

import http.client
import http.server
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Page

from tests.page.served_page import TIMEOUT_SECONDS, ServedPage

TRIES = """
async (target) => {
  const told = {};
  const tried = async (name, work) => {
    told[name] = await Promise.race([
      Promise.resolve().then(work).then((what) => String(what), () => "refused"),
      new Promise((resolve) => setTimeout(resolve, 60000, "silent")),
    ]);
  };
  const loaded = (tag, url) => new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), { src: url });
    Object.assign(element, { onload: () => resolve("loaded"), onerror: reject });
    document.body.append(element);
  });
  const read = async (answer) => (await answer).text();
  const with_ = { credentials: "include" };
  const headers = { "Content-Type": "application/json" };
  const json = { ...with_, method: "POST", body: "{}", headers };
  const form = { ...with_, method: "POST", mode: "no-cors", body: new URLSearchParams("a=b") };
  await tried("read", () => read(fetch(`${target}/api/status`, with_)));
  await tried("create", () => read(fetch(`${target}/api/sessions`, json)));
  await tried("form", () => fetch(`${target}/api/sessions`, form).then((answer) => answer.type));
  await tried("poll", () => read(fetch(`${target}/socket.io/?EIO=4&transport=polling`, with_)));
  await tried("script", () => loaded("script", `${target}/static/js/early.js`));
  await tried("jsonp", () => loaded("script", `${target}/socket.io/?EIO=4&transport=polling&j=0`));
  await tried("image", () => loaded("img", `${target}/static/favicon.svg`));
  await tried("socket", () => new Promise((resolve, reject) => {
    const address = `${target.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`;
    const socket = new WebSocket(address);
    socket.onmessage = () => resolve("open");
    socket.onerror = reject;
  }));
  await tried("events", () => new Promise((resolve, reject) => {
    const events = new EventSource(`${target}/events?session=x`, { withCredentials: true });
    events.onopen = () => resolve("open");
    events.onerror = reject;
  }));
  return told;
}
"""


@pytest.fixture
def elsewhere() -> Iterator[int]:
    """The port of another server on this machine, with an empty page."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Elsewhere</title><body>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def status(served_page: ServedPage, method: str, path: str, headers: dict[str, str]) -> int:
    """Make one request as a program does, with whatever *headers* it likes."""
    line = http.client.HTTPConnection("127.0.0.1", served_page.server.port, timeout=TIMEOUT_SECONDS)
    with closing(line):
        line.request(method, path, "{}", {"Content-Type": "application/json", **headers})
        return line.getresponse().status


def test_a_server_that_the_browser_gives_our_cookie_to_can_do_nothing_with_it(
    served_page: ServedPage, elsewhere: int
) -> None:
    own = served_page.open()
    page = own.context.new_page()
    with page.expect_request(f"http://127.0.0.1:{elsewhere}/") as asked:
        page.goto(f"http://127.0.0.1:{elsewhere}/")
    caught = asked.value.all_headers()["cookie"]
    assert caught.startswith(f"onefold_{served_page.server.port}=")  # a cookie goes to every port
    forged = {"Cookie": caught, "Origin": served_page.server.url, "Sec-Fetch-Site": "same-origin"}
    polling = "/socket.io/?EIO=4&transport=polling"
    assert status(served_page, "GET", "/api/status", forged) == 200
    for method, path in (("POST", "/api/login-links"), ("POST", "/api/sessions"), ("GET", polling)):
        assert status(served_page, method, path, forged) == 401
    assert page.evaluate("localStorage.length") == 0  # the key is of another origin
    assert sessions(own) == 0


def sessions(page: Page) -> int:
    return int(
        page.evaluate("fetch('/api/sessions').then(a => a.json()).then(a => a.sessions.length)")
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_gets_nothing(
    served_page: ServedPage, elsewhere: int, host: str
) -> None:
    own = served_page.open()
    before = sessions(own)
    page = own.context.new_page()
    page.goto(f"http://{host}:{elsewhere}/")
    told = page.evaluate(TRIES, served_page.server.url)
    assert told.pop("form") in ("opaque", "refused")  # the browser does not say what was answered
    assert told == dict.fromkeys(told, "refused")
    assert len(told) == 8
    assert sessions(own) == before


def test_a_frame_of_another_origin_stays_empty(served_page: ServedPage, elsewhere: int) -> None:
    own = served_page.open()
    page = own.context.new_page()
    page.goto(f"http://127.0.0.1:{elsewhere}/")
    page.evaluate(
        "url => new Promise(over => { const frame = document.createElement('iframe');"
        "frame.src = url; frame.onload = over; document.body.append(frame); })",
        served_page.server.url,
    )
    frame = page.frames[1]
    assert frame.locator(".composer").count() == 0
    assert "Onefold" not in frame.title()
