"""A change stands once, in its colours; a place is a link; a lost line cannot be missed."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.served_page import Gate, ServedPage, replies, send
from tests.scripted_model import USED, call_reply, text_reply
from utils.llm.completion import Completion, Delta

PROGRAM = "echo 'src/app.py:3: error: no'"


def changed(served_page: ServedPage) -> Page:
    """Return a page on which a file was changed and a program was run."""
    (served_page.project / "src").mkdir()
    (served_page.project / "src" / "app.py").write_text('one = 1\n\ntwo = "two"\n')
    served_page.model.replies = [
        call_reply(
            "edit_file", path="src/app.py", old_text='two = "two"', new_text='two = "three"  # 3'
        ),
        call_reply("run_command", command=PROGRAM),
        text_reply("See `src/app.py:3`, src/app.py:1:2 and http://a.example:80 or b.com:80."),
    ]
    page = served_page.open()
    page.get_by_label("Approval mode").select_option("all")
    send(page, "change it")
    expect(page.locator(".end")).to_have_count(1)
    return page


def test_a_change_stands_in_the_talk_or_beside_it(served_page: ServedPage) -> None:
    page = changed(served_page)
    call = page.locator(".call[data-kind=diff]")
    expect(page.locator(".pane .diff")).to_be_visible()
    expect(call.locator(".diff")).to_have_count(0)
    page.keyboard.press("Control+j")
    expect(page.locator(".pane")).to_be_hidden()
    expect(call.locator(".diff")).to_be_visible()
    page.keyboard.press("Control+j")
    expect(call.locator(".diff")).to_have_count(0)
    call.locator(".head").click()  # whoever wants both has both
    expect(call.locator(".diff")).to_be_visible()


def test_the_lines_of_a_change_have_the_colours_of_their_language(served_page: ServedPage) -> None:
    page = changed(served_page)
    added = page.locator(".pane .diff .added .text")
    expect(added).to_have_text('two = "three"  # 3')
    expect(added.locator(".hljs-comment")).to_have_text("# 3")
    expect(added.locator("mark .hljs-string")).to_have_text("three")
    expect(page.locator(".pane .diff .removed .hljs-string").last).to_be_visible()


def test_a_place_that_is_named_is_a_link_to_it(served_page: ServedPage) -> None:
    page = changed(served_page)
    links = replies(page).locator("a.place")
    expect(links).to_have_text(["src/app.py:3", "src/app.py:1:2"])
    links.first.click()
    expect(page.locator(".editor .cm-activeLine")).to_have_text('two = "three"  # 3')
    page.get_by_role("button", name="Changes", exact=True).first.click()
    page.locator(".call .output a.place").click()
    expect(page.locator(".editor .cm-activeLine")).to_have_text('two = "three"  # 3')
    links.last.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".editor .cm-activeLine")).to_have_text("one = 1")


def test_the_card_of_a_run_says_each_thing_once(served_page: ServedPage) -> None:
    page = changed(served_page)
    run = page.locator(".call[data-kind=run]")
    expect(run.locator(".code pre")).to_have_text(PROGRAM)
    expect(run.locator(".target")).to_have_css("opacity", "0")
    expect(run.locator(".facts")).not_to_contain_text("exit")
    expect(run.locator(".facts")).not_to_contain_text(re.compile(r"\d s"))
    run.locator(".head").click()
    expect(run.locator(".target")).to_have_css("opacity", "1")


def test_a_lost_connection_is_seen_and_stop_says_that_it_waits(served_page: ServedPage) -> None:
    gate = Gate()
    last = Completion("One two.", "", (), USED)
    served_page.model.replies = [[Delta("One "), gate, Delta("two."), last]]
    page = served_page.open()
    send(page, "slowly")
    expect(replies(page)).to_have_text("One ")
    page.context.set_offline(True)
    status = page.get_by_role("status", name="Status")
    expect(status).to_contain_text("Connection lost. Reconnecting …")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".notice.bad")).to_contain_text("Stop waits")
    page.context.set_offline(False)
    expect(page.locator(".end.stopped")).to_be_visible()
    expect(status).to_contain_text("Connected")
    gate.open()
