"""What jobs serve, seen in the pane and in a tab of a real browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import FrameLocator, Page, expect

from tests.page.previewed_servers import HOSTILE, HOT_RELOAD
from tests.page.served_page import ServedPage, send
from tests.scripted_model import call_reply, text_reply


def preview(served: ServedPage, server: str) -> tuple[Page, FrameLocator]:
    """Have a job run *server*, and show it in the pane."""
    (served.project / "server.py").write_text(server)
    served.model.replies += [
        call_reply("run_command", command="python3 server.py", background=True),
        text_reply("It runs."),
    ]
    page = served.open()
    send(page, "serve it")
    expect(page.locator(".offers")).to_contain_text("Port 8000 is open")
    page.get_by_role("button", name="Preview", exact=True).click()
    return page, page.frame_locator("iframe.previewed")


def test_a_dev_server_is_seen_and_reloads_as_its_files_change(served_page: ServedPage) -> None:
    (served_page.project / "title").write_text("one")
    page, frame = preview(served_page, HOT_RELOAD)
    expect(frame.locator("body")).to_contain_text("watching")
    (served_page.project / "title").write_text("two")
    expect(frame.locator("h1")).to_have_text("two")
    frame.get_by_role("button", name="Log in").click()  # a cookie that is `Lax`, in a frame
    expect(frame.locator("#who")).to_have_text("known")
    address = page.get_by_role("textbox", name="Address in the preview")
    address.fill("/elsewhere?x=1")
    address.press("Enter")
    expect(frame.locator("#who")).to_have_text("known")
    page.get_by_role("button", name="Changes", exact=True).first.click()
    expect(address).to_be_hidden()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="New tab", exact=True).click()
    tab = opened.value
    expect(tab.locator("#who")).to_have_text("nobody")  # not the jar of the pane
    tab.get_by_role("button", name="Log in").click()
    expect(tab.locator("#who")).to_have_text("known")
    page.locator(".job").get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Port 8000", exact=True).click()
    expect(page.locator(".preview-view")).to_contain_text(
        "The preview has ended: job 1 was stopped."
    )
    tab.reload()
    expect(tab.locator("body")).to_contain_text("This preview has ended")


@contextmanager
def another_server() -> Iterator[tuple[str, list[str]]]:
    """Serve on this machine what no preview is to reach; give its origin and who asked for what."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def test_a_hostile_page_reaches_nothing_of_ours(served_page: ServedPage) -> None:
    with another_server() as (other, asked):
        hostile = HOSTILE.replace("OUR_ORIGIN", served_page.server.url)
        page, frame = preview(served_page, hostile.replace("OTHER_ORIGIN", other))
        expect(frame.locator("#told")).to_contain_text("frame")
        told = json.loads(frame.locator("#told").inner_text())
        assert told.pop("cookie") == "tossed=1"  # its own
        assert told.pop("opener") == told.pop("open") == "null"
        assert told.pop("frame") == "opaque"
        assert all(text.startswith("refused") for text in told.values()), told
        assert asked == []
    frame.locator("#trap").evaluate("trap => { setInterval(() => trap.focus(), 5); }")
    expect(page.locator(".preview-view")).to_contain_text("This page kept taking the keyboard")
    area = page.locator(".composer textarea")
    area.press_sequentially("typed for us")
    expect(area).to_have_value("typed for us")
    cookies = {cookie["name"]: cookie["domain"] for cookie in page.context.cookies()}
    assert cookies.pop(served_page.server.authenticator.cookie) == "127.0.0.1"
    assert set(cookies) == {"onefold_pane", "tossed"}
    assert all(domain.count(".") == 2 for domain in cookies.values()), cookies  # of its host alone
    listed = page.evaluate("fetch('/api/sessions').then((answer) => answer.json())")
    assert [row["title"] for row in listed["sessions"]] == ["serve it"]
