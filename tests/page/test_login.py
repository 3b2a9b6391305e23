"""A login brings the page a key beside the cookie: it stays with the page, wherever that goes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.stage import Stage, message, replies, send
from tests.scripted import say

FORBIDDEN = """
for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
"""
WAYS = {"kept": "", "forbidden": FORBIDDEN}


def logged_in(house: Stage, page: Page) -> None:
    page.goto(house.server.url + house.server.access.new_link())
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")


def talk(house: Stage, page: Page, number: int) -> None:
    """Say something to the page and wait for the answer, which is the *number*th."""
    house.model.replies.append(say(f"Answer {number}."))
    send(page, f"question {number}")
    expect(replies(page)).to_have_count(number)


@pytest.mark.parametrize("storage", WAYS)
def test_the_key_leaves_the_address_and_outlives_a_reload(house: Stage, storage: str) -> None:
    context = house.context()
    context.add_init_script(WAYS[storage])
    page = context.new_page()
    logged_in(house, page)
    expect(page).to_have_url(re.compile(f"^{house.server.url}/s/[^#]*$"))
    assert house.server.access.key not in page.content()
    talk(house, page, 1)
    page.reload()
    talk(house, page, 2)
    page.locator(".topbar").get_by_role("button", name="New session").click()
    expect(replies(page)).to_have_count(0)
    talk(house, page, 1)
    page.reload()
    talk(house, page, 2)


def test_every_tab_of_the_browser_has_the_key(house: Stage) -> None:
    page = house.open()
    talk(house, page, 1)
    other = page.context.new_page()
    other.goto(page.url)
    talk(house, other, 2)
    expect(replies(page)).to_have_count(2)


def test_a_page_without_the_key_says_the_way_back_and_goes_on_by_itself(house: Stage) -> None:
    page = house.open()
    page.evaluate("localStorage.clear()")
    page.goto(house.server.url)
    banner = page.locator(".banner")
    expect(banner).to_contain_text("Press Enter where Onefold runs")
    expect(page.locator(".dot")).to_have_attribute("data-link", "keyless")
    message(page).fill("kept")
    logged_in(house, page.context.new_page())
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    expect(banner).to_be_hidden()
    expect(message(page)).to_have_value("kept")
    talk(house, page, 1)


def test_a_key_of_another_run_is_replaced_by_the_next_login(house: Stage) -> None:
    page = house.open()
    page.evaluate("localStorage.setItem('onefold.key', 'of-another-run')")
    page.goto(house.server.url)
    expect(page.locator(".banner")).to_be_visible()
    logged_in(house, page)
    expect(page.locator(".banner")).to_be_hidden()
    talk(house, page, 1)


def test_pictures_and_downloads_need_no_more_than_the_cookie(house: Stage) -> None:
    (house.project / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    page = house.open()
    with page.expect_download() as download:
        page.evaluate(
            "Object.assign(document.createElement('a'),"
            " {href: '/api/files/download?path=a.svg', download: ''}).click()"
        )
    assert download.value.path().read_bytes() == (house.project / "a.svg").read_bytes()
