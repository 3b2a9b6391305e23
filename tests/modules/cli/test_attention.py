"""What a real terminal (tmux) gets of the calls for a person's attention."""

import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.modules.cli.terminal import TIMEOUT_SECONDS, Terminal
from tests.modules.cli.terminal import terminal as terminal  # fixture

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def start(terminal: Terminal, folder: Path, **settings: Any) -> Path:
    """Start the program, and return the file that gets all it writes from the prompt on."""
    terminal.start(folder, **settings)
    written = folder / "written"
    terminal.tmux("pipe-pane", f"cat > {shlex.quote(str(written))}")
    return written


def title(terminal: Terminal) -> str:
    return terminal.tmux("display-message", "-p", "#{pane_title}").strip()


def wait_for_title(terminal: Terminal, wanted: str) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while (found := title(terminal)) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def wait_for_bytes(written: Path, wanted: bytes) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not written.exists() or wanted not in written.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_bell_rings_at_the_end_and_at_a_question(terminal: Terminal, tmp_path: Path) -> None:
    written = start(terminal, tmp_path, ONEFOLD_NOTIFY="bell", ONEFOLD_NOTIFY_SECONDS="0")
    terminal.press("ask", "Enter")
    terminal.wait_for_text("1–2 choose")  # from here on a key is an answer
    wait_for_bytes(written, b"\a")
    rung = written.read_bytes().count(b"\a")
    terminal.press("1")
    terminal.see_prompt_after("Noted.")
    wait_for_bytes(written, b"Noted.")
    assert (rung, written.read_bytes().count(b"\a")) == (1, 2)


def test_nothing_rings_unless_it_was_asked_for(terminal: Terminal, tmp_path: Path) -> None:
    written = start(terminal, tmp_path, ONEFOLD_NOTIFY_SECONDS="0")
    before = title(terminal)
    terminal.press("hello", "Enter")
    terminal.see_prompt_after("You said 'hello'.")
    wait_for_bytes(written, b"turn 1")
    assert b"\a" not in written.read_bytes()
    assert b"\x1b]" not in written.read_bytes()
    assert title(terminal) == before


def test_nothing_rings_for_who_has_just_typed(terminal: Terminal, tmp_path: Path) -> None:
    written = start(terminal, tmp_path, ONEFOLD_NOTIFY="bell", ONEFOLD_NOTIFY_SECONDS="3600")
    terminal.press("hello", "Enter")
    terminal.see_prompt_after("You said 'hello'.")
    wait_for_bytes(written, b"turn 1")
    assert b"\a" not in written.read_bytes()


def test_the_title_follows_the_task(terminal: Terminal, tmp_path: Path) -> None:
    start(terminal, tmp_path, ONEFOLD_TITLE="true")
    wait_for_title(terminal, "› demo · Onefold")
    terminal.press("pausing", "Enter")
    wait_for_title(terminal, "… demo · Onefold")
    (tmp_path / "go").touch()
    wait_for_title(terminal, "✓ demo · Onefold")
    terminal.press("ask", "Enter")
    wait_for_title(terminal, "? demo · Onefold")


def test_a_notification_passes_through_tmux(terminal: Terminal, tmp_path: Path) -> None:
    written = start(
        *(terminal, tmp_path),
        ONEFOLD_NOTIFY="desktop",
        ONEFOLD_NOTIFY_SECONDS="0",
        KITTY_WINDOW_ID="1",
    )
    terminal.press("hello", "Enter")
    terminal.see_prompt_after("You said 'hello'.")
    wait_for_bytes(written, b"\x1bPtmux;\x1b\x1b]9;demo: the task is done\a\x1b\\\a")
