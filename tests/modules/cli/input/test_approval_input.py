"""Questions in a real terminal, and what is typed while they are open."""

import re
import shutil
from pathlib import Path

import pytest

from tests.modules.cli.terminal import Terminal
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_a_question_is_answered_by_a_key(started: Terminal) -> None:
    started.press("web", "Enter")
    started.wait_for_text(
        "y yes · a always, this session: web_search * · p other pattern · e edit · n no"
    )
    started.press("n")
    started.wait_for_text("Why not?")
    started.press("不要", "Enter")
    started.see_prompt_after("You refused: 不要")
    started.press("web", "Enter")
    started.wait_for_text("y yes")
    started.press("a")
    screen = started.see_prompt_after("Allowed from now on: web_search *")
    assert "y yes" not in screen


@pytest.mark.parametrize(
    ("keys", "seen"),
    [
        (["2"], "✓ Ask Which drink? · coffee"),
        (["w", "ater", "Enter"], "✓ Ask Which drink? · water"),
        (["Escape"], "✓ Ask Which drink? · Skip"),
    ],
)
def test_a_question_of_the_models_own_is_answered_by_a_digit_or_in_words(
    started: Terminal, keys: list[str], seen: str
) -> None:
    started.press("ask", "Enter")
    screen = started.wait_for_text("1–2 choose · type an answer, then Enter · Esc skip")
    assert re.search(r"Which drink\?\n *1  tea\n *2  coffee", screen)
    started.press(*keys)
    started.see_prompt_after(seen)


def test_a_pattern_that_is_left_as_it_is_counts_as_chosen(started: Terminal) -> None:
    started.press("web", "Enter")
    started.wait_for_text("p other pattern")
    started.press("p")
    started.wait_for_text("Allow from now on ›")
    started.press("Enter")
    started.see_prompt_after("Allowed from now on: web_search *")


def test_the_arguments_of_a_call_are_edited_before_it_runs(started: Terminal) -> None:
    started.press("web", "Enter")
    started.wait_for_text("e edit")
    started.press("e")
    started.wait_for_text('"query": "tea"')
    started.press("Up", "End", "Left", "BSpace", "BSpace", "BSpace", "coffee", "Enter")
    screen = started.see_prompt_after("Found.")
    assert "Allowed with your changes" in screen
    assert "Search the web coffee" in screen
    assert "edited by you" in screen


def test_what_was_typed_before_a_question_does_not_answer_it(
    started: Terminal, tmp_path: Path
) -> None:
    started.press("late web", "Enter")
    started.wait_for_text("Waiting for the model")
    started.press("y", "y", "y")
    started.wait_for_text("› yyy")
    (tmp_path / "go").touch()
    started.wait_for_text("n no")
    started.press("n")
    started.wait_for_text("Why not?")
    started.press("because", "Enter")
    started.see_prompt_after("You refused: because")
    started.wait_for_text("› yyy")
    started.press(" later", "Enter")
    started.wait_for_text("You said 'yyy later'.")


def test_a_line_typed_at_a_question_is_no_answer_and_waits(started: Terminal) -> None:
    started.press("web", "Enter")
    started.wait_for_text("y yes")
    started.press("make a plan", "Enter")
    started.wait_for_text("› make a plan")
    started.press("and")

    def waits(screen: str) -> bool:
        """Return whether it is said; who pauses is asked again, so type on until it is."""
        is_said = "Your typing is kept for the next prompt" in screen
        if not is_said:
            started.press(".")
        return is_said

    started.wait_for(waits)
    started.wait_for_text("› make a plan\n› and")
    screen = started.wait_for_text("y yes")
    assert screen.rstrip().rstrip(".").endswith("› make a plan\n› and")
    started.press("y")
    started.wait_for_text("Found.")
    started.wait_for_text("You said 'make a plan'.")
    assert "Allowed from now on" not in started.screen()


def at_a_question(terminal: Terminal) -> None:
    terminal.press("web", "Enter")
    terminal.wait_for_text("y yes")


def question_is_back(screen: str) -> bool:
    return "e edit · n no" in screen and "Your typing is kept" not in screen


@pytest.mark.parametrize("brackets", ["-p", "-d"])
def test_a_paste_of_lines_at_a_question_is_one_message(started: Terminal, brackets: str) -> None:
    at_a_question(started)
    started.tmux("set-buffer", "y\nn, or\na third line")
    started.tmux("paste-buffer", brackets)
    started.wait_for_text("› y\n  n, or\n  a third line")
    started.wait_for(question_is_back)
    started.press("y")
    started.see_prompt_after("Found.")
    started.press("Enter")
    screen = started.wait_for_text(r"You said 'y\nn, or\na third line'.")
    assert screen.count("You said") == 1


def test_a_letter_taken_back_brings_the_question_back_at_once(
    started: Terminal, tmp_path: Path
) -> None:
    at_a_question(started)
    started.press("w")
    started.wait_for_text("› w")
    started.press("BSpace")
    started.wait_for(
        lambda screen: question_is_back(screen) and "› w" not in screen.split("web")[2]
    )
    started.press("n")
    started.wait_for_text("Why not?")


def test_what_was_typed_at_a_question_is_edited_there(started: Terminal) -> None:
    at_a_question(started)
    started.press("plam")
    started.wait_for_text("› plam")
    started.wait_for(question_is_back)
    started.press("BSpace")
    started.wait_for(lambda screen: screen.rstrip().endswith("› pla"))
    started.press("Left", "Left", "X")
    started.wait_for_text("› pXla")
    started.wait_for(question_is_back)
    started.press("y")
    started.see_prompt_after("Found.")
    started.wait_for_text("› pXla")
    started.press("End", "n", "Enter")  # the cursor may still be where the X was typed
    started.wait_for_text("You said 'pXlan'.")


def test_escape_leads_from_the_line_back_to_the_question(started: Terminal) -> None:
    started.press("web", "Enter")
    started.wait_for_text("e edit")
    started.press("e")
    started.wait_for_text('"query": "tea"')
    started.press("Escape")
    started.wait_for(lambda screen: "e edit" in screen.rstrip().splitlines()[-1])
    started.press("y")
    started.see_prompt_after("Found.")
    assert "Search the web tea" in started.screen()


def test_escape_says_no_and_the_reason_may_follow_at_once(started: Terminal) -> None:
    started.press("web", "Enter")
    started.wait_for_text("y yes")
    started.press("Escape", "too dear", "Enter")
    started.see_prompt_after("You refused: too dear")


def test_a_second_message_sent_ahead_is_no_reason(started: Terminal) -> None:
    started.press("web", "Enter", "second", "Enter")
    started.wait_for_text("y yes")
    started.press("n")
    started.wait_for_text("Why not?")
    started.press("not now", "Enter")
    started.wait_for_text("You refused: not now")
    started.wait_for_text("You said 'second'.")


def test_ctrl_z_at_a_question_leads_to_the_shell_and_back(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start_in_shell(tmp_path)
    terminal.press("web", "Enter")
    terminal.wait_for_text("y yes")
    leave_and_come_back(terminal, 1, "y yes")
    terminal.press("n")
    terminal.wait_for_text("Why not?")
    terminal.press("too")
    terminal.wait_for_text("› too")
    leave_and_come_back(terminal, 2, "› too")
    terminal.press(" dear", "Enter")
    terminal.see_prompt_after("You refused: too dear")


def leave_and_come_back(terminal: Terminal, number: int, question: str) -> None:
    """Do something in the shell, for the *number*th time, then see the *question* again."""
    terminal.press("C-z")
    terminal.wait_for(lambda screen: screen.count("Stopped") == number)
    terminal.press(f"echo shell-$((0 + {number}))", "Enter")
    terminal.wait_for_text(f"shell-{number}\n")
    terminal.press("fg", "Enter")
    terminal.wait_for(lambda screen: question in screen.split(f"shell-{number}\n")[1])
