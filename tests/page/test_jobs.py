from __future__ import annotations

from playwright.sync_api import expect

from tests.page.served_page import ServedPage, send
from tests.scripted_model import call_reply, text_reply

SERVE = "echo hello from the job; python3 -um http.server 8000"
WAIT = "while [ ! -e now ]; do sleep 0.1; done; exit 3"


def test_a_job_is_followed_below_its_card_and_stopped_there(served_page: ServedPage) -> None:
    page = served_page.open()
    served_page.model.replies += [
        call_reply("run_command", command=SERVE, background=True),
        text_reply("It runs."),
    ]
    send(page, "serve it")
    expect(page.locator(".reply")).to_have_text("It runs.")
    job = page.locator(".call .job")
    expect(job).to_contain_text("job 1 is running, port 8000")
    expect(job).to_contain_text("hello from the job")
    expect(page.locator(".statusbar .running")).to_have_text("1 job")
    expect(page.locator(".call .output:visible")).to_have_count(1)  # nothing is said twice
    expect(
        page.locator(".call").get_by_text("job 1 is running").locator("visible=true")
    ).to_have_count(1)
    served_page.model.replies += [
        call_reply("run_command", command="curl -sS --noproxy '*' localhost:8000/x", id="c2"),
        text_reply("Fetched."),
    ]
    send(page, "fetch")
    expect(job).to_contain_text("GET /x")
    page.reload()
    expect(job).to_contain_text("GET /x")
    job.get_by_role("button", name="Stop").click()
    expect(job).to_contain_text("job 1 was stopped")
    expect(job.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.locator(".statusbar .running")).to_be_hidden()


def test_the_end_of_a_job_is_news_though_no_task_runs(served_page: ServedPage) -> None:
    page = served_page.open()
    served_page.model.replies += [
        call_reply("run_command", command=WAIT, background=True),
        text_reply("It waits."),
    ]
    send(page, "wait for it")
    expect(page.locator(".reply")).to_have_text("It waits.")
    (served_page.project / "now").touch()
    expect(page.locator(".conversation")).to_contain_text("job 1 ended: exit code 3: while")
    expect(page.locator(".call .job")).to_contain_text("job 1 ended: exit code 3")


def test_the_end_of_a_job_with_a_long_command_fits_a_narrow_screen(
    served_page: ServedPage,
) -> None:
    page = served_page.open(width=390)
    served_page.model.replies += [
        call_reply("run_command", command=f"true {'x' * 100}; {WAIT}", background=True),
        text_reply("It waits."),
    ]
    send(page, "wait for it")
    expect(page.locator(".reply")).to_have_text("It waits.")
    (served_page.project / "now").touch()
    remark = page.locator(".remark").filter(has_text="job 1 ended")
    expect(remark).to_be_visible()
    assert remark.evaluate("one => one.scrollWidth <= one.parentElement.clientWidth")


MENU = "echo which; read -s name; clear; echo chosen: $name; read -s end; exit 4"


def test_the_screen_of_a_terminal_is_seen_as_it_goes_and_when_one_comes_back(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    served_page.model.replies += [
        call_reply("run_command", command=MENU, tty=True),
        call_reply("jobs", id="w", operation="wait", text="which"),
        text_reply("It asks."),
    ]
    send(page, "begin")
    expect(page.locator(".reply")).to_have_text("It asks.")
    screen = page.locator(".call .job .screen")
    expect(screen).to_have_text("which")
    served_page.model.replies += [
        call_reply("jobs", id="k", operation="input", text="one<Enter>"),
        call_reply("jobs", id="x", operation="wait", text="chosen: one"),
        text_reply("It knows."),
    ]
    send(page, "choose")
    expect(screen).to_have_text("chosen: one")
    assert screen.locator("pre").evaluate("one => getComputedStyle(one).whiteSpace") == "pre"
    page.reload()
    expect(screen).to_have_text("chosen: one")
    expect(page.locator(".reply").last).to_have_text("It knows.")
    served_page.model.replies += [
        call_reply("jobs", id="e", operation="input", text="<Enter>"),
        call_reply("jobs", id="y", operation="wait"),
        text_reply("It ended."),
    ]
    send(page, "end it")
    expect(page.locator(".call .job")).to_contain_text("job 1 ended: exit code 4")
    expect(screen).to_have_text("chosen: one")
