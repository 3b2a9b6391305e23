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


def test_a_link_of_markdown_opens_the_line_that_it_names(served_page: ServedPage) -> None:
    lines = "".join(f"line {n}\n" for n in range(1, 40))
    (served_page.project / "a b.txt").write_text(lines)
    (served_page.project / "n.py").write_text(lines)
    whole = served_page.project / "n.py"
    links = ["a%20b.txt#L7-L9", "n.py:30", f"{whole}#L12C2", "n.py#List", "javascript.x:1", "js:1"]
    served_page.model.replies = [text_reply(" ".join(f"[to {one}]({one})" for one in links))]
    page = served_page.open()
    send(page, "where")
    expect(page.locator(".end")).to_have_count(1)
    active = page.locator(".editor:visible .cm-activeLine")
    for link, line in zip(links, ["line 7", "line 30", "line 12", "line 12"], strict=False):
        page.get_by_role("link", name=f"to {link}", exact=True).click()
        expect(active).to_have_text(line)
    expect(page.get_by_role("link", name="to javascript.x:1")).to_have_attribute("href", "#")
    expect(replies(page).locator("a")).to_have_count(len(links))
    expect(replies(page).locator("a[href]")).to_have_count(len(links) - 1)


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


def test_places_are_links_in_every_script_and_in_files_without_an_ending(
    served_page: ServedPage,
) -> None:
    text = (
        "参见src/app.py:3、docs/设计.md:2，以及 新文件.test.py:1。`报告v2.py:4` über.py:5 "
        "见Makefile:6 Dockerfile:7 见./a.py:8 时间10:30 version:2"
    )
    served_page.model.replies = [text_reply(text)]
    page = served_page.open()
    send(page, "where?")
    expect(page.locator(".end")).to_have_count(1)
    links = replies(page).locator("a.place")
    places = links.evaluate_all("all => all.map((it) => [it.dataset.path, it.dataset.line])")
    assert places == [
        ["src/app.py", "3"],
        ["docs/设计.md", "2"],
        ["新文件.test.py", "1"],
        ["报告v2.py", "4"],
        ["über.py", "5"],
        ["Makefile", "6"],
        ["Dockerfile", "7"],
        ["./a.py", "8"],
    ]
    assert text.replace("`", "") == replies(page).locator("p").inner_text()
