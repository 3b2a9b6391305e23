"""Files: the tree, the editor, merging, previews, notes and focus."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.page.stage import Stage, send
from tests.scripted import call, say


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("tree", name="Files").get_by_role("treeitem", name=name, exact=True)


def edit(page: Page, text: str) -> None:
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type(text)


@pytest.fixture
def page(house: Stage) -> Page:
    (house.project / "src").mkdir()
    (house.project / "src" / "a.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    (house.project / ".hidden").write_text("x")
    (house.project / "a\u202egnp.exe").write_text("x")
    (house.project / "<img src=x onerror=alert(1)>").write_text("x")
    (house.project / "t.csv").write_text('tree,apples\n"Boskoop, red",12\n')
    evil = "<h1>Hi</h1><script>parent.document.title='pwned'</script>"
    (house.project / "page.html").write_text(evil)
    return house.open()


def test_the_tree_is_walked_by_keys(page: Page) -> None:
    tree = page.get_by_role("tree", name="Files")
    expect(row(page, "src")).to_have_attribute("aria-expanded", "false")
    tree.focus()
    page.keyboard.press("ArrowRight")
    expect(row(page, "a.py")).to_have_attribute("aria-level", "2")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".editor .cm-content")).to_contain_text("three")


def test_hidden_files_show_when_wanted(page: Page) -> None:
    expect(row(page, "src")).to_be_visible()
    expect(row(page, ".hidden")).to_have_count(0)
    page.get_by_role("button", name="Show hidden and ignored files").click()
    expect(row(page, ".hidden")).to_be_visible()


def test_ten_thousand_files_are_but_a_few_rows(house: Stage) -> None:
    (house.project / "many").mkdir()
    for number in range(10_000):
        (house.project / "many" / f"f{number:05}").touch()
    (house.project / "zebra.txt").touch()
    page = house.open()
    row(page, "many").click()
    expect(row(page, "f00003")).to_be_visible()
    assert page.locator(".node").count() < 100
    page.get_by_role("tree").focus()
    page.keyboard.press("End")
    expect(row(page, "zebra.txt")).to_be_visible()
    assert page.locator(".node").count() < 100


def test_a_file_is_edited_and_saved(page: Page, house: Stage) -> None:
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "zero\n")
    page.keyboard.press("Control+s")
    expect(page.locator(".notice")).to_contain_text("Saved.")
    assert (house.project / "src" / "a.py").read_text().startswith("zero\none\n")


def test_changes_on_both_sides_merge(page: Page, house: Stage) -> None:
    file = house.project / "src" / "a.py"
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "zero\n")
    file.write_text("one\ntwo\nthree\nfour\nFIVE\n")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".file-notice")).to_contain_text("both changes are in the text")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    assert file.read_text() == "zero\none\ntwo\nthree\nfour\nFIVE\n"


def test_a_file_that_went_away_is_made_again_by_saving(page: Page, house: Stage) -> None:
    file = house.project / "src" / "a.py"
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "zero\n")

    def goes_away(route: Route) -> None:
        file.unlink(missing_ok=True)
        route.continue_()

    page.route("**/api/**", goes_away)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".file-notice")).to_contain_text("gone from the disk")
    page.unroute("**/api/**")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    assert file.read_text().startswith("zero\none\n")


def test_a_conflict_is_shown_and_nothing_is_lost(page: Page, house: Stage) -> None:
    file = house.project / "src" / "a.py"
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "mine ")
    file.write_text("theirs one\ntwo\nthree\nfour\nfive\n")
    page.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_role("group", name="Conflict")
    expect(conflict).to_contain_text("Conflict 1 of 1")
    assert file.read_text().startswith("theirs one\n")
    conflict.get_by_role("button", name="Keep both").click()
    expect(conflict).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    assert file.read_text().startswith("mine one\ntheirs one\ntwo\n")


def test_what_the_agent_writes_shows_at_once(page: Page, house: Stage) -> None:
    house.model.replies = [
        call("create_file", path="src/new.py", content="print('hi')\n"),
        say("Made."),
    ]
    row(page, "src").click()
    send(page, "make it")
    expect(row(page, "new.py")).to_be_visible()
    expect(page.locator(".node.glow")).to_be_visible()
    expect(page.locator(".file-changes")).to_contain_text("print('hi')")


def test_names_that_would_deceive_are_shown_as_escapes(page: Page) -> None:
    expect(row(page, "a\\u202egnp.exe")).to_be_visible()
    expect(row(page, "<img src=x onerror=alert(1)>")).to_be_visible()


def test_html_is_previewed_in_a_sandbox(page: Page) -> None:
    row(page, "page.html").click()
    page.get_by_role("button", name="Preview").click()
    frame = page.locator("iframe.preview")
    expect(frame).to_have_attribute("sandbox", "")
    expect(frame.content_frame.get_by_role("heading", name="Hi")).to_be_visible()
    assert "pwned" not in page.title()


def test_a_table_is_drawn_from_csv(page: Page) -> None:
    row(page, "t.csv").click()
    expect(page.get_by_role("cell", name="Boskoop, red")).to_be_visible()


def test_a_note_and_the_focus_are_a_click_away(page: Page, house: Stage) -> None:
    row(page, "src").click()
    row(page, "a.py").click(button="right")
    page.get_by_role("menuitem", name="Add a note").click()
    page.get_by_role("textbox", name="Note on a.py").fill("counts things")
    page.keyboard.press("Enter")
    noted = row(page, "a.py, Note: counts things")
    noted.click(button="right")
    page.get_by_role("menuitem", name="Put into focus").click()
    expect(page.get_by_role("status", name="Status")).to_contain_text("1 in focus")


def test_files_can_be_uploaded(page: Page, house: Stage, tmp_path: Path) -> None:
    given = tmp_path / "报告.txt"
    given.write_text("数据", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(given)
    expect(page.get_by_role("textbox", name="Message")).to_have_value("@报告.txt ")
    assert (house.project / "报告.txt").read_text(encoding="utf-8") == "数据"
