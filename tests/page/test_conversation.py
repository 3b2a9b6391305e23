"""Talking: streaming, stopping, reloading, queueing, asking; nothing hostile ever runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page import served_page as stages
from tests.page.request_holding import HeldRequests
from tests.page.served_page import Gate, ServedPage, message, replies, send
from tests.scripted_model import USED, call_reply, calls_reply, text_reply
from tests.tavily_double import TavilyDouble
from utils.i18n import phrase
from utils.llm.completion import Completion, Delta, ModelError

HOSTILE = """<img src=x onerror="document.title='pwned'"> <script>document.title='pwned'</script>

[link](javascript:document.title='pwned') <a href="//evil.test">away</a> ![p](http://evil.test/?q=1)

<div id="Message" style="position:fixed;inset:0">cover</div> <form action="/x"><button>go</button>
"""

NOTE_BUTTONS = """() => new MutationObserver(() => {
    const buttons = [...document.querySelectorAll(".approval > .buttons button")];
    if (buttons.length) window.atFirst ??= buttons.map((button) => button.disabled);
}).observe(document.body, { childList: true, subtree: true })"""

NOTE_SHIFTS = """() => {
    window.moved = [];
    new PerformanceObserver((list) => {
        for (const { sources } of list.getEntries())
            moved.push(...sources.filter(({ node }) => node?.closest?.(".prose"))
                .map(({ node }) => `${node.className} ${node.textContent.slice(0, 40)}`));
    }).observe({ type: "layout-shift" });
}"""


AT_REST = """async (log) => {
    for (let top = NaN, still = 0; still < 10; still = log.scrollTop === top ? still + 1 : 0) {
        top = log.scrollTop;
        await new Promise((over) => requestAnimationFrame(over));
    }
    return log.scrollTop;
}"""


def test_a_reply_is_markdown_with_coloured_code(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("# Hello\n\n- one\n\n```python\nimport os\n```\n")]
    page = served_page.open()
    send(page, "hi")
    expect(page.get_by_role("log", name="Conversation")).to_contain_text("hi")
    expect(replies(page).get_by_role("heading", name="Hello", level=2)).to_be_visible()
    expect(replies(page).locator("code .hljs-keyword")).to_have_text("import")


def test_headings_skip_no_level_whatever_the_reply_does(served_page: ServedPage) -> None:
    served_page.model.replies = [
        text_reply("### one\n\ntext\n\n##### two\n\n## three\n\n#### four\n\n# five\n")
    ]
    (served_page.project / "a.md").write_text("#### in a file\n")
    page = served_page.open()
    send(page, "hi")
    expect(replies(page).get_by_role("heading")).to_have_text(
        ["one", "two", "three", "four", "five"]
    )
    levels = "all => all.map(each => Number(each.tagName[1]))"
    assert replies(page).get_by_role("heading").evaluate_all(levels) == [2, 3, 2, 3, 2]
    page.get_by_role("treeitem", name="a.md").click()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator(".preview").get_by_role("heading", level=2)).to_have_text("in a file")


def test_nothing_of_a_reply_moves_while_it_is_written(served_page: ServedPage) -> None:
    part = "## Title\n\nWords and words.\n\n```python\nx = 1\ny = 2\n```\n\n- one\n- two\n\n"
    text = part * 12
    pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
    paced = [each for piece in pieces for each in (Delta(piece), lambda stop: stop.wait(0.04))]
    served_page.model.replies = [[*paced, Completion(text, "", (), USED)]]
    page = served_page.open()
    page.evaluate(NOTE_SHIFTS)
    send(page, "hi")
    expect(page.locator(".end")).to_have_count(1)
    expect(replies(page).get_by_role("heading")).to_have_count(12)
    assert page.evaluate("window.moved") == []


def test_markup_in_a_reply_is_shown_as_the_text_it_is(served_page: ServedPage) -> None:
    said = "$& and <script>alert(1) && c</script> and ~~gone~~ vector<int> a<sub>1</sub>"
    served_page.model.replies = [text_reply(said + "\n\n<div id='x'>\n  *one*\n</div>\n\nafter")]
    (served_page.project / "a.md").write_text("<p align='center'>from the file</p>\n")
    page = served_page.open()
    send(page, "hi")
    expect(replies(page).locator("p").first).to_have_text(
        "$& and <script>alert(1) && c</script> and gone vector<int> a1"
    )
    expect(replies(page).locator(".code pre")).to_have_text("<div id='x'>\n  *one*\n</div>\n")
    expect(replies(page).locator("sub")).to_have_text("1")
    page.get_by_role("treeitem", name="a.md").click()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator(".preview")).to_have_text("from the file")


def test_a_table_breaks_no_word_while_there_is_room(served_page: ServedPage) -> None:
    rows = "| `notes.txt` | 12 | a sentence that is quite long and may break where it likes to |\n"
    served_page.model.replies = [
        text_reply("| name | lines | what stands in it |\n|---|---|---|\n" + rows * 3)
    ]
    page = served_page.open()
    send(page, "hi")
    head = replies(page).locator("th")
    expect(head).to_have_count(3)
    heights = (
        replies(page)
        .locator("th, td code")
        .evaluate_all("all => all.map(e => e.getBoundingClientRect().height < 40)")
    )
    assert heights == [True] * 6
    send(page, "/status")
    lines = page.locator(".card-table tr")
    expect(lines.first).to_be_visible()
    ends = lines.evaluate_all("all => all.map(e => e.lastChild.getBoundingClientRect().right)")
    assert len(set(ends)) == 1


def test_hostile_markup_runs_nothing_and_covers_nothing(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply(HOSTILE)]
    page = served_page.open()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    send(page, "be evil")
    expect(replies(page)).to_contain_text("cover")
    assert "pwned" not in page.title()
    links = replies(page).locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert all(link in (None, "#") for link in links), links
    assert replies(page).locator("script, form, button:not(.tiny), [style], [id]").count() == 0
    assert [url for url in asked if "evil.test" in url] == []


def test_a_reload_in_mid_answer_shows_it_all_and_stop_still_works(served_page: ServedPage) -> None:
    gate = Gate()
    served_page.model.replies = [
        [Delta("first half"), gate, Completion("first half", "", (), USED)]
    ]
    page = served_page.open()
    send(page, "talk")
    expect(replies(page)).to_contain_text("first half")
    page.reload()
    expect(replies(page)).to_have_text("first half")
    expect(page.get_by_role("log").locator(".person")).to_have_count(1)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".end.stopped")).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()


def test_a_lost_line_comes_back_without_a_gap(served_page: ServedPage) -> None:
    gate = Gate()
    deltas = [Delta(f"{number} ") for number in range(50)]
    text = "".join(delta.text for delta in deltas)
    served_page.model.replies = [[*deltas[:20], gate, *deltas[20:], Completion(text, "", (), USED)]]
    page = served_page.open()
    send(page, "count")
    expect(replies(page)).to_contain_text("19")
    page.context.set_offline(True)
    expect(page.locator(".dot")).to_have_attribute("data-link", "lost", timeout=90_000)
    gate.open()
    page.context.set_offline(False)
    expect(replies(page)).to_contain_text("49")
    assert replies(page).inner_text().split() == text.split()


def test_what_failed_can_be_tried_again_and_a_stop_is_said_once(served_page: ServedPage) -> None:
    gate = Gate()
    empty = ModelError("balance", phrase("The balance is used up."))
    served_page.model.replies = [
        [empty],
        [Delta("half"), gate, Completion("half", "", (), USED)],
        text_reply("Done."),
    ]
    page = served_page.open()
    send(page, "do it")
    end = page.locator(".end.error")
    expect(end).to_contain_text("The balance is used up.")
    end.get_by_role("button", name="Try again").click()
    expect(replies(page).last).to_contain_text("half")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".end.stopped p")).to_have_text("Stopped")
    page.locator(".end.stopped").get_by_role("button", name="Continue").click()
    expect(replies(page).last).to_have_text("Done.")


def test_an_undone_turn_is_gone_from_the_picture(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("first"), text_reply("second")]
    page = served_page.open()
    send(page, "one")
    expect(replies(page).last).to_have_text("first")
    send(page, "two")
    expect(replies(page).last).to_have_text("second")
    send(page, "/rewind 2")
    expect(page.locator(".person .said")).to_have_text(["one"])
    expect(replies(page)).to_have_text(["first"])


def test_two_tabs_see_the_same_and_the_first_answer_wins(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("run_command", command="echo hello"),
        text_reply("Done."),
    ]
    page = served_page.open()
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "run it")
    expect(page.get_by_role("group", name="Approval")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    question = other.get_by_role("group", name="Approval")
    expect(question).to_contain_text("echo hello")
    expect(other).to_have_title("● needs you – run it – Onefold")
    question.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("group", name="Approval")).to_be_hidden()
    expect(replies(page).last).to_have_text("Done.")


def test_a_question_is_answered_by_one_key_and_a_reason_reaches_the_model(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [
        call_reply("run_command", command="echo hello"),
        text_reply("Fine."),
    ]
    page = served_page.open()
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "run it")
    question = page.get_by_role("group", name="Approval")
    expect(question).to_be_focused()
    expect(question.get_by_role("button", name="No")).to_be_enabled()
    question.get_by_label("Reason for refusing").fill("use printf")
    question.get_by_label("Reason for refusing").press("Enter")
    expect(replies(page).last).to_have_text("Fine.")
    assert "use printf" in str(served_page.model.requests[-1])


def test_keys_answer_only_after_the_question_stood_there_for_a_moment(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [
        call_reply("run_command", command="echo hello"),
        text_reply("Fine."),
    ]
    page = served_page.open()
    page.get_by_label("Approval mode").select_option("ask")
    page.evaluate(NOTE_BUTTONS)
    send(page, "run it")
    question = page.get_by_role("group", name="Approval")
    expect(question.get_by_role("button", name="Yes")).to_be_enabled()
    assert page.evaluate("atFirst") == [True, True, True, True]
    page.keyboard.press("n")
    expect(page.locator(".call[data-state=refused]")).to_be_visible()


def test_what_is_sent_meanwhile_is_queued_and_can_be_taken_back(served_page: ServedPage) -> None:
    gate = Gate()
    served_page.model.replies = [
        [Delta("working"), gate, Completion("working", "", (), USED)],
        text_reply("second"),
    ]
    page = served_page.open()
    send(page, "one")
    expect(replies(page)).to_contain_text("working")
    send(page, "two")
    send(page, "three")
    chips = page.get_by_role("list", name="Queue").get_by_role("listitem")
    expect(chips).to_have_count(2)
    chips.last.get_by_role("button", name="Earlier").click()
    expect(chips.first).to_contain_text("three")
    chips.first.get_by_role("button", name="Take back").click()
    expect(message(page)).to_have_value("three")
    gate.open()
    expect(replies(page).last).to_have_text("second")
    expect(page.locator(".person .said")).to_have_text(["one", "two"])


def test_the_draft_survives_a_reload_and_shift_enter_is_a_new_line(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("hello")]
    page = served_page.open()
    send(page, "begin")
    expect(replies(page)).to_have_text("hello")
    message(page).fill("half a")
    message(page).press("Shift+Enter")
    message(page).press_sequentially("thought")
    page.reload()
    expect(message(page)).to_have_value("half a\nthought")


def test_enter_while_a_word_is_composed_sends_nothing(served_page: ServedPage) -> None:
    page = served_page.open()
    message(page).fill("ni")
    message(page).evaluate(
        "area => area.dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"
    )
    expect(message(page)).to_have_value("ni")
    expect(page.locator(".person")).to_have_count(0)


def test_a_message_that_comes_before_the_first_session_is_sent_in_it(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [text_reply("answered")]
    page = served_page.context().new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    held = HeldRequests(page, "**/api/status")
    page.goto(f"{served_page.server.url}/?lang=en")
    expect(message(page)).to_be_focused()
    send(page, "early")
    expect(message(page)).to_have_value("")
    held.wait()
    held.release()
    expect(replies(page)).to_have_text("answered")
    expect(page.locator(".person .said")).to_have_text("early")


def test_an_earlier_message_can_be_sent_anew_in_a_fork(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("first"), text_reply("second")]
    page = served_page.open()
    send(page, "wrong")
    expect(replies(page)).to_have_text("first")
    before = page.url
    page.locator(".person").hover()
    page.get_by_role("button", name="Rewrite this in a new session").click()
    page.get_by_role("textbox", name="Edit the message").fill("right")
    page.get_by_role("button", name="Send again").click()
    expect(replies(page)).to_have_text("second")
    expect(page.locator(".person .said")).to_have_text("right")
    assert page.url != before
    assert "wrong" not in str(served_page.model.requests[-1])
    page.go_back()
    expect(page).to_have_url(before)
    expect(page.locator(".person .said")).to_have_text("wrong")
    expect(replies(page)).to_have_text("first")


def test_commands_and_files_complete_at_the_composer(served_page: ServedPage) -> None:
    (served_page.project / "deep").mkdir()
    (served_page.project / "deep" / "apples.py").write_text("x = 1\n")
    page = served_page.open()
    message(page).press_sequentially("/sta")
    expect(page.get_by_role("option", name="/status")).to_be_visible()
    message(page).press("Tab")
    expect(message(page)).to_have_value("/status ")
    message(page).fill("")
    message(page).press_sequentially("see @app")
    expect(page.get_by_role("option", name="deep/apples.py")).to_be_visible()
    message(page).press("Enter")
    expect(message(page)).to_have_value("see @deep/apples.py ")


def test_the_reader_is_left_alone_above_the_end(served_page: ServedPage) -> None:
    gate = Gate()
    text = "\n\n".join(f"Paragraph {number}." for number in range(60))
    more = "\n\n".join(f"More {number}." for number in range(30))
    whole = f"{text}\n\n{more}"
    served_page.model.replies = [
        [Delta(text), gate, Delta(f"\n\n{more}"), Completion(whole, "", (), USED)]
    ]
    page = served_page.open()
    send(page, "write")
    expect(replies(page)).to_contain_text("Paragraph 59.")
    log = page.get_by_role("log")
    log.hover()
    page.mouse.wheel(0, -600)
    expect(page.locator(".pill")).to_be_visible()
    before = log.evaluate(AT_REST)
    gate.open()
    expect(page.locator(".end")).to_have_count(1)
    assert abs(log.evaluate("log => log.scrollTop") - before) < 2
    page.locator(".pill").click()
    expect(page.locator(".pill")).to_be_hidden()


def test_the_way_back_is_offered_though_the_wheel_is_told_before_it_scrolls(
    served_page: ServedPage,
) -> None:
    text = "\n\n".join(f"Paragraph {number}." for number in range(60))
    served_page.model.replies = [text_reply(text)]
    page = served_page.open()
    send(page, "write")
    expect(page.locator(".end")).to_have_count(1)
    log = page.get_by_role("log")
    log.evaluate(AT_REST)
    log.evaluate("log => log.dispatchEvent(new WheelEvent('wheel', {deltaY: -600}))")
    log.evaluate("log => log.scrollTo({top: log.scrollTop - 600, behavior: 'instant'})")
    expect(page.locator(".pill")).to_be_visible()
    log.evaluate("log => log.scrollTo({top: log.scrollHeight, behavior: 'instant'})")
    expect(page.locator(".pill")).to_be_hidden()


def test_a_card_says_what_was_done_to_what_and_no_word_twice(served_page: ServedPage) -> None:
    (served_page.project / "greet.py").write_text("print('hi')\n")
    served_page.model.replies = [call_reply("read_file", path="greet.py"), text_reply("Read.")]
    page = served_page.open()
    send(page, "read it")
    expect(replies(page)).to_have_text("Read.")
    head = page.locator(".call .head")
    expect(head.locator(".verb")).to_have_text("Read")
    expect(head.locator(".target")).to_have_text("greet.py")
    assert head.inner_text().count("greet.py") == 1
    assert head.inner_text().count("Read") == 1


def test_a_megabyte_of_output_comes_in_live_and_is_folded(served_page: ServedPage) -> None:
    line = "some words of output that are about sixty characters long"
    loops = f"for i in $(seq 17000); do echo $i {line}; done; cat gate; echo last"
    served_page.model.replies = [call_reply("run_command", command=loops), text_reply("Done.")]
    os.mkfifo(served_page.project / "gate")
    page = served_page.open()
    send(page, "print")
    live = page.locator(".output.live")
    expect(live).to_contain_text("17000 some words")
    expect(live.locator(".above")).to_have_text("16,800 lines above")
    assert live.locator("pre").inner_text().count("\n") <= 202
    (served_page.project / "gate").write_text("")
    expect(replies(page)).to_have_text("Done.")
    kept = page.locator(".call .output")
    expect(kept).to_contain_text("last")
    expect(kept.get_by_role("button")).to_contain_text("more lines")


def test_what_a_web_search_found_is_shown_as_cards(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TavilyDouble() as double:
        settings = replace(
            stages.SETTINGS, tavily_api_key="tvly-x", tavily_base_url=double.base_url
        )
        monkeypatch.setattr(stages, "SETTINGS", settings)
        with stages.serve_page(tmp_path, chromium) as served_page:
            served_page.model.replies = [
                call_reply("web_search", query="tea"),
                text_reply(
                    "See [A](https://x.org), tea[1], `[1]`; 茶[1][9]。\n\n- so **it** is [1]"
                ),
            ]
            page = served_page.open()
            send(page, "search")
            page.get_by_role("group", name="Approval").get_by_role("button", name="Yes").click()
            found = page.locator(".card-links").get_by_role("link")
            expect(found).to_have_attribute("href", "https://example.org/a")
            expect(found).to_have_attribute("rel", "noopener noreferrer nofollow")
            expect(found.locator(".what")).to_contain_text("example.org")
            expect(found.locator(".snippet")).to_have_text("snippet")
            expect(page.locator(".call .meta")).to_contain_text("1 page")
            for _ in range(2):  # as it comes, and as it is kept
                cited = replies(page).locator("a.citation")
                expect(cited).to_have_text(["[1]", "[1]"])
                expect(cited.first).to_have_attribute("href", "https://example.org/a")
                expect(cited.first).to_have_attribute("title", "A\nhttps://example.org/a")
                expect(replies(page).locator(".citation.unknown")).to_have_text("[9]?")
                expect(page.locator(".end .sources li")).to_have_text(
                    ["[1] A", "[9]: source not read"]
                )
                page.reload()
            page.context.close()


def test_what_a_message_cites_leads_there_while_the_task_goes_on(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TavilyDouble() as double:
        settings = replace(
            stages.SETTINGS, tavily_api_key="tvly-x", tavily_base_url=double.base_url
        )
        monkeypatch.setattr(stages, "SETTINGS", settings)
        with stages.serve_page(tmp_path, chromium) as served_page:
            gate = Gate()
            said = "Tea is told of in [1], not in [7]."
            served_page.model.replies = [
                call_reply("web_search", query="tea"),
                [Delta(said), *calls_reply(("c2", "list_files", "{}"), text=said)],
                [Delta("And so"), gate, Completion("And so", "", (), USED)],
            ]
            page = served_page.open()
            send(page, "search")
            page.get_by_role("group", name="Approval").get_by_role("button", name="Yes").click()
            expect(replies(page).last).to_contain_text("And so")
            for _ in range(2):  # as it came, and as it is told to a page that opens now
                cited = replies(page).first.locator("a.citation")
                expect(cited).to_have_attribute("href", "https://example.org/a")
                expect(replies(page).first.locator(".citation.unknown")).to_have_text("[7]?")
                expect(page.locator(".end")).to_have_count(0)
                page.reload()
            gate.open()
            expect(page.locator(".end")).to_be_visible()
            page.reload()
            expect(replies(page).first.locator("a.citation")).to_have_text("[1]")
            page.context.close()


def test_commands_beside_a_turn_are_answered_and_others_wait(served_page: ServedPage) -> None:
    gate = Gate()
    served_page.model.replies = [[Delta("working"), gate, Completion("working", "", (), USED)]]
    page = served_page.open()
    send(page, "go")
    expect(replies(page)).to_contain_text("working")
    send(page, "/cost")
    expect(page.locator(".command")).to_contain_text("Cache hits")
    page.get_by_role("button", name="Fast", exact=True).click()
    expect(page.locator(".notice").last).to_contain_text("with the next task")
    expect(page.get_by_role("button", name="Think", exact=True)).to_be_visible()
    send(page, "/undo")
    expect(page.locator(".notice").last).to_contain_text("/undo will run when the task is done.")
    expect(page.get_by_role("list", name="Queue").get_by_role("listitem")).to_contain_text("/undo")
    gate.open()
    expect(page.locator(".command").last).to_contain_text("/undo")


def test_the_words_behind_a_mistyped_command_come_back(served_page: ServedPage) -> None:
    page = served_page.open()
    for line in ("/skill deep-reserch of a long story", "/skil of a long story"):
        send(page, line)
        expect(page.locator(".log")).to_contain_text("Did you")
        expect(message(page)).to_have_value(line)
    send(page, "/zzz")
    expect(page.locator(".log")).to_contain_text("Unknown command /zzz.")
    expect(message(page)).to_have_value("")
