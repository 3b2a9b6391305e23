"""The plain mode in a real terminal (tmux): written from top to bottom, nothing drawn twice."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from modules.cli.args import Args, parse
from modules.translator import Translator
from tests.modules.cli.terminal import ROOT, Terminal, create_files
from tests.modules.cli.terminal import terminal as terminal  # fixture
from tests.modules.cli.test_attention import wait_for_title

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

REDRAWN = re.compile(rb"\x1b(?!\[[0-9;]*m)|\r(?!\n)|\x08")
"""All that moves the cursor, erases or asks the terminal for something."""


@pytest.fixture
def plain(terminal: Terminal, tmp_path: Path) -> Terminal:
    """Return a terminal in plain mode, all of which is in the file `written`."""
    terminal.open(tmp_path, first="read _", ONEFOLD_PLAIN="true")
    terminal.tmux("pipe-pane", f"cat > {shlex.quote(str(tmp_path / 'written'))}")
    terminal.press("Enter")
    terminal.wait_for(lambda screen: re.search(r"^›", screen, re.M))
    return terminal


def wait_for_prompt_after(plain: Terminal, text: str) -> str:
    return plain.wait_for(
        lambda screen: re.search(rf"{re.escape(text)}.*\n›", screen, re.S), history=True
    )


def test_a_task_with_a_question_and_cards_moves_no_cursor(plain: Terminal, tmp_path: Path) -> None:
    plain.press("ask", "Enter")
    plain.wait_for_text("Your answer ›")
    plain.press("2", "Enter")
    wait_for_prompt_after(plain, "Noted.")
    plain.press("tools", "Enter")
    wait_for_prompt_after(plain, "All done.")
    plain.press("slow", "Enter")
    create_files(tmp_path, "write", "end")
    text = wait_for_prompt_after(plain, "最后是")
    assert "✓ Ask Which drink? · coffee" in text
    assert "Ctrl-O" not in text
    assert not REDRAWN.search((tmp_path / "written").read_bytes())


def test_a_refusal_and_its_reason(plain: Terminal) -> None:
    plain.press("web", "Enter")
    plain.wait_for_text("Your answer ›")
    plain.press("what", "Enter")  # no answer: it asks again
    plain.wait_for(lambda screen: screen.count("Your answer ›") == 2)
    plain.press("n", "Enter")
    plain.wait_for_text("Why not?")
    plain.press("too dear", "Enter")
    assert "too dear" in wait_for_prompt_after(plain, "Found.")


def test_what_is_entered_before_a_question_is_no_answer_to_it(
    plain: Terminal, tmp_path: Path
) -> None:
    plain.press("late", "Enter", "y", "Enter")
    plain.wait_for(lambda screen: re.search(r"^y$", screen, re.M))
    create_files(tmp_path, "go")
    plain.wait_for_text("Your answer ›")
    plain.press("n", "Enter")
    plain.wait_for_text("Why not?")
    plain.press("Enter")
    wait_for_prompt_after(plain, "Found.")
    wait_for_prompt_after(plain, "You said 'y'.")


def test_ctrl_c_stops_a_task_and_a_question(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path, ONEFOLD_PLAIN="true", ONEFOLD_TITLE="true")
    plain = terminal
    plain.press("silent", "Enter")
    wait_for_title(plain, "… demo · Onefold")
    plain.press("C-c")
    wait_for_prompt_after(plain, "Stopped")
    plain.press("web", "Enter")
    plain.wait_for_text("Your answer ›")
    plain.press("C-c")
    wait_for_prompt_after(plain, "turn 2")
    plain.press("one\\", "Enter", "two", "Enter")
    wait_for_prompt_after(plain, r"You said 'one\ntwo'.")


def test_ctrl_d_leaves(plain: Terminal) -> None:
    plain.press("C-d")
    plain.wait_for_text("EXIT 0")


def test_a_mark_runs_nothing(plain: Terminal, tmp_path: Path) -> None:
    plain.press(f"!touch {tmp_path}/ran", "Enter")
    wait_for_prompt_after(plain, "turn 1")
    assert not (tmp_path / "ran").exists()


def test_the_help_names_it() -> None:
    command = [sys.executable, "main.py", "--help"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--plain" in shown.stdout


def test_it_says_on_which_screen_to_work() -> None:
    args = parse(["--plain"], Translator("en", {}), version=str)
    assert isinstance(args, Args)
    assert args.has_screen
