"""A program of many rows is cut in the middle, and one key shows all of it, whenever it is seen."""

from __future__ import annotations

import re
import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from core.cards import RunCard
from core.events import ToolFinished, ToolStarted
from modules.cli.render.cards.program_view import ProgramView
from tests.modules.cli.screens import ScriptedAsker, make_screen
from tests.modules.cli.scripted_program import SCRIPT
from tests.modules.cli.terminal import Terminal
from tests.modules.cli.terminal import terminal as terminal
from utils.text.clean import visible_lines

KEY = "Ctrl-O shows all"
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def drawn(text: str, rows: int, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, height=99)
    program = ProgramView(visible_lines(text), "bash", rows, lambda count: Text(f"<{count}>"))
    with console.capture() as capture:
        console.print(program)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_the_middle_of_a_program_of_many_lines_is_left_out() -> None:
    assert drawn("\n".join(f"row {n}" for n in range(20)), 7, 40) == [
        "row 0", "row 1", "row 2", "<14>", "row 17", "row 18", "row 19",
    ]  # fmt: skip


@pytest.mark.parametrize("letter", ["x", "字", "\x1b"])
def test_one_line_of_many_rows_is_cut_as_well(letter: str) -> None:
    rows = drawn(f"begin {letter * 5000} end", 6, 40)
    assert len(rows) == 6
    assert rows[0].startswith("begin")
    assert rows[-1].endswith("end")


def test_a_window_without_room_is_no_error() -> None:
    assert ProgramView("ab\nc", "bash", 2, lambda _: Text()).is_cut(0)


def test_what_fits_is_whole() -> None:
    assert drawn("a\n\nb", 3, 40) == ["a", "", "b"]


def run(command: str) -> tuple[ToolStarted, ToolFinished]:
    card = RunCard("bash", command, "out\n", 0, "", 0.2, "bubblewrap: all")
    return (
        ToolStarted("c", "run_command", {"command": command}),
        ToolFinished("c", "run_command", "done", card, 0.2),
    )


def test_the_key_shows_the_newest_first_and_those_before_it_in_turn() -> None:
    screen, out = make_screen(terminal=True, person=ScriptedAsker([]))
    first, second = (SCRIPT.replace("row", name) for name in ("first", "second"))
    with screen.turn():
        for event in (*run(first), *run(second), *run("make")):
            screen.show(event)
    assert out.getvalue().count(KEY) == 2
    for name in ("second", "first", "second"):
        said = len(out.getvalue())
        screen.show_all()
        assert f"echo {name} 30 of the script" in out.getvalue()[said:]


def test_where_nobody_could_press_it_there_is_no_key_and_all_is_shown() -> None:
    screen, out = make_screen()
    with screen.turn():
        for event in run(SCRIPT):
            screen.show(event)
    assert "row 30" in out.getvalue()
    assert "Ctrl-O" not in out.getvalue()


@needs_tmux
def test_the_key_shows_all_before_while_and_after_it_runs_and_nothing_typed_is_lost(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start(tmp_path, width=80, height=24)
    terminal.press("/approve ask", "Enter")
    terminal.see_prompt_after("ask")

    def shown(times: int) -> str:
        return terminal.wait_for(lambda text: text.count("echo row 30 ") == times, history=True)

    terminal.press("script", "Enter")
    question = terminal.wait_for_text("Ctrl-O view all")
    assert KEY in question
    assert "? Run" in question
    shown(0)
    terminal.press("C-o")
    shown(1)
    terminal.press("y")
    heading = re.compile(r"Run .*· \d+ s · Ctrl-C stops$", re.MULTILINE)
    running = terminal.wait_for(lambda text: "line 9" in text and heading.search(text))
    assert KEY in running
    terminal.press("half a")
    terminal.press("C-o")
    shown(2)
    terminal.press(" thought")
    terminal.wait_for_text("› half a thought")
    terminal.press("C-c")
    ended = terminal.see_prompt_after("■ Stopped.")
    assert KEY in ended
    terminal.wait_for_text("› half a thought")
    terminal.press("C-o")
    shown(3)
    terminal.press("!", "Enter")
    terminal.wait_for_text("You said 'half a thought!'.")
