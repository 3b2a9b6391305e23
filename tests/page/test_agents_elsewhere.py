"""The board on the page answers and stops what a terminal's process does, and the other way."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.modules.agents.two_processes import both
from tests.page.accessibility import faults
from tests.page.served_page import message, replies, send, serve_page
from tests.scripted_model import call_reply, text_reply
from tests.simulator import Call, Say, Stall
from tests.simulator.server import wait_for

ASKS = Call("ask_person", question="Which colour?", choices=["red", "blue"])
REACHES_OUT = Call("run_command", command=f"echo hi {'long ' * 30}", network=True)


def test_what_a_terminal_does_is_answered_and_stopped_on_the_page(
    tmp_path: Path, chromium: Browser
) -> None:
    script = [ASKS, REACHES_OUT, REACHES_OUT, Stall()]
    with both(tmp_path, script) as run, serve_page(tmp_path, chromium) as served:
        run.say("Paint it.")
        run.asked()
        page = served.open()  # it shows that session, which can only be read here
        expect(page.get_by_text("This session is read-only until it is free.")).to_be_visible()
        send(page, "/agents")
        board = page.get_by_role("dialog", name="At work in this project")
        row = board.locator("li", has=page.get_by_text("Paint it.", exact=True))
        row.get_by_role("button", name="Answer Paint it.").click()
        question = board.get_by_role("group", name="Question")
        expect(question.locator(".why")).to_have_text("Which colour?")
        assert faults(page) == []
        expect(page.get_by_text("Interrupted")).to_have_count(0)  # it works, over there
        question.get_by_role("button", name="blue").click()
        run.dialogue.wait_for_text("Answered on another screen.")

        expect(row.locator(".now")).to_contain_text("asks run_command echo hi")
        row.get_by_role("button", name="Answer Paint it.").click()
        approval = board.get_by_role("group", name="Approval")
        expect(approval.locator("pre")).to_contain_text("echo hi")
        expect(approval.get_by_role("button", name="Edit")).to_be_visible()
        assert board.evaluate("it => it.scrollWidth <= it.clientWidth")
        approval.get_by_label("Reason for refusing").fill("not now")
        approval.get_by_role("button", name="No", exact=True).click()
        wait_for(lambda: len(run.at.server.requests) == 3)
        assert "not now" in run.at.server.requests[-1].messages[-1]["content"]

        run.asked()
        expect(approval).to_have_count(0)
        row.get_by_role("button", name="Answer Paint it.").click()
        expect(approval).to_be_visible()
        run.dialogue.wait_for_text("y yes")
        run.dialogue.press("y")  # at its own screen: there is no such question any more
        expect(approval).to_have_count(0)
        wait_for(lambda: len(run.at.server.requests) == 4)
        row.get_by_role("button", name="Stop Paint it.").click()
        expect(row.locator(".state")).to_have_text("idle")
        run.dialogue.wait_for_text("Stopped")


def test_who_types_in_the_board_types_on_when_something_else_begins_to_work(
    tmp_path: Path, chromium: Browser
) -> None:
    with both(tmp_path, [REACHES_OUT]) as run, serve_page(tmp_path, chromium) as served:
        served.model.replies = [text_reply("Hi.")]
        run.say("Paint it.")
        run.asked()
        page, other = served.open(), served.open()
        send(page, "/agents")
        board = page.get_by_role("dialog", name="At work in this project")
        board.get_by_role("button", name="Answer Paint it.").click()
        reason = board.get_by_label("Reason for refusing")
        reason.press_sequentially("not")
        expect(other).to_have_url(re.compile("/s/"))
        first = other.url
        other.keyboard.press("Alt+n")
        expect(other).not_to_have_url(first)
        expect(message(other)).to_be_focused()
        send(other, "Say hi.")
        expect(board.locator("li b", has_text=re.compile(r"^Say hi\.$"))).to_be_visible()
        page.keyboard.type(" now")
        expect(reason).to_be_focused()
        expect(reason).to_have_value("not now")


def test_a_question_of_the_page_is_answered_in_a_terminal(
    tmp_path: Path, chromium: Browser
) -> None:
    with both(tmp_path, [Say("unused")]) as run, serve_page(tmp_path, chromium) as served:
        served.model.replies = [
            call_reply("ask_person", id="c1", question="Which colour?", choices=["red", "blue"]),
            text_reply("Blue it is."),
        ]
        page = served.open()
        send(page, "Paint it.")
        question = page.get_by_role("group", name="Question")
        expect(question).to_be_visible()
        session = run.wait_for_state("asking").id
        run.say("/agents")
        run.dialogue.wait_for_text("asks")
        run.say(f"/agents answer {session} 2")
        run.dialogue.wait_for_text("See first what is asked")
        run.say(f"/agents answer {session}")
        run.dialogue.wait_for_text("1  red")
        run.say(f"/agents answer {session} 2")
        run.dialogue.wait_for_text("Answered")
        expect(question).to_have_count(0)
        expect(replies(page).last).to_have_text("Blue it is.")
        expect(page.get_by_text("Answered on another screen.")).to_be_visible()
        expect(message(page)).to_be_visible()
