"""The settings on the page: found, kept for the next start, and put back to their defaults."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from config import Settings, load
from tests.page.accessibility import faults
from tests.page.served_page import ServedPage

LEFT = "it => it.getBoundingClientRect().left"


def opened(house: ServedPage, language: str = "en", **options: object) -> Page:
    page = house.open(language=language, **options)
    page.keyboard.press("Control+,")
    expect(page.locator(".settings-sheet li").first).to_be_visible()
    return page


def kept(house: ServedPage) -> Settings:
    data: Path = house.project.parent / "data"
    return load(environment={"ONEFOLD_DATA_DIR": str(data)}, dotenv=data / ".env")


def test_a_setting_is_found_kept_and_put_back(served_page: ServedPage) -> None:
    page = served_page.open()
    page.locator(".statusbar .context-words").click()
    page.get_by_role("button", name="Settings …").click()
    sheet = page.locator(".settings-sheet")
    expect(sheet).to_contain_text("config.toml. Each says when it takes effect, if not at once.")
    page.get_by_role("searchbox", name="Find a setting").fill("step_limit")
    expect(sheet.locator("li:visible")).to_have_count(1)
    row = sheet.locator("[data-setting=step_limit]")
    row.get_by_role("textbox").fill("7")
    row.get_by_role("textbox").press("Enter")
    expect(row).to_contain_text("after a restart")
    expect(row.get_by_role("textbox")).to_be_focused()
    assert kept(served_page).step_limit == 7
    row.get_by_role("button", name="Restore the default of step_limit").click()
    expect(row.get_by_role("textbox")).to_have_value("100")
    expect(row).not_to_contain_text("after a restart")
    assert kept(served_page).step_limit == 100


def test_a_refused_value_stays_with_its_reason(served_page: ServedPage) -> None:
    page = opened(served_page)
    row = page.locator("[data-setting=memory_mb]")
    field = row.get_by_role("textbox")
    others = page.locator("[data-setting=call_seconds]").get_by_role("textbox")
    field.fill("lots")
    field.press("Enter")
    expect(row.get_by_role("status")).to_contain_text("Allowed: a whole number from 64")
    expect(field).to_have_value("lots")
    expect(row.get_by_role("status")).to_be_in_viewport()
    assert field.evaluate(LEFT) == others.evaluate(LEFT)  # it stays where it is
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile("Allowed: a whole number from 64"))
    expect(page.locator(".notice")).to_have_count(0)
    assert faults(page) == []
    field.fill("4096")
    field.press("Enter")
    expect(row).to_contain_text("after a restart")
    expect(row.get_by_role("status")).to_have_text("")
    page.get_by_label("When to ask before a call runs").select_option("read-only")
    expect(page.locator("[data-setting=approve]")).to_contain_text("after a restart")
    assert kept(served_page).approve == "read-only"


def test_a_key_is_kept_and_never_read_back(served_page: ServedPage) -> None:
    page = opened(served_page)
    row = page.locator("[data-setting=openai_api_key]")
    key = row.locator("input")
    expect(key).to_have_attribute("placeholder", "not set")
    key.fill("sk-of-mine")
    key.press("Enter")
    expect(key).to_have_attribute("placeholder", "set")
    expect(key).to_have_value("")
    assert kept(served_page).openai_api_key == "sk-of-mine"
    page.keyboard.press("Escape")
    page.keyboard.press("Control+,")
    expect(row.locator("input")).to_have_attribute("placeholder", "set")
    assert "sk-of-mine" not in page.content()


def test_what_is_typed_while_the_sheet_comes_goes_into_its_search(served_page: ServedPage) -> None:
    page = served_page.open()
    page.keyboard.press("Control+,")
    page.keyboard.type("budget")
    expect(page.get_by_role("searchbox", name="Find a setting")).to_have_value("budget")
    expect(page.locator(".settings-sheet li:visible")).to_have_count(3)


def test_a_value_that_is_refused_once_the_sheet_is_closed_is_told(served_page: ServedPage) -> None:
    page = opened(served_page)
    field = page.locator("[data-setting=retries] input")
    field.fill("many")
    field.press("Escape")
    expect(page.locator(".settings-sheet")).to_have_count(0)
    expect(page.locator(".notice.bad")).to_contain_text("retries")


def test_the_sheet_has_no_faults_in_either_language(served_page: ServedPage) -> None:
    for language in ("en", "zh"):
        page = opened(served_page, language)
        assert faults(page) == []
        page.close()
    page = opened(served_page, width=390, height=800)
    sheet = page.locator(".settings-sheet")
    assert sheet.evaluate("it => it.scrollWidth <= it.clientWidth")
    assert faults(page) == []


def test_a_setting_is_tested_where_it_stands(served_page: ServedPage) -> None:
    folder = served_page.project.parent / "shown"
    page = opened(served_page)
    row = page.locator("[data-setting=show_folders]")
    row.get_by_role("textbox").fill(str(folder))
    row.get_by_role("textbox").blur()
    expect(row).to_contain_text("after a restart")
    row.get_by_role("button", name="Test show_folders").click()
    expect(row.get_by_role("status")).to_contain_text("shown. Create it")
    folder.mkdir()
    row.get_by_role("button", name="Test show_folders").click()
    expect(row.get_by_role("status")).to_have_text("Folders that exist: 1")
    expect(page.get_by_role("button", name="Test retries")).to_have_count(0)
    assert faults(page) == []
