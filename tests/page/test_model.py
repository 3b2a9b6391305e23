"""The model on the page: chosen, and what its server takes shown, said and forgotten."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import ServedPage
from utils.llm.profiles.server_profile import ServerProfile


def opened(house: ServedPage, language: str = "en") -> Page:
    page = house.open(language=language)
    page.locator(".composer .model-choice").click()
    name = "What its server accepts" if language == "en" else "服务器接受什么"
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.locator(".model-sheet")).to_be_visible()
    return page


def test_what_a_server_takes_is_shown_and_changed(served_page: ServedPage) -> None:
    served_page.model.profile = ServerProfile(window=8192, thinking=False)
    page = opened(served_page)
    window = page.get_by_label("Tokens of prompt and reply together")
    expect(window).to_have_value("8192")
    expect(page.get_by_label("Supports DeepSeek's thinking switch")).to_have_value("no")
    expect(page.locator(".profile .changed")).to_have_count(2)
    window.fill("16384")
    window.press("Enter")
    protocol = page.get_by_label("How the model calls tools")
    protocol.select_option("vcp")
    expect(page.locator(".profile .changed")).to_have_count(3)
    assert served_page.model.profile.protocol == "vcp"
    protocol.select_option("native")
    expect(page.locator(".profile .changed")).to_have_count(2)
    page.get_by_label("Accepts pictures").select_option("yes")
    expect(page.locator(".profile .changed")).to_have_count(3)
    assert served_page.model.profile == ServerProfile(window=16384, thinking=False, pictures=True)
    window.fill("")
    window.press("Enter")
    expect(page.locator(".profile .changed")).to_have_count(2)
    assert served_page.model.profile == ServerProfile(thinking=False, pictures=True)


def test_what_was_learnt_is_forgotten_once_that_is_sure(served_page: ServedPage) -> None:
    served_page.model.profile = ServerProfile(stream=False)
    page = opened(served_page)
    page.get_by_role("button", name="Forget what was learned").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    assert served_page.model.profile == ServerProfile(stream=False)
    page.get_by_role("button", name="Forget what was learned").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Forget").click()
    expect(page.locator(".profile .changed")).to_have_count(0)
    assert served_page.model.profile == ServerProfile()


def test_another_model_is_chosen_and_named_at_the_message(served_page: ServedPage) -> None:
    page = opened(served_page)
    page.get_by_label("Model", exact=True).fill("other")
    page.get_by_role("button", name="Use this model").click()
    expect(page.locator(".notice")).to_contain_text("Model: other.")
    page.keyboard.press("Escape")
    expect(page.locator(".composer .model-choice")).to_have_text("other")
    assert served_page.model.model == "other"


def test_the_sheet_has_no_faults_in_either_language(served_page: ServedPage) -> None:
    for language in ("en", "zh"):
        page = opened(served_page, language)
        assert faults(page) == []
        page.close()


def test_a_model_is_chosen_at_the_message_by_what_it_costs(served_page: ServedPage) -> None:
    served_page.model.listed = ["deepseek-flash", "small"]
    served_page.model.profile = ServerProfile(window=8192, pictures=True)
    page = served_page.open()
    page.get_by_role("button", name="scripted").and_(page.locator(".composer button")).click()
    picker = page.get_by_role("dialog", name="Model")
    expect(picker.get_by_role("option")).to_have_count(3)
    flash = picker.get_by_role("option", name="deepseek-flash")
    expect(flash).to_contain_text("per million tokens")
    expect(flash).to_contain_text("window 8.2 k · sees pictures · thinks")
    expect(picker.get_by_role("option", name="small")).to_contain_text("price unknown")
    assert faults(page) == []
    picker.get_by_role("combobox").fill("flash")
    expect(picker.get_by_role("option")).to_have_count(1)
    picker.get_by_role("combobox").press("Enter")
    expect(page.locator(".notice")).to_contain_text("The model is deepseek-flash.")
    expect(page.locator(".composer .model-choice")).to_have_text("deepseek-flash")
    assert served_page.model.model == "deepseek-flash"
