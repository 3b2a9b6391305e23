"""The dialogue in a real terminal (tmux), driven by keystrokes."""

import os
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest

from tests.modules.cli.terminal import ROOT, Terminal, create_files
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_the_greeting_and_the_toolbar_say_what_holds(started: Terminal) -> None:
    screen = started.wait_for_text("guarded · context")
    assert screen.startswith("Onefold  demo · practice model, no AI · fast\n")
    assert screen.count("practice model, no AI") == 2


def test_shift_tab_goes_round_the_approval_modes_and_one_key_does_the_plan(
    started: Terminal, tmp_path: Path
) -> None:
    for mode in ("plan", "ask", "read-only", "all", "guarded", "plan"):
        started.press("BTab")
        started.wait_for_text(f" · {mode}")
    started.press("plan it", "Enter")
    screen = started.wait_for_text("Esc skip")
    assert "In plan mode nothing is changed or run." in screen
    [plan] = (tmp_path / "plans").iterdir()
    assert plan.read_text().startswith("# Plan\n")
    started.press("1")
    screen = started.see_prompt_after("All of it is done.")
    assert "src/a.py  +3 −1" in screen
    assert "· guarded ·" in screen


def test_the_mode_stands_below_the_line_in_a_narrow_window(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start(tmp_path, width=40)
    terminal.press("BTab")
    terminal.wait_for_text("practice model, no AI · fast · plan\n")


def test_streamed_markdown_leaves_nothing_behind(started: Terminal, tmp_path: Path) -> None:
    started.press("slow", "Enter")
    started.wait_for_text("Ctrl-C stops")
    create_files(tmp_path, "write", "end")
    screen = started.see_prompt_after("$0.0010")
    text = started.screen(history=True)
    assert text.count("A plan") == 1
    assert text.count("first item") == 1
    assert "• first item with code\n• second item" in text
    assert "⠋" not in text
    assert "Writing" not in text
    assert "Let me think" not in text
    assert re.search(r"^Thought for \d", text, re.M)
    assert re.search(r"practice\s+model, no AI\n\n›", screen)


def test_several_lines_are_one_message(started: Terminal) -> None:
    started.press("one", "M-Enter", "two", "C-j", "three\\", "Enter", "four", "Enter")
    started.wait_for_text(r"You said 'one\ntwo\nthree\nfour'.")


def test_lines_typed_before_the_first_prompt_are_sent_one_by_one(
    terminal: Terminal, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "door")
    terminal.open(tmp_path, first=f"read _ < {tmp_path / 'door'}")
    terminal.press("one", "Enter", "two", "Enter", "thr")
    terminal.wait_for_text("thr")  # the terminal has it, and echoes
    (tmp_path / "door").write_text("\n")
    terminal.wait_for_text("You said 'one'.")
    terminal.see_prompt_after("You said 'two'.")
    terminal.press("ee", "Enter")
    terminal.wait_for_text("You said 'three'.")


def test_a_paste_of_many_lines_is_one_message(started: Terminal) -> None:
    started.paste("def f():\n\treturn 1\n\nf()\n")
    started.wait_for_text("      return 1\n")
    started.press("Enter")
    started.wait_for_text(r"You said 'def f():\n\treturn 1\n\nf()'.")


@pytest.mark.parametrize("brackets", ["-p", "-r"])
def test_a_very_long_line_is_pasted_whole(started: Terminal, tmp_path: Path, brackets: str) -> None:
    text = tmp_path / "text"
    text.write_text("w" * 200_000)
    started.tmux("load-buffer", str(text))
    started.tmux("paste-buffer", "-r", brackets)
    started.press(" end")
    started.wait_for_text("characters]")
    started.press("Enter")
    started.wait_for_text("w end'.")


def test_ctrl_z_leaves_the_line_for_the_shell_and_back(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start_in_shell(tmp_path, "bash --norc -i")
    terminal.press("hello")
    terminal.wait_for_text("› hello")
    terminal.press("C-z")
    terminal.wait_for_text("Stopped")
    terminal.press("fg", "Enter")
    terminal.wait_for_text("› hello")
    terminal.press(" again", "Enter")
    terminal.wait_for_text("You said 'hello again'.")


def test_ctrl_z_gives_the_shell_its_terminal_in_the_middle_of_a_turn(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start_in_shell(tmp_path)
    terminal.press("slow", "Enter")
    terminal.wait_for_text("Thinking")
    terminal.press("C-z")
    assert "Ctrl-C stops" not in terminal.wait_for_text("Stopped").partition("slow")[2]
    terminal.press("echo shell-$((1 + 1))", "Enter")
    terminal.wait_for_text("shell-2")
    terminal.press("fg", "Enter")
    create_files(tmp_path, "write")
    terminal.wait_for_text("Writing")
    terminal.press("typed")
    create_files(tmp_path, "end")
    terminal.see_prompt_after("$0.0010")
    terminal.wait_for_text("› typed")


@pytest.mark.parametrize("kind", ["dumb", "", "nonsense"])
def test_any_terminal_will_do(terminal: Terminal, tmp_path: Path, kind: str) -> None:
    terminal.start(tmp_path, TERM=kind)
    terminal.press("hello", "Enter")
    screen = terminal.see_prompt_after("You said 'hello'.")
    assert "WARNING" not in screen


def test_a_very_narrow_window_breaks_between_words(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path, width=20, COLUMNS="20")
    screen = terminal.wait_for_text("@ mentions a file\n")
    assert "/help lists the\ncommands\n" in screen
    terminal.press("hello", "Enter")
    terminal.wait_for_text("You said 'hello'.")


def test_chinese_is_typed_edited_and_shown(started: Terminal) -> None:
    started.press("你好世界", "BSpace", "BSpace", "啊", "Enter")
    started.wait_for_text("You said '你好啊'.")


def test_commands_are_completed(started: Terminal) -> None:
    started.press("/tab", "Tab")
    started.wait_for_text("› /table")
    started.press("Enter")
    started.wait_for_text("模型  deepseek-flash")


def test_paths_are_completed_among_very_many(started: Terminal) -> None:
    started.press("see @fin")
    started.wait_for_text("src/报告 final.md")
    started.press("Tab")
    started.wait_for_text('see @"src/报告 final.md"')
    started.press(" now", "Enter")
    started.wait_for_text("""You said 'see @"src/报告 final.md" now'.""")


def test_the_only_completion_is_taken_at_once_and_enter_sends(started: Terminal) -> None:
    started.press("see @fin")
    started.wait_for_text("src/报告 final.md")
    started.press("Tab")
    started.wait_for_text('see @"src/报告 final.md"')
    started.press("Enter")
    started.wait_for_text("""You said 'see @"src/报告 final.md"'.""")


def test_what_was_typed_is_there_the_next_time(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start(tmp_path)
    terminal.press("first 词", "Enter")
    terminal.see_prompt_after("You said")
    terminal.press("C-d")
    terminal.wait_for_text("EXIT 0")
    terminal.start_again()
    terminal.press("Up")
    terminal.wait_for_text("› first 词")
    assert (tmp_path / "typed").stat().st_mode & 0o077 == 0


def test_ctrl_c_clears_the_line_then_warns_then_leaves(started: Terminal) -> None:
    started.press("half a thought")
    started.wait_for_text("half a thought")
    started.press("C-c")
    started.wait_for(lambda screen: "half" not in screen)
    started.press("C-c")
    started.wait_for_text("Press Ctrl-C again to quit")
    started.press("x")
    started.wait_for(lambda screen: "again to quit" not in screen)
    started.press("BSpace", "C-c", "C-c")
    started.wait_for_text("EXIT 0")


def test_leaving_names_the_command_that_goes_on(started: Terminal) -> None:
    started.press("hello", "Enter")
    started.see_prompt_after("You said 'hello'.")
    started.press("/exit", "Enter")
    started.wait_for_text("EXIT 0")
    told = "".join(started.screen().split())
    program = "".join(shlex.quote(str(ROOT / "main.py")).split())
    assert f"Resumelater:python3{program}--cli--resume" in told


def test_ctrl_c_stops_a_running_program(started: Terminal) -> None:
    started.press("long", "Enter")
    started.wait_for_text("line 9")
    started.press("C-c")
    screen = started.see_prompt_after("■ Stopped.")
    assert "Run make" in screen
    started.press("hello", "Enter")
    started.wait_for_text("You said 'hello'.")


@pytest.mark.parametrize("key", ["C-c", "Escape"])
def test_a_key_stops_a_silent_model(started: Terminal, key: str) -> None:
    started.press("silent", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press(key)
    screen = started.see_prompt_after("■ Stopped.")
    assert "Waiting" not in screen


def test_keys_that_begin_with_escape_stop_nothing(started: Terminal, tmp_path: Path) -> None:
    started.press("pausing", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("ne", "Left", "M-x", "o", "Right", "xt", "F5")
    started.wait_for_text("› noext")
    create_files(tmp_path, "go")
    started.see_prompt_after("after a while")
    started.wait_for_text("› noext")


def test_a_second_ctrl_c_leaves_what_does_not_stop(started: Terminal) -> None:
    started.press("stubborn", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("C-c")
    started.wait_for_text("Press Ctrl-C again to quit")
    started.press("C-c")
    screen = started.wait_for_text("EXIT 130")
    assert "Traceback" not in screen
    started.press("typed")
    started.wait_for_text("typed")  # the terminal echoes again


def test_what_is_typed_during_a_turn_is_the_next_message(started: Terminal, tmp_path: Path) -> None:
    started.press("pausing", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("next one", "Enter")
    started.wait_for_text("› next one")
    create_files(tmp_path, "go")
    screen = started.wait_for_text("You said 'next one'.")
    assert screen.count("next one") == 2


@pytest.mark.parametrize("brackets", ["-p", "-d"])
def test_a_paste_of_lines_during_a_turn_is_one_message(
    started: Terminal, tmp_path: Path, brackets: str
) -> None:
    started.press("pausing", "Enter")
    started.wait_for_text("Waiting for the model")
    started.tmux("set-buffer", "one\n/cost\nthree")
    started.tmux("paste-buffer", brackets)
    started.wait_for_text("› one\n  /cost\n  three")
    started.press("Enter")
    create_files(tmp_path, "go")
    screen = started.see_prompt_after(r"You said 'one\n/cost\nthree'.")
    assert screen.count("You said") == 1


def test_what_is_typed_during_a_turn_is_edited_and_never_seen_raw(
    started: Terminal, tmp_path: Path
) -> None:
    started.press("silent", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("frst", "Left", "Left", "Left", "i", "End", "!", "BSpace", "M-Enter", "2nd")
    started.wait_for_text("› first\n  2nd")
    started.press("Enter")
    started.press("half", "Up", "Home", "a ")
    started.wait_for_text("› a half")
    started.press("C-c")
    started.wait_for_text("Not sent yet")
    screen = started.wait_for_text("› first\n  2nd\n  a half")
    assert "^" not in screen
    started.press("Enter")
    started.wait_for_text(r"You said 'first\n2nd\na half'.")


def test_a_stop_holds_all_that_waits(started: Terminal) -> None:
    """What was entered behind the message that is stopped: it came at once, at the prompt."""
    started.press("silent", "Enter", "second", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("C-c")
    started.wait_for_text("Not sent yet")
    started.wait_for(lambda screen: "› second" in screen.split("Not sent yet")[1])
    assert "You said" not in started.screen()
    started.press("Enter")
    started.wait_for_text("You said 'second'.")


def test_a_command_that_need_not_wait_is_answered_while_a_turn_runs(started: Terminal) -> None:
    started.press("long", "Enter")
    started.wait_for_text("line 9")
    started.press("/thinx", "BSpace", "k")
    started.wait_for_text("› /think")
    started.press("Enter")
    started.wait_for_text("takes effect with the next task")
    started.press("/compact", "Enter")
    started.wait_for_text("/compact has to wait: a task is running.")
    started.wait_for_text("line 40")
    started.press("half a")
    started.wait_for_text("› half a")
    started.press("C-c")
    started.see_prompt_after("■ Stopped.")
    started.press(" thought", "Enter")
    started.wait_for_text("You said 'half a thought'.")


def test_stop_can_be_typed(started: Terminal) -> None:
    started.press("silent", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("/stop", "Enter")
    started.see_prompt_after("■ Stopped.")


def test_a_narrower_window_leaves_no_junk(started: Terminal) -> None:
    started.press("long", "Enter")
    started.wait_for_text("line 9")
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
    create_files(tmp_path, "write", "end")
    terminal.press("tools", "Enter")
    terminal.see_prompt_after("All done.")
    terminal.tmux("pipe-pane", "-o", f"cat > {sent}")
    terminal.press("slow", "Enter")
    terminal.see_prompt_after("汉字之间断行")
    terminal.wait_for(lambda _: "tokens sent" in sent.read_text(errors="replace"))
    turn = sent.read_text(errors="replace").partition("Thought")[2].partition("tokens sent")[0]
    assert not re.search(r"\x1b\[[0-9;]*[A-HJKhl]", turn)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", turn)


def test_ctrl_l_and_cls_clear_the_screen(started: Terminal) -> None:
    started.press("C-l")
    started.wait_for(lambda screen: "Onefold" not in screen)
    started.press("hello", "Enter")
    started.see_prompt_after("You said")
    started.press("/cls", "Enter")
    started.wait_for(lambda screen: "You said" not in screen)
    started.press("/history", "Enter")
    started.see_prompt_after("hello")


def test_clear_begins_a_session_on_a_clear_screen(started: Terminal) -> None:
    started.press("hello", "Enter")
    started.see_prompt_after("You said")
    started.press("/clear", "Enter")
    screen = started.see_prompt_after("New session started.")
    assert "You said" not in screen
    session = re.search(r"/resume (\w+)", screen)
    assert session
    started.press(f"/resume {session[1]}", "Enter")
    started.see_prompt_after("You said 'hello'.")


def test_quit_leaves(started: Terminal) -> None:
    started.press("/quit", "Enter")
    started.wait_for_text("EXIT 0")


def test_only_a_typed_mark_begins_a_command_of_the_persons_own(started: Terminal) -> None:
    started.paste("!touch ran")
    started.press("Enter")
    started.wait_for_text("You said ' !touch ran'.")
    started.paste("\n!touch ran")
    started.press("Enter")
    started.wait_for(lambda screen: screen.count("You said ' !touch ran'.") == 2)
    started.press("!")
    started.paste("touch ran")
    started.press("Enter")
    started.wait_for_text("Commands cannot be run here.")


def test_only_a_typed_line_behind_the_mark_is_remembered(started: Terminal) -> None:
    started.paste("# use tabs")
    started.press("Enter")
    started.wait_for_text("You said ' # use tabs'.")
    started.paste("# Plan\n- one")
    started.press("Enter")
    started.wait_for_text(r"You said '# Plan\n- one'.")
    started.press("#use tabs", "Enter")
    started.see_prompt_after("Kept\nuse tabs")


def test_a_question_mark_alone_shows_the_keys(started: Terminal) -> None:
    started.press("?", "Enter")
    started.see_prompt_after("Ctrl-Z")
    started.press("what?", "Enter")
    started.see_prompt_after("You said 'what?'.")


def test_keys_are_shown_and_lines_remembered_while_a_turn_runs(
    started: Terminal, tmp_path: Path
) -> None:
    started.press("pausing", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("?", "Enter")
    started.wait_for_text("Ctrl-Z")
    started.press("#use tabs", "Enter")
    started.wait_for_text("Kept\nuse tabs")
    create_files(tmp_path, "go")
    started.see_prompt_after("after a while")


def test_a_message_is_written_in_the_persons_editor(terminal: Terminal, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncat "$1" >> {tmp_path}/seen\ncat {tmp_path}/wanted > "$1"\n')
    editor.chmod(0o700)
    (tmp_path / "wanted").write_text("one\ntwo\n")
    terminal.start(tmp_path, EDITOR=str(editor), VISUAL=str(editor))
    terminal.press("half a line", "C-x", "C-e")
    terminal.wait_for_text("› one\n  two\n")
    assert (tmp_path / "seen").read_text() == "half a line"
    terminal.press("Enter")
    terminal.see_prompt_after(r"You said 'one\ntwo'.")
    (tmp_path / "wanted").write_text("!touch ran\n")
    terminal.press("C-x", "C-e")
    terminal.wait_for_text("›  !touch ran")
    terminal.press("Enter")
    terminal.see_prompt_after("You said ' !touch ran'.")


def test_what_happened_as_a_turn_ended_is_told_above_the_next_prompt(started: Terminal) -> None:
    started.press("news", "Enter")
    started.see_prompt_after("Preview of port 8000: http://late/")
