"""Files: the tree, the editor, merging, previews, notes and focus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from tests.page.request_holding import HeldRequests, intercept, wait_until
from tests.page.served_page import ServedPage, message, send
from tests.scripted_model import call_reply, text_reply

NOTE_GLOW = """() => {
    window.shone = [];
    const note = () => shone.push(
        ...[...document.querySelectorAll(".node.glow")].map((row) => row.dataset.path));
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
}"""

FIRST_IS_NUMBERED = """(editor) => {
    const numbers = [...editor.querySelectorAll(".cm-lineNumbers .cm-gutterElement")];
    const first = numbers.find((each) => getComputedStyle(each).visibility === "visible");
    const line = editor.querySelector(".cm-line");
    return first && line?.textContent === `line ${first.textContent}`;
}"""
"""Whether the first line that is drawn has its own number: both are looked at in one moment."""


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("tree", name="Files").get_by_role("treeitem", name=name, exact=True)


def test_a_file_too_large_to_edit_is_read_by_part(served_page: ServedPage) -> None:
    lines = [f"line {number}" for number in range(1, 600_001)]
    (served_page.project / "big.log").write_text("\n".join(lines) + "\n")
    page = served_page.open()
    row(page, "big.log").click()
    shown = page.locator(".editor .cm-line")
    expect(shown.first).to_have_text("line 1")
    expect(page.locator(".file-bar .facts")).to_contain_text("read-only")
    expect(page.get_by_role("button", name="Previous part")).to_be_disabled()
    page.get_by_role("button", name="Next part").click()
    expect(shown.first).not_to_have_text("line 1")
    wait_until(page, lambda: page.locator(".editor .cm-editor").evaluate(FIRST_IS_NUMBERED))
    field = page.get_by_role("spinbutton", name="Part")
    field.fill("99")
    field.press("Enter")
    expect(field).to_have_value("8")
    expect(page.get_by_role("button", name="Next part")).to_be_disabled()
    page.locator(".editor .cm-content").press("Control+End")
    expect(shown.filter(has_text="line 600000")).to_be_visible()
    page.keyboard.type("never")
    expect(page.get_by_role("button", name="Save")).to_be_hidden()
    with (served_page.project / "big.log").open("a") as file:
        file.write("the end\n")
    expect(shown.filter(has_text="the end")).to_be_attached()
    expect(field).to_have_value("8")
    (served_page.project / "big.log").write_text("short\n")
    expect(shown.first).to_have_text("short")
    expect(field).to_have_count(0)
    edit(page, "very ")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()


def edit(page: Page, text: str) -> None:
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type(text)


def as_it_is_saved(page: Page, work: Callable[[], object]) -> None:
    """Have *work* done when the page saves a file next; not before, or the page would be told."""

    def save(route: Route) -> None:
        work()
        route.continue_()

    intercept(page, "**/api/files/text", save, times=1)


@pytest.fixture
def page(served_page: ServedPage) -> Page:
    (served_page.project / "src").mkdir()
    (served_page.project / "src" / "a.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    (served_page.project / ".hidden").write_text("x")
    (served_page.project / "a\u202egnp.exe").write_text("x")
    (served_page.project / "<img src=x onerror=alert(1)>").write_text("x")
    (served_page.project / "t.csv").write_text('tree,apples\n"Boskoop, red",12\n')
    return served_page.open()


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


def test_ten_thousand_files_are_but_a_few_rows(served_page: ServedPage) -> None:
    (served_page.project / "many").mkdir()
    for number in range(10_000):
        (served_page.project / "many" / f"f{number:05}").touch()
    (served_page.project / "zebra.txt").touch()
    page = served_page.open()
    row(page, "many").click()
    expect(row(page, "f00003")).to_be_visible()
    assert page.locator(".node").count() < 100
    page.get_by_role("tree").focus()
    page.keyboard.press("End")
    expect(row(page, "zebra.txt")).to_be_visible()
    assert page.locator(".node").count() < 100


def test_a_file_is_edited_and_saved(page: Page, served_page: ServedPage) -> None:
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "zero\n")
    page.keyboard.press("Control+s")
    expect(page.locator(".notice")).to_contain_text("Saved.")
    assert (served_page.project / "src" / "a.py").read_text().startswith("zero\none\n")


def test_the_ends_of_lines_are_told_once(served_page: ServedPage) -> None:
    (served_page.project / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    page = served_page.open()
    row(page, "dos.txt").click()
    expect(page.locator(".file-bar .facts")).to_have_text("10 B · UTF-8, CRLF")


def test_changes_on_both_sides_merge(page: Page, served_page: ServedPage) -> None:
    file = served_page.project / "src" / "a.py"
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "zero\n")
    as_it_is_saved(page, lambda: file.write_text("one\ntwo\nthree\nfour\nFIVE\n"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".file-notice")).to_contain_text("Both changes are merged here")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    expect(page.locator(".file-notice")).to_have_count(0)
    expect(page.locator(".file-bar .facts")).to_have_text("29 B")
    assert file.read_text() == "zero\none\ntwo\nthree\nfour\nFIVE\n"


def test_a_file_that_went_away_is_made_again_by_saving(page: Page, served_page: ServedPage) -> None:
    file = served_page.project / "src" / "a.py"
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "zero\n")
    as_it_is_saved(page, file.unlink)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".file-notice")).to_contain_text("deleted on disk")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    assert file.read_text().startswith("zero\none\n")


def test_a_conflict_is_shown_and_nothing_is_lost(page: Page, served_page: ServedPage) -> None:
    file = served_page.project / "src" / "a.py"
    row(page, "src").click()
    row(page, "a.py").click()
    edit(page, "mine ")
    as_it_is_saved(page, lambda: file.write_text("theirs one\ntwo\nthree\nfour\nfive\n"))
    page.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_role("group", name="Conflict")
    expect(conflict).to_contain_text("Conflict 1 of 1")
    assert file.read_text().startswith("theirs one\n")
    conflict.get_by_role("button", name="Keep both").click()
    expect(conflict).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    assert file.read_text().startswith("mine one\ntheirs one\ntwo\n")


def test_what_the_agent_writes_shows_at_once(page: Page, served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="src/new.py", content="print('hi')\n"),
        text_reply("Made."),
    ]
    row(page, "src").click()
    page.evaluate(NOTE_GLOW)
    send(page, "make it")
    expect(row(page, "new.py")).to_be_visible()
    wait_until(page, lambda: "src/new.py" in page.evaluate("shone"))
    expect(page.locator(".file-changes")).to_contain_text("print('hi')")


def test_what_the_agent_wrote_shines_when_it_shows_however_late_that_is(
    page: Page, served_page: ServedPage
) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="src/new.py", content="print('hi')\n"),
        text_reply("Made."),
    ]
    row(page, "src").click()
    expect(row(page, "a.py")).to_be_visible()
    page.evaluate(NOTE_GLOW)
    slow = HeldRequests(page, "**/api/files?*path=src*", times=100)
    send(page, "make it")
    slow.wait()
    page.wait_for_timeout(3000)  # longer than anything shines
    released = 0

    def shone() -> bool:
        nonlocal released
        while released < slow.count:
            slow.release(released)
            released += 1
        return "src/new.py" in page.evaluate("shone")

    wait_until(page, shone)


def test_names_that_would_deceive_are_shown_as_escapes(page: Page) -> None:
    expect(row(page, "a\\u202egnp.exe")).to_be_visible()
    expect(row(page, "<img src=x onerror=alert(1)>")).to_be_visible()


def test_a_name_that_is_refused_can_be_mended(page: Page, served_page: ServedPage) -> None:
    (served_page.project / "old.txt").touch()
    row(page, "old.txt").click(button="right")
    page.get_by_role("menuitem", name="Rename").click()
    field = page.get_by_role("textbox", name="New name")
    field.fill("t.csv")
    field.press("Enter")
    expect(page.locator(".notice.bad")).to_contain_text("exists already")
    expect(field).to_have_value("t.csv")
    field.fill("new.txt")
    field.press("Enter")
    expect(row(page, "new.txt")).to_be_visible()
    expect(field).to_be_hidden()


def test_blanks_at_the_ends_of_a_name_stay(page: Page, served_page: ServedPage) -> None:
    (served_page.project / " old .txt ").touch()
    row(page, " old .txt ").click(button="right")
    page.get_by_role("menuitem", name="Rename").click()
    field = page.get_by_role("textbox", name="New name")
    field.press("Enter")
    expect(field).to_be_hidden()
    assert (served_page.project / " old .txt ").exists()
    row(page, " old .txt ").click(button="right")
    page.get_by_role("menuitem", name="Rename").click()
    field.fill(" new .txt ")
    field.press("Enter")
    expect(field).to_be_hidden()
    assert (served_page.project / " new .txt ").exists()


def test_a_note_and_the_focus_are_a_click_away(page: Page, served_page: ServedPage) -> None:
    row(page, "src").click()
    row(page, "a.py").click(button="right")
    page.get_by_role("menuitem", name="Add a note").click()
    page.get_by_role("textbox", name="Note on a.py").fill("counts things")
    page.keyboard.press("Enter")
    noted = row(page, "a.py, Note: counts things")
    noted.click(button="right")
    page.get_by_role("menuitem", name="Add to focus").click()
    expect(page.get_by_role("status", name="Status")).to_contain_text("1 in focus")


def test_files_can_be_uploaded(page: Page, served_page: ServedPage, tmp_path: Path) -> None:
    given, spaced = tmp_path / "报告.txt", tmp_path / "up load.txt"
    given.write_text("数据", encoding="utf-8")
    spaced.write_text("x")
    page.locator("input[type=file]").set_input_files([given, spaced])
    expect(message(page)).to_have_value('@报告.txt @"up load.txt" ')
    assert (served_page.project / "报告.txt").read_text(encoding="utf-8") == "数据"


def test_a_secret_is_edited_by_its_name_and_never_reaches_the_page(served_page: ServedPage) -> None:
    value = "ghp_0123456789abcdefghij"
    (served_page.project / ".env").write_text(f"API_TOKEN={value}\nDEBUG=1\n")
    page = served_page.open()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.get_by_role("button", name="Show hidden and ignored files").click()
    row(page, ".env").click()
    expect(page.locator(".editor .cm-content")).to_contain_text("API_TOKEN=«SECRET:API_TOKEN»")
    edit(page, "# mine\n")
    page.keyboard.press("Control+s")
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    assert (served_page.project / ".env").read_text() == f"# mine\nAPI_TOKEN={value}\nDEBUG=1\n"
    page.keyboard.press("Control+Home")
    new = "ghp_zyxwvutsrqponmlk9876"
    page.keyboard.type(f"OTHER_TOKEN={new}\n")
    page.keyboard.press("Control+s")
    expect(page.locator(".editor .cm-content")).to_contain_text("OTHER_TOKEN=«SECRET:OTHER_TOKEN»")
    assert f"OTHER_TOKEN={new}\n" in (served_page.project / ".env").read_text()
    bodies = [answer.text() for answer in answers if "/api/files/text" in answer.url]
    assert bodies
    assert not any(value in body for body in bodies)


def test_the_changes_of_a_file_of_secrets_show_their_names(served_page: ServedPage) -> None:
    value = "ghp_0123456789abcdefghij"
    (served_page.project / ".env").write_text("DEBUG=1\n")
    command = f"printf 'API_TOKEN=ghp_0123%s\\n' {value[8:]} >> .env"
    served_page.model.replies = [call_reply("run_command", command=command), text_reply("Added.")]
    page = served_page.open()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    send(page, "add it")
    expect(page.locator(".reply")).to_have_text("Added.")
    expect(page.locator(".pane")).to_contain_text("API_TOKEN=«SECRET:API_TOKEN»")
    bodies = [answer.text() for answer in answers if "/changes" in answer.url]
    assert any("SECRET:API_TOKEN" in body for body in bodies)
    assert not any(value in body for body in bodies)


def test_a_note_of_the_agent_shows_and_comes_back_with_its_file(served_page: ServedPage) -> None:
    (served_page.project / "a.py").write_text("one\n")
    served_page.model.replies = [
        call_reply("annotate_file", path="a.py", note="mind the gap"),
        text_reply("noted"),
        call_reply("delete_file", id="d", path="a.py"),
        text_reply("gone"),
    ]
    page = served_page.open()
    noted = row(page, "a.py, Note: mind the gap")
    send(page, "note it")
    expect(noted).to_be_visible()
    send(page, "delete it")
    expect(noted).to_have_count(0)
    page.locator(".end").last.get_by_role("button", name="Undo").click()
    expect(noted).to_be_visible()


def test_the_menu_of_a_file_gives_the_focus_back_though_its_row_is_drawn_anew(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.txt").write_text("a")
    page = served_page.open()
    tree = page.get_by_role("tree", name="Files")
    expect(row(page, "a.txt")).to_be_visible()
    tree.focus()
    page.keyboard.press("Home")
    row_id = row(page, "a.txt").get_attribute("id")
    assert row_id
    expect(tree).to_have_attribute("aria-activedescendant", row_id)
    page.keyboard.press("Shift+F10")
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem").first).to_be_focused()
    old = row(page, "a.txt").element_handle()
    (served_page.project / "b.txt").write_text("b")
    expect(row(page, "b.txt")).to_be_visible()
    old.evaluate("row => row.replaceWith(row.cloneNode(true))")
    menu.get_by_role("menuitem", name="Rename").click()
    box = page.get_by_role("dialog").bounding_box()
    assert box
    assert box["y"] > 40
    page.keyboard.press("Escape")
    expect(tree).to_be_focused()


def test_the_menu_of_a_file_whose_row_is_drawn_anew_before_it_comes(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.txt").write_text("a")
    page = served_page.open()
    tree = page.get_by_role("tree", name="Files")
    held = HeldRequests(page, "**/tree/file_menu.js")
    tree.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+F10")
    held.wait()
    row(page, "a.txt").evaluate("row => row.replaceWith(row.cloneNode(true))")
    held.release()
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem").first).to_be_focused()
    box = menu.bounding_box()
    assert box
    assert box["y"] > 40
    page.keyboard.press("Escape")
    expect(tree).to_be_focused()
