"""A race on the page, begun and answered from the board: by the real program, in real copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import TIMEOUT_SECONDS, replies, send
from tests.racing import Responder, content_of, creates, start, writes
from tests.simulator import Call, Simulator

MESS = "rm gone.txt; chmod 755 a.txt; ln -s a.txt link; mkdir -m 700 empty; printf '\\000' > raw"


@contextmanager
def served(base: Path, simulator: Simulator, browser: Browser) -> Iterator[Page]:
    """Yield the page of the program that serves `base/project`; it is killed behind that."""
    with start(base, simulator, "--web", "--port", "0") as process:
        assert process.stdout
        try:
            found = (re.search(r"http://\S+/login\?token=\S+", line) for line in process.stdout)
            link = next(filter(None, found))[0]
            context = browser.new_context(service_workers="block")
            context.set_default_timeout(TIMEOUT_SECONDS * 1000)
            page = context.new_page()
            page.goto(link)
            page.goto(f"{link.partition('/login')[0]}/?lang=en")
            yield page
            context.close()
        finally:
            process.kill()


def test_a_race_is_begun_from_the_board_and_one_undo_takes_its_result_back(
    tmp_path: Path, chromium: Browser
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("a.txt", "gone.txt"):
        (project / name).write_text(f"{name}\n")
    before = content_of(project)
    racers = [creates("1\n"), writes(Call("run_command", command=MESS))]
    with Simulator(Responder(racers)) as simulator:
        with served(tmp_path, simulator, chromium) as page:
            send(page, "/agents")
            board = page.get_by_role("dialog", name="At work in this project")
            board.get_by_role("textbox", name="Task for a new session").fill("/race 2 Do it.")
            board.get_by_role("button", name="Start", exact=True).click()
            race = board.get_by_role("listitem").filter(has=page.get_by_text("race", exact=True))
            expect(race.locator(".state")).to_have_text("asks")
            expect(race.locator(".doing")).to_have_text("Which result should be taken?")
            assert faults(page) == []
        # It was killed in the midst of the choice: who comes again is asked again.
        with served(tmp_path, simulator, chromium) as page:
            page.locator(".sessions .choose", has_text="/race 2 Do it.").click()
            table = page.get_by_role("table").last  # unfolded, as one chooses by it
            expect(table.get_by_role("row")).to_have_count(3)
            copies = sorted(one for one in tmp_path.iterdir() if "-race-" in one.name)
            number = next(n for n, one in enumerate(copies, 1) if (one / "link").is_symlink())
            wanted = content_of(copies[number - 1])
            choice = page.get_by_role("group", name="Question")
            stop = page.get_by_role("button", name="Stop", exact=True)
            expect(stop).to_be_visible()
            choice.get_by_role("button", name=re.compile(rf"\bRacer {number}\b")).click()
            expect(page.get_by_text(f"Took the result of racer {number}")).to_be_visible()
            # Not before the turn is over: its copies go after the result is shown.
            expect(stop).to_be_hidden()
            expect(choice).to_have_count(0)
            assert content_of(project) == wanted
            assert [one for one in tmp_path.iterdir() if "-race-" in one.name] == []
            send(page, "And now?")
            expect(replies(page).last).to_have_text("So be it.")
            send(page, "/undo")
            expect(page.get_by_text("restored")).to_be_visible()
            assert content_of(project) == before
            assert faults(page) == []
