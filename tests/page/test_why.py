"""Who wrote which line: the marks in the editor, the card of a line, and `/why` at the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import call_reply, text_reply

ASKED = "mend the total: it should multiply"


@pytest.fixture
def page(served_page: ServedPage) -> Page:
    """Return the page with app.py, of which a call has written line 2 and somebody else line 4."""
    path = served_page.project / "app.py"
    path.write_text("def total(price, count):\n    return price + count\n\n")
    served_page.model.replies += [
        call_reply("read_file", id="r", path="app.py"),
        call_reply(
            "modify_file", id="m", path="app.py", operation="replace", old="price +", new="price *"
        ),
        text_reply("It multiplies now."),
    ]
    page = served_page.open()
    send(page, ASKED)
    expect(replies(page)).to_have_text("It multiplies now.")
    with path.open("a") as file:
        file.write("# theirs\n")
    page.get_by_role("tree", name="Files").get_by_role("treeitem", name="app.py").click()
    expect(page.locator(".editor .cm-line").nth(3)).to_have_text("# theirs")
    return page


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Who wrote this line")


def writers(page: Page) -> list[str]:
    """Return who is said to have written the lines, from the top."""
    classes = page.locator(".editor .cm-line").evaluate_all(
        "all => all.map((one) => one.className)"
    )
    names = [[word for word in one.split() if word.startswith("cm-why-")] for one in classes]
    return [one[0].removeprefix("cm-why-") if one else "" for one in names]


def test_the_editor_marks_who_wrote_which_line_and_tells_of_the_one_with_the_cursor(
    page: Page,
) -> None:
    button = page.get_by_role("button", name="Why", exact=True)
    button.click()
    expect(panel(page)).to_be_visible()
    expect(page.locator(".cm-why-call")).to_have_text("    return price * count")
    assert writers(page)[:4] == ["before", "call", "before", "others"]
    page.locator(".cm-lineNumbers .cm-gutterElement", has_text="2").click()
    expect(panel(page)).to_contain_text(ASKED)
    expect(panel(page)).to_contain_text("turn 1")
    page.keyboard.press("ArrowDown")
    expect(panel(page)).to_contain_text("older than the first saved state")
    page.keyboard.press("ArrowDown")
    expect(panel(page)).to_contain_text("someone else, while no call was running")
    button.click()
    expect(panel(page)).to_be_hidden()
    assert writers(page)[:4] == ["", "", "", ""]


def test_what_is_typed_is_nobodys_until_it_is_saved_and_then_the_persons(page: Page) -> None:
    page.get_by_role("button", name="Why", exact=True).click()
    expect(page.locator(".cm-why-call")).to_be_visible()
    page.locator(".cm-lineNumbers .cm-gutterElement", has_text="2").click()
    page.keyboard.press("End")
    page.keyboard.type("\n    # mine")
    expect(panel(page)).to_contain_text("not saved yet")
    assert writers(page)[:5] == ["before", "call", "", "before", "others"]
    page.keyboard.press("Control+s")
    expect(page.locator(".cm-why-person")).to_have_text("    # mine")
    expect(panel(page)).to_contain_text("you, in Onefold")


def test_marks_stay_with_their_lines_whoever_puts_others_before_them(
    page: Page, served_page: ServedPage
) -> None:
    button = page.get_by_role("button", name="Why", exact=True)
    button.click()
    expect(page.locator(".cm-why-call")).to_be_visible()
    page.locator(".cm-lineNumbers .cm-gutterElement", has_text="2").click()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.type("    # mine")
    expect(page.locator(".cm-why-call")).to_have_text("    return price * count")
    path = served_page.project / "app.py"
    path.write_text(f"# first\n{path.read_text()}".replace("# th", "# also\n# th"))
    expect(page.locator(".cm-why-others")).to_have_text(["# first", "# also", "# theirs"])
    now = ["others", "before", "", "call", "before", "others", "others"]
    assert writers(page)[:7] == now
    button.click()
    button.click()  # as much is known where something is not saved
    expect(page.locator(".cm-why-call")).to_have_text("    return price * count")
    assert writers(page)[:7] == now


def test_the_command_draws_its_card_at_the_page(page: Page) -> None:
    send(page, "/why app.py:2")
    card = page.locator(".card-origins")
    expect(card).to_contain_text("app.py:2")
    expect(card).to_contain_text("return price * count")
    expect(card).to_contain_text(ASKED)
