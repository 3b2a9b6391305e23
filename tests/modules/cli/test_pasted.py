"""A long paste at a real prompt (tmux): one character of the line, and sent whole."""

import shutil
from pathlib import Path

import pytest

from tests.modules.cli.terminal import Terminal
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

LINES = "\n".join(f"row {number}" for number in range(1, 121))
AS_SENT = LINES.replace("\n", r"\n")


def sent(terminal: Terminal) -> str:
    """Return what is on the screen after the answer, which repeats the message, without blanks."""
    terminal.see_prompt_after("turn 1")
    return without_blanks(terminal.screen(history=True))


def without_blanks(text: str) -> str:
    """Return *text* without what the breaks of the window's lines take from it or add."""
    return "".join(text.split())


def test_a_long_paste_is_folded_and_sent_whole(started: Terminal) -> None:
    started.press("look: ")
    started.paste(LINES)
    started.wait_for_text("› look: [pasted: 120 lines]\n")
    started.press(" please", "Left", "Left", "Home", "so ", "Enter")
    text = sent(started)
    assert without_blanks("› so look: [pasted: 120 lines] please") in text
    assert without_blanks(f"You said 'so look: {AS_SENT} please'.") in text


def test_a_folded_paste_is_deleted_as_one(started: Terminal) -> None:
    started.paste(LINES)
    started.wait_for_text("› [pasted: 120 lines]\n")
    started.press("BSpace", "short", "Enter")
    started.see_prompt_after("You said 'short'.")


def test_ctrl_o_unfolds_a_paste(started: Terminal) -> None:
    started.paste(LINES)
    started.wait_for_text("[pasted: 120 lines]")
    started.press("C-o")
    started.wait_for_text("row 120\n")
    started.press("1", "Enter")
    assert without_blanks(f"You said '{AS_SENT}1'.") in sent(started)


def test_a_folded_line_comes_back_whole_from_the_history(started: Terminal, tmp_path: Path) -> None:
    started.paste(LINES)
    started.wait_for_text("[pasted: 120 lines]")
    started.press("Enter")
    started.see_prompt_after("You said")
    assert "+row 120\n" in (tmp_path / "typed").read_text()
    started.press("Up")
    started.wait_for_text("row 120\n  practice")


def test_the_editor_gets_a_folded_paste_whole(terminal: Terminal, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncat "$1" > {tmp_path}/seen\necho done > "$1"\n')
    editor.chmod(0o700)
    terminal.start(tmp_path, EDITOR=str(editor), VISUAL=str(editor))
    terminal.paste(LINES)
    terminal.wait_for_text("[pasted: 120 lines]")
    terminal.press("C-x", "C-e")
    terminal.wait_for_text("› done")
    assert (tmp_path / "seen").read_text() == LINES


def test_a_folded_paste_runs_no_command_whatever_it_begins_with(
    started: Terminal, tmp_path: Path
) -> None:
    started.press("x ")
    started.paste(f"!touch {tmp_path}/ran\n{LINES}")
    started.wait_for_text("› x [pasted: 121 lines]\n")
    started.press("Home", "Delete", "Delete", "Enter")
    started.see_prompt_after("You said ' !touch")
    assert not (tmp_path / "ran").exists()


def test_a_folded_paste_in_chinese_and_in_a_narrow_window(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start(tmp_path, width=40)
    terminal.press("看 ")
    terminal.paste("行\n" * 20)
    terminal.wait_for_text("› 看 [pasted: 20 lines]\n")
    terminal.press(" 好", "Enter")
    assert without_blanks("You said '看" + r"行\n" * 20 + "好'.") in sent(terminal)
