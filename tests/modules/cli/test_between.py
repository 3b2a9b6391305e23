"""What is typed when neither a prompt nor a turn is there to take it."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.modules.cli.terminal import (
    CHECKOUT,
    IGNORE_INTERRUPT,
    PROMPT,
    PYTHON,
    Terminal,
    create_files,
)
from tests.modules.cli.terminal import terminal as terminal  # the fixture

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_enter_between_two_prompts_sends_the_line(terminal: Terminal, tmp_path: Path) -> None:
    """What is typed just when a turn is over, and the next prompt not open yet."""
    hold(terminal, tmp_path, "between two prompts", BETWEEN)
    terminal.wait_for_text(PROMPT)
    terminal.press("one", "Enter")
    terminal.wait_for_text("between two prompts")
    terminal.press("two", "Enter", "three", "C-j", "lines")
    create_files(tmp_path, "door")
    terminal.see_prompt_after("You said 'two'.")
    terminal.press("Enter")
    terminal.wait_for_text(r"You said 'three\nlines'.")


def test_ctrl_c_between_two_prompts_is_for_the_next_one(terminal: Terminal, tmp_path: Path) -> None:
    hold(terminal, tmp_path, "between two prompts", BETWEEN)
    terminal.wait_for_text(PROMPT)
    terminal.press("one", "Enter")
    terminal.wait_for_text("between two prompts")
    terminal.press("C-c")
    terminal.wait_for_text("heard")
    create_files(tmp_path, "door")
    terminal.wait_for_text("Press Ctrl-C again to quit")
    terminal.press("two", "Enter")
    terminal.see_prompt_after("You said 'two'.")


@pytest.mark.parametrize("moment", ["before the turn", "the turn begins"])
def test_ctrl_c_just_before_a_turn_stops_it(
    terminal: Terminal, tmp_path: Path, moment: str
) -> None:
    hold(terminal, tmp_path, moment, BEFORE if moment == "before the turn" else BEGINNING)
    terminal.wait_for_text(PROMPT)
    terminal.press("silent", "Enter")
    terminal.wait_for_text(moment)
    terminal.press("C-c")
    terminal.wait_for_text("heard")
    create_files(tmp_path, "door")
    terminal.see_prompt_after("■ Stopped.")


@pytest.mark.parametrize("end", ["C-c", "TERM"])
def test_who_leaves_between_two_prompts_finds_the_terminal_as_it_was(
    terminal: Terminal, tmp_path: Path, end: str
) -> None:
    hold(terminal, tmp_path, "between two prompts", BETWEEN)
    terminal.wait_for_text(PROMPT)
    terminal.press("one", "Enter")
    terminal.wait_for_text("between two prompts")
    if end == "C-c":
        terminal.press("C-c")
        terminal.wait_for_text("heard")
        terminal.press("C-c")
    else:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    terminal.wait_for_text(f"EXIT {130 if end == 'C-c' else 128 + signal.SIGTERM}")
    terminal.press("typed")
    terminal.wait_for_text("typed")  # the terminal echoes again


def hold(terminal: Terminal, folder: Path, moment: str, patch: str) -> None:
    """Start the playhouse, which in the *moment* waits for the door `door` in *folder*.

    *patch* has `wait` called then; that a Ctrl-C has come meanwhile is shown. What
    follows reads nothing: `cat` would show what is typed even where the terminal does not.
    """
    held = folder / "held.py"
    held.write_text(HELD.format(folder=str(folder), moment=moment, patch=patch))
    program = f"cd {CHECKOUT} && PYTHONPATH=. {PYTHON} {held}"
    line = f"{IGNORE_INTERRUPT}{program}; echo EXIT $?; tail -f /dev/null"
    terminal.tmux("new-session", "-d", "-x", "90", "-y", "30", line)


HELD = """
import os, signal, sys, time
from pathlib import Path
from modules.cli import repl
from modules.cli.input import keyboard
from modules.cli.render.screen import CliScreen
from tests.modules.cli.scripted_program import main

folder = Path({folder!r})
interrupt = keyboard.TypedAhead.keep_interrupt

def wait():
    print({moment!r}, flush=True)
    while not (folder / "door").exists():
        time.sleep(0.02)

def heard(ahead):
    is_kept = interrupt(ahead)
    print("heard", flush=True)
    return is_kept

keyboard.TypedAhead.keep_interrupt = heard
(folder / "pid").write_text(str(os.getpid()))
signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # as in main.py
{patch}
sys.exit(main(folder, "en", 1))
"""
BETWEEN = """
typed = repl._lines_from_prompt
def held(*arguments, **options):
    for line in typed(*arguments, **options):
        yield line
        wait()
repl._lines_from_prompt = held
"""
BEFORE = """
make = repl.Repl._make_screen
repl.Repl._make_screen = lambda talk: (wait(), make(talk))[1]
"""
BEGINNING = """
turn, stopping = CliScreen.turn, CliScreen.show_stopping
CliScreen.turn = lambda screen: (wait(), turn(screen))[1]
CliScreen.show_stopping = lambda screen: (stopping(screen), print("heard", flush=True))
"""
