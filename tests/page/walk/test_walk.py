"""Every place of the page is for everybody: entered, gone through and left by keyboard alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, serve_page
from tests.page.walk.keyboard import WALK, focused, walked
from tests.page.walk.places import DIALOGS, MESSAGE, PARTS, QUESTIONS, ROOT, Place, Walker
from tests.page.walk.project import fill, talk

SCREENS: dict[str, dict[str, Any]] = {
    "wide": {"language": "en", "color_scheme": "light"},
    "phone": {
        **{"language": "zh", "color_scheme": "dark", "width": 390, "height": 844},
        **{"is_mobile": True, "has_touch": True},
    },
}
DRAWS_A_PLACE = re.compile(
    r"\bopenDialog\(|\bviews\.add\(|\.showModal\(|class: [`\"]approval"
    r"|\brole: \"(menu|toolbar|listbox|alertdialog)\""
)


@pytest.fixture(params=SCREENS)
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    return SCREENS[request.param]


@pytest.fixture
def served(tmp_path: Path, chromium: Browser) -> Iterator[ServedPage]:
    environment = {
        **{"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        **{"SHELL": "/bin/bash", "LANG": "C.UTF-8"},
    }
    with serve_page(tmp_path, chromium, shell_environment=environment) as served:
        fill(served.project)
        yield served
        for context in chromium.contexts:
            context.close()


@pytest.mark.parametrize(
    "places", [DIALOGS, PARTS, QUESTIONS], ids=["dialogs", "parts", "questions"]
)
def test_a_keyboard_alone_is_enough(
    served: ServedPage, screen: dict[str, Any], places: tuple[Place, ...]
) -> None:
    page = served.open(reduced_motion="reduce", **screen)
    page.add_init_script(WALK)
    page.reload()
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    expect(page.locator(".topbar .gap + button")).to_be_visible()  # it offers terminals by now
    talk(served, page)
    walker = Walker(served, page, screen["language"])
    wrong = {}
    for place in places:
        _to_the_talk(page)
        if found := _visit(walker, place, is_phone="width" in screen):
            wrong[place.name] = found
    assert wrong == {}


def _visit(walker: Walker, place: Place, *, is_phone: bool) -> list[Any]:
    """Go to *place* and leave it again; return what was wrong."""
    page = walker.page
    place.enter(walker)
    root = page.locator(place.root).last
    expect(root).to_be_visible()
    wrong = faults(page, root)
    if is_phone:
        wrong += root.evaluate("root => [...walk.small(root), ...walk.wide(root)]")
    if not place.is_menu:
        wrong += walked(page, root)
    place.leave(walker)
    if not place.stays:
        expect(page.locator(place.root).locator("visible=true"), place.name).to_have_count(0)
    back = page.locator(place.back).first
    expect(back, f"{place.name} is left to {focused(page)}").to_be_focused()
    return wrong


def _to_the_talk(page: Page) -> None:
    """Close what is open, and begin at the message."""
    while page.locator("dialog[open]").count():
        page.keyboard.press("Escape")
    if page.locator(".phone-tabs").is_visible():
        page.locator(".phone-tabs [data-name=chat]").click()
    elif page.locator(".pane").is_visible():
        page.keyboard.press("Control+j")
    page.locator(MESSAGE).focus()


def test_every_place_of_the_page_is_walked_through() -> None:
    """What opens a dialog, adds a tab to the pane or asks has a line in `places.py`."""
    scripts = ROOT / "static/js"
    drawing = {
        str(path.relative_to(scripts))
        for path in scripts.rglob("*.js")
        if DRAWS_A_PLACE.search(path.read_text(encoding="utf-8"))
    }
    walked_through = {name for place in (*DIALOGS, *PARTS, *QUESTIONS) for name in place.modules}
    assert drawing - walked_through == set()
    assert {name for name in walked_through if not (scripts / name).is_file()} == set()
