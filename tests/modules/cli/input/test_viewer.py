"""The full-screen viewer of `/diff`, in a real terminal."""

import shutil
from pathlib import Path

import pytest

from core.loop.turn import drive
from tests.assembly import assembled_terminal
from tests.modules.cli.input.test_picker import start
from tests.modules.cli.terminal import PROMPT, Terminal
from tests.modules.cli.terminal import terminal as terminal  # the fixture
from tests.scripted_model import call_reply, text_reply

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
FOOT = "q leaves"


def keep_changes(base: Path, *, lines: int = 60) -> None:
    """Keep a session in which two files were made, of *lines* lines each."""
    wide = "".join(f"第 {n} 行 \x1b[2J内容\n" for n in range(1, lines + 1))
    files = {"a.py": "".join(f"line = {n}\n" for n in range(1, lines + 1)), "文.txt": wide}
    calls = [
        call_reply("create_file", id=f"c{n}", path=path, content=content)
        for n, (path, content) in enumerate(files.items())
    ]
    with assembled_terminal(base, *calls, text_reply("Done.")) as opened:
        drive(opened.terminal.run_line("make them"), lambda _: None)


def show_diff(terminal: Terminal, base: Path) -> None:
    """Go on with the session in *base*, and ask for its diff."""
    start(terminal, base)
    terminal.press("/resume", "Enter")
    terminal.wait_for_text("Esc closes")
    terminal.press("Enter")
    terminal.wait_for_text("turn 1 ·")
    terminal.press("/diff", "Enter")


def test_a_long_diff_is_scrolled_and_searched_and_leaves_no_trace(
    terminal: Terminal, tmp_path: Path
) -> None:
    keep_changes(tmp_path)
    show_diff(terminal, tmp_path)
    screen = terminal.wait_for_text(FOOT)
    assert screen.startswith("a.py  +60 −0\n 1 + line = 1\n")
    terminal.press("Down")
    terminal.wait_for(lambda now: now.startswith(" 1 + line = 1\n"))
    terminal.press("Space")
    terminal.wait_for(lambda now: now.startswith("23 + line = 23\n"))
    terminal.press("f")
    screen = terminal.wait_for(lambda now: now.startswith("文.txt  +60 −0\n"))
    assert "第 1 行 \\x1b[2J内容" in screen
    terminal.press("/", "line = 4", "Enter")
    terminal.wait_for(lambda now: now.startswith(" 4 + line = 4\n"))
    terminal.press("n")
    terminal.wait_for(lambda now: now.startswith("40 + line = 40\n"))
    terminal.press("N")
    terminal.wait_for(lambda now: now.startswith(" 4 + line = 4\n"))
    terminal.press("/", "nowhere", "Enter")
    terminal.wait_for_text("No matches.")
    terminal.press("End")
    terminal.wait_for_text("60 + 第 60 行")
    terminal.tmux("resize-window", "-x", "80", "-y", "12")
    terminal.wait_for(lambda now: len(now.rstrip().split("\n")) == 12 and "lines" in now)
    terminal.press("Home")
    terminal.wait_for(lambda now: now.startswith("a.py  +60 −0\n"))
    terminal.press("End")
    terminal.wait_for(lambda now: "60 + 第 60 行" in now.split("\n")[10])
    terminal.press("q")
    terminal.wait_for(lambda now: PROMPT in now and FOOT not in now)
    assert "line" not in terminal.screen(history=True).rpartition("› /diff\n")[2]
    terminal.press("/approve next", "Enter")
    terminal.wait_for_text("Approval mode: plan.")


def test_a_short_diff_of_several_files_is_printed_with_its_hunks(
    terminal: Terminal, tmp_path: Path
) -> None:
    keep_changes(tmp_path, lines=2)
    show_diff(terminal, tmp_path)
    screen = terminal.wait_for(lambda now: "2 + 第 2 行" in now.partition("/diff")[2])
    assert "2 + line = 2" in screen.rpartition("› /diff")[2]
    assert FOOT not in screen


def test_all_lines_of_the_files_are_shown_at_the_place_one_is_at(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "project").mkdir()
    lines = [f"line {n}" for n in range(1, 201)]
    (tmp_path / "project" / "long.txt").write_text("\n".join([*lines, ""]))
    edits = [
        call_reply(
            "modify_file",
            id=f"c{n}",
            path="long.txt",
            operation="replace",
            old=f"line {n}\n",
            new=f"row {n}\n" * 20,
        )
        for n in (30, 170)
    ]
    read = call_reply("read_file", id="r", path="long.txt")
    with assembled_terminal(tmp_path, read, *edits, text_reply("Done.")) as opened:
        drive(opened.terminal.run_line("edit it"), lambda _: None)
    show_diff(terminal, tmp_path)
    terminal.wait_for_text(FOOT)
    terminal.press("Tab", "Tab")
    terminal.wait_for(lambda now: now.startswith("  ⋮\n186   line 167\n"))
    terminal.press("C-o")
    terminal.wait_for(lambda now: now.startswith("186   line 167\n"))
    terminal.press("Up")
    terminal.wait_for(lambda now: now.startswith("185   line 166\n"))
    terminal.press("Tab")
    terminal.wait_for(lambda now: now.startswith("170 − line 170\n"))
    terminal.press("Home", "Down", "Down", "C-o")
    terminal.wait_for(lambda now: now.startswith(" 27   line 27\n"))
    terminal.press("q")
    terminal.wait_for(lambda now: PROMPT in now and FOOT not in now)
