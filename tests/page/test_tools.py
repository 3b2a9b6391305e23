"""The tools on the page: switched, looked at, and tried without a model."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.request_holding import HeldRequests, HeldSocket, wait_until_drawn
from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import text_reply
from utils.llm.profiles.server_profile import ServerProfile

WRITE = json.dumps({"name": "create_file", "arguments": {"path": "a.txt", "content": "hi"}})
TRY = {"en": "Try a call …", "zh": "试一个调用…"}
ONLINE = json.dumps({"name": "run_command", "arguments": {"command": "echo x", "network": True}})


def opened(house: ServedPage, language: str = "en") -> Page:
    page = house.open(language=language)
    page.locator(".statusbar .context-words").click()
    page.get_by_role("button", name="Tools …" if language == "en" else "工具…").click()
    expect(page.locator(".tools-sheet")).to_be_visible()
    return page


def test_tools_are_switched_and_looked_at(served_page: ServedPage) -> None:
    page = opened(served_page)
    sheet = page.locator(".tools-sheet")
    sheet.get_by_role("checkbox", name="run_command").uncheck()
    expect(page.locator(".notice")).to_contain_text("which is not cached")
    page.get_by_label("New tools").uncheck()
    sheet.get_by_role("button", name="Show read_file").click()
    expect(sheet.locator("[data-tool=read_file] pre")).to_contain_text('"name": "read_file"')
    assert sheet.evaluate("it => it.scrollWidth <= it.clientWidth")
    row = sheet.locator("[data-tool=read_file] label")
    tops = "it => [...it.children].map(one => one.getBoundingClientRect().top)"
    box, name = row.evaluate(tops)
    assert abs(box - name) < 10  # a switch stands beside its name
    sheet.get_by_role("button", name="Sent to the model").click()
    expect(sheet.locator("pre")).to_contain_text('"name": "list_files"')
    expect(sheet.locator("pre")).not_to_contain_text('"name": "run_command"')
    sheet.get_by_label("Protocol").select_option("vcp")
    expect(sheet.locator("pre")).to_contain_text("<<<[TOOL_REQUEST]>>>")
    sheet.get_by_label("All tools").uncheck()
    expect(sheet.locator("pre")).to_have_text("None: all tools are off.")
    expect(sheet.get_by_role("checkbox", name="read_file")).to_be_disabled()
    sheet.get_by_label("All tools").check()
    expect(sheet.get_by_role("checkbox", name="read_file")).to_be_checked()
    expect(sheet.get_by_role("checkbox", name="run_command")).not_to_be_checked()
    page.keyboard.press("Escape")
    served_page.model.replies = [text_reply("ok")]
    send(page, "/tools run_command on")
    expect(page.locator(".transcript, main")).to_contain_text("run_command: on.")
    send(page, "hello")
    expect(replies(page)).to_have_text("ok")


def test_a_text_that_comes_late_is_not_shown(served_page: ServedPage) -> None:
    page = opened(served_page)
    sheet = page.locator(".tools-sheet")
    sheet.get_by_role("button", name="Sent to the model").click()
    expect(sheet.locator("pre")).to_contain_text('"name": "read_file"')
    late = HeldRequests(page, "**/tools/text?**")
    sheet.get_by_label("Protocol").select_option("vcp")
    late.wait()
    sheet.get_by_label("All tools").uncheck()
    expect(sheet.locator("pre")).to_have_text("None: all tools are off.")
    late.release()
    wait_until_drawn(page)
    expect(sheet.locator("pre")).to_have_text("None: all tools are off.")


def test_what_was_asked_for_last_is_shown_also_where_the_protocol_changes_before_it_came(
    served_page: ServedPage,
) -> None:
    page = opened(served_page)
    sheet = page.locator(".tools-sheet")
    sheet.get_by_role("button", name="Show read_file").click()
    expect(sheet.locator("pre")).to_contain_text('"name": "read_file"')
    late = HeldRequests(page, "**/tools/text?**")
    sheet.get_by_role("button", name="Sent to the model").click()
    late.wait()
    sheet.get_by_label("Protocol").select_option("vcp")
    expect(sheet.locator("pre")).to_contain_text("tool_name: 「始」list_files「末」")
    late.release()
    wait_until_drawn(page)
    expect(sheet.locator("pre")).to_contain_text("tool_name: 「始」list_files「末」")


def test_a_switch_without_a_connection_is_said_to_count_later(served_page: ServedPage) -> None:
    page = served_page.open()
    line = HeldSocket(page)
    page.locator(".statusbar .context-words").click()
    page.get_by_role("button", name="Tools …").click()
    switch = page.locator(".tools-sheet").get_by_role("checkbox", name="run_command")
    expect(switch).to_be_checked()
    line.disconnect()
    expect(page.locator(".dot")).to_have_attribute("data-link", "lost")
    switch.uncheck()
    notices = page.locator(".notice")
    expect(notices).to_contain_text("Will be sent when the connection is back.")
    line.reconnect()
    expect(notices.last).to_contain_text("which is not cached")
    expect(switch).not_to_be_checked()


def test_a_call_is_tried_in_a_scratch_folder_and_in_the_project(served_page: ServedPage) -> None:
    page = opened(served_page)
    page.get_by_role("button", name="Try a call …").click()
    tester = page.locator(".tester-sheet")
    call = tester.get_by_label("A call in JSON")

    def run(text: str) -> None:
        call.fill(text)
        tester.get_by_role("button", name="Run", exact=True).click()

    run("no call at all")
    expect(tester.locator(".notice").last).to_contain_text("No tool call found")
    run(f"<tool_call>\n{WRITE}\n</tool_call>")
    expect(tester.locator("pre.answer")).to_have_text("Created a.txt (1 line).")
    expect(tester.locator("section")).to_contain_text("tokens, after")
    assert list(served_page.project.iterdir()) == []
    tester.get_by_label("Case name").fill("write")
    tester.get_by_label("Case name").press("Enter")
    expect(page.locator(".notice").last).to_contain_text("Saved as case write.")
    tester.get_by_label("Where it runs").select_option("project")
    run(WRITE)
    expect(tester.locator("pre.answer")).to_have_text("Created a.txt (1 line).")
    assert (served_page.project / "a.txt").read_text() == "hi"
    tester.get_by_role("button", name="Undo this run").click()
    expect(page.locator(".notice").last).to_contain_text("Undid")
    assert list(served_page.project.iterdir()) == []
    run(ONLINE)
    expect(tester.locator(".question .code-block, .question pre").first).to_contain_text("echo x")
    expect(tester.locator(".question")).not_to_contain_text("killed")
    tester.get_by_label("Reason").fill("not now")
    tester.get_by_role("button", name="No", exact=True).click()
    expect(tester.locator("section")).to_have_attribute("data-state", "refused")
    expect(tester.locator("pre.answer")).to_contain_text("not now")
    tester.get_by_role("button", name="Run all cases").click()
    expect(tester).to_contain_text("Cases run: 1, different: 0.")
    run(ONLINE)
    expect(tester.locator(".question")).to_be_visible()
    with page.expect_response("**/answer") as told:
        page.keyboard.press("Escape")
    assert told.value.json()["run"]["calls"][0]["state"] == "refused"
    expect(page.locator("body > div > .notices")).to_be_attached()


def test_the_sheets_begin_with_the_protocol_in_use(served_page: ServedPage) -> None:
    served_page.model.profile = ServerProfile(protocol="vcp")
    page = opened(served_page)
    page.get_by_role("button", name="Sent to the model").click()
    expect(page.locator(".tools-sheet pre")).to_contain_text("<<<[TOOL_REQUEST]>>>")
    page.get_by_role("button", name="Try a call …").click()
    expect(page.locator(".tester-sheet").get_by_label("Protocol")).to_have_value("vcp")


def test_the_sheets_have_no_faults_in_either_language(served_page: ServedPage) -> None:
    for language in ("en", "zh"):
        page = opened(served_page, language)
        assert faults(page) == []
        page.get_by_role(
            "button", name="Try a call …" if language == "en" else "试一个调用…"
        ).click()
        expect(page.locator(".tester-sheet")).to_be_visible()
        assert faults(page) == []
