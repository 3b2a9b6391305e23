"""Being asked: what is shown, what may be changed, whatever kind of question it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core.loop.approval import KeptApproval
from core.web_terminal import WebTerminal
from modules.storage.kept_approvals import KeptApprovals
from tests.page.accessibility import faults
from tests.page.request_holding import HeldSocket
from tests.page.served_page import ServedPage, message, replies, send, serve_page
from tests.scripted_model import call_reply, calls_reply, text_reply


def question(page: Page) -> Locator:
    return page.get_by_role("group", name="Approval")


def ask(served_page: ServedPage, name: str, /, **arguments: Any) -> Page:
    """Return a page on which the model's call waits for an answer."""
    served_page.model.replies = [call_reply(name, **arguments), text_reply("Fine.")]
    page = served_page.open()
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "do it")
    expect(question(page).get_by_role("button", name="Yes")).to_be_enabled()
    return page


def test_a_command_is_edited_and_runs_as_edited(served_page: ServedPage) -> None:
    page = ask(served_page, "run_command", command="echo model > made.txt")
    page.keyboard.press("e")
    area = question(page).get_by_role("textbox", name="command")
    expect(area).to_be_focused()
    expect(area).to_have_value("echo model > made.txt")
    area.fill("echo person > made.txt")
    area.press("Control+Enter")
    expect(replies(page).last).to_have_text("Fine.")
    assert (served_page.project / "made.txt").read_text() == "person\n"
    expect(page.locator(".call .revised")).to_have_text("edited by you")
    expect(page.locator(".call .target")).to_have_text("echo person > made.txt")
    told = served_page.model.requests[-1][-1]
    assert "The person changed this call" in told["content"]
    assert "command: echo person > made.txt" in told["content"]
    sent = served_page.model.requests[-1][-2]["tool_calls"][0]["function"]["arguments"]
    assert "echo model" in sent
    page.reload()
    expect(page.locator(".call .revised")).to_have_text("edited by you")


def test_the_content_of_a_file_is_edited_in_its_question(served_page: ServedPage) -> None:
    page = ask(served_page, "create_file", path="a.txt", content="one\n", overwrite=False)
    expect(question(page).locator(".diff .added .text")).to_have_text("one")
    question(page).get_by_role("button", name="Edit").click()
    question(page).get_by_role("textbox", name="content").fill("two\n")
    question(page).get_by_role("textbox", name="overwrite").fill("maybe")
    question(page).get_by_role("button", name="Do this instead").click()
    expect(question(page).get_by_role("alert")).to_contain_text("overwrite is not valid JSON")
    question(page).get_by_role("textbox", name="overwrite").fill("3")
    question(page).get_by_role("button", name="Do this instead").click()
    expect(page.locator(".notice.bad")).to_contain_text("must be of type boolean")
    expect(question(page).get_by_role("textbox", name="content")).to_have_value("two\n")
    question(page).get_by_role("textbox", name="overwrite").fill("true")
    question(page).get_by_role("button", name="Do this instead").click()
    expect(replies(page).last).to_have_text("Fine.")
    assert (served_page.project / "a.txt").read_text() == "two\n"


def test_leaving_the_form_goes_back_to_the_question(served_page: ServedPage) -> None:
    page = ask(served_page, "run_command", command="echo hi")
    page.keyboard.press("e")
    page.get_by_role("log").focus()
    page.keyboard.press("n")  # answers nothing while the form is open
    question(page).get_by_role("textbox", name="command").press("Escape")
    expect(question(page).get_by_role("button", name="Edit")).to_be_focused()
    expect(question(page).get_by_role("button", name="Always")).to_be_visible()
    page.keyboard.press("y")
    expect(replies(page).last).to_have_text("Fine.")


def test_an_answer_that_was_begun_is_not_dropped_without_a_word(served_page: ServedPage) -> None:
    page = ask(served_page, "run_command", command="echo hi")
    other = page.context.new_page()
    other.goto(page.url)
    expect(question(other).get_by_role("button", name="Yes")).to_be_enabled()
    page.keyboard.press("e")
    question(page).get_by_role("textbox", name="command").fill("echo longer")
    question(other).get_by_role("button", name="Yes").click()
    expect(page.locator(".notice.bad")).to_have_text("Already answered on another screen.")
    expect(replies(other).last).to_have_text("Fine.")
    expect(other.locator(".notice")).to_have_count(0)


def test_a_question_that_reads_as_the_last_one_about_the_call_is_shown_and_answered_by_itself(
    served_page: ServedPage,
) -> None:
    """All that a helper asks is asked about one call, and the reason may be the same."""
    served_page.model.replies = [
        call_reply("delegate", task="look around"),
        call_reply("ask_person", id="c2", question="Which?", choices=["red", "blue"]),
        call_reply("ask_person", id="c3", question="Which?", choices=["keep", "drop"]),
        text_reply("Seen."),
        text_reply("Fine."),
    ]
    page = served_page.open()
    send(page, "do it")
    mine = page.get_by_role("group", name="Question")
    expect(mine).to_contain_text("red")
    other = page.context.new_page()
    other.goto(page.url)
    socket = HeldSocket(other)
    theirs = other.get_by_role("group", name="Question")
    socket.hold('"answer"')
    theirs.get_by_role("button", name="Skip").click()
    socket.wait()
    mine.get_by_role("button", name="blue").click()
    expect(mine).to_contain_text("keep")
    expect(theirs).to_contain_text("keep")
    socket.release()
    expect(other.locator(".notice")).to_have_text("Already answered on another screen.")
    theirs.get_by_role("button", name="drop").click()  # the other answer was none to this one
    expect(replies(page).last).to_have_text("Fine.")
    told = [m["content"] for m in served_page.model.requests[3] if m["role"] == "tool"]
    assert told == ["The person answers: blue", "The person answers: drop"]


def test_a_deletion_shows_the_lines_that_would_go(served_page: ServedPage) -> None:
    (served_page.project / "old.txt").write_text("one\ntwo\n")
    page = ask(served_page, "delete_file", path="old.txt")
    expect(question(page).locator(".diff .removed .text")).to_have_text(["one", "two"])
    expect(question(page)).to_contain_text("The file will be deleted.")
    question(page).get_by_role("button", name="No", exact=True).click()
    expect(replies(page).last).to_have_text("Fine.")
    assert (served_page.project / "old.txt").exists()


def test_an_always_that_does_not_fit_is_told_and_can_be_mended(served_page: ServedPage) -> None:
    page = ask(served_page, "run_command", command="echo one")
    pattern = question(page).get_by_label("Pattern to always allow")
    expect(pattern).to_have_value("run_command echo one *")
    pattern.fill("run_command ls *")
    question(page).get_by_role("button", name="Always").click()
    expect(page.locator(".notice.bad")).to_contain_text("does not cover this call")
    pattern.fill("run_command echo *")
    pattern.press("Enter")
    expect(replies(page).last).to_have_text("Fine.")
    served_page.model.replies = [
        call_reply("run_command", command="echo two"),
        text_reply("Again."),
    ]
    send(page, "again")
    expect(replies(page).last).to_have_text("Again.")
    expect(question(page)).to_be_hidden()


@pytest.fixture
def keeping(served_page: ServedPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ServedPage:
    """The served page, where an answer may last."""

    def terminal_that_keeps(**given: Any) -> WebTerminal:
        terminal = WebTerminal(**given)
        terminal.approval.kept = KeptApprovals(tmp_path / "kept")
        return terminal

    monkeypatch.setattr("tests.web_assembly.WebTerminal", terminal_that_keeps)
    return served_page


def test_an_answer_lasts_with_the_pattern_that_was_shown_alone(keeping: ServedPage) -> None:
    page = ask(keeping, "run_command", command="echo one two")
    lasting = question(page).get_by_role("button", name="Always, in this project")
    expect(lasting).to_be_enabled()
    pattern = question(page).get_by_label("Pattern to always allow")
    offered = pattern.input_value()
    pattern.fill("run_command echo one two")
    expect(lasting).to_be_disabled()
    pattern.fill(offered)
    lasting.click()
    expect(replies(page).last).to_have_text("Fine.")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_answer_is_cut_on_a_narrow_screen(keeping: ServedPage, language: str) -> None:
    call = call_reply("run_command", command="echo one")
    keeping.model.replies = [call, text_reply("Fine.")]
    page = keeping.open(language=language, width=390)
    page.locator(".composer select").select_option("ask")
    send(page, "do it")
    buttons = page.locator(".approval > .buttons button")
    expect(buttons).to_have_count(5)
    assert buttons.evaluate_all(CUT) == []
    words = "Yes, for this session: packages" if language == "en" else "是，本次会话：软件包"
    buttons.nth(1).evaluate("(one, words) => one.replaceChildren(words)", words)
    assert buttons.evaluate_all(CUT) == []


def test_what_is_always_allowed_is_shown_and_taken_back(keeping: ServedPage) -> None:
    kept = KeptApprovals(keeping.project.parent / "kept")
    why = "You asked to be asked before every change and every run."
    long = "run_command cat " + 30 * "name"
    allowed = ("run_command npm test *", long, "create_file *")
    for pattern in allowed:
        kept.add(KeptApproval(pattern.partition(" ")[0], pattern, why))
    page = keeping.open(width=390)
    send(page, "/approve list")
    expect(page.locator(".card-table")).to_contain_text("npm test")
    assert page.locator(".card-table").evaluate("one => one.scrollWidth <= one.clientWidth")
    select = page.get_by_label("Approval mode")
    select.select_option("kept")
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_role("listitem")).to_have_count(3)
    expect(select).to_have_value("guarded")
    assert sheet.get_by_role("button").evaluate_all(CUT) == []
    assert faults(page) == []
    kept.remove(KeptApproval("run_command", allowed[0], why))  # on another screen: numbers move
    sheet.get_by_role("button", name="Take back only run_command cat").click()
    expect(sheet.get_by_role("listitem")).to_have_count(1)
    expect(sheet.get_by_role("button", name="Take back every call of create_file")).to_be_focused()
    assert [one.pattern for one in kept.all()] == ["create_file *"]
    page.keyboard.press("Enter")
    expect(sheet.get_by_text("Nothing is always allowed.")).to_be_visible()
    assert kept.all() == ()
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.keyboard.type("on with it")  # the message has the focus again, and takes what is typed
    expect(message(page)).to_have_value("on with it")


CUT = """all => all.filter(one => {
    const { left, right } = one.getBoundingClientRect();
    return one.scrollWidth > one.clientWidth || left < 0 || right > innerWidth;
}).map(one => one.textContent)"""
"""The words of the buttons that are wider than they."""


def test_a_task_in_circles_is_asked_about_in_words_of_its_own(served_page: ServedPage) -> None:
    loop = [calls_reply((f"c{n}", "run_command", '{"command": "echo same"}')) for n in range(9)]
    served_page.model.replies = [*loop, text_reply("Never.")]
    page = served_page.open()
    send(page, "go round")
    expect(question(page)).to_contain_text("circles")
    expect(question(page).get_by_role("button")).to_have_text(["Yes, continue", "No, stop here"])
    question(page).get_by_role("button", name="No, stop here").click()
    expect(page.locator(".end.step_limit")).to_be_visible()
    expect(page.locator(".call[data-state=asked]")).to_have_count(0)


def test_a_great_loss_is_shown_and_put_back(served_page: ServedPage) -> None:
    for number in range(30):
        (served_page.project / f"f{number}.txt").write_text("x")
    served_page.model.replies = [
        call_reply("run_command", command="rm f*.txt"),
        text_reply("Fine."),
    ]
    page = served_page.open()
    send(page, "clean up")
    expect(question(page)).to_contain_text("It deleted 30 of 30 files")
    expect(question(page).locator(".card-tree")).to_contain_text("f29.txt")
    expect(question(page).get_by_role("button")).to_have_count(32)  # the names are links
    question(page).get_by_role("button", name="No, undo all").click()
    expect(replies(page).last).to_have_text("Fine.")
    assert len(list(served_page.project.glob("f*.txt"))) == 30


def test_a_question_is_told_to_who_looks_elsewhere_once_they_wished_so(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [call_reply("run_command", command="echo hi"), text_reply("Fine.")]
    page = served_page.open(permissions=["notifications"])
    page.evaluate(
        """() => {
            window.told = [];
            window.Notification = class extends EventTarget {
                static permission = "granted";
                static requestPermission = async () => "granted";
                constructor(title, options) { super(); told.push(`${title} ${options.body}`); }
            };
            Object.defineProperty(document, "hidden", { get: () => true });
        }"""
    )
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "one")
    expect(question(page).get_by_role("button", name="Yes")).to_be_enabled()
    assert page.evaluate("told") == []
    page.keyboard.press("y")
    expect(replies(page).last).to_have_text("Fine.")
    page.get_by_role("button", name="Notify me when I am away").click()
    expect(page.get_by_role("button", name="Notifications: on")).to_be_visible()
    served_page.model.replies = [call_reply("run_command", command="echo hi"), text_reply("Again.")]
    send(page, "two")
    expect(question(page).get_by_role("button", name="Yes")).to_be_enabled()
    assert page.evaluate("told") == ["Your answer is needed. Run echo hi"]


def test_a_question_is_still_there_after_a_restart(tmp_path: Path, chromium: Browser) -> None:
    with serve_page(tmp_path, chromium) as served_page:
        ask(served_page, "create_file", path="a.txt", content="one\n")
    with serve_page(tmp_path, chromium) as served_page:
        served_page.model.replies = [text_reply("Fine.")]
        page = served_page.open()
        expect(question(page).locator(".diff .added .text")).to_have_text("one")
        expect(page.locator(".end")).to_have_count(0)
        expect(page).to_have_title(re.compile("needs you"))
        question(page).get_by_role("button", name="Yes").click()
        expect(replies(page).last).to_have_text("Fine.")
        expect(page.locator(".call")).to_have_count(1)
        expect(page.locator(".end")).to_have_count(1)
        assert (served_page.project / "a.txt").read_text() == "one\n"


def test_a_long_command_is_folded_in_its_middle_and_unfolds_before_and_after(
    served_page: ServedPage,
) -> None:
    page = ask(served_page, "run_command", command="\n".join(f"echo row {n}" for n in range(60)))
    asked = question(page).locator(".code")
    expect(asked).to_contain_text("echo row 0")
    expect(asked).to_contain_text("echo row 59")
    expect(asked).not_to_contain_text("echo row 30")
    question(page).get_by_role("button", name="Show all").click()
    expect(asked).to_contain_text("echo row 30")
    question(page).get_by_role("button", name="Yes").click()
    expect(page.locator(".card-run .code")).to_contain_text("echo row 30")  # it stays unfolded
    page.reload()
    run = page.locator(".card-run .code")
    expect(run).to_contain_text("echo row 59")
    expect(run).not_to_contain_text("echo row 30")
    run.get_by_role("button", name="Show all").click()
    expect(run).to_contain_text("echo row 30")


def test_plan_mode_is_a_key_away_and_gives_back_the_mode_from_before(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    select = page.get_by_label("Approval mode")
    expect(select).to_have_value("guarded")
    page.keyboard.press("Alt+p")
    expect(select).to_have_value("plan")
    page.keyboard.press("Alt+p")
    expect(select).to_have_value("guarded")
    select.select_option("ask")
    expect(page.locator(".log")).to_contain_text("ask")
    page.keyboard.press("Alt+p")
    expect(select).to_have_value("plan")
    page.reload()
    expect(select).to_have_value("plan")
    page.keyboard.press("Alt+p")
    expect(select).to_have_value("ask")


def test_a_plan_is_made_in_plan_mode_and_done_by_one_answer(served_page: ServedPage) -> None:
    written = call_reply("create_file", path="a.txt", content="one")
    plan = text_reply("# Plan\n\n1. Write a.txt\n2. Read it")
    served_page.model.replies = [written, plan, written, text_reply("It is done.")]
    page = served_page.open()
    select = page.get_by_label("Approval mode")
    expect(select.locator("option[value=plan]")).to_have_text("plan")
    send(page, "/approve plan")
    expect(select).to_have_value("plan")
    send(page, "plan it")
    asked = page.get_by_role("group", name="Question")
    expect(asked).to_contain_text("Do this plan now?")
    assert not (served_page.project / "a.txt").exists()
    asked.get_by_role("button", name="Do it").click()
    expect(replies(page).last).to_have_text("It is done.")
    expect(select).to_have_value("guarded")
    assert (served_page.project / "a.txt").read_text() == "one"
