"""Every view that is not in the way all the time: fit for everybody, and within the strict policy.

Each is looked at in both schemes, at three widths and in both languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from modules.sandbox.sandbox import Report, Sandbox
from modules.sandbox.types import TierName
from tests.modules.git.person.repositories import run_git
from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, message, replies, send
from tests.page.test_hostile import WATCHED
from tests.page.test_views import talk
from tests.scripted_model import call_reply, text_reply
from utils.i18n import phrase

Look = Callable[[str], None]


@pytest.fixture(params=[(1440, "en"), (1024, "zh"), (390, "en"), (390, "zh")], ids=str)
def screen(request: pytest.FixtureRequest) -> tuple[int, str]:
    wanted: tuple[int, str] = request.param
    return wanted


@pytest.fixture
def width(screen: tuple[int, str]) -> int:
    return screen[0]


@pytest.fixture
def language(screen: tuple[int, str]) -> str:
    return screen[1]


@pytest.fixture
def page(served_page: ServedPage, width: int, language: str) -> Iterator[Page]:
    talk(served_page)
    served_page.model.replies.append(text_reply("Once more."))
    page = served_page.open(language=language, width=width, reduced_motion="reduce")
    page.add_init_script(WATCHED)
    page.reload()
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    yield page
    assert page.evaluate("window.violations") == []


@pytest.fixture
def look(page: Page, width: int) -> Look:
    return lambda view: _look(page, view, width)


def _look(page: Page, view: str, width: int) -> None:
    """Fail with the name of the *view* if anything is wrong with it."""
    page.emulate_media(color_scheme="dark")
    assert (view, faults(page)) == (view, [])
    page.emulate_media(color_scheme="light")
    assert (view, faults(page, rule="color-contrast")) == (view, [])
    assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_what_opens_over_the_page(page: Page, look: Look) -> None:
    expect(page.locator(".welcome")).to_be_visible()
    look("welcome")
    send(page, "go")
    expect(page.locator(".end")).to_have_count(1)
    look("conversation")
    page.keyboard.press("Control+Shift+f")
    sessions = page.locator(".sessions-view:visible")
    expect(sessions.locator(".session")).to_have_count(1)
    look("sessions")
    sessions.get_by_role("searchbox").fill("go")
    expect(sessions.locator(".snippet").first).to_be_visible()
    look("found in sessions")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+p")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()
    look("palette")
    _close(page)
    page.locator(".log").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    look("keys")
    _close(page)
    page.locator(".statusbar button, [role=status] button").last.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    look("status")


def _close(page: Page) -> None:
    page.get_by_role("dialog").locator(".dialog-head button").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_stands_beside_the_talk(
    page: Page, look: Look, served_page: ServedPage, width: int
) -> None:
    for name, text in (("t.csv", "a,b\n1,2\n"), ("t.md", "# T\n"), ("t.html", "<h1>T</h1>")):
        (served_page.project / name).write_text(text)
    (served_page.project / "t.bin").write_bytes(bytes(range(256)))
    send(page, "go")
    expect(page.locator(".end")).to_have_count(1)
    tabs = page.get_by_role("tab") if width < 720 else None
    if tabs:
        tabs.nth(2).click()
    elif width <= 1024:  # on a wider page it opens by itself, a moment later
        page.keyboard.press("Control+j")
    expect(page.locator(".pane")).to_be_visible()
    expect(page.locator(".pane")).to_contain_text("a.py")
    look("changes")
    for name in ("a.py", "t.csv", "t.md", "t.html", "t.bin"):
        if tabs:
            tabs.nth(1).click()
        page.get_by_role("treeitem", name=name).first.click()
        expect(page.locator(".pane-tab.shown")).to_contain_text(name)
        expect(page.locator(".loading-note:visible")).to_have_count(0)
        look(name)
    if tabs:
        tabs.nth(1).click()
    page.get_by_role("treeitem", name="a.py").first.click(button="right")
    expect(page.get_by_role("menuitem").first).to_be_visible()
    look("menu of a file")


def test_pages_of_their_own(
    served_page: ServedPage, language: str, width: int, tmp_path: Path
) -> None:
    talk(served_page)
    page = served_page.open(language=language, width=width, reduced_motion="reduce")
    send(page, "go")
    expect(replies(page).last).to_be_visible()
    expect(page.locator(".end")).to_have_count(1)
    session = page.url.rpartition("/s/")[2].partition("?")[0]
    address = f"/api/sessions/{session}/export?format=html"
    text: Any = page.evaluate("address => fetch(address).then(a => a.text())", address)
    (tmp_path / "talk.html").write_text(text)
    page.goto(f"{served_page.server.url}/api/docs")
    expect(page.get_by_role("heading").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto((tmp_path / "talk.html").as_uri())
    expect(page.get_by_role("heading", name="Done")).to_be_visible()
    _look(page, "export", width)


def test_the_welcome_is_read_from_its_beginning(served_page: ServedPage) -> None:
    page = served_page.open(width=320, height=480)
    heading = page.locator(".welcome").get_by_role("heading")
    expect(heading).to_be_in_viewport()
    served_page.model.replies = [text_reply("word\n\n" * 60)]
    send(page, "much")
    expect(page.locator(".end")).to_be_in_viewport()
    page.get_by_role("button", name="New session", exact=True).click()
    expect(heading).to_be_in_viewport()


def test_the_welcome_says_that_nothing_is_asked_once_that_is_so(served_page: ServedPage) -> None:
    page = served_page.open()
    expect(page.locator(".welcome")).to_contain_text("asks before anything that cannot be undone")
    page.get_by_label("Approval mode").select_option("all")
    expect(page.locator(".welcome")).to_contain_text("without asking first")
    expect(page.locator(".welcome")).not_to_contain_text("asks before")


@pytest.mark.parametrize("width", [1280, 390])
def test_that_nothing_confines_is_shown_in_red_at_any_width(
    served_page: ServedPage, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = Report(TierName.LIMITS_ONLY, phrase("D: limits only"), ())
    monkeypatch.setattr(Sandbox, "report", lambda _: report)
    page = served_page.open(width=width)
    served_page.model.replies = [text_reply("Fine.")]
    send(page, "go")
    expect(replies(page)).to_be_visible()
    tier = page.locator(".statusbar .tier.alarm")
    expect(tier).to_be_in_viewport(ratio=1)
    expect(tier).to_contain_text("no sandbox")
    assert faults(page) == []


ARE_ALL_WHOLE = """() => {
    const parts = [...document.querySelectorAll(".statusbar > *")];
    const isWhole = (each) => each.matches(".practice") || each.scrollWidth <= each.offsetWidth;
    return parts.every(isWhole) && parts.at(-1).getBoundingClientRect().right <= innerWidth;
}"""


def test_nothing_in_the_status_bar_covers_its_neighbour(
    served_page: ServedPage, width: int, language: str
) -> None:
    talk(served_page)
    run_git("init", at=served_page.project)
    page = served_page.open(width=width, language=language)
    send(page, "go")
    expect(page.locator(".statusbar .last-undo")).to_be_visible()
    if width > 720:
        expect(page.locator(".statusbar .branch")).to_be_visible()
    page.evaluate("document.querySelector('.statusbar .practice').hidden = false")
    assert page.evaluate(ARE_ALL_WHOLE)


def test_words_in_a_table_have_room(served_page: ServedPage, width: int, language: str) -> None:
    served_page.model.replies = [text_reply("Fine.")]
    page = served_page.open(width=width, language=language)
    send(page, "a title of some length that has to stand in a column of its own")
    expect(page.locator(".end")).to_have_count(1)
    for line in ("/sessions", "/tools"):
        send(page, line)
        cells = page.get_by_role("article", name=line).locator("td.long:last-child")
        expect(cells.last).to_be_attached()
        widths = cells.evaluate_all("all => all.map((one) => one.getBoundingClientRect().width)")
        assert min(widths) >= 100


def test_a_command_that_opens_a_sheet_leaves_no_empty_card(served_page: ServedPage) -> None:
    page = served_page.open()
    send(page, "/keys")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator(".command:visible")).to_have_count(0)


def test_a_question_leaves_room_for_its_answers_at_twice_the_size(served_page: ServedPage) -> None:
    command = "echo " + "word " * 200
    served_page.model.replies = [call_reply("run_command", command=command), text_reply("Fine.")]
    page = served_page.open(width=720, height=450)  # 1440 by 900 at 200 %
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "go")
    expect(page.get_by_role("button", name="Yes")).to_be_enabled()
    for name in ("Yes", "Always", "No", "Stop"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    expect(message(page)).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.get_by_role("textbox", name="command")).to_be_in_viewport()


def test_however_deep_a_list_goes_its_words_are_in_sight(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("".join(f"{'  ' * n}- level{n}\n" for n in range(40)))]
    page = served_page.open(width=320, height=640)
    send(page, "deep")
    expect(page.locator(".end")).to_have_count(1)
    cut = "all => all.filter(e => e.getBoundingClientRect().right > innerWidth).length"
    assert replies(page).locator("li").evaluate_all(cut) == 0
    least = "all => Math.min(...all.map(e => e.getBoundingClientRect().width))"
    assert replies(page).locator("li").evaluate_all(least) > 60


def test_words_from_the_right_begin_at_the_right(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("שלום עולם, this is `code`.\n\nIn English.\n")]
    page = served_page.open()
    send(page, "שלום")
    expect(page.locator(".end")).to_have_count(1)
    inside = """p => {
        const range = document.createRange();
        range.selectNodeContents(p);
        const [text, box] = [range.getBoundingClientRect(), p.getBoundingClientRect()];
        return box.right - text.right < text.left - box.left;
    }"""
    assert [p.evaluate(inside) for p in replies(page).locator("p").all()] == [True, False]


def test_the_tab_of_the_file_that_is_shown_is_in_sight(served_page: ServedPage) -> None:
    names = [f"a_rather_long_name_{number}.txt" for number in range(8)]
    for name in names:
        (served_page.project / name).write_text(name)
    page = served_page.open()
    for name in names:
        page.get_by_role("treeitem", name=name).click()
        expect(page.locator(".pane-tab.shown")).to_contain_text(name)
        expect(page.locator(".pane-tab.shown .tab")).to_be_in_viewport(ratio=1)


def test_the_tab_of_a_long_name_shows_its_beginning_and_that_it_is_not_saved(
    served_page: ServedPage,
) -> None:
    name = f"{'long_name_' * 20}.txt"
    (served_page.project / name).write_text("")
    page = served_page.open()
    page.get_by_role("treeitem", name=name).click()
    page.locator(".editor .cm-content").click()
    page.keyboard.type("more")
    tab = page.locator(".pane-tab.shown .tab")
    expect(tab.locator(".dirty")).to_be_in_viewport(ratio=1)
    words = tab.locator("span").first
    assert words.evaluate("it => getComputedStyle(it).textOverflow") == "ellipsis"
    assert words.evaluate("it => it.offsetLeft >= it.parentElement.offsetLeft")


def test_beside_a_long_name_its_size_is_whole(served_page: ServedPage) -> None:
    name = f"{'long_name_' * 20}.txt"
    (served_page.project / name).write_text("x" * 2345)
    page = served_page.open(width=640)
    page.keyboard.press("Control+p")
    page.keyboard.type("long")
    page.keyboard.press("Enter")
    facts = page.locator(".file-bar .facts")
    expect(facts).to_have_text("2.3 kB")
    assert facts.evaluate("it => it.scrollWidth <= it.clientWidth")


def test_who_wants_more_contrast_has_it(served_page: ServedPage) -> None:
    page = served_page.open(contrast="more", color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(0, 0, 0)")
    page.emulate_media(contrast="no-preference")
    expect(page.locator("body")).not_to_have_css("background-color", "rgb(0, 0, 0)")
