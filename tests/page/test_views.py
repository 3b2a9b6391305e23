"""Every view: at three widths, in both schemes and both languages, and fit for everybody."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.page.accessibility import faults
from tests.page.request_holding import HeldRequests, intercept
from tests.page.served_page import ServedPage, message, replies, send
from tests.scripted_model import call_reply, calls_reply, text_reply


def talk(served_page: ServedPage) -> None:
    """Prepare a conversation with all kinds of things in it."""
    (served_page.project / "a.py").write_text("one = 1\ntwo = 2\n")
    served_page.model.replies = [
        calls_reply(
            ("r1", "read_file", '{"path": "a.py"}'),
            ("r2", "list_files", "{}"),
            thinking="Let me look.",
        ),
        call_reply("update_todos", id="t", todos=[{"title": "Look", "status": "completed"}]),
        call_reply("modify_file", id="m", path="a.py", operation="replace", old="one", new="uno"),
        call_reply("run_command", id="x", command="printf '\\033[31mred\\033[0m\\n'; exit 3"),
        text_reply("### Done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n"),
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 1024])
def test_the_wide_page_has_no_faults(
    served_page: ServedPage, width: int, scheme: str, language: str
) -> None:
    talk(served_page)
    page = served_page.open(
        language=language, width=width, color_scheme=scheme, reduced_motion="reduce"
    )
    assert faults(page) == []
    send(page, "go")
    expect(replies(page).last.get_by_role("heading")).to_be_visible()
    page.locator(".call .head[aria-expanded=false]").evaluate_all(
        "all => all.forEach(e => e.click())"
    )
    expect(page.locator(".end")).to_have_count(1)
    assert faults(page) == []
    page.get_by_role("treeitem", name="a.py").click()
    expect(page.locator(".editor .cm-content")).to_be_visible()
    assert faults(page) == []
    for key, opened in (("Control+Shift+f", ".sessions-view:visible"), ("Control+p", "dialog")):
        page.keyboard.press(key)
        expect(page.locator(opened).locator("input:focus")).to_be_visible()
        assert faults(page) == []
        page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_phone_has_no_faults(served_page: ServedPage, scheme: str, language: str) -> None:
    talk(served_page)
    page = served_page.open(
        language=language,
        width=390,
        height=844,
        color_scheme=scheme,
        reduced_motion="reduce",
        has_touch=True,
        is_mobile=True,
    )
    send(page, "go")
    expect(replies(page).last.get_by_role("heading")).to_be_visible()
    expect(page.locator(".end")).to_have_count(1)
    for tab in (0, 1, 2):
        page.get_by_role("tab").nth(tab).click()
        assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_phone_has_three_tabs(served_page: ServedPage) -> None:
    page = served_page.open(width=390, height=844)
    expect(page.get_by_role("tab")).to_have_text(["Chat", "Files", "Changes"])
    page.get_by_role("tab", name="Files").click()
    expect(page.get_by_role("tree", name="Files")).to_be_visible()
    expect(message(page)).to_be_hidden()


def test_a_file_on_the_phone_belongs_to_the_files_and_changes_show_changes(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.py").write_text("one = 1\n")
    page = served_page.open(width=390, height=844)
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("treeitem", name="a.py").click()
    expect(page.locator(".editor .cm-content")).to_be_visible()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Files")
    page.get_by_role("tab", name="Changes").click()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Changes")
    expect(page.locator(".pane .changes")).to_be_visible()


def test_the_first_session_leaves_the_phone_where_the_person_went(served_page: ServedPage) -> None:
    page = served_page.context(width=390, height=844).new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    held = HeldRequests(page, "**/api/status")
    page.goto(f"{served_page.server.url}/?lang=en")
    held.wait()
    page.get_by_role("tab", name="Files").click()
    held.release()
    expect(page).to_have_url(re.compile("/s/"))
    expect(page.get_by_role("tab", selected=True)).to_have_text("Files")


def test_the_first_session_leaves_the_keyboard_where_the_person_went(
    served_page: ServedPage,
) -> None:
    page = served_page.context().new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    held = HeldRequests(page, "**/api/status")
    page.goto(f"{served_page.server.url}/?lang=en")
    held.wait()
    page.get_by_label("Filter files").focus()
    held.release()
    expect(page.locator(".welcome")).to_be_visible()
    expect(page.get_by_label("Filter files")).to_be_focused()


def test_a_file_on_a_small_screen_stands_beside_the_talk(served_page: ServedPage) -> None:
    (served_page.project / "a.py").write_text("one = 1\n")
    page = served_page.open(width=1024)
    page.get_by_role("treeitem", name="a.py").click()
    expect(page.locator(".editor .cm-content")).to_be_visible()
    page.get_by_label("Approval mode").select_option("ask")
    served_page.model.replies = [call_reply("run_command", command="echo hello"), text_reply("ok")]
    send(page, "run it")
    expect(page.get_by_role("button", name="Yes")).to_be_enabled()
    left = page.locator(".pane").evaluate("pane => pane.getBoundingClientRect().left")
    ends = page.locator(".below button:visible").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= left


@pytest.mark.parametrize("width", [1440, 390])
def test_the_dialog_of_files_holds_all_that_is_in_it(served_page: ServedPage, width: int) -> None:
    (served_page.project / "a.py").write_text("one = 1\n")
    page = served_page.open(width=width)
    page.keyboard.press("Control+p")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("option")).to_have_count(1)
    assert dialog.evaluate("dialog => dialog.scrollWidth - dialog.clientWidth") == 0


def test_the_question_has_no_faults(served_page: ServedPage) -> None:
    served_page.model.replies = [call_reply("run_command", command="echo hello"), text_reply("ok")]
    page = served_page.open(reduced_motion="reduce")
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "run it")
    expect(page.get_by_role("button", name="Yes")).to_be_enabled()
    assert faults(page) == []
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="command")).to_be_focused()
    assert faults(page) == []


def test_the_chosen_language_and_colours_stay(served_page: ServedPage) -> None:
    page = served_page.open()
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("textbox", name="消息", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox", name="消息", exact=True)).to_be_visible()
    page.get_by_role("button", name="主题：跟随系统").click()
    page.get_by_role("button", name="主题：浅色").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")


def test_sessions_are_found_renamed_and_gone_on_with(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("about apples"), text_reply("about pears")]
    page = served_page.open()
    send(page, "first talk")
    expect(replies(page)).to_have_text("about apples")
    page.get_by_role("button", name="New session", exact=True).click()
    send(page, "second talk")
    expect(replies(page)).to_have_text("about pears")
    page.keyboard.press("Control+Shift+f")
    drawer = page.get_by_role("region", name="Sessions")
    expect(drawer.locator(".session")).to_have_count(2)
    drawer.locator(".session .choose").last.focus()  # the mouse stays behind where a row moves
    drawer.get_by_role("button", name="Rename: first talk").click()
    drawer.get_by_role("textbox", name="Title").fill("Apples")
    drawer.get_by_role("textbox", name="Title").press("Enter")
    expect(drawer.locator(".title").last).to_have_text("Apples")
    drawer.get_by_role("searchbox").fill("apples")
    drawer.locator(".snippet", has_text="apples").click()
    expect(replies(page)).to_have_text("about apples")


def test_a_session_becomes_a_page_that_replays(served_page: ServedPage, tmp_path: Any) -> None:
    talk(served_page)
    page = served_page.open()
    send(page, "go")
    expect(page.locator(".end")).to_have_count(1)
    page.keyboard.press("Control+Shift+f")
    page.locator(".session .choose").focus()
    page.locator(".export summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Web page with replay").click()
    file = tmp_path / "talk.html"
    download.value.save_as(file)
    replay = served_page.context(offline=True).new_page()
    replay.goto(file.as_uri())
    expect(replay.get_by_role("heading", name="Done")).to_be_visible()
    replay.get_by_role("button", name="Replay").click()
    expect(replay.locator(".person")).to_be_visible()
    expect(replay.get_by_role("heading", name="Done")).to_be_visible()


def test_what_cannot_be_taken_back_is_asked_about_in_the_page(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("hello")]
    page = served_page.open()
    page.on("dialog", lambda dialog: dialog.dismiss())
    send(page, "first")
    expect(page.locator(".reply")).to_have_text("hello")
    expect(page.locator("footer.end")).to_be_visible()  # and with it the list stays as it is
    page.keyboard.press("Control+Shift+f")
    page.locator(".session .choose").focus()  # what can be done with it shows by that
    delete = page.get_by_role("button", name="Delete: first")
    delete.focus()
    page.keyboard.press("Enter")
    asked = page.get_by_role("alertdialog", name="Permanently delete “first”?")
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    expect(delete).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(asked.get_by_role("button", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Sessions").locator(".session")).to_have_count(0)


def test_unsaved_text_and_a_file_that_is_there_are_not_lost_by_a_slip(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.txt").write_text("one\n")
    page = served_page.open()
    page.get_by_role("treeitem", name="a.txt").click()
    page.locator(".editor .cm-content").click()
    page.keyboard.type("zero")
    page.get_by_role("button", name="Close a.txt").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(page.locator(".editor .cm-content")).to_contain_text("zero")
    page.get_by_role("button", name="Close a.txt").click()
    page.get_by_role("button", name="Close without saving").click()
    expect(page.locator(".editor")).to_have_count(0)
    page.locator(".composer input[type=file]").set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"two\n"}
    )
    page.get_by_role("alertdialog").get_by_role("button", name="Replace").click()
    expect(page.locator(".notice").last).to_contain_text("Added")
    assert (served_page.project / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize(("language", "scheme"), [("en", "dark"), ("zh", "light")])
@pytest.mark.parametrize("width", [1440, 390])
def test_forms_questions_and_bars_have_no_faults(
    served_page: ServedPage, width: int, language: str, scheme: str
) -> None:
    (served_page.project / "a.py").write_text("one = 1\n")
    served_page.model.replies = [
        call_reply("modify_file", path="a.py", operation="replace", old="one", new="uno"),
        text_reply("Some words."),
    ]
    page = served_page.open(
        language=language, width=width, color_scheme=scheme, reduced_motion="reduce"
    )
    page.locator(".composer select").select_option("ask")
    send(page, "go")
    question = page.locator(".approval")
    expect(question.locator(".diff")).to_be_visible()
    expect(question.locator("button.primary")).to_be_enabled()
    assert faults(page) == []
    question.locator(".buttons > .quiet").click()
    expect(question.locator("form")).to_be_visible()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    question.locator("form button.primary").click()
    expect(replies(page).last).to_have_text("Some words.")
    expect(page.locator("footer.end")).to_be_visible()  # until then the words are drawn anew
    page.locator(".reply p").evaluate("p => getSelection().selectAllChildren(p)")
    expect(page.locator(".selection-bar")).to_be_visible()
    assert faults(page) == []
    page.locator(".selection-bar button").first.click()
    expect(page.locator(".selection-bar form")).to_be_visible()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_scrolls_what_is_ticked_and_who_is_refused_have_no_faults(
    served_page: ServedPage,
) -> None:
    (served_page.project / "long.py").write_text("one = 1\n" * 200)
    (served_page.project / "a.md").write_text("#### Tasks\n\n- [ ] one\n- [x] two\n")
    served_page.model.replies = [text_reply("- [ ] one\n- [x] two\n")]
    page = served_page.open()
    send(page, "go")
    expect(replies(page).get_by_role("checkbox")).to_have_count(2)
    page.get_by_role("treeitem", name="long.py").click()
    expect(page.locator(".editor .cm-content")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("treeitem", name="a.md").click()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator(".preview").get_by_role("checkbox", name="to do")).to_have_count(1)
    assert faults(page) == []
    intercept(page, "**/socket.io/**", lambda route: route.abort())
    page.context.set_offline(True)
    send(page, "what is not yet sent")
    expect(page.locator(".person.sending")).to_be_visible()
    assert faults(page) == []
    stranger = served_page.context().new_page()
    for path in ("/", "/login?token=old"):
        stranger.goto(served_page.server.url + path)
        expect(stranger.get_by_role("heading", name="Onefold")).to_be_visible()
        assert faults(stranger) == []
