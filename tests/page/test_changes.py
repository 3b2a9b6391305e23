"""What changed in the files: seen, accepted, taken back, by hunk, file, call and turn."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.page.accessibility import faults
from tests.page.request_holding import intercept
from tests.page.served_page import Gate, ServedPage, replies, send
from tests.scripted_model import call_reply, text_reply

OLD = "".join(f"line {number}\n" for number in range(1, 41))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 38\n", "38\n")
RUN = "mkdir docs && mv old.md docs/new.md && chmod +x tool.sh && printf '\\0\\2' > bin && rm gone"


@pytest.fixture
def stage(served_page: ServedPage) -> ServedPage:
    """A project that the next two messages will change."""
    (served_page.project / "f.txt").write_text(OLD)
    for name in ("old.md", "tool.sh", "gone"):
        (served_page.project / name).write_text(f"# {name}\n")
    (served_page.project / "bin").write_bytes(b"\0\1")
    served_page.model.replies = [
        call_reply(
            "modify_file", id="a", path="f.txt", operation="replace", old="e 3\n", new="e three\n"
        ),
        call_reply("create_file", id="b", path="new.txt", content="print('hi')\n"),
        text_reply("one"),
        call_reply(
            "modify_file", id="c", path="f.txt", operation="replace", old="line 38\n", new="38\n"
        ),
        call_reply("run_command", id="d", command=RUN),
        text_reply("two"),
        text_reply("three"),
    ]
    return served_page


def play(page: Page, times: int = 2) -> None:
    for number in range(1, times + 1):
        send(page, "go")
        expect(page.locator(".end")).to_have_count(number)
        expect(act(page, "Stop").or_(act(page, "停止"))).to_be_hidden()


def act(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def hunks(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True).locator(".hunk")


def text(stage: ServedPage) -> str:
    return (stage.project / "f.txt").read_text()


def test_what_others_changed_stands_apart(stage: ServedPage) -> None:
    page = stage.open()
    play(page, 1)
    expect(page.locator(".changes-head .total")).to_have_text("2 files changed")
    others = page.get_by_role("region", name="Not changed by this session")
    expect(others).to_be_hidden()
    (stage.project / "mine.txt").write_text("by hand\n")
    expect(others.get_by_role("region", name="mine.txt", exact=True)).to_be_visible()
    expect(others.locator(".file-changes")).to_have_count(1)
    expect(page.locator(".file-changes")).to_have_count(3)
    expect(page.locator(".changes-head .total")).to_have_text("2 files changed")
    act(page, "Accept all").click()
    expect(page.locator(".file-changes")).to_have_count(1)
    expect(act(page, "Accept all")).to_be_hidden()
    others.get_by_role("button", name="Accept these too").click()
    expect(others).to_be_hidden()


def test_a_hunk_is_undone_and_another_accepted_by_keyboard(stage: ServedPage) -> None:
    page = stage.open()
    play(page)
    expect(hunks(page, "f.txt")).to_have_count(2)
    expect(hunks(page, "f.txt").first.locator("mark")).to_have_text(["3", "three"])
    act(page, "Undo change 1 of 2 in f.txt").focus()
    page.keyboard.press("Enter")
    expect(hunks(page, "f.txt")).to_have_count(1)
    assert text(stage) == NEW.replace("line three\n", "line 3\n")
    expect(act(page, "Undo change 1 of 1 in f.txt")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(hunks(page, "f.txt")).to_have_count(0)
    assert text(stage) == NEW.replace("line three\n", "line 3\n")
    page.reload()
    expect(page.locator(".changes .total")).to_have_text("5 files changed")
    expect(hunks(page, "f.txt")).to_have_count(0)
    act(page, "Redo").click()
    expect(hunks(page, "f.txt")).to_have_count(1)
    assert text(stage) == NEW


def test_files_that_are_no_text_are_undone_and_accepted_whole(stage: ServedPage) -> None:
    page = stage.open()
    play(page)
    files = page.locator(".file-changes .name")
    expect(files).to_have_text(["bin", "new.md", "f.txt", "gone", "new.txt", "tool.sh"])
    act(page, "Undo docs/new.md").click()
    expect(files).to_have_text(["bin", "f.txt", "gone", "new.txt", "tool.sh"])
    assert (stage.project / "old.md").exists()
    act(page, "Undo tool.sh").click()
    act(page, "Undo gone").click()
    act(page, "Accept bin").click()
    expect(files).to_have_text(["f.txt", "new.txt"])
    act(page, "Undo new.txt").click()
    expect(files).to_have_text(["f.txt"])
    assert not (stage.project / "new.txt").exists()
    assert (stage.project / "gone").read_text() == "# gone\n"
    act(page, "Accept all").click()
    expect(page.locator(".changes")).to_contain_text("All changes are accepted or undone.")
    act(page, "Show accepted changes again").click()
    expect(files).to_have_text(["bin", "f.txt"])


@pytest.mark.parametrize(("deed", "left"), [("undo", OLD), ("accept", NEW)])
def test_quick_clicks_hit_the_hunks_they_were_meant_for(
    stage: ServedPage, deed: str, left: str
) -> None:
    page = stage.open()
    play(page)
    buttons = hunks(page, "f.txt").locator(f"[data-act={deed}]")
    expect(buttons).to_have_count(2)
    buttons.evaluate_all("all => all.forEach((each) => each.click())")
    expect(hunks(page, "f.txt")).to_have_count(0)
    assert text(stage) == left
    expect(page.locator(".notice")).to_have_count(0)


def test_a_conflict_is_said_and_both_are_kept(stage: ServedPage) -> None:
    page = stage.open()
    play(page, 1)
    (stage.project / "f.txt").write_text(OLD.replace("line 3\n", "mine\n"))
    act(page, "Undo: Change f.txt").click()
    said = "both kept · f.txt · your version is kept; the earlier one is f.txt.undo-conflict"
    expect(page.locator(".notice")).to_contain_text(said)
    assert text(stage) == OLD.replace("line 3\n", "mine\n")
    assert (stage.project / "f.txt.undo-conflict").read_text() == OLD


def test_changes_since_a_turn(stage: ServedPage) -> None:
    page = stage.open()
    play(page)
    page.get_by_role("combobox", name="Show changes").select_option("since turn 2")
    expect(hunks(page, "f.txt")).to_have_count(1)
    expect(page.locator(".file-changes .name", has_text="new.txt")).to_have_count(0)


def test_what_is_shown_is_undone_and_not_what_was_chosen_meanwhile(stage: ServedPage) -> None:
    page = stage.open()
    play(page)
    expect(hunks(page, "f.txt")).to_have_count(2)
    held: list[Route] = []
    intercept(page, "**/changes?turn=2", lambda route: held.append(route))
    with page.expect_request("**/changes?turn=2"):
        page.get_by_role("combobox", name="Show changes").select_option("since turn 2")
    with page.expect_response("**/take-back") as answer:
        act(page, "Undo f.txt").click()
    assert answer.value.ok
    assert text(stage) == OLD
    for route in held:
        route.continue_()
    expect(hunks(page, "f.txt")).to_have_count(1)  # against how turn 2 found it


def test_a_call_is_undone_and_redone_in_every_tab(stage: ServedPage) -> None:
    page, other = stage.open(), stage.open()
    play(page)
    act(page, "Undo: Change f.txt").first.click()
    expect(act(page, "Redo: Change f.txt")).to_be_visible()
    assert text(stage) == OLD.replace("line 38\n", "38\n")
    other.goto(page.url)
    for tab in (page, other):
        expect(act(tab, "Redo: Change f.txt")).to_have_count(1)
        expect(tab.locator(".undone:visible")).to_have_text(["undone"])
    other.reload()
    act(other, "Redo: Change f.txt").click()
    for tab in (page, other):
        expect(tab.locator(".undone:visible")).to_have_count(0)
    assert text(stage) == NEW


def test_a_turn_is_undone_and_redone(stage: ServedPage) -> None:
    page = stage.open()
    play(page)
    act(page, "Undo: turn 1").click()
    expect(act(page, "Redo: turn 1")).to_be_visible()
    expect(act(page, "Redo: Create new.txt")).to_be_visible()
    assert text(stage) == OLD.replace("line 38\n", "38\n")
    act(page, "Redo: turn 1").click()
    expect(act(page, "Undo: turn 1")).to_be_visible()
    assert text(stage) == NEW
    act(page, "Undo the file changes of turn 2").click()
    expect(act(page, "Redo: turn 2")).to_be_visible()
    expect(page.locator(".statusbar .last-undo")).to_have_attribute("title", re.compile("turn 1"))
    act(page, "Redo: turn 2").click()
    expect(act(page, "Undo: turn 2")).to_be_visible()
    assert text(stage) == NEW
    send(page, "go")
    expect(replies(page).last).to_have_text("three")
    expect(act(page, "Undo: turn 3")).to_have_count(0)


def test_the_plan_is_shown_at_once_and_goes_back_with_its_turn(served_page: ServedPage) -> None:
    gate = Gate()
    todos = [{"title": "Write it", "status": "pending"}]
    served_page.model.replies = [
        call_reply("update_todos", id="t", todos=todos),
        [gate, *call_reply("create_file", id="f", path="new.txt", content="1\n")],
        *(text_reply("one"), text_reply("one")),
    ]
    page = served_page.open()
    plan = page.get_by_role("region", name="Plan", exact=True)
    send(page, "go")
    expect(plan.get_by_text("Write it")).to_be_visible()
    gate.open()
    expect(page.locator(".end")).to_have_count(1)
    act(page, "Undo: turn 1").click()
    expect(plan).to_be_hidden()
    act(page, "Redo: turn 1").click()
    expect(plan.get_by_text("Write it")).to_be_visible()
    page.reload()
    expect(plan.get_by_text("Write it")).to_be_visible()


def test_two_columns_where_there_is_room(stage: ServedPage) -> None:
    page = stage.open()
    play(page)
    act(page, "Side by side").click()
    row = hunks(page, "f.txt").first.locator("tr", has_text="three")
    expect(row.locator("td")).to_have_text(["3", "line 3", "3", "line three"])
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Changes").click()
    expect(act(page, "Side by side")).to_be_hidden()
    expect(hunks(page, "f.txt").first.locator("tr", has_text="three").locator("td")).to_have_count(
        3
    )


def many_changed(served_page: ServedPage) -> tuple[Page, Locator]:
    """Have the agent change more files than are sent with their hunks; the last one is folded."""
    command = "for i in $(seq 100 170); do echo text $i > f$i; done"
    served_page.model.replies = [call_reply("run_command", command=command), text_reply("done")]
    page = served_page.open()
    play(page, 1)
    expect(page.locator(".changes .total")).to_have_text("71 files changed")
    last = page.get_by_role("region", name="f170", exact=True)
    expect(last.locator(".diff")).to_have_count(0)
    return page, last


def test_many_changed_files_are_shown_when_unfolded(served_page: ServedPage) -> None:
    _page, last = many_changed(served_page)
    last.locator("summary").click()
    expect(last.locator(".diff")).to_contain_text("text 170")


@pytest.mark.parametrize("name", ["another", "f170"])
def test_a_file_is_shown_though_others_change_while_it_is_asked_for(
    served_page: ServedPage, name: str
) -> None:
    page, last = many_changed(served_page)
    held: list[Route] = []
    intercept(page, "**/changes/file?**", lambda route: held.append(route), times=1)
    with page.expect_request("**/changes/file?**"):
        last.locator("summary").click()
    with page.expect_response("**/changes?turn=0"):
        (served_page.project / name).write_text("mine\n")
    held[0].continue_()
    expect(last.locator(".diff")).to_contain_text("mine" if name == "f170" else "text 170")


def test_a_file_that_cannot_be_shown_is_folded_again(served_page: ServedPage) -> None:
    page, last = many_changed(served_page)
    intercept(page, "**/changes/file?**", lambda route: route.abort(), times=1)
    last.locator("summary").click()
    page.locator(".notice").get_by_role("button", name="Close").click()  # it lies over the list
    expect(last.locator("details")).not_to_have_attribute("open", "")
    last.locator("summary").click()
    expect(last.locator(".diff")).to_contain_text("text 170")


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [
        *((1440, "light", "en"), (1440, "dark", "zh"), (1024, "dark", "en"), (1024, "light", "zh")),
        *((390, "light", "en"), (390, "dark", "zh")),
    ],
)
def test_the_changes_have_no_faults(
    stage: ServedPage, width: int, scheme: str, language: str
) -> None:
    page = stage.open(
        language=language, width=width, color_scheme=scheme, reduced_motion="reduce", height=844
    )
    play(page)
    page.locator(".call .undoing button:visible").first.click()
    expect(page.locator(".undone:visible")).to_have_count(1)
    assert faults(page) == []
    if width == 390:
        page.get_by_role("tab").nth(2).click()
    elif width == 1024:
        page.keyboard.press("Control+j")
    expect(page.locator(".file-changes")).to_have_count(6)
    assert faults(page) == []
    if width == 1440:
        page.locator(".changes-head [aria-pressed]").click()
        expect(page.locator(".diff.split").first).to_be_visible()
        assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_narrow_pane_has_room_for_all_that_its_files_say(stage: ServedPage) -> None:
    more = {"path": "a/folder/with/names/a_file.py", "content": "x\n" * 1_400}
    stage.model.replies.insert(1, call_reply("create_file", id="e", **more))
    page = stage.open()
    play(page, 1)
    border = page.get_by_role("separator", name="Width of the pane")
    border.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    expect(border).to_have_attribute("aria-valuenow", "300")
    ends = "all => all.map((one) => [one.querySelector('.plus').getBoundingClientRect().right,"
    ends += " one.querySelector('.file-tools').getBoundingClientRect().left])"
    found = page.locator(".file-changes").evaluate_all(ends)
    assert len(found) == 3
    assert [pair for pair in found if pair[0] > pair[1]] == []
