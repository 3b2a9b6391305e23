"""Thirteen errands, counted in keys and clicks: `python -m tests.bench.errands`, by hand.

Both screens are driven as a person would, in a real terminal and a real browser. What is counted is
each key and click but a person's own words: a task, a command for the shell, letters of the name of
a file. Beside them stands what the documentation of the peer with the fewest says of it, read on
2026-11-29; no peer is run.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect, sync_playwright

from config import ROOT
from tests.bench.bench_page import CHROMIUM
from tests.modules.cli.terminal import Terminal
from tests.modules.git.person.repositories import commit_file, make_repository
from tests.racing import program_variables, start
from tests.simulator import Call, Pause, Say, Simulator
from tests.simulator.script import Step
from tests.simulator.server import ReceivedRequest

TEXT = "one\ntwo\nthree\n"


class Peer(NamedTuple):
    """The fewest keys that a peer documents, which it is, and how it is done there."""

    fewest: int
    how: str


PEERS = {
    "send a task": Peer(1, "all: Enter"),
    "attach a file's content": Peer(2, "opencode: @, Enter"),
    "approve a command": Peer(1, "fewer is not possible"),
    "approve it for good": Peer(1, "fewer is not possible"),
    "see the last change": Peer(0, "fewer is not possible"),
    "undo the last turn": Peer(2, "opencode: Ctrl-X, U"),
    "resume an earlier session": Peer(4, "opencode: Ctrl-X, L, ↓, Enter"),
    "change the model": Peer(3, "Claude Code: Alt-P, ↓, Enter"),
    "plan first": Peer(1, "opencode: Tab"),
    "stop and correct": Peer(2, "Claude Code: Esc, Enter"),
    "run a shell command": Peer(2, "all: !, Enter"),
    "see tokens and cost": Peer(2, "opencode: Ctrl-X, S"),
    "commit all changes": Peer(1, "all: a word to the agent, Enter"),
}


def answer(request: ReceivedRequest) -> Step:
    """Do what the last message names."""
    said, role = str(request.messages[-1]["content"]), request.messages[-1]["role"]
    if role == "tool":
        return Say("Done.")
    if "change" in said:
        return Call("modify_file", path="a.txt", operation="replace", old="two", new="zwei")
    if "make" in said:
        return Call("create_file", path="new.txt", content="new")
    if "commit" in said:
        return Call("git_commit", message="Make it")
    if "run" in said:
        return Call("run_command", command=f"echo {said.split()[-1]}", network=True)
    if "long" in said:
        return (Say("I begin. "), Pause(600))
    return Say("Hello.")


@dataclass
class Counted:
    """Counts of what was pressed, by errand."""

    counts: dict[str, int] = field(default_factory=dict)
    errand: str = ""

    def begin(self, errand: str) -> None:
        assert errand in PEERS
        self.errand = errand
        self.counts[errand] = 0

    def add(self, count: int = 1) -> None:
        if self.errand:
            self.counts[self.errand] += count


@dataclass
class TerminalPerson:
    """Types in a terminal; *words* are not counted."""

    terminal: Terminal
    counted: Counted

    def press(self, *keys: str) -> None:
        for key in keys:
            self.counted.add()
            self.terminal.press(key)

    def words(self, text: str) -> None:
        self.terminal.press("-l", text)

    def line(self, text: str) -> None:
        """Type a line that belongs to no errand."""
        self.counted.errand = ""
        self.words(text)
        self.terminal.press("Enter")

    def see(self, text: str) -> None:
        self.terminal.wait_for_text(text)

    def see_prompt(self) -> None:
        """Wait until an empty line is read."""
        self.terminal.wait_for(re.compile(r"›\s*\n\s+\S+ · (fast|think)").search)

    def see_question(self, about: str) -> None:
        """Wait until what is asked *about* can be answered."""
        asked = re.compile(rf"{re.escape(about)}.*y yes", re.DOTALL)
        self.terminal.wait_for(asked.search)

    def errand(self, name: str) -> None:
        self.counted.begin(name)


@contextmanager
def in_terminal(base: Path, server: Simulator) -> Iterator[TerminalPerson]:
    """Run Onefold in a terminal on `base/project`."""
    terminal = Terminal(f"onefold-{uuid.uuid4().hex[:8]}")
    variables = {"PATH": os.defpath, "LANG": "C.UTF-8", **program_variables(base, server)}
    said = [f"{name}={value}" for name, value in variables.items()]
    argv = shlex.join(["env", "-i", *said, sys.executable, str(ROOT / "main.py"), "--cli"])
    line = f"cd {shlex.quote(str(base / 'project'))}; {argv}; cat"
    terminal.tmux("new-session", "-d", "-x", "100", "-y", "40", line)
    try:
        terminal.wait_for_text("guarded")
        yield TerminalPerson(terminal, Counted())
    finally:
        terminal.tmux("kill-server")


def terminal_errands(person: TerminalPerson) -> None:
    person.errand("send a task")
    person.words("say hello")
    person.press("Enter")
    person.see("turn 1 ·")
    person.errand("attach a file's content")
    person.words("look at ")
    person.press("@")
    person.words("a.t")
    person.see("  a.txt")
    person.press("Tab")
    person.line(" ")
    person.see("turn 2 ·")
    person.line("run one")
    person.see_question("Run echo one")
    person.errand("approve a command")
    person.press("y")
    person.see("turn 3 ·")
    person.line("run two")
    person.see_question("Run echo two")
    person.errand("approve it for good")
    person.press("a")
    person.see("turn 4 ·")
    person.line("change it")
    person.errand("see the last change")
    person.see("+ zwei")
    person.counted.errand = ""
    person.see("turn 5 ·")
    person.see_prompt()
    person.errand("undo the last turn")
    person.press("C-x", "u")
    person.see("reverted")
    person.see_prompt()
    person.errand("see tokens and cost")
    person.press("C-x", "s")
    person.see("Cache hits")
    person.see_prompt()
    person.errand("change the model")
    person.press("M-p")
    person.see("deepseek-v4-pro")
    person.press("Down", "Enter")
    person.see("deepseek-v4-pro · fast")
    person.see_prompt()
    person.errand("run a shell command")
    person.press("!")
    person.words("echo sh''ell")
    person.press("Enter")
    person.see("shell")
    person.see_prompt()
    person.line("long one")
    person.see("I begin.")
    person.errand("stop and correct")
    person.press("Escape")
    person.see("Stopped")
    person.see_prompt()
    person.words("say hello again")
    person.press("Enter")
    person.see("turn 7 ·")
    person.see_prompt()
    person.line("make it")
    person.see("turn 8 ·")
    person.see_prompt()
    person.errand("commit all changes")
    person.words("commit it")
    person.press("Enter")
    person.see("turn 9 ·")
    person.see_prompt()
    person.errand("plan first")
    person.press("BTab")
    person.see("plan ·")
    person.line("/new")
    person.see("New session")
    person.see_prompt()
    person.errand("resume an earlier session")
    person.press("C-x", "l")
    person.see("Enter selects")
    person.press("Enter")
    person.see("Resumed")


@dataclass
class PagePerson:
    """Clicks and types on the page; what is filled in is not counted."""

    page: Page
    counted: Counted

    def click(self, *wanted: Locator) -> None:
        for each in wanted:
            each.click()
            self.counted.add()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.counted.add()

    def words(self, text: str) -> None:
        self.page.keyboard.type(text)

    def line(self, text: str) -> None:
        """Send what belongs to no errand, and wait for the end of its turn."""
        self.begin(text)
        self.see_end()

    def begin(self, text: str) -> None:
        self.counted.errand = ""
        self.page.locator(".composer textarea").focus()
        self.words(text)
        self.page.keyboard.press("Enter")

    def see_end(self) -> None:
        expect(self.page.locator(".composer .stop")).to_be_hidden()
        expect(self.page.locator(".person.sending")).to_have_count(0)

    def errand(self, name: str) -> None:
        self.counted.begin(name)


@contextmanager
def on_page(base: Path, server: Simulator) -> Iterator[PagePerson]:
    """Serve `base/project`, and look at it in a browser."""
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with start(base, server, "--web", "--port", "0") as process, sync_playwright() as playwright:
        assert process.stdout
        found = (re.search(r"http://\S+/login\?token=\S+", line) for line in process.stdout)
        link = next(filter(None, found))[0]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(link)
        expect(page.locator(".composer textarea")).to_be_focused()
        yield PagePerson(page, Counted())
        browser.close()
        process.kill()


def page_errands(person: PagePerson) -> None:
    page = person.page
    person.errand("send a task")
    person.words("say hello")
    person.press("Enter")
    expect(page.locator(".reply")).to_have_text("Hello.")
    person.errand("attach a file's content")
    person.words("look at ")
    person.press("@")
    person.words("a.t")
    expect(page.locator(".completion li")).to_have_text("a.txt")
    person.press("Enter")
    person.line("")
    person.begin("run one")
    yes = page.get_by_role("button", name="Yes", exact=True)
    expect(yes).to_be_enabled()
    person.errand("approve a command")
    person.click(yes)
    person.see_end()
    person.begin("run two")
    expect(yes).to_be_enabled()
    person.errand("approve it for good")
    person.click(page.locator(".approval > .buttons button").nth(1))
    person.see_end()
    person.line("change it")
    person.errand("see the last change")
    expect(page.locator(".diff .added").first).to_contain_text("zwei")
    person.errand("undo the last turn")
    person.click(page.locator(".statusbar .last-undo"))
    expect(page.locator(".undone:visible").first).to_be_visible()
    person.errand("see tokens and cost")
    expect(page.locator(".statusbar")).to_contain_text("$")
    person.errand("change the model")
    model = page.locator(".composer .model-choice")
    person.click(model, page.get_by_role("option", name="deepseek-v4-pro"))
    expect(model).to_have_text("deepseek-v4-pro")
    person.errand("run a shell command")
    page.locator(".composer textarea").focus()
    person.press("!")
    person.words("echo sh''ell")
    person.press("Enter")
    expect(page.locator(".log")).to_contain_text("shell")
    person.begin("long one")
    expect(page.locator(".reply").last).to_contain_text("I begin.")
    person.errand("stop and correct")
    person.words("say hello again")
    person.press("Control+Enter")
    expect(page.locator(".reply").last).to_have_text("Hello.")
    person.line("make it")
    person.errand("commit all changes")
    person.click(page.locator(".statusbar .branch"))
    person.click(page.locator("[data-act=stage-all]:visible").first)
    page.get_by_label("Commit message").fill("Change it")
    person.click(page.get_by_role("button", name="Commit", exact=True))
    expect(page.locator(".git-log .commit")).to_have_count(2)
    person.errand("plan first")
    person.press("Alt+p")
    expect(page.get_by_label("Approval mode")).to_have_value("plan")
    page.get_by_role("button", name="New session", exact=True).click()
    expect(page.locator(".welcome")).to_be_visible()
    person.errand("resume an earlier session")
    person.click(page.locator(".session .choose", has_text="say hello"))
    expect(page.locator(".reply").first).to_have_text("Hello.")


@contextmanager
def project() -> Iterator[tuple[Path, Simulator]]:
    """Yield a folder with a repository in it, and the server that does what it is told."""
    with tempfile.TemporaryDirectory() as name, Simulator(answer) as server:
        commit_file(make_repository(Path(name, "project")), "a.txt", TEXT)
        yield Path(name), server


def main() -> None:
    with project() as (base, server), in_terminal(base, server) as typing:
        terminal_errands(typing)
    with project() as (base, server), on_page(base, server) as clicking:
        page_errands(clicking)
    terminal, page = typing.counted.counts, clicking.counted.counts
    sys.stdout.write(f"{'':28} terminal  page  fewest of the peers\n")
    for name, (count, how) in PEERS.items():
        sys.stdout.write(f"{name:28} {terminal[name]:8}  {page[name]:4}  {count:2}  {how}\n")


if __name__ == "__main__":
    expect.set_options(timeout=60_000)
    main()
