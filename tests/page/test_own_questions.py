"""Questions of the model's own, about instructions, and about commands of the project."""

from __future__ import annotations

import json
import subprocess

from playwright.sync_api import expect

from tests.page.request_holding import HeldRequests, wait_until_drawn
from tests.page.served_page import ServedPage, message, replies, send
from tests.page.test_questions import question
from tests.scripted_model import call_reply, text_reply


def test_a_question_of_the_models_own_is_answered_by_a_choice_or_in_words(
    served_page: ServedPage,
) -> None:
    call = call_reply("ask_person", question="Which drink?", choices=["tea", "coffee"])
    served_page.model.replies = [call, text_reply("One."), call, text_reply("Two.")]
    page = served_page.open()
    asked = page.get_by_role("group", name="Question")
    send(page, "go")
    expect(asked).to_contain_text("Which drink?")
    expect(asked.locator("header")).to_have_text("The model asks")
    expect(asked.get_by_role("button", name="coffee")).to_be_enabled()
    page.get_by_role("log").focus()
    page.keyboard.press("2")
    expect(replies(page).last).to_have_text("One.")
    assert served_page.model.requests[-1][-1]["content"] == "The person answers: coffee"
    send(page, "again")
    asked.get_by_label("Your answer").fill("water")
    expect(asked.get_by_role("button", name="Answer", exact=True)).to_be_enabled()
    asked.get_by_label("Your answer").press("Enter")
    expect(replies(page).last).to_have_text("Two.")
    assert served_page.model.requests[-1][-1]["content"] == "The person answers: water"
    expect(asked).to_have_count(0)
    expect(page.locator(".call .target")).to_have_text(2 * ["Which drink?"])
    expect(page.locator(".call .said")).to_have_text(["coffee", "water"])


def test_a_long_choice_is_read_whole(served_page: ServedPage) -> None:
    long = "A file of the project: simplest, but with one writer at a time, so imports wait"
    call = call_reply("ask_person", question="Which?", choices=["short", long])
    served_page.model.replies = [call, text_reply("Fine.")]
    page = served_page.open(width=1024)
    send(page, "go")
    choices = page.locator(".choices button")
    expect(choices).to_have_count(2)
    inside = "all => all.map(one => one.scrollWidth <= one.parentElement.clientWidth)"
    assert choices.evaluate_all(inside) == [True, True]


def test_whether_instructions_count_is_asked_in_the_language_of_the_person(
    served_page: ServedPage,
) -> None:
    (served_page.project / "AGENTS.md").write_text("Be brief.\n")
    name = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    steps = (
        ["init", "-q"],
        ["add", "AGENTS.md"],
        [*name, "commit", "-qm", "one"],
        ["remote", "add", "origin", "https://example.com/a.git"],
    )
    for step in steps:
        subprocess.run(["git", *step], cwd=served_page.project, check=True)
    served_page.model.replies = [text_reply("Fine.")]
    page = served_page.open(language="zh")
    send(page, "hello")
    asked = page.get_by_role("group", name="审批")
    expect(asked.locator("header")).to_contain_text("遵循")
    expect(asked).to_contain_text("Be brief.")
    expect(asked.locator(".buttons input")).to_be_hidden()  # nobody would hear a reason
    expect(asked.locator("button.primary")).to_be_enabled()
    page.keyboard.press("y")
    expect(replies(page).last).to_have_text("Fine.")
    expect(page.locator(".call .verb")).to_have_text("遵循")


def test_a_command_of_the_project_is_completed_and_asked_about_as_one_that_runs_something(
    served_page: ServedPage,
) -> None:
    folder = served_page.project / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("---\ndescription: Say hello\n---\nSay this: !`echo hi`\n")
    served_page.model.replies = [text_reply("Fine.")]
    page = served_page.open()
    page.locator(".composer textarea").press_sequentially("/gre")
    expect(page.locator(".completion li")).to_contain_text("Say hello")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(question(page).locator(".risk")).to_have_text("runs a program")
    expect(question(page).get_by_role("button", name="Yes")).to_be_enabled()
    page.keyboard.press("y")
    expect(replies(page).last).to_have_text("Fine.")


def test_what_a_command_takes_is_completed_and_enter_sends_what_was_typed(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    page.locator(".composer textarea").press_sequentially("/too")
    expect(page.locator(".completion li")).to_contain_text("/tools")
    page.keyboard.press("Enter")
    expect(page.locator(".completion code")).to_contain_text(["on", "off", "new", "text"])
    page.keyboard.type("read_f")
    expect(page.locator(".completion code")).to_have_text(["read_file"])
    page.keyboard.press("Tab")
    expect(page.locator(".composer textarea")).to_have_value("/tools read_file ")
    expect(page.locator(".completion code")).to_have_text(["on", "off"])
    page.keyboard.press("Enter")
    expect(page.locator(".command").last).to_contain_text("what the model reads")
    page.locator(".composer textarea").press_sequentially("/hooks ")
    expect(page.locator(".completion code")).to_have_text(["allow"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".composer textarea")).to_have_value("/hooks allow ")


def test_what_a_command_takes_is_completed_though_the_first_session_comes_late(
    served_page: ServedPage,
) -> None:
    page = served_page.context().new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    held = HeldRequests(page, "**/api/status")
    with page.expect_response("**/api/commands"):
        page.goto(f"{served_page.server.url}/?lang=en")
        message(page).fill("/hooks ")
    held.wait()
    wait_until_drawn(page)
    held.release()
    expect(page.locator(".completion code")).to_have_text(["allow"])


def test_hooks_of_the_project_are_asked_about_and_listed(served_page: ServedPage) -> None:
    (served_page.project / ".agents").mkdir()
    hook = {"type": "command", "command": "echo not today >&2; exit 2"}
    content = {"hooks": {"PreToolUse": [{"matcher": "list_files", "hooks": [hook]}]}}
    (served_page.project / ".agents/hooks.json").write_text(json.dumps(content))
    served_page.model.replies = [call_reply("list_files"), text_reply("No.")]
    page = served_page.open()
    send(page, "go")
    expect(question(page)).to_contain_text("Allow these project hooks to run")
    expect(question(page)).to_contain_text("PreToolUse list_files (10 s): echo not today")
    question(page).get_by_role("button", name="Yes", exact=True).click()
    expect(replies(page)).to_have_text("No.")
    expect(page.locator(".call").last).to_contain_text("Refused by a hook")
    assert '"not today"' in served_page.model.requests[-1][-1]["content"]
    send(page, "/hooks")
    expect(page.locator(".command")).to_contain_text("enabled")


def test_what_should_last_is_offered_and_kept_by_one_press(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("Note saved.")]
    page = served_page.open()
    send(page, "I like short answers.")
    offer = page.locator(".remark").filter(has_text="I like short answers")
    offer.get_by_role("button", name="/remember").click()
    expect(page.locator(".command").last).to_contain_text("I like short answers")
    expect(page.locator(".command").last).to_contain_text("Remembered")


def test_what_a_session_decided_is_offered_on_the_page_after_it(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("I decided to keep tabs."), text_reply("Hello.")]
    page = served_page.open()
    send(page, "format the folder")
    expect(replies(page)).to_have_text("I decided to keep tabs.")
    page.get_by_role("button", name="New session", exact=True).click()
    send(page, "hi there, look around")
    offer = page.locator(".remark").filter(has_text="I decided to keep tabs.")
    offer.get_by_role("button", name="/remember").click()
    expect(page.locator(".command").last).to_contain_text("I decided to keep tabs.")
