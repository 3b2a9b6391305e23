"""Results and skills on the page: the card of a hand-over, the shelf, and the sheet of skills."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.assembly import HermeticSettings
from tests.page import served_page as served_page_module
from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, message, replies, send
from tests.scripted_model import call_reply, text_reply


def with_chart(house: ServedPage) -> Page:
    """Return a page on which the model has handed a chart over."""
    file = io.BytesIO()
    Image.new("RGB", (400, 300), "teal").save(file, "PNG")
    (house.project / "chart.png").write_bytes(file.getvalue())
    (house.project / "notes.md").write_text("# Notes\n\nAll is well.\n")
    given = call_reply("hand_over", path="chart.png", kind="chart", title="How it grew")
    house.model.replies = [given, text_reply("Here it is.")]
    page = house.open()
    send(page, "Draw it.")
    expect(replies(page)).to_have_text("Here it is.")
    return page


def open_shelf(page: Page) -> None:
    page.keyboard.press("Control+k")
    field = page.locator("dialog.palette input")
    field.fill("results handed")
    expect(page.locator("dialog.palette [role=option]").first).to_contain_text("Results")
    field.press("Enter")


def test_a_result_is_a_card_and_on_the_shelf(served_page: ServedPage) -> None:
    page = with_chart(served_page)
    card = page.locator(".card-result")
    expect(card).to_contain_text("How it grew")
    expect(card).to_contain_text("PNG, 400×300")
    expect(card.locator("img")).to_be_visible()
    assert card.locator("img").evaluate("it => it.decode().then(() => it.naturalWidth)") == 400
    with page.expect_download() as download:
        card.get_by_role("link", name="Download: How it grew").click()
    assert download.value.suggested_filename == "chart.png"
    open_shelf(page)
    shelf = page.locator(".results-list > li")
    expect(shelf).to_have_count(1)
    expect(shelf).to_contain_text("turn 1")
    row = page.locator(".tree [role=treeitem]", has_text="notes.md")
    row.click(button="right")
    page.get_by_role("menuitem", name="Add to results").click()
    expect(shelf).to_have_count(2)
    expect(shelf.nth(1)).to_contain_text("All is well.")
    assert faults(page) == []
    served_page.model.replies = [text_reply("Made anew.")]
    shelf.nth(0).get_by_role("button", name="Make again: How it grew").click()
    expect(replies(page).last).to_have_text("Made anew.")
    expect(page.locator(".person").last).to_contain_text("Make “How it grew” (chart.png) again")
    (served_page.project / "chart.png").unlink()
    expect(card).to_have_class("card-result gone")
    expect(shelf.nth(0)).to_have_class("gone")
    expect(shelf.nth(0)).to_contain_text("gone")
    shelf.nth(0).get_by_role("button", name="Take How it grew off the list").click()
    expect(shelf).to_have_count(1)
    page.reload()
    expect(page.locator(".card-result")).to_have_class("card-result gone")


DECK = (
    "# 季度报告\n\n## 摘要\n\n- 收入增长 **12%**\n- 成本下降\n\n## 销售\n\n| 北部 | 8.8% |\n|-|-|"
)


def test_a_document_is_shown_page_by_page_and_as_it_is_now(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("make_document", path="报告.pptx", content=DECK),
        call_reply("make_document", path="报告.pptx", content="## 摘要\n\n- 更短", part="2"),
        text_reply("Made."),
    ]
    page = served_page.open()
    send(page, "Make a deck.")
    expect(replies(page)).to_have_text("Made.")
    looks = page.locator(".call .result-look img")
    expect(looks).to_have_count(2)
    expect(looks.nth(0)).to_have_attribute("alt", re.compile("季度报告"))
    expect(looks.nth(1)).to_have_attribute("alt", re.compile("更短"))
    looks.nth(1).click()
    pages = page.locator(".document-pages img")
    expect(pages).to_have_count(3)
    expect(pages.nth(1)).to_have_attribute("alt", re.compile("更短"))
    assert pages.nth(0).evaluate("it => it.decode().then(() => it.naturalWidth)") > 400
    assert faults(page) == []
    send(page, "/undo call")
    expect(pages.nth(1)).to_have_attribute("alt", re.compile("成本下降"))
    served_page.model.replies = [
        call_reply("make_document", path="报告.pptx", content="## 摘要\n\n- 一句", part="2"),
        text_reply("Shorter."),
    ]
    page.get_by_role("button", name="Change slide 2").click()
    expect(message(page)).to_be_focused()
    page.keyboard.type("shorter")
    page.keyboard.press("Enter")
    expect(page.locator(".person").last).to_contain_text("@报告.pptx slide 2: shorter")
    expect(pages.nth(1)).to_have_attribute("alt", re.compile("一句"))
    expect(pages).to_have_count(3)
    (served_page.project / "cut.docx").write_bytes(b"PK\x03\x04" + b"x" * 100)
    page.locator(".tree [role=treeitem]", has_text="cut.docx").click()
    expect(page.locator(".file-view .pane-empty").last).to_contain_text("damaged or cut off")


def test_a_press_counts_though_the_document_is_drawn_again_beneath_it(
    served_page: ServedPage,
) -> None:
    made = call_reply("make_document", path="talk.pptx", content="# All\n\n- is well")
    served_page.model.replies = [made, text_reply("Made.")]
    page = served_page.open()
    send(page, "Write it.")
    expect(replies(page)).to_have_text("Made.")
    page.locator(".tree [role=treeitem]", has_text="talk.pptx").click()
    drawn = page.locator(".document-pages img").first
    before = drawn.get_attribute("src")
    assert before
    page.get_by_role("button", name="Change slide 1").hover()
    page.mouse.down()
    talk = served_page.project / "talk.pptx"
    talk.write_bytes(talk.read_bytes())
    expect(drawn).not_to_have_attribute("src", before)
    page.mouse.up()
    expect(message(page)).to_be_focused()
    expect(message(page)).to_have_value("@talk.pptx slide 1: ")


def test_a_document_is_opened_without_asking_for_its_text(served_page: ServedPage) -> None:
    made = call_reply("make_document", path="letter.docx", content="# Dear all\n\nAll is well.")
    served_page.model.replies = [made, text_reply("Made.")]
    page = served_page.open()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    send(page, "Write it.")
    expect(replies(page)).to_have_text("Made.")
    page.locator(".tree [role=treeitem]", has_text="letter.docx").click()
    expect(page.locator(".document-pages")).to_be_visible()
    page.reload()
    expect(page.locator(".document-pages")).to_be_visible()
    assert faults == []


def archive(folder: Path) -> Path:
    path = folder / "skills.zip"
    with zipfile.ZipFile(path, "w") as file:
        text = "---\nname: tidy\ndescription: Tidy up.\n---\n# Tidy\n\nDo it.\n"
        file.writestr("tidy/SKILL.md", text)
        file.writestr("tidy/scripts/a.py", "print(1)\n")
    return path


class AtHome(HermeticSettings):
    """Settings of a person who has the home of the test."""

    @property
    def person_environment(self) -> dict[str, str]:
        return {"HOME": os.environ["HOME"]}


@pytest.fixture
def page_at_home(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServedPage]:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    usual = served_page_module.SETTINGS
    values = {one.name: getattr(usual, one.name) for one in fields(usual)}
    monkeypatch.setattr(served_page_module, "SETTINGS", AtHome(**values))
    with served_page_module.serve_page(tmp_path, chromium) as served:
        yield served
        for context in chromium.contexts:
            context.close()


def test_skills_are_switched_installed_and_removed(
    page_at_home: ServedPage, tmp_path: Path
) -> None:
    page = page_at_home.open()
    page.locator(".statusbar .context-words").click()
    page.get_by_role("button", name="Skills …").click()
    sheet = page.locator(".skills-sheet")
    expect(sheet.locator("li[data-skill]")).to_have_count(3)
    sheet.get_by_role("checkbox", name="slides-and-report").check()
    expect(sheet.get_by_role("status").first).to_have_text("1 of 3 are on.")
    sheet.get_by_role("button", name="Show slides-and-report").click()
    expect(sheet.locator("[data-skill=slides-and-report] pre")).to_contain_text("make_document")
    sheet.locator("input[type=file]").set_input_files(archive(tmp_path))
    expect(sheet.locator("li[data-skill]")).to_have_count(4)
    tidy = sheet.locator("[data-skill=tidy]")
    tidy.get_by_role("button", name="Show tidy").click()
    expect(tidy.locator("pre")).to_contain_text("scripts/a.py")
    assert faults(page) == []
    tidy.get_by_role("button", name="Remove tidy").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(sheet.locator("li[data-skill]")).to_have_count(3)
    sheet.get_by_label("Folder or archive on this machine").fill("nowhere.zip")
    sheet.get_by_role("button", name="Install", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("nowhere.zip")
