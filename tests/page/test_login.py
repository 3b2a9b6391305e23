"""A login brings the page a key beside the cookie: it stays with the page, wherever that goes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.served_page import ServedPage, message, replies, send
from tests.scripted_model import text_reply

FORBIDDEN = """
for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
"""
WAYS = {"kept": "", "forbidden": FORBIDDEN}


def logged_in(served_page: ServedPage, page: Page) -> None:
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")


def talk(served_page: ServedPage, page: Page, number: int) -> None:
    """Say something to the page and wait for the answer, which is the *number*th."""
    served_page.model.replies.append(text_reply(f"Answer {number}."))
    send(page, f"question {number}")
    expect(replies(page)).to_have_count(number)


@pytest.mark.parametrize("storage", WAYS)
def test_the_key_leaves_the_address_and_outlives_a_reload(
    served_page: ServedPage, storage: str
) -> None:
    context = served_page.context()
    context.add_init_script(WAYS[storage])
    page = context.new_page()
    logged_in(served_page, page)
    expect(page).to_have_url(re.compile(f"^{served_page.server.url}/s/[^#]*$"))
    assert served_page.server.authenticator.key not in page.content()
    talk(served_page, page, 1)
    page.reload()
    talk(served_page, page, 2)
    page.locator(".topbar").get_by_role("button", name="New session").click()
    expect(replies(page)).to_have_count(0)
    talk(served_page, page, 1)
    page.reload()
    talk(served_page, page, 2)


def test_every_tab_of_the_browser_has_the_key(served_page: ServedPage) -> None:
    page = served_page.open()
    talk(served_page, page, 1)
    other = page.context.new_page()
    other.goto(page.url)
    talk(served_page, other, 2)
    expect(replies(page)).to_have_count(2)


def test_a_page_without_the_key_says_the_way_back_and_goes_on_by_itself(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    page.evaluate("localStorage.clear()")
    page.goto(served_page.server.url)
    banner = page.locator(".banner")
    expect(banner).to_contain_text("Press Enter in Onefold's terminal")
    expect(page.locator(".dot")).to_have_attribute("data-link", "keyless")
    message(page).fill("kept")
    logged_in(served_page, page.context.new_page())
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    expect(banner).to_be_hidden()
    expect(message(page)).to_have_value("kept")
    talk(served_page, page, 1)


def test_a_key_of_another_run_is_replaced_by_the_next_login(served_page: ServedPage) -> None:
    page = served_page.open()
    page.evaluate("localStorage.setItem('onefold.key', 'of-another-run')")
    page.goto(served_page.server.url)
    expect(page.locator(".banner")).to_be_visible()
    logged_in(served_page, page)
    expect(page.locator(".banner")).to_be_hidden()
    talk(served_page, page, 1)


def test_pictures_and_downloads_need_no_more_than_the_cookie(served_page: ServedPage) -> None:
    (served_page.project / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    page = served_page.open()
    with page.expect_download() as download:
        page.evaluate(
            "Object.assign(document.createElement('a'),"
            " {href: '/api/files/download?path=a.svg', download: ''}).click()"
        )
    assert download.value.path().read_bytes() == (served_page.project / "a.svg").read_bytes()
