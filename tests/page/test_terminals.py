"""Terminals in the right pane: real shells in a real browser."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.page.accessibility import faults
from tests.page.request_holding import wait_until
from tests.page.served_page import ServedPage, message, replies, send, serve_page
from tests.scripted_model import call_reply, text_reply

OUTSIDE, SANDBOX = "Yours: outside the sandbox", "In the sandbox"


@pytest.fixture
def served(tmp_path: Path, chromium: Browser) -> Iterator[ServedPage]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),  # without settings of anybody's shell
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
    }
    with serve_page(tmp_path, chromium, shell_environment=environment) as served:
        yield served
        for context in chromium.contexts:
            context.close()


def screen(page: Page) -> Locator:
    return page.locator(".terminal-view:visible .xterm-rows")


def keyboard(page: Page) -> Locator:
    return page.locator(".terminal-view:visible .xterm-helper-textarea")


def open_page(served: ServedPage, **options: Any) -> Page:
    """Return a page that offers terminals, which it does right after its first paint."""
    page = served.open(**options)
    expect(page.locator(".topbar").get_by_role("button", name="Terminal")).to_be_visible()
    return page


def open_terminal(page: Page, kind: str = OUTSIDE) -> None:
    page.locator(".topbar").get_by_role("button", name="Terminal").click()
    page.get_by_role("dialog").get_by_role("button", name=kind).click()
    expect(keyboard(page)).to_be_focused()
    expect(screen(page)).to_contain_text(re.compile(r"[#$]"))  # the prompt


def type_line(page: Page, line: str) -> None:
    page.keyboard.type(f"{line}\n")


def test_a_shell_is_opened_by_keys_and_works_in_the_folder(served: ServedPage) -> None:
    page = open_page(served)
    violations: list[str] = []
    page.on("console", lambda told: violations.append(told.text))
    page.keyboard.press("Control+`")
    expect(page.get_by_role("dialog").get_by_role("button", name=SANDBOX)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(keyboard(page)).to_be_focused()
    expect(page.locator(".terminal-bar")).to_contain_text(OUTSIDE)
    type_line(page, "echo 漢字 > made.txt; printf '\\e[38;2;200;0;0mco''lour\\e[0m\\n'; exit 3")
    expect(screen(page)).to_contain_text("colour")
    expect(page.locator(".terminal-state")).to_have_text("Ended with exit code 3")
    assert (served.project / "made.txt").read_text() == "漢字\n"
    shown = screen(page).get_by_text("colour", exact=True)
    expect(shown).to_have_css("color", re.compile(r"rgb\((?!0, 0, 0)"))
    assert [told for told in violations if "Content Security" in told] == []


def test_the_keys_are_the_shells_until_it_is_left(served: ServedPage) -> None:
    page = open_page(served)
    open_terminal(page)
    type_line(page, "echo rea''dy; cat -v")
    expect(screen(page)).to_contain_text("ready")
    for key in (
        "Control+k",
        "Control+p",
        "Control+l",
        "Control+b",
        "Escape",
        "F6",
        "Alt+n",
        "Enter",
    ):
        page.keyboard.press(key)
    expect(screen(page)).to_contain_text("^K^P^L^B^[^[[17~^[n")
    expect(keyboard(page)).to_be_focused()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("Control+`")
    expect(message(page)).to_be_focused()
    page.keyboard.press("Control+`")
    expect(keyboard(page)).to_be_focused()
    page.keyboard.press("Control+`")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find anything").fill("terminal")
    page.keyboard.press("Enter")
    expect(keyboard(page)).to_be_focused()


def test_what_is_seen_goes_into_the_message_and_is_not_sent(served: ServedPage) -> None:
    page = open_page(served)
    open_terminal(page)
    type_line(page, "clear; echo '```'; echo la''st")
    expect(screen(page)).to_contain_text("last")
    page.get_by_role("button", name="Add to message").click()
    expect(message(page)).to_have_value(
        re.compile(r"^````text\n[\s\S]*```\nlast\n[\s\S]*\n````\n$")
    )
    assert served.model.requests == []


def test_it_is_there_after_a_reload_and_in_another_tab(served: ServedPage) -> None:
    page = open_page(served)
    open_terminal(page)
    type_line(page, "kept=va''lue; echo first")
    expect(screen(page)).to_contain_text("first")
    page.reload()
    page.get_by_role("button", name="Outside 1", exact=True).click()
    expect(screen(page)).to_contain_text("first")
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Outside 1", exact=True).click()
    expect(screen(other)).to_contain_text("first")
    keyboard(other).focus()
    type_line(other, 'echo "<$kept>"')
    expect(screen(other)).to_contain_text("<value>")
    expect(screen(page)).to_contain_text("<value>")
    other.get_by_role("button", name="Close Outside 1").click()
    other.get_by_role("button", name="End it").click()
    expect(other.get_by_role("button", name="Outside 1", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Outside 1", exact=True)).to_have_count(0)


def test_what_a_program_writes_does_nothing_but_show(served: ServedPage) -> None:
    page = open_page(served)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('mine')")
    open_terminal(page)
    title = page.title()
    (served.project / "hostile").write_bytes(
        b"\x1b]52;c;c3RvbGVu\x07\x1b]0;stolen\x07\x1b]2;stolen\x07\x1b[21t\x1b[18t\x1b]10;?\x07"
        b"\x1b]4;1;?\x07\x1bP$qm\x1b\\\x1b[?2026$p\x1b[>0q\x1bP+q544e\x1b\\"
        b"\x1b]8;;https://example.com/\x07link\x1b]8;;\x07\n"
    )
    # What were typed back would be read as a line.
    type_line(page, "clear; cat hostile; read -rst 1 -n 1 k; echo \"<$k>\" en''d")
    expect(screen(page)).to_contain_text("<> end")
    assert page.evaluate("navigator.clipboard.readText()") == "mine"
    assert "stolen" not in page.title()
    assert page.title() == title


def test_a_link_opens_once_its_address_was_seen(served: ServedPage) -> None:
    page = open_page(served)
    open_terminal(page)
    address = f"{served.server.url}/static/mark.svg"
    type_line(page, f"clear; printf '\\e]8;;{address}\\e\\\\the li''nk\\e]8;;\\e\\\\\\n'")
    expect(screen(page)).to_contain_text("the link")
    box = screen(page).get_by_text("the link").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 6)
    expect(page.locator(".xterm-cursor-pointer")).to_be_attached()
    page.mouse.click(box["x"] + 20, box["y"] + 6)
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text(address)
    with page.context.expect_page() as opened:
        question.get_by_role("button", name="Open").click()
    assert opened.value.evaluate("window.opener") is None


def test_lines_are_pasted_as_such_or_after_a_question(served: ServedPage) -> None:
    page = open_page(served)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_terminal(page)
    page.evaluate("navigator.clipboard.writeText('touch one\\x1b[201~\\ntouch two\\n')")
    page.keyboard.press("Control+Shift+V")  # bash knows what a paste is: it waits for Enter
    expect(screen(page)).to_contain_text("touch two")
    page.keyboard.press("Control+u")
    type_line(page, "clear; echo rea''dy; cat")  # which does not
    expect(screen(page)).to_contain_text("ready")
    page.keyboard.press("Control+Shift+V")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("Paste 2 lines?")
    question.get_by_role("button", name="Cancel").click()
    type_line(page, "ty''ped")
    expect(screen(page)).to_contain_text("ty''ped")
    expect(screen(page)).not_to_contain_text("touch")
    assert not list(served.project.glob("one*"))


def test_a_bare_return_is_the_end_of_a_pasted_line(served: ServedPage) -> None:
    page = open_page(served)
    open_terminal(page)
    type_line(page, "clear; echo rea''dy; cat")  # which cannot tell a paste
    expect(screen(page)).to_contain_text("ready")
    keyboard(page).evaluate("""field => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "touch one\\rtouch two\\r\\ntouch three\\r");
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }""")
    expect(page.get_by_role("alertdialog")).to_contain_text("Paste 3 lines?")


# A view in the page whose messages the test makes up: `send` gives it output, `drawn` waits until
# that is drawn up to a place, and `said` has what it told the server.
MADE_UP_VIEW = """
    const { TerminalView } = await import("/static/js/terminal/terminal_view.js");
    const said = { type: [], drawn: [] };
    let note = () => {};
    const say = (name, fields) => {
        said[name]?.push(fields.text ?? fields.at);
        note();
        return { ok: true };
    };
    let shown;
    const app = { emit: (_, text) => (shown = text) };
    const terminals = { app, tell: say, ask: async (name, fields) => say(name, fields) };
    const view = new TerminalView(terminals, { terminal: 1, place: "outside", running: true });
    document.body.append(view.element);
    await view.shown();
    view.focus();
    const send = (text, at, more) => view.take({ terminal: 1, data: btoa(text), at, ...more });
    const drawn = (at) => new Promise((resolve) => {
        note = () => said.drawn.includes(at) && resolve();
        note();
    });
"""


def test_what_is_still_to_be_drawn_comes_before_the_empty_screen(served: ServedPage) -> None:
    page = open_page(served)
    shown, drawn = page.evaluate(f"""async () => {{
        {MADE_UP_VIEW}
        send("old\\r\\n", 5, {{ fresh: true, until: 5 }});
        send("older\\r\\n", 12);
        send("new\\r\\n", 17, {{ fresh: true, until: 17 }});
        await drawn(17);
        view.send();
        return [shown, said.drawn];
    }}""")
    assert shown == "```text\nnew\n```\n"
    assert drawn == [17]  # the server is told of what it sent last only


def test_what_is_drawn_again_asks_nothing(served: ServedPage) -> None:
    page = open_page(served)
    typed = page.evaluate(f"""async () => {{
        {MADE_UP_VIEW}
        send("before\\r\\n", 8, {{ fresh: true, until: 8 }});
        await drawn(8);
        send("\\x1b[6n\\x1b[c\\r\\n\\n", 8, {{ fresh: true, until: 8 }});
        send("\\x1b[6n", 12);
        await drawn(12);
        return said.type;
    }}""")
    assert typed == ["\x1b[3;1R"]


def test_a_flood_leaves_the_page_in_order_and_ends_by_a_key(served: ServedPage) -> None:
    page = open_page(served)
    open_terminal(page)
    type_line(page, "yes flood")
    expect(screen(page)).to_contain_text("flood")
    message(page).fill("still here")
    expect(message(page)).to_have_value("still here")
    keyboard(page).focus()
    page.keyboard.press("Control+c")
    type_line(page, "echo af''ter")
    expect(screen(page)).to_contain_text("after")


def test_frames_of_others_and_pages_without_a_key_reach_none(served: ServedPage) -> None:
    page = open_page(served)
    attempt = """address => new Promise((resolve) => {
        const socket = new WebSocket(address);
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("refused");
    })"""
    address = served.server.url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket"
    assert page.evaluate(attempt, address) == "refused"  # with the cookie, without the key
    key = page.evaluate("localStorage.getItem('onefold.key')")
    assert page.evaluate(attempt, f"{address}&key={key}") == "open"
    other = page.context.new_page()
    other.goto(
        "data:text/html,<p>foreign</p>"
    )  # its origin is "null", as that of a result in a frame
    assert other.evaluate(attempt, f"{address}&key={key}") == "refused"
    shells = served.server._shells
    assert shells is not None
    wait_until(page, lambda: shells.rows() == [])


@pytest.mark.parametrize("kind", [OUTSIDE, SANDBOX])
def test_what_is_done_there_is_not_the_agents_to_undo(served: ServedPage, kind: str) -> None:
    served.model.replies += [
        call_reply("create_file", path="agents.txt", content="by the agent\n"),
        text_reply("Made."),
    ]
    page = open_page(served)
    send(page, "make it")
    expect(replies(page).last).to_have_text("Made.")
    open_terminal(page, kind)
    type_line(page, "echo mine > mine.txt; echo wri''tten")
    expect(screen(page)).to_contain_text("written")
    send(page, "/undo")
    wait_until(page, lambda: not (served.project / "agents.txt").exists())
    assert (served.project / "mine.txt").read_text() == "mine\n"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(served: ServedPage, scheme: str) -> None:
    page = open_page(served, color_scheme=scheme)
    page.keyboard.press("Control+`")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []
    page.keyboard.press("Enter")
    expect(screen(page)).to_contain_text(re.compile(r"[#$]"))
    type_line(page, "ls --color=always /; printf '\\e[33mye''llow\\e[0m\\n'")
    expect(screen(page)).to_contain_text("yellow")
    assert faults(page) == []


def test_without_the_setting_the_page_offers_nothing(served_page: ServedPage) -> None:
    page = served_page.open()
    page.keyboard.press("Control+`")
    expect(message(page)).to_be_focused()
    expect(page.get_by_role("button", name="Terminal")).to_have_count(0)
    expect(page.locator("dialog[open]")).to_have_count(0)
    message(page).press("Control+k")
    page.get_by_role("combobox", name="Find anything").fill("open, enter or leave")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
