"""The page on a phone: paired by a code, told of what waits, answering for every screen."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.accessibility import faults
from tests.page.request_holding import go_offline
from tests.page.served_page import TIMEOUT_SECONDS, ServedPage, replies, send, serve_page
from tests.page.test_questions import question
from tests.scripted_model import call_reply, text_reply

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "ignore_https_errors": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/156.0.0.0 Mobile Safari/537.36",
}


@pytest.fixture
def remote(tmp_path: Path, chromium: Browser) -> Iterator[ServedPage]:
    with serve_page(tmp_path, chromium, allow_remote=True) as served:
        yield served
        for context in chromium.contexts:
            context.close()


def phone_sheet(page: Page) -> Any:
    page.keyboard.press("Control+k")
    page.keyboard.type("on a phone")
    page.keyboard.press("Enter")
    return page.get_by_role("dialog", name="Phone")


def paired(served: ServedPage, url: str) -> Page:
    """Return the page of a phone that opened what the code says."""
    context = served.context(**PHONE)
    page = context.new_page()
    page.goto(url)
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    return page


def test_a_code_pairs_a_phone_that_answers_for_every_screen(remote: ServedPage) -> None:
    remote.model.replies = [call_reply("run_command", command="echo hi"), text_reply("Fine.")]
    computer = remote.open()
    sheet = phone_sheet(computer)
    expect(sheet.get_by_role("img", name="QR code of the link")).to_be_visible()
    assert faults(computer) == []
    sheet.get_by_text("Open the link instead").click()
    url = sheet.locator(".address").inner_text()
    phone = paired(remote, url)
    expect(sheet.get_by_text("Paired: Chrome, Android")).to_be_visible()
    expect(sheet.locator("li")).to_have_count(1)
    expect(sheet.locator(".fingerprint")).to_have_text(_fingerprint(remote.server.port))
    computer.keyboard.press("Escape")

    computer.get_by_label("Approval mode").select_option("ask")
    send(computer, "do it")
    expect(question(computer)).to_be_visible()
    expect(phone.get_by_text("1 needs you")).to_be_visible()
    phone.goto(url.partition("/login")[0] + computer.evaluate("location.pathname"))
    expect(question(phone)).to_be_visible()
    question(phone).get_by_role("button", name="Yes").tap()
    expect(question(computer)).to_have_count(0)
    expect(question(phone)).to_have_count(0)
    for page in (computer, phone):
        expect(replies(page).last).to_have_text("Fine.")

    sheet = phone_sheet(computer)
    sheet.get_by_role("button", name="Remove Chrome, Android").click()
    computer.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(sheet.get_by_text("None yet.")).to_be_visible()
    banner = phone.locator(".banner")
    expect(banner).to_contain_text("This page is logged out")
    box = banner.bounding_box()
    assert box
    assert box["width"] > 300  # of 390
    phone.reload()
    expect(phone.locator("body")).to_contain_text("This door is closed.")


def _fingerprint(port: int) -> str:
    text = ssl.get_server_certificate(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(text)).digest().hex(":").upper()


def test_the_app_keeps_nothing_and_says_when_the_computer_is_away(
    served_to_whole_chromium: ServedPage,
) -> None:
    # A browser has a worker where it trusts the certificate, or where the page is of this computer.
    phone = served_to_whole_chromium.open(service_workers="allow", permissions=["notifications"])
    phone.evaluate("navigator.serviceWorker.ready.then(() => true)")
    phone.reload()
    expect(phone.locator(".dot")).to_have_attribute("data-link", "live")
    kept = phone.evaluate("caches.keys()")
    assert kept == []
    app = phone.evaluate(
        "fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())"
    )
    assert (app["display"], app["start_url"]) == ("standalone", "/")
    for icon in app["icons"]:
        assert phone.evaluate("(src) => fetch(src).then(({ ok }) => ok)", icon["src"])
    told = phone.evaluate(
        """async () => {
          Object.defineProperty(document, "hidden", { get: () => true });
          localStorage.setItem("onefold.notify", "1");
          const base = document.querySelector("script[type=module]").src.replace("main.js", "");
          const { notify } = await import(`${base}notices/notifications.js`);
          notify("Your answer is needed.", "run it?");
          const registration = await navigator.serviceWorker.ready;
          for (let tries = 0; tries < 500; tries += 1) {
            const [shown] = await registration.getNotifications();
            if (shown) return [shown.title, shown.body, shown.data.path];
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }"""
    )
    assert told == ["Your answer is needed.", "run it?", phone.evaluate("location.pathname")]
    go_offline(phone)
    phone.goto(served_to_whole_chromium.server.url + "/")
    expect(phone.locator("main")).to_contain_text("The computer does not answer.")


def test_every_target_on_a_phone_is_large_enough_for_a_finger(remote: ServedPage) -> None:
    assert remote.server.remote
    url = remote.server.remote.pairing_url(remote.server.authenticator.new_ticket())
    phone = paired(remote, url)
    phone.get_by_role("button", name="Details").tap()
    phone.get_by_role("button", name="Phone …").tap()
    sheet = phone.get_by_role("dialog", name="Phone")
    expect(
        sheet.get_by_text("Devices are paired and removed at the computer itself.")
    ).to_be_visible()
    expect(sheet.get_by_text("this device")).to_be_visible()
    assert faults(phone) == []
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_page_of_this_computer_only_says_how_a_phone_gets_in(served_page: ServedPage) -> None:
    page = served_page.open()
    send(page, "/phone")
    sheet = page.get_by_role("dialog", name="Phone")
    expect(sheet.get_by_text("onefold web --allow-remote")).to_be_visible()
    assert faults(page) == []
