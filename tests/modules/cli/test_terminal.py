"""The dialogue in a real terminal (tmux), driven by keystrokes."""

import os
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest

from tests.modules.cli.terminal import ROOT, Terminal, open_doors
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_the_greeting_and_the_toolbar_say_what_holds(started: Terminal) -> None:
    screen = started.see("guarded · context")
    assert screen.startswith("Onefold  demo · practice model, no AI · fast\n")
    assert screen.count("practice model, no AI") == 2


def test_streamed_markdown_leaves_nothing_behind(started: Terminal, tmp_path: Path) -> None:
    started.press("slow", "Enter")
    started.see("Ctrl-C stops")
    open_doors(tmp_path, "write", "end")
    screen = started.see_prompt_after("$0.0010")
    text = started.screen(history=True)
    assert text.count("A plan") == 1
    assert text.count("first item") == 1
    assert "• first item with code\n• second item" in text
    assert "⠋" not in text
    assert "Writing" not in text
    assert "Let me think" not in text
    assert re.search(r"^Thought \d", text, re.M)
    assert re.search(r"practice\s+model, no AI\n\n›", screen)


def test_several_lines_are_one_message(started: Terminal) -> None:
    started.press("one", "M-Enter", "two", "C-j", "three\\", "Enter", "four", "Enter")
    started.see(r"You said 'one\ntwo\nthree\nfour'.")


def test_lines_typed_before_the_first_prompt_are_sent_one_by_one(
    terminal: Terminal, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "door")
    terminal.open(tmp_path, first=f"read _ < {tmp_path / 'door'}")
    terminal.press("one", "Enter", "two", "Enter", "thr")
    terminal.see("thr")  # the terminal has it, and echoes
    (tmp_path / "door").write_text("\n")
    terminal.see("You said 'one'.")
    terminal.see_prompt_after("You said 'two'.")
    terminal.press("ee", "Enter")
    terminal.see("You said 'three'.")


def test_a_paste_of_many_lines_is_one_message(started: Terminal) -> None:
    started.paste("def f():\n\treturn 1\n\nf()\n")
    started.see("      return 1\n")
    started.press("Enter")
    started.see(r"You said 'def f():\n\treturn 1\n\nf()'.")


@pytest.mark.parametrize("brackets", ["-p", "-r"])
def test_a_very_long_line_is_pasted_whole(started: Terminal, tmp_path: Path, brackets: str) -> None:
    text = tmp_path / "text"
    text.write_text("w" * 200_000)
    started.tmux("load-buffer", str(text))
    started.tmux("paste-buffer", "-r", brackets)
    started.press(" end")
    started.see("w end")
    started.press("Enter")
    started.see("w end'.")


def test_ctrl_z_leaves_the_line_for_the_shell_and_back(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start_in_shell(tmp_path, "bash --norc -i")
    terminal.press("hello")
    terminal.see("› hello")
    terminal.press("C-z")
    terminal.see("Stopped")
    terminal.press("fg", "Enter")
    terminal.see("› hello")
    terminal.press(" again", "Enter")
    terminal.see("You said 'hello again'.")


def test_ctrl_z_gives_the_shell_its_terminal_in_the_middle_of_a_turn(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start_in_shell(tmp_path)
    terminal.press("slow", "Enter")
    terminal.see("Thinking")
    terminal.press("C-z")
    assert "Ctrl-C stops" not in terminal.see("Stopped").partition("slow")[2]
    terminal.press("echo shell-$((1 + 1))", "Enter")
    terminal.see("shell-2")
    terminal.press("fg", "Enter")
    open_doors(tmp_path, "write")
    terminal.see("Writing")
    terminal.press("typed")
    open_doors(tmp_path, "end")
    terminal.see_prompt_after("$0.0010")
    terminal.see("› typed")


@pytest.mark.parametrize("kind", ["dumb", "", "nonsense"])
def test_any_terminal_will_do(terminal: Terminal, tmp_path: Path, kind: str) -> None:
    terminal.start(tmp_path, TERM=kind)
    terminal.press("hello", "Enter")
    screen = terminal.see_prompt_after("You said 'hello'.")
    assert "WARNING" not in screen


def test_a_very_narrow_window_breaks_between_words(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path, width=20, COLUMNS="20")
    screen = terminal.see("@ names a file\n")
    assert "/help lists the\ncommands\n" in screen
    terminal.press("hello", "Enter")
    terminal.see("You said 'hello'.")


def test_chinese_is_typed_edited_and_shown(started: Terminal) -> None:
    started.press("你好世界", "BSpace", "BSpace", "啊", "Enter")
    started.see("You said '你好啊'.")


def test_commands_are_completed(started: Terminal) -> None:
    started.press("/tab", "Tab")
    started.see("› /table")
    started.press("Enter")
    started.see("模型  deepseek-flash")


def test_paths_are_completed_among_very_many(started: Terminal) -> None:
    started.press("see @fin")
    started.see("src/报告 final.md")
    started.press("Tab")
    started.see('see @"src/报告 final.md"')
    started.press(" now", "Enter")
    started.see("""You said 'see @"src/报告 final.md" now'.""")


def test_the_only_completion_is_taken_at_once_and_enter_sends(started: Terminal) -> None:
    started.press("see @fin")
    started.see("src/报告 final.md")
    started.press("Tab")
    started.see('see @"src/报告 final.md"')
    started.press("Enter")
    started.see("""You said 'see @"src/报告 final.md"'.""")


def test_what_was_typed_is_there_the_next_time(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path)
    terminal.press("first 词", "Enter")
    terminal.see_prompt_after("You said")
    terminal.press("C-d")
    terminal.see("EXIT 0")
    terminal.start_again()
    terminal.press("Up")
    terminal.see("› first 词")
    assert (tmp_path / "typed").stat().st_mode & 0o077 == 0


def test_ctrl_c_clears_the_line_then_warns_then_leaves(started: Terminal) -> None:
    started.press("half a thought")
    started.see("half a thought")
    started.press("C-c")
    started.wait(lambda screen: "half" not in screen)
    started.press("C-c")
    started.see("Ctrl-C again leaves")
    started.press("x")
    started.wait(lambda screen: "again leaves" not in screen)
    started.press("BSpace", "C-c", "C-c")
    started.see("EXIT 0")


def test_leaving_names_the_command_that_goes_on(started: Terminal) -> None:
    started.press("hello", "Enter")
    started.see_prompt_after("You said 'hello'.")
    started.press("/exit", "Enter")
    started.see("EXIT 0")
    told = "".join(started.screen().split())
    program = "".join(shlex.quote(str(ROOT / "main.py")).split())
    assert f"Goonwithitlater:python3{program}--cli--resume" in told


def test_ctrl_c_stops_a_running_program(started: Terminal) -> None:
    started.press("long", "Enter")
    started.see("line 9")
    started.press("C-c")
    screen = started.see_prompt_after("■ Stopped.")
    assert "Run make" in screen
    started.press("hello", "Enter")
    started.see("You said 'hello'.")


def test_ctrl_c_stops_a_silent_model(started: Terminal) -> None:
    started.press("silent", "Enter")
    started.see("Waiting for the model")
    started.press("C-c")
    screen = started.see_prompt_after("■ Stopped.")
    assert "Waiting" not in screen


def test_a_second_ctrl_c_leaves_what_does_not_stop(started: Terminal) -> None:
    started.press("stubborn", "Enter")
    started.see("Waiting for the model")
    started.press("C-c")
    started.see("Ctrl-C again leaves")
    started.press("C-c")
    screen = started.see("EXIT 130")
    assert "Traceback" not in screen
    started.press("typed")
    started.see("typed")  # the terminal echoes again


def test_what_is_typed_during_a_turn_is_the_next_message(started: Terminal, tmp_path: Path) -> None:
    started.press("pausing", "Enter")
    started.see("Waiting for the model")
    started.press("next one", "Enter")
    started.see("› next one")
    open_doors(tmp_path, "go")
    screen = started.see("You said 'next one'.")
    assert screen.count("next one") == 2


@pytest.mark.parametrize("brackets", ["-p", "-d"])
def test_a_paste_of_lines_during_a_turn_is_one_message(
    started: Terminal, tmp_path: Path, brackets: str
) -> None:
    started.press("pausing", "Enter")
    started.see("Waiting for the model")
    started.tmux("set-buffer", "one\n/cost\nthree")
    started.tmux("paste-buffer", brackets)
    started.see("› one\n  /cost\n  three")
    started.press("Enter")
    open_doors(tmp_path, "go")
    screen = started.see_prompt_after(r"You said 'one\n/cost\nthree'.")
    assert screen.count("You said") == 1


def test_what_is_typed_during_a_turn_is_edited_and_never_seen_raw(
    started: Terminal, tmp_path: Path
) -> None:
    started.press("silent", "Enter")
    started.see("Waiting for the model")
    started.press("frst", "Left", "Left", "Left", "i", "End", "!", "BSpace", "M-Enter", "2nd")
    started.see("› first\n  2nd")
    started.press("Enter")
    started.press("half", "Up", "Home", "a ")
    started.see("› a half")
    started.press("C-c")
    started.see("never sent")
    screen = started.see("› first\n  2nd\n  a half")
    assert "^" not in screen
    started.press("Enter")
    started.see(r"You said 'first\n2nd\na half'.")


def test_a_stop_holds_all_that_waits(started: Terminal) -> None:
    """What was entered behind the message that is stopped: it came at once, at the prompt."""
    started.press("silent", "Enter", "second", "Enter")
    started.see("Waiting for the model")
    started.press("C-c")
    started.see("never sent")
    started.wait(lambda screen: "› second" in screen.split("never sent")[1])
    assert "You said" not in started.screen()
    started.press("Enter")
    started.see("You said 'second'.")


def test_a_command_that_need_not_wait_is_answered_while_a_turn_runs(started: Terminal) -> None:
    started.press("long", "Enter")
    started.see("line 9")
    started.press("/thinx", "BSpace", "k")
    started.see("› /think")
    started.press("Enter")
    started.see("this one goes on as it began")
    started.press("/compact", "Enter")
    started.see("/compact has to wait: a task runs.")
    started.see("line 40")
    started.press("half a")
    started.see("› half a")
    started.press("C-c")
    started.see_prompt_after("■ Stopped.")
    started.press(" thought", "Enter")
    started.see("You said 'half a thought'.")


def test_stop_can_be_typed(started: Terminal) -> None:
    started.press("silent", "Enter")
    started.see("Waiting for the model")
    started.press("/stop", "Enter")
    started.see_prompt_after("■ Stopped.")


def test_a_narrower_window_leaves_no_junk(started: Terminal) -> None:
    started.press("long", "Enter")
    started.see("line 9")
    for width in (30, 90):
        started.tmux("resize-window", "-x", str(width), "-y", "30")
        time.sleep(1)  # tmux tells the size to the program a little later
    started.press("C-c")
    started.see_prompt_after("■ Stopped.")
    text = started.screen(history=True)
    assert "│ line" not in text
    assert text.count("Run make") == 1


def test_hostile_text_cannot_repaint_the_screen(started: Terminal) -> None:
    started.press("hostile", "Enter")
    started.see_prompt_after("safe")
    started.press("tools", "Enter")
    started.see_prompt_after("All done.")
    text = started.screen(history=True)
    assert text.startswith("Onefold  demo")  # nothing was wiped
    assert "owned" not in started.tmux("display-message", "-p", "#{pane_title}")


def test_no_color_means_no_colour_and_no_moving_lines(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path, NO_COLOR="1")
    sent = tmp_path / "sent"
    open_doors(tmp_path, "write", "end")
    terminal.press("tools", "Enter")
    terminal.see_prompt_after("All done.")
    terminal.tmux("pipe-pane", "-o", f"cat > {sent}")
    terminal.press("slow", "Enter")
    terminal.see_prompt_after("汉字之间断行")
    terminal.wait(lambda _: "tokens sent" in sent.read_text(errors="replace"))
    turn = sent.read_text(errors="replace").partition("Thought")[2].partition("tokens sent")[0]
    assert not re.search(r"\x1b\[[0-9;]*[A-HJKhl]", turn)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", turn)


def test_ctrl_l_and_clear_clear_the_screen(started: Terminal) -> None:
    started.press("C-l")
    started.wait(lambda screen: "Onefold" not in screen)
    started.press("hello", "Enter")
    started.see_prompt_after("You said")
    started.press("/clear", "Enter")
    started.wait(lambda screen: "You said" not in screen)
