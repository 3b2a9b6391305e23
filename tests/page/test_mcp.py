"""MCP servers of a project on the page: asked about, and asking."""

from __future__ import annotations

import json
import shutil

from playwright.sync_api import expect

from tests.modules.mcp_client.test_mcp_client import HERE, RAW
from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import call_reply, text_reply


def test_a_server_is_allowed_and_asks_until_the_answer_fits(served_page: ServedPage) -> None:
    shutil.copyfile(HERE / "raw_server.py", served_page.project / "raw_server.py")
    (served_page.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"raw": RAW}}))
    served_page.model.replies = [call_reply("raw__ask"), text_reply("Fine.")]
    page = served_page.open(language="zh")
    send(page, "go")
    consent = page.get_by_role("group", name="审批")
    expect(consent).to_contain_text("运行程序")
    consent.get_by_role("button", name="是", exact=True).click()
    question = page.get_by_role("group", name="问题")
    expect(question.locator("strong")).to_have_text("问题")
    expect(question.locator(".why")).to_have_text(
        "MCP 服务器 raw 提问：Onefold needs your key – size"
    )
    assert faults(page) == []
    for wrong in ("seven", "eight"):  # the third question is the second one to the letter
        area = question.get_by_role("textbox")
        expect(area).to_have_value("")
        expect(question.get_by_role("button", name="跳过")).to_be_enabled()
        area.fill(wrong)
        area.press("Enter")
        expect(question.locator(".why")).to_contain_text("请输入整数。MCP 服务器 raw 提问")
    expect(question.get_by_role("textbox")).to_have_value("")
    expect(question.get_by_role("button", name="跳过")).to_be_enabled()
    question.get_by_role("textbox").fill("7")
    question.get_by_role("textbox").press("Enter")
    question.get_by_role("button", name="true").click()
    expect(replies(page).last).to_have_text("Fine.")
    assert '"size": 7' in served_page.model.requests[-1][-1]["content"]


def test_a_yes_that_a_server_wants_is_asked_in_the_language_of_the_person(
    served_page: ServedPage,
) -> None:
    shutil.copyfile(HERE / "raw_server.py", served_page.project / "raw_server.py")
    (served_page.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"raw": RAW}}))
    served_page.model.replies = [call_reply("raw__ask", plain=True), text_reply("Fine.")]
    page = served_page.open(language="zh")
    page.get_by_label("审批模式").select_option("all")
    send(page, "go")
    choices = page.locator(".choices button")
    expect(choices).to_have_text(["1是", "2否"])
    choices.first.click()
    expect(replies(page).last).to_have_text("Fine.")
    assert '"action": "accept"' in served_page.model.requests[-1][-1]["content"]


def test_a_picture_of_a_server_is_shown_on_the_card_of_its_call_and_in_an_export(
    served_page: ServedPage,
) -> None:
    shutil.copyfile(HERE / "raw_server.py", served_page.project / "raw_server.py")
    server = {**RAW, "args": [*RAW["args"], "2025-11-25", "picture"]}
    (served_page.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"raw": server}}))
    served_page.model.replies = [call_reply("raw__picture"), text_reply("Fine.")]
    page = served_page.open()
    page.get_by_label("Approval").select_option("all")
    send(page, "go")
    expect(replies(page).last).to_have_text("Fine.")
    shown = page.locator(".call .picture img")
    expect(shown).to_have_count(1)
    expect(shown).to_have_js_property("naturalWidth", 1)
    session = page.evaluate("location.pathname.split('/').at(-1)")
    exported = page.evaluate(
        "id => fetch(`/api/sessions/${id}/export?format=html`).then((answer) => answer.text())",
        session,
    )
    assert '"sha256:' in exported
    assert faults(page) == []
