"""Helpers on the page: a line with what each does now, unfolded its steps; after a reload too."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.served_page import Gate, ServedPage, replies, send
from tests.scripted_model import call_reply, text_reply


def test_a_helper_is_one_line_that_unfolds_and_asks_like_any_other(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.txt").write_text("hello\n", encoding="utf-8")
    gate = Gate()
    served_page.model.replies = [
        call_reply("delegate", id="d1", task="find the colour"),
        call_reply("read_file", path="a.txt"),
        call_reply("ask_person", id="c2", question="Which colour?", choices=["red", "blue"]),
        [gate, *text_reply("It is blue.")],
        text_reply("All done."),
    ]
    page = served_page.open()
    send(page, "go")
    asked = page.get_by_role("group", name="Question")
    expect(asked).to_contain_text("The helper for “find the colour” asks: Which colour?")
    line = page.locator(".helper > summary")
    expect(line).to_have_text("step 2 · waiting for you")
    asked.get_by_role("button", name="blue").click()
    expect(line).to_have_text("step 3 · Working…")
    line.click()
    expect(page.locator(".helper .call")).to_have_count(2)
    gate.open()
    expect(replies(page).last).to_have_text("All done.")
    expect_steps(page)

    page.reload()
    expect(replies(page).last).to_have_text("All done.")
    page.locator(".helper > summary").click()
    expect_steps(page)


def expect_steps(page: Page) -> None:
    """Expect the helper of the task, unfolded, with all that it did."""
    expect(page.locator(".helper > summary")).to_have_text("2 tool calls")
    expect(page.locator(".helper .call .target")).to_have_text(["a.txt", "Which colour?"])
    expect(page.locator(".helper .reply")).to_have_text("It is blue.")


def test_what_a_helper_wrote_is_undone_at_its_own_call(served_page: ServedPage) -> None:
    note, other = served_page.project / "note.txt", served_page.project / "other.txt"
    gate, (words, end) = Gate(), text_reply("Both are there.")
    served_page.model.replies = [
        call_reply("delegate", id="w1", task="write", mode="write"),
        call_reply("create_file", id="w2", path="note.txt", content="one\n"),
        call_reply("create_file", id="w3", path="other.txt", content="two\n"),
        text_reply("Written."),
        call_reply("list_files", id="l1"),  # with a step's end the page learns what was changed
        [words, gate, end],
    ]
    page = served_page.open()
    send(page, "write them")
    expect(replies(page).last).to_have_text("Both are there.")
    page.locator(".helper > summary").last.click()
    undo = page.locator(".helper").last.get_by_role("button", name="Undo: ")
    expect(undo).to_have_count(2)
    undo.first.click()  # the words are whole, the turn is not over
    expect(page.locator(".notice")).to_have_text("A task is running. Wait for it, or stop it.")
    assert note.exists()
    gate.open()
    expect(page.locator(".end")).to_have_count(1)
    undo.first.click()
    expect(page.locator(".helper").last.get_by_role("button", name="Redo: ")).to_have_count(1)
    assert not note.exists()
    assert other.read_text() == "two\n"


def test_what_a_helper_wants_to_do_is_edited_in_its_question(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("delegate", id="w1", task="write", mode="write"),
        call_reply("create_file", id="w2", path="note.txt", content="one\n"),
        text_reply("Written."),
        text_reply("It is there."),
    ]
    page = served_page.open()
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "write it")
    question = page.get_by_role("group", name="Approval")
    expect(question.locator("header")).to_contain_text("note.txt")
    expect(question.locator(".why")).to_contain_text("The helper for “write” asks")
    question.get_by_role("button", name="Edit").click()
    area = question.get_by_role("textbox", name="content")
    expect(area).to_have_value("one\n")
    area.fill("two\n")
    question.get_by_role("button", name="Do this instead").click()
    expect(replies(page).last).to_have_text("It is there.")
    assert (served_page.project / "note.txt").read_text() == "two\n"
    page.locator(".helper > summary").click()
    expect(page.locator(".helper .call .revised")).to_have_text("edited by you")


REVIEWER = "---\ndescription: Reads a change and tells of it.\ntools: Read\n---\nBe brief.\n"


def test_a_role_is_listed_agreed_to_and_answers_where_it_is_read(served_page: ServedPage) -> None:
    folder = served_page.project / ".agents" / "agents"
    folder.mkdir(parents=True)
    (folder / "reviewer.md").write_text(REVIEWER, encoding="utf-8")
    (folder / "broken.md").write_text("---\nname: broken\n---\nBe long.\n", encoding="utf-8")
    served_page.model.replies = [text_reply("Line 2 is wrong.")]
    page = served_page.open(language="zh", width=390, height=844)
    send(page, "/agent")
    rows = page.locator(".card-table tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_have_class("alarm")
    expect(rows.first).to_contain_text("文件开头的元数据中没有 description")
    label = rows.last.locator("th")
    words = "const range = document.createRange(); range.selectNodeContents(it)"
    assert label.evaluate(f"it => {{ {words}; return range.getClientRects().length }}") == 1
    assert page.locator(".card-table").evaluate("it => it.scrollWidth <= it.clientWidth")
    send(page, "/agent revewer look")
    expect(page.locator(".failed, .command").last).to_contain_text("是否指 'reviewer'？")
    send(page, "/agent reviewer look at it")
    asked = page.get_by_role("group", name="问题")
    expect(asked.locator("header")).not_to_contain_text("模型")
    asked.locator(".choices button").first.click()
    answer = page.locator(".call[data-call^=direct-]")
    expect(answer).to_contain_text("Line 2 is wrong.")  # nobody else says it
