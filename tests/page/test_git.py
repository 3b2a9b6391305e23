"""The Git pane: state, diffs, stage, commit with an offered message, branches and log, live."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.modules.git.person.repositories import commit_file, make_repository, run_git, status
from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, send
from tests.scripted_model import text_reply

LINES = "".join(f"line {n}\n" for n in range(1, 31))


@pytest.fixture
def project(served_page: ServedPage) -> Path:
    root = make_repository(served_page.project)
    commit_file(root, "a.py", LINES, "Begin")
    return root


def opened(served_page: ServedPage, language: str = "en", **options: object) -> Page:
    """Return a page with the Git pane open, as Ctrl-K opens it."""
    page = served_page.open(language=language, **options)
    page.keyboard.press("Control+k")
    field = page.locator("dialog.palette input")
    field.fill("git")
    first = page.locator("dialog.palette [role=option]").first
    expect(first).to_contain_text("Git")
    field.press("Enter")
    expect(page.locator(".git-pane select")).to_be_visible()
    return page


def section(page: Page, kind: str) -> Locator:
    return page.locator(f".git-section[data-kind={kind}]")


def test_a_change_is_looked_at_staged_and_committed(served_page: ServedPage, project: Path) -> None:
    (project / "a.py").write_text(LINES.replace("line 2\n", "two\n").replace("line 29\n", "x\n"))
    (project / "-n 新.txt").write_text("new\n")
    page = opened(served_page)
    section(page, "unstaged").locator("summary").click()
    hunks = section(page, "unstaged").locator(".hunk")
    expect(hunks).to_have_count(2)
    assert faults(page) == []
    page.get_by_role("button", name="Stage change 1 of 2 in a.py").press("Enter")
    expect(section(page, "staged").locator(".file-changes")).to_have_count(1)
    expect(hunks).to_have_count(1)
    page.get_by_role("button", name="Stage -n 新.txt").press("Enter")
    expect(section(page, "staged").locator(".file-changes")).to_have_count(2)
    commit = page.get_by_role("button", name="Commit", exact=True)
    expect(commit).to_be_disabled()
    page.get_by_label("Commit message").fill("Change two\n\nwith a reason")
    expect(commit).to_be_enabled()
    page.get_by_label("Commit message").press("Control+Enter")
    expect(page.locator(".git-log .commit")).to_have_count(2)
    expect(page.get_by_label("Commit message")).to_have_value("")
    expect(section(page, "staged")).to_be_hidden()
    assert run_git("log", "-1", "--format=%B", at=project).strip() == "Change two\n\nwith a reason"
    assert status(project) == " M a.py\n"
    page.locator(".git-log summary").first.click()
    expect(page.locator(".commit-body .diff")).to_have_count(2)
    expect(page.locator(".commit-body .message")).to_contain_text("with a reason")
    assert faults(page) == []


def test_discarding_asks_and_undo_brings_it_back(served_page: ServedPage, project: Path) -> None:
    (project / "a.py").write_text("mine\n")
    page = opened(served_page)
    discard = page.get_by_role("button", name="Discard a.py")
    discard.click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    discard.click()
    page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    expect(section(page, "unstaged")).to_be_hidden()
    assert (project / "a.py").read_text() == LINES
    send(page, "/undo")
    expect(section(page, "unstaged").locator(".file-changes")).to_have_count(1)
    assert (project / "a.py").read_text() == "mine\n"


def test_the_model_offers_a_message_when_asked(served_page: ServedPage, project: Path) -> None:
    served_page.model.replies = [text_reply("Rename the first line")]
    (project / "a.py").write_text("mine\n")
    run_git("add", "a.py", at=project)
    page = opened(served_page)
    expect(page.get_by_role("button", name="Suggest")).to_be_enabled()
    assert served_page.model.requests == []
    page.get_by_role("button", name="Suggest").click()
    expect(page.get_by_label("Commit message")).to_have_value("Rename the first line")
    expect(page.locator(".git-pane .said")).to_contain_text("Cost: 110 tokens, $0.0010")
    assert len(served_page.model.requests) == 1


def test_what_happens_outside_is_shown_and_the_field_keeps_its_text(
    served_page: ServedPage, project: Path
) -> None:
    (project / "a.py").write_text("mine\n")
    page = opened(served_page)
    message = page.get_by_label("Commit message")
    message.fill("Half a mess")
    message.press("End")
    section(page, "unstaged").locator("summary").click()
    expect(section(page, "unstaged").locator(".diff")).to_contain_text("mine")
    message.focus()
    (project / "a.py").write_text("others\n")
    (project / "b.py").write_text("new\n")
    expect(section(page, "unstaged").locator(".diff")).to_contain_text("others")
    expect(section(page, "untracked").locator(".file-changes")).to_have_count(1)
    run_git("add", "b.py", at=project)  # which changes no file: it is seen when one comes back
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(section(page, "staged").locator(".file-changes")).to_have_count(1)
    expect(message).to_be_focused()
    page.keyboard.type("age")
    expect(message).to_have_value("Half a message")
    page.reload()
    page.keyboard.press("Control+k")
    page.locator("dialog.palette input").fill("git")
    expect(page.locator("dialog.palette [role=option]").first).to_contain_text("Git")
    page.keyboard.press("Enter")
    expect(message).to_have_value("Half a message")


def test_branches_are_made_and_switched_by_keyboard(served_page: ServedPage, project: Path) -> None:
    page = opened(served_page)
    page.get_by_role("button", name="New branch").press("Enter")
    name = page.get_by_label("Name of the new branch")
    expect(name).to_be_focused()
    name.fill("no good")
    name.press("Enter")
    expect(page.locator(".notices")).to_contain_text("is no name of a branch")
    name.fill("side")
    name.press("Enter")
    branches = page.get_by_label("Branch", exact=True)
    expect(branches).to_have_value("side")
    expect(name).to_be_hidden()
    commit_file(project, "a.py", "side\n")
    shown = page.locator(".statusbar .branch")
    expect(shown).to_have_text("side")
    branches.select_option("main")
    page.get_by_role("button", name="Switch").press("Enter")
    expect(page.locator(".git-pane .said")).to_contain_text("Switched to main.")
    expect(shown).to_have_text("main")
    assert (project / "a.py").read_text() == LINES
    expect(branches).to_be_focused()
    (project / "a.py").write_text("mine\n")
    branches.select_option("side")
    page.get_by_role("button", name="Switch").press("Enter")
    expect(page.locator(".notices")).to_contain_text("would lose changes in a.py")
    assert (project / "a.py").read_text() == "mine\n"


def test_secrets_are_committed_after_a_question(served_page: ServedPage, project: Path) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
    (project / "key.pem").write_text(key)
    run_git("add", "key.pem", at=project)
    page = opened(served_page)
    page.get_by_label("Commit message").fill("Keep it")
    page.get_by_role("button", name="Commit", exact=True).click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("key.pem")
    question.get_by_role("button", name="Commit anyway").click()
    expect(page.locator(".git-log .commit")).to_have_count(2)


def test_the_command_opens_it_and_says_where_there_is_no_repository(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    send(page, "/git")
    expect(page.locator(".conversation")).to_contain_text("not a git repository")
    page.keyboard.press("Control+k")
    page.locator("dialog.palette input").fill("git")
    expect(page.locator("dialog.palette [role=option]").first).to_contain_text("Git")
    page.keyboard.press("Enter")
    expect(page.locator(".git-pane .pane-empty")).to_contain_text("not a git repository")
    make_repository(served_page.project)
    send(page, "/git")
    expect(page.locator(".git-pane select")).to_have_value("main")
    expect(page.locator(".where-head")).to_contain_text("no commit yet")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("language", "width"), [("en", 1440), ("zh", 390)])
def test_it_fits_in_both_languages(
    served_page: ServedPage, project: Path, language: str, width: int, scheme: str
) -> None:
    (project / "a.py").write_text(LINES.replace("line 2\n", "two\n").replace("line 29\n", "x\n"))
    (project / "a folder with a long name").mkdir()
    (project / "a folder with a long name" / "一个很长的文件名.txt").write_text("new\n")
    run_git("add", ".", at=project)
    (project / "a.py").write_text("mine\n" + LINES)
    page = opened(served_page, language, width=width, color_scheme=scheme)
    for kind in ("staged", "unstaged"):
        section(page, kind).locator("summary").last.click()
        expect(section(page, kind).locator(".diff").first).to_be_visible()
    assert faults(page) == []
    assert page.locator(".git-pane").evaluate("it => it.scrollWidth <= it.clientWidth")
    if width == 390:
        expect(page.locator("#tab-changes")).to_have_attribute("aria-selected", "true")


def stopped(*arguments: str, at: Path) -> None:
    """Run git until it stops for a conflict."""
    with pytest.raises(CalledProcessError):
        run_git(*arguments, at=at)


def test_a_rebase_is_gone_on_with_once_its_conflicts_are_staged(
    served_page: ServedPage, project: Path
) -> None:
    run_git("checkout", "-qb", "side", at=project)
    commit_file(project, "a.py", "side\n", "Aside")
    run_git("checkout", "-q", "main", at=project)
    commit_file(project, "a.py", "main\n", "Main")
    stopped("rebase", "main", "side", at=project)
    page = opened(served_page)
    under_way = page.locator(".under-way")
    expect(under_way).to_contain_text("A rebase is in progress.")
    onward = under_way.get_by_role("button", name="Continue")
    expect(onward).to_be_disabled()
    assert faults(page) == []
    (project / "a.py").write_text("both\n")
    page.get_by_role("button", name="Stage a.py").click()
    onward.click()
    expect(under_way).to_be_hidden()
    expect(page.get_by_label("Branch", exact=True)).to_have_value("side")
    expect(page.locator(".git-log .commit")).to_have_count(3)
    assert run_git("log", "--format=%s", at=project).split() == ["Aside", "Main", "Begin"]
    assert (project / "a.py").read_text() == "both\n"


def test_what_is_under_way_is_skipped_aborted_or_ended(
    served_page: ServedPage, project: Path
) -> None:
    for text in ("one\n", "two\n", "three\n"):
        commit_file(project, "a.py", text, text.strip())
    stopped("revert", "--no-edit", "HEAD~1", "HEAD~2", at=project)
    page = opened(served_page)
    under_way = page.locator(".under-way")
    expect(under_way).to_contain_text("A revert is in progress.")

    def confirm(name: str) -> None:
        under_way.get_by_role("button", name=name).click()
        page.get_by_role("alertdialog").get_by_role("button", name=name).click()

    confirm("Skip this commit")  # and the next one stops as well
    expect(page.locator(".call[data-kind=run]")).to_have_count(1)
    expect(under_way).to_contain_text("A revert is in progress.")
    confirm("Abort")
    expect(under_way).to_be_hidden()
    assert (project / "a.py").read_text() == "three\n"
    assert status(project) == ""
    run_git("bisect", "start", at=project)
    page.evaluate("dispatchEvent(new Event('focus'))")
    under_way.get_by_role("button", name="End the bisect").click()
    expect(under_way).to_be_hidden()
    assert not (project / ".git" / "BISECT_LOG").exists()


def test_thousands_of_files_are_bounded(served_page: ServedPage, project: Path) -> None:
    for number in range(1_200):
        (project / f"file {number}.txt").write_text("x\n")
    page = opened(served_page)
    expect(section(page, "untracked").locator(".file-changes")).to_have_count(1_000)
    expect(section(page, "untracked").locator(".more-files")).to_have_text("… and 200 more")
