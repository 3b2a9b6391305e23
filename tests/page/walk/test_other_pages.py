"""What stands beside the page of a talk is for everybody as well: a keyboard alone is enough."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.modules.agents.two_processes import both
from tests.page.accessibility import faults
from tests.page.request_holding import go_offline
from tests.page.served_page import ServedPage, serve_page
from tests.page.test_first_visit import first_visit
from tests.page.walk.keyboard import WALK, press, walked
from tests.page.walk.places import OPENED, Walker
from tests.simulator import Call, Stall

PHONE: dict[str, Any] = {
    **{"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
    "color_scheme": "dark",
}
SCREENS: dict[str, dict[str, Any]] = {"wide": {}, "phone": PHONE}


@pytest.fixture(params=SCREENS)
def screen(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def wrong_with(page: Page, root: Locator, screen: str) -> list[Any]:
    """Return what a person with a keyboard, a finger or a screen reader finds wrong there."""
    page.evaluate(WALK)
    on_touch = "root => [...walk.small(root), ...walk.wide(root)]"
    found = [*faults(page), *(root.evaluate(on_touch) if screen == "phone" else [])]
    return found + walked(page, root)


@contextmanager
def page_on(chromium: Browser, screen: str, **options: Any) -> Iterator[Page]:
    context = chromium.new_context(reduced_motion="reduce", **SCREENS[screen], **options)
    yield context.new_page()
    context.close()


def log_in(served: ServedPage, page: Page) -> None:
    page.goto(served.server.url + served.server.authenticator.new_link())
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    expect(page.locator(".composer textarea:focus")).to_be_attached()


def test_a_first_visit_without_a_key(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch, screen: str
) -> None:
    with first_visit(tmp_path, monkeypatch) as link, page_on(chromium, screen) as page:
        page.goto(link)
        welcome = page.locator(".welcome")
        expect(welcome.get_by_role("heading", name="Choose a model to start")).to_be_visible()
        assert wrong_with(page, welcome, screen) == []
        press(page, welcome.get_by_role("button", name="Try the practice model"), "Shift+Tab")
        expect(welcome.get_by_role("button", name="describe this folder")).to_be_visible()
        assert wrong_with(page, welcome, screen) == []


def test_a_page_that_is_logged_out(served_page: ServedPage, chromium: Browser, screen: str) -> None:
    with page_on(chromium, screen) as page:
        log_in(served_page, page)
        # Both keep the key: a page that is still at the address of its login has the second, too.
        page.evaluate("localStorage.clear(); history.replaceState(null, '')")
        page.goto(served_page.server.url)
        expect(page.locator(".banner")).to_contain_text("This page is logged out.")
        assert wrong_with(page, page.locator("body"), screen) == []


@pytest.mark.parametrize("path", ["/", "/login?token=used"])
def test_a_page_for_who_has_no_login(
    served_page: ServedPage, chromium: Browser, screen: str, path: str
) -> None:
    with page_on(chromium, screen) as page:
        page.goto(served_page.server.url + path)
        expect(page.locator("body")).to_contain_text("link")
        assert wrong_with(page, page.locator("body"), screen) == []


def test_the_page_of_the_api(served_page: ServedPage, chromium: Browser, screen: str) -> None:
    with page_on(chromium, screen) as page:
        log_in(served_page, page)
        page.goto(served_page.server.url + "/api/docs")
        expect(page.get_by_role("heading", level=1)).to_contain_text("the API")
        assert wrong_with(page, page.locator("body"), screen) == []


def test_the_page_of_a_computer_that_is_away(
    served_page: ServedPage, chromium: Browser, screen: str
) -> None:
    with page_on(chromium, screen, service_workers="allow") as page:
        log_in(served_page, page)
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.reload()
        expect(page.locator(".dot")).to_have_attribute("data-link", "live")
        go_offline(page)
        page.goto(served_page.server.url + "/")
        expect(page.locator("main")).to_contain_text("The computer does not answer.")
        assert wrong_with(page, page.locator("body"), screen) == []
        page.context.set_offline(False)
        press(page, page.get_by_role("link"))
        expect(page.locator(".dot")).to_have_attribute("data-link", "live")


def test_a_question_on_the_board(tmp_path: Path, chromium: Browser, screen: str) -> None:
    asks = Call("ask_person", question="Which colour?", choices=["red", "blue"])
    with (
        both(tmp_path, [asks, Stall()]) as run,
        serve_page(tmp_path, chromium) as served,
        page_on(chromium, screen) as page,
    ):
        run.say("Paint it.")
        run.asked()
        log_in(served, page)
        page.locator(".composer textarea").focus()
        Walker(served, page, "en").choose("Agents: what is at work")
        board = page.locator(OPENED)
        press(page, board.get_by_role("button", name="Answer Paint it."))
        question = board.get_by_role("group", name="Question")
        expect(question.locator(".why")).to_have_text("Which colour?")
        expect(question.get_by_role("button", name="Skip")).to_be_enabled()  # a moment later
        assert wrong_with(page, board, screen) == []
        press(page, question.get_by_role("button", name="blue"))
        run.dialogue.wait_for_text("Answered on another screen.")
        expect(question).to_have_count(0)
        expect(board.locator(":focus")).to_be_attached()
